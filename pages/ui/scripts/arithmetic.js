// The numbers of a picture with points to drag, equal to those of calib; ratios of counts to the last digit.
// isotonic.js of the playground stands before it. Sources: calibrators/venn_abers.py and synthetic/finite.py.

// The isotonic fit to the rows and one more row (score, label), and its pool at the score.
function added(rows, score, label) {
    const all = [...rows, [score, label, 1]], [scores, labels, weights] = [0, 1, 2].map(i => all.map(row => row[i]))
    const pools = pooled(tied(scores, labels, weights))
    const pool = pools.find(({ high }) => score <= high)
    return { pools, pool, value: pool.ones / pool.rows }
}

// The Venn–Abers pair at a score, and the merged probability.
function pair(rows, score, rule) {
    const zero = added(rows, score, 0), one = added(rows, score, 1)
    return { zero, one, p0: zero.value, p1: one.value, p: merged(zero.value, one.value, rule) }
}

const sum = values => values.reduce((a, b) => a + b, 0)

// A line of points [position, true probability, label or null] with cuts: for each point the rows and class-1 rows of
// its leaf, the prediction p, and the mean true probability c of all points with this p; also CL, GL, IL and the loss.
function partition(points, cuts) {
    let leaf = 0
    const leaves = points.map((_, i) => (cuts.includes(i) ? leaf++ : leaf))
    const labels = of => points.filter(([, , label], i) => label !== null && (of === null || leaves[i] === of))
        .map(([, , label]) => label)
    const all = labels(null), said = points.map((_, i) => {
        const own = labels(leaves[i])
        return { rows: own.length, ones: sum(own), p: own.length ? sum(own) / own.length : sum(all) / all.length }
    })
    for (const one of said) {
        const group = points.filter((_, i) => said[i].p === one.p)
        one.c = sum(group.map(([, pi]) => pi)) / group.length
    }
    const twice = term => (2 * sum(points.map(([, pi], i) => term(pi, said[i])))) / points.length
    const cl = twice((pi, { p, c }) => (p - c) ** 2), gl = twice((pi, { c }) => (c - pi) ** 2)
    const il = twice(pi => pi * (1 - pi))
    return { said, leaves, cl, gl, il, loss: cl + gl + il }
}
