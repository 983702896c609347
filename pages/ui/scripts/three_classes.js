// The numbers of the triangle: photos of three animals, a model that favours one, and calibrators of all three classes.
// They equal those of calib/experiments/three_classes.py; numbers.js of the playground stands before it.

const ANGLES = [0, 1, 2].map(k => Math.PI / 2 + 2 * Math.PI * k / 3), DISTANCE = 1.5, PHOTOS = 2000, ERROR_BINS = 15
const normalised = P => { const all = total(P); return P.map(p => p / all) }
const top = P => P.indexOf(Math.max(...P))

// Photos of three equally frequent animals, as points around the centres of three Gaussians: what each shows, and its
// true probabilities by Bayes' rule. The same seed gives the same photos.
function photos(n = PHOTOS, seed = 1) {
    const next = uniforms(seed), centres = ANGLES.map(at => [DISTANCE * Math.cos(at), DISTANCE * Math.sin(at)])
    return Array.from({ length: n }, () => {
        const shows = Math.floor(3 * next()), radius = Math.sqrt(-2 * Math.log(next())), angle = 2 * Math.PI * next()
        const x = centres[shows][0] + radius * Math.cos(angle), y = centres[shows][1] + radius * Math.sin(angle)
        return { shows, truth: normalised(centres.map(([a, b]) => Math.exp(x * a + y * b - DISTANCE ** 2 / 2))) }
    })
}

// The model's probabilities of true ones, and the other way: P_k ∝ w_k q_k^s with the weights w = (t, 1, 1/t).
const weights = tilt => [tilt, 1, 1 / tilt]
const modelOf = (truth, { tilt, sharpness }) => normalised(truth.map((q, k) => weights(tilt)[k] * q ** sharpness))
const truthOf = (P, { tilt, sharpness }) => normalised(P.map((p, k) => (p / weights(tilt)[k]) ** (1 / sharpness)))

// Raise all probabilities to one power and divide by the sum: temperature scaling with the temperature 1 / power.
const tempered = (P, power) => normalised(P.map(p => p ** power))

// The power of the lowest log loss, with true probabilities in place of labels: Newton's method within a bracket, because
// the loss is convex.
function bestPower(predicted, truths) {
    const logs = predicted.map(P => P.map(Math.log)), fixed = total(truths.map((q, i) => total(q.map((q, k) => q * logs[i][k]))))
    let low = 0, high = 50, power = 1
    for (let round = 0; round < 60 && high - low > 1e-14 * power; round++) {
        let slope = -fixed, curvature = 0
        logs.forEach((row, i) => {
            const now = tempered(predicted[i], power), middle = total(now.map((p, k) => p * row[k]))
            slope += middle
            curvature += total(now.map((p, k) => p * row[k] ** 2)) - middle ** 2
        })
        if (slope > 0) high = power
        else low = power
        const next = power - slope / curvature, before = power
        power = next > low && next < high ? next : (low + high) / 2
        if (Math.abs(power - before) < 1e-14 * power) break
    }
    return power
}

// What each calibrator makes of three probabilities, fitted to these photos with their true probabilities as labels.
// Vector scaling, a power and a weight for each class, can undo this model's error, so that it finds the truth.
const JOINT = {
    none: () => P => P,
    temperature: (predicted, truths) => { const power = bestPower(predicted, truths); return P => tempered(P, power) },
    rest: (predicted, truths) => {
        const maps = [0, 1, 2].map(k => isotonic({ p: predicted.map(P => P[k]), y: truths.map(q => q[k]) }))
        return P => normalised(P.map((p, k) => maps[k](p)))
    },
    vector: (predicted, truths, model) => P => truthOf(P, model),
}

// The calibration error in bins, with true probabilities in place of labels.
function calibrationError(truths, predicted) {
    const sums = new Float64Array(ERROR_BINS)
    predicted.forEach((p, i) => { sums[Math.min(Math.floor(p * ERROR_BINS), ERROR_BINS - 1)] += truths[i] - p })
    return total(Array.from(sums, Math.abs)) / predicted.length
}

// The errors of all photos: that of the confidence, which is the highest probability, and the mean of the single classes.
function errorsOf(truths, predicted) {
    const chosen = predicted.map(top)
    return {
        confidence: calibrationError(truths.map((q, i) => q[chosen[i]]), predicted.map((P, i) => P[chosen[i]])),
        classes: meanOf(k => calibrationError(truths.map(q => q[k]), predicted.map(P => P[k]))),
    }
}
const meanOf = of => total([0, 1, 2].map(of)) / 3

// Everything that the triangle shows of all photos with these settings.
function classified(all, model) {
    const truths = all.map(({ truth }) => truth), predicted = truths.map(truth => modelOf(truth, model))
    const map = JOINT[model.calibrator](predicted, truths, model), after = predicted.map(map)
    return { predicted, map, after, before: errorsOf(truths, predicted), now: errorsOf(truths, after) }
}
