// The numbers of the story beyond those of the playground. They equal calib's for the same rows;
// tests/export/test_story.py compares them.

// The smallest k that a binomial number of n draws with chance p reaches with probability q or more.
function binomialQuantile(q, n, p) {
    if (p <= 0 || p >= 1) return p <= 0 ? 0 : n
    const odds = logit(p)
    let log = n * Math.log1p(-p), sum = Math.exp(log), k = 0
    while (sum < q && k < n) {
        log += Math.log((n - k) / (k + 1)) + odds
        sum += Math.exp(log)
        k += 1
    }
    return k
}

// Where 95 % of the frequencies of a bin fall if the model is calibrated (calib/analysis/curves.py, binned_curve).
const consistency = ({ rows, sum }) => [0.025, 0.975].map(q => binomialQuantile(q, rows, sum / rows) / rows)

// The distribution of the number of events with these probabilities (Poisson binomial): P(0), P(1), …
const poissonBinomial = probabilities => probabilities.reduce((before, p) =>
    Array.from({ length: before.length + 1 }, (_, k) => (before[k] ?? 0) * (1 - p) + (before[k - 1] ?? 0) * p), [1])

// The 2.5 and 97.5 % quantiles of this number.
function usualNumber(probabilities) {
    let sum = 0
    const sums = poissonBinomial(probabilities).map(share => (sum += share))
    return [0.025, 0.975].map(q => sums.findIndex(at => at >= q - 1e-12))
}

// Wilson's 95 % interval of a share (calib/kernel/binomial.py).
function wilson(successes, n) {
    const z = 1.959963984540054, centre = (successes + z * z / 2) / (n + z * z)
    const half = z / (n + z * z) * Math.sqrt(successes * (1 - successes / n) + z * z / 4)
    return [successes > 0 ? Math.max(centre - half, 0) : 0, successes < n ? Math.min(centre + half, 1) : 1]
}

const mean = values => total(values) / values.length
const brierScore = (p, y) => mean(p.map((at, i) => (at - y[i]) ** 2))

// Other customers: people drawn with replacement, each of whom defaults with the stated risk.
function otherCustomers(people, seed, risks) {
    const next = uniforms(seed), n = people.length, who = [], y = []
    for (let i = 0; i < n; i++) {
        who.push(Math.floor(next() * n))
        y.push(next() < risks[who[i]] ? 1 : 0)
    }
    return { who, p: who.map(i => people[i]), y }
}

// Calibration, grouping and irreducible loss of rows that are grouped by their prediction (calib.metrics, Brier score).
function lossParts(risks, p) {
    const groups = new Map(), n = p.length
    p.forEach((at, i) => groups.get(at)?.push(risks[i]) ?? groups.set(at, [risks[i]]))
    let calibration = 0, grouping = 0
    for (const [at, inside] of groups) {
        const middle = mean(inside)
        calibration += inside.length * (at - middle) ** 2 / n
        grouping += total(inside.map(risk => (risk - middle) ** 2)) / n
    }
    return { calibration, grouping, irreducible: mean(risks.map(risk => risk * (1 - risk))) }
}

// The upper tail of the gamma distribution, for shapes a = 1/2, 1, 3/2, …: a series near 0, else a continued fraction.
function gammaTail(a, x) {
    if (x <= 0) return 1
    let logGamma = a % 1 ? Math.log(Math.PI) / 2 : 0
    for (let at = a % 1 || 1; at < a; at++) logGamma += Math.log(at)
    const front = Math.exp(a * Math.log(x) - x - logGamma)
    if (x < a + 1) {
        let term = 1 / a, sum = term
        for (let k = 1; term > sum * 1e-17; k++) sum += term *= x / (a + k)
        return 1 - front * sum
    }
    let b = x + 1 - a, c = 1e300, d = 1 / b, h = d
    for (let k = 1, change = 0; Math.abs(change - 1) > 1e-16 && k < 500; k++) {
        b += 2
        d = 1 / (b - k * (k - a) * d)
        c = b - k * (k - a) / c
        h *= change = c * d
    }
    return front * h
}

// The p-value of Hosmer and Lemeshow's test from the gap Σ(y − p) and the variance Σp(1 − p) of each group.
function hosmerLemeshow(gaps, variances) {
    let statistic = 0, groups = 0
    variances.forEach((variance, g) => {
        if (!(variance > 0)) return
        statistic += gaps[g] ** 2 / variance
        groups += 1
    })
    return gammaTail(groups / 2, statistic / 2)
}

// The test's p-value after each batch, from all rows so far; ``group`` is the tenth of the predictions of each row.
function testsSoFar(p, y, group, size) {
    const gaps = Array(10).fill(0), variances = Array(10).fill(0), found = []
    for (let i = 0; i < p.length; i++) {
        gaps[group[i]] += y[i] - p[i]
        variances[group[i]] += p[i] * (1 - p[i])
        if ((i + 1) % size === 0) found.push(hosmerLemeshow(gaps, variances))
    }
    return found
}

// The bets of calib/analysis/watch/evidence.py, whose names stand here: lines q = a + b logit p, and isotonic fits.
const signed = (values, b) => values.flatMap(value => [[value, b], [-value, b]])
const LINE_BETS = [...signed([0.15, 0.3, 0.5, 0.75, 1.1], 1), ...[0.4, 0.6, 0.8, 1.25, 1.6, 2.2].map(b => [0, b]),
    ...[0.5, 0.75, 1.5].flatMap(b => signed([0.5], b))]
