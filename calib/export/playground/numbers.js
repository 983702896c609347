// The numbers of the playground: simulated rows, bins, scores, and calibrators fitted in the page.
// They equal those of calib for the same rows; tests/export/test_playground.py compares them.

const GRID = 20  // steps of a curve that is drawn by hand: its values stand at 0, 1/20, …, 1
function expit(x) {
    const e = Math.exp(-Math.abs(x))
    return (x >= 0 ? 1 : e) / (1 + e)
}
const logit = p => Math.log(p) - Math.log1p(-p)
const total = values => values.reduce((a, b) => a + b, 0)

// Uniform numbers in (0, 1) from a seed (mulberry32).
function uniforms(seed) {
    let state = (seed * 2654435761) >>> 0
    return () => {
        state = (state + 0x6d2b79f5) >>> 0
        let t = Math.imul(state ^ (state >>> 15), state | 1)
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
        return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296
    }
}

// The chance of the first n rows of a seed: two normal numbers z and e and a uniform number u each, in the order of z, so
// that the predictions need no sorting. It stays while a setting is dragged, so that marks move smoothly. ``some`` are
// rows in the order in which they were drawn. The last sets are kept.
const CHANCES = new Map(), DRAWN = 2000, SOME = 400
function chances(seed, n) {
    let all = CHANCES.get(seed)
    if (!all || all.drawn < n) {
        if (CHANCES.size > 5) CHANCES.delete(CHANCES.keys().next().value)
        CHANCES.set(seed, all = draws(seed, n > DRAWN ? 2 * n : DRAWN))
    }
    if (all.n !== n) {
        const first = all.order.filter(i => i < n), at = column => Float64Array.from(first, i => column[i])
        Object.assign(all, { n, rows: { z: at(all.z), e: at(all.e), u: at(all.u) } })
    }
    return { ...all.rows, some: { z: all.z.subarray(0, Math.min(n, SOME)), e: all.e } }
}

function draws(seed, drawn) {
    const next = uniforms(seed), [z, e, u] = [0, 0, 0].map(() => new Float64Array(drawn))
    for (let i = 0; i < drawn; i++) {
        const radius = Math.sqrt(-2 * Math.log(next())), angle = 2 * Math.PI * next()
        z[i] = radius * Math.cos(angle)
        e[i] = radius * Math.sin(angle)
        u[i] = next()
    }
    return { drawn, z, e, u, order: Int32Array.from(z.keys()).sort((a, b) => z[a] - z[b]) }
}

// The true frequency at a prediction p: the curve drawn by hand, or logit π = level + slope · logit p.
function frequency({ curve, level, slope }, p) {
    if (!curve) return expit(level + slope * logit(p))
    const at = Math.min(Math.floor(p * GRID), GRID - 1), share = p * GRID - at
    return curve[at] * (1 - share) + curve[at + 1] * share
}

// The true probability of a row whose prediction has the log-odds x: at one prediction, true log-odds vary by the noise.
function truth(settings, x, deviation) {
    const at = settings.curve ? logit(frequency(settings, expit(x))) : settings.level + settings.slope * x
    return expit(at + settings.noise * deviation)
}

// Where the predictions have their centre, in log-odds, so that the mean true probability is the prevalence.
function centre(settings) {
    const { z, e } = chances(2 * settings.seed, settings.rows).some
    let low = -25, high = 25
    for (let i = 0; i < 30; i++) {
        const middle = (low + high) / 2
        let sum = 0
        for (let i = 0; i < z.length; i++) sum += truth(settings, middle + settings.spread * z[i], e[i])
        if (sum < settings.prevalence * z.length) low = middle
        else high = middle
    }
    return (low + high) / 2
}

// The mean true probability if the predictions have their centre there.
function prevalenceAt(settings, middle) {
    const { z, e } = chances(2 * settings.seed, settings.rows).some
    return total(z.map((z, i) => truth(settings, middle + settings.spread * z, e[i]))) / z.length
}

// Level, slope and spread of a model that says other things of the same people: logit π = level + slope · logit p stays
// for everybody if the log-odds of the predictions have this middle and this spread.
function says(settings, middle, spread) {
    const slope = settings.slope * settings.spread / spread
    return { level: settings.level + settings.slope * centre(settings) - slope * middle, slope, spread }
}

// Predictions p, true probabilities and labels y of n rows around ``middle``; stream 0 is the test set, stream 1 fits the
// calibrator.
function simulate(settings, stream, middle) {
    const { z, e, u } = chances(2 * settings.seed + stream, settings.rows), at = z.map(z => middle + settings.spread * z)
    const truths = at.map((at, i) => truth(settings, at, e[i]))
    return { p: at.map(expit), truths, y: truths.map((truth, i) => (u[i] < truth ? 1 : 0)) }
}

// The mistakes of acting above a threshold t, and what 100 rows cost: a false alarm costs 1, a miss (1 − t) / t.
function decided({ p, y }, t) {
    let alarms = 0, misses = 0
    for (let i = 0; i < p.length; i++) {
        if (p[i] > t && !y[i]) alarms += 1
        else if (p[i] <= t && y[i]) misses += 1
    }
    return { alarms, misses, cost: 100 * (alarms + misses * (1 - t) / t) / p.length }
}

// Bins of equal width: rows, positives, sum of p, and the variance Σ p(1 − p) of the positives of a calibrated model.
function binned({ p, y }, bins) {
    const found = Array.from({ length: bins }, () => ({ rows: 0, ones: 0, sum: 0, variance: 0 }))
    for (let i = 0; i < p.length; i++) {
        const value = p[i], bin = found[Math.min(bins - 1, Math.floor(value * bins + 1e-9))]
        bin.rows += 1
        bin.ones += y[i]
        bin.sum += value
        bin.variance += value * (1 - value)
    }
    return found
}

// Where 95 % of the frequencies of a bin fall if the model is calibrated (normal approximation).
function band({ rows, sum, variance }) {
    const half = 1.959963984540054 * Math.sqrt(variance) / rows
    return [Math.max(0, sum / rows - half), Math.min(1, sum / rows + half)]
}

// Scores of the rows.
function scores(rows, bins) {
    const { p, y } = rows, n = p.length, ones = total(y), cells = binned(rows, bins)
    let squares = 0, logs = 0
    for (let i = 0; i < n; i++) {
        squares += (p[i] - y[i]) ** 2
        logs -= y[i] ? Math.log(p[i]) : Math.log1p(-p[i])
    }
    const brier = squares / n, logLoss = logs / n
    const pools = pooled(tied(p, y))
    const recalibrated = total(pools.map(({ rows, ones }) => ones * (1 - ones / rows))) / n
    const uncertainty = (ones / n) * (1 - ones / n)
    return {
        brier, logLoss, uncertainty, prevalence: ones / n,
        ...errorOf(cells, n),
        miscalibration: brier - recalibrated, discrimination: uncertainty - recalibrated,
    }
}

// The ECE of n rows in bins. ``byChance`` and ``spreadByChance`` are mean and standard deviation of the ECE of a calibrated
// model with these predictions (normal approximation): |x| has the mean √(2/π) and the variance 1 − 2/π in units of x.
const errorOf = (cells, n) => ({
    ece: total(cells.map(({ ones, sum }) => Math.abs(ones - sum))) / n,
    byChance: total(cells.map(({ variance }) => Math.sqrt((2 / Math.PI) * variance))) / n,
    spreadByChance: Math.sqrt((1 - 2 / Math.PI) * total(cells.map(({ variance }) => variance))) / n,
})

// A sigmoid of log-odds for Platt's targets, by Newton's method with halved steps.
function platt({ p, y }) {
    const ones = total(y), zeros = y.length - ones
    const apart = p.reduce((least, value) => (value > 0 && value < 1 ? Math.min(least, value, 1 - value) : least), 0.5)
    const clip = Math.max(2 ** -52, apart / 2)
    const x = p.map(value => logit(Math.min(Math.max(value, clip), 1 - clip)))
    const targets = y.map(label => (label ? (ones + 1) / (ones + 2) : 1 / (zeros + 2)))
    // Loss, gradient and Hessian in one pass over the rows: it is most of the time of a frame.
    const at = (a, b) => {
        let loss = 0, g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0
        for (let i = 0; i < x.length; i++) {
            const value = x[i], score = a + b * value, e = Math.exp(-Math.abs(score))
            const q = (score >= 0 ? 1 : e) / (1 + e), gap = q - targets[i], weight = q * (1 - q)
            loss += Math.max(score, 0) + Math.log1p(e) - targets[i] * score
            g0 += gap
            g1 += gap * value
            h00 += weight
            h01 += weight * value
            h11 += weight * value * value
        }
        return { a, b, loss, g0, g1, h00, h01, h11 }
    }
    let now = at(0, 0)
    for (let round = 0; round < 100; round++) {
        const { g0, g1, h00, h01, h11 } = now, size = h00 * h11 - h01 * h01
        if (!(size > 0) || Math.hypot(g0, g1) < 1e-12 * y.length) break
        const d0 = (h11 * g0 - h01 * g1) / size, d1 = (h00 * g1 - h01 * g0) / size
        let step = 1, next = at(now.a - d0, now.b - d1)
        while (step > 1e-10 && next.loss > now.loss + 1e-13 * Math.abs(now.loss)) {
            step /= 2
            next = at(now.a - step * d0, now.b - step * d1)
        }
        now = next
    }
    const { a, b } = now
    return value => expit(a + b * logit(Math.min(Math.max(value, clip), 1 - clip)))
}