const MEMORIES = [400, 3000, Infinity], BET_BINS = 100, PSEUDO = 4
const LOG_PRIOR = [...Array(10).fill(0.8 / 10), ...Array(12).fill(0.1 / 12), ...Array(3).fill(0.1 / 3)].map(Math.log)
const EDGES = Array.from({ length: BET_BINS - 1 }, (_, i) => -7 + i * (14 / 98))
const START_WEIGHT = 0.4, LATE = 100, TOTAL = 0.21691205, SCALE = 2 ** 24
const softplus = z => Math.log1p(Math.exp(z))
const logSum = (a, b) => (a === -Infinity ? b : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))))

function restartWeight(k) {
    const late = k + LATE
    return (1 - START_WEIGHT) / (late * Math.log(late) ** 2) / TOTAL + (k === 1 ? START_WEIGHT : 0)
}

// The isotonic bets: fits to the past on fixed bins, renewed every 20 rows at first.
function isotonicBets() {
    const sums = () => [0, 1, 2].map(() => new Float64Array(BET_BINS))
    const counts = MEMORIES.map(sums)
    let fresh = sums(), renewed = 0
    const offsets = MEMORIES.map(() => new Float64Array(BET_BINS))
    function renew(at) {
        MEMORIES.forEach((memory, j) => {
            counts[j].forEach((values, c) => values.forEach((value, b) => {
                values[b] = value * 0.5 ** ((at - renewed) / memory) + fresh[c][b] / (c === 2 ? SCALE : 1)
            }))
            offsets[j] = fitted(counts[j])
        })
        fresh = sums()
        renewed = at
    }
    return {
        offsets,
        begin: row => row >= renewed + Math.min(Math.max(Math.floor(renewed / 20), 20), 250) && renew(row),
        learn(bin, y, p) {
            fresh[0][bin] += 1
            fresh[1][bin] += y
            fresh[2][bin] += Math.round(p * SCALE)
        },
    }
}

// What an isotonic fit adds to the log-odds in each bin, from its rows, events and expected events.
function fitted([rows, events, expected]) {
    const offsets = new Float64Array(BET_BINS), seen = [...rows.keys()].filter(b => rows[b] > 1e-3)
    const all = total(seen.map(b => rows[b])), clip = value => within(value, 1e-7, 1 - 1e-7)
    const pools = pooled(seen.map(b => {
        const prior = PSEUDO * rows[b] / all + 1, weight = rows[b] + prior
        return { low: b, high: b, rows: weight, ones: events[b] + prior * expected[b] / rows[b] }
    }))
    let at = 0
    for (const b of seen) {
        while (at + 1 < pools.length && pools[at + 1].low <= b) at += 1
        const value = clip(pools[at].ones / pools[at].rows), before = clip(expected[b] / rows[b])
        offsets[b] = within(Math.log(value / (1 - value)) - Math.log(before / (1 - before)), -4, 4)
    }
    return offsets
}

// The log evidence against calibration after each batch of ``size`` rows.
function evidenceSoFar(p, y, size) {
    const bets = LINE_BETS.length + MEMORIES.length, totals = new Float64Array(bets)
    const started = new Float64Array(bets).fill(-Infinity), shapes = isotonicBets(), found = []
    const x = p.map(logit), bins = x.map(at => upper(EDGES, at))
    for (let from = 0, spent = 0; from + size <= p.length; from += size) {
        shapes.begin(from)
        let weight = 0
        const gain = new Float64Array(bets)
        for (let i = from; i < from + size; i++) {
            const sign = 1 - 2 * y[i], base = softplus(sign * x[i])
            weight += restartWeight(i + 1)
            LINE_BETS.forEach(([a, b], j) => { gain[j] += base - softplus(sign * (a + b * x[i])) })
            MEMORIES.forEach((_, j) => {
                gain[LINE_BETS.length + j] += base - softplus(sign * (x[i] + shapes.offsets[j][bins[i]]))
            })
        }
        for (let i = from; i < from + size; i++) shapes.learn(bins[i], y[i], p[i])
        spent += weight
        const shares = totals.map((before, j) => {
            started[j] = logSum(started[j], Math.log(weight) - before)
            totals[j] += gain[j]
            return totals[j] + started[j] + LOG_PRIOR[j]
        })
        const top = Math.max(0, ...shares)
        found.push(top + Math.log(Math.exp(-top) * (1 - spent) + total([...shares].map(share => Math.exp(share - top)))))
    }
    return found
}

// A year of 50 weeks in which all people come once, in a random order. Their risks are those predicted; from the week
// ``change`` on the log-odds of the risks are higher by 0.8.
const WEEKS = 50, WORSE = 0.8
function yearOf(p, tenths, seed, change = WEEKS) {
    const year = outcomesOf(p, seed, change), size = p.length / WEEKS
    return { ...year, tests: testsSoFar(year.p, year.y, year.order.map(i => tenths[i]), size), evidence: evidenceSoFar(year.p, year.y, size) }
}

// Whether the test of a year with a right model raises an alarm.
function falseAlarm(p, tenths, seed) {
    const { order, p: seen, y } = outcomesOf(p, seed, WEEKS)
    return testsSoFar(seen, y, order.map(i => tenths[i]), p.length / WEEKS).some(value => value < 0.05)
}

function outcomesOf(p, seed, change) {
    const next = uniforms(seed), size = p.length / WEEKS
    const order = p.map(() => next()).map((key, i) => [key, i]).sort((a, b) => a[0] - b[0]).map(([, i]) => i)
    const seen = order.map(i => p[i])
    const y = seen.map((at, k) => (next() < expit(logit(at) + (k >= change * size ? WORSE : 0)) ? 1 : 0))
    return { order, p: seen, y }
}

// The tenth, 0 to 9, in which each prediction lies among all.
function tenthsOf(p) {
    const found = Array(p.length)
    Array.from(p.keys()).sort((a, b) => p[a] - p[b] || a - b).forEach((i, rank) => { found[i] = Math.floor(10 * rank / p.length) })
    return found
}