// Isotonic regression: the pools' shares, with straight lines between the fitted scores.
function isotonic({ p, y }) {
    const at = [], shares = []
    for (const { low, high, rows, ones } of pooled(tied(p, y)))
        for (const end of low === high ? [low] : [low, high]) {
            at.push(end)
            shares.push(ones / rows)
        }
    return value => {
        const above = upper(at, value)
        if (above === 0) return shares[0]
        if (above === at.length) return shares.at(-1)
        const share = (value - at[above - 1]) / (at[above] - at[above - 1])
        return shares[above - 1] + share * (shares[above] - shares[above - 1])
    }
}

// How many of the increasing numbers are at most the value.
function upper(numbers, value) {
    let low = 0, high = numbers.length
    while (low < high) {
        const middle = (low + high) >> 1
        if (numbers[middle] <= value) low = middle + 1
        else high = middle
    }
    return low
}

// Venn–Abers: p0 and p1 are the isotonic fits to all calibration rows and (value, 0) or (value, 1). The pools left and
// right of the new row are those of the fits to the rows before and behind it, which are worked out once.
function vennAbers({ p, y }) {
    const entries = tied(p, y), k = entries.length
    const at = entries.map(({ high }) => high), rows = [0], ones = [0]
    for (const entry of entries) {
        rows.push(rows.at(-1) + entry.rows)
        ones.push(ones.at(-1) + entry.ones)
    }
    // Whether the pool [a, b) has at least the share of the pool [c, d)
    const falls = (a, b, c, d) => (ones[b] - ones[a]) * (rows[d] - rows[c]) >= (ones[d] - ones[c]) * (rows[b] - rows[a])
    const begins = [0], ends = Array(k + 1).fill(k)  // of the last pool of the first j, of the first pool from j on
    for (let j = 1; j <= k; j++) {
        let begin = j - 1
        while (begin > 0 && falls(begins[begin], begin, begin, j)) begin = begins[begin]
        begins.push(begin)
    }
    for (let j = k - 1; j >= 0; j--) {
        let end = j + 1
        while (end < k && falls(j, end, end, ends[end])) end = ends[end]
        ends[j] = end
    }
    const fit = (value, label) => {
        const behind = upper(at, value)
        let begin = behind > 0 && at[behind - 1] === value ? behind - 1 : behind, end = behind
        for (;;) {
            const n = rows[end] - rows[begin] + 1, positives = ones[end] - ones[begin] + label
            const left = begin > 0 ? begins[begin] : -1, right = end < k ? ends[end] : -1
            if (left >= 0 && (ones[begin] - ones[left]) * n >= positives * (rows[begin] - rows[left])) begin = left
            else if (right >= 0 && positives * (rows[right] - rows[end]) >= (ones[right] - ones[end]) * n) end = right
            else return positives / n
        }
    }
    return value => [fit(value, 0), fit(value, 1)]
}

// What each calibrator says at a prediction: [p] or [p, p0, p1].
const CALIBRATORS = {
    none: () => value => [value],
    platt: rows => { const map = platt(rows); return value => [map(value)] },
    isotonic: rows => { const map = isotonic(rows); return value => [map(value)] },
    venn_abers: rows => {
        const pair = vennAbers(rows)
        return value => { const [p0, p1] = pair(value); return [merged(p0, p1, "log"), p0, p1] }
    },
}

// Everything that the picture shows; a calibrator needs rows of both classes. ``best`` are the decisions by the true
// probabilities.
function explored(settings) {
    const { threshold, bins } = settings, middle = centre(settings), test = simulate(settings, 0, middle)
    const judged = rows => ({ ...scores(rows, bins), ...decided(rows, threshold) })
    const before = judged(test), best = decided({ p: test.truths, y: test.y }, threshold)
    const rows = () => simulate(settings, 1, middle)  // without a calibrator the page does not need them
    if (settings.calibrator === "none")
        return { middle, best, test, get calibration() { return rows() }, fits: "none", map: CALIBRATORS.none(), after: test, before, now: before }
    const calibration = rows(), positives = total(calibration.y)
    const fits = positives > 0 && positives < settings.rows ? settings.calibrator : "none"
    const map = CALIBRATORS[fits](calibration)
    const after = fits === "none" ? test : { p: test.p.map(value => map(value)[0]), y: test.y }
    return { middle, best, test, calibration, fits, map, after, before, now: fits === "none" ? before : judged(after) }
}
