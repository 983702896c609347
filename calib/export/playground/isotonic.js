// Isotonic regression and Venn–Abers pairs, equal to those of calib; ratios of counts to the last digit.
// Sources: calib/kernel/isotonic_regression.py, calibrators/venn_abers.py and calibrators/merge.py.

// Rows as one entry for each distinct score, from the lowest to the highest. Rows in order are not sorted again.
function tied(scores, labels, weights) {
    let falls = false
    for (let i = 1; i < scores.length && !falls; i++) falls = scores[i] < scores[i - 1]
    const order = falls && Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b]), entries = []
    let last
    for (let k = 0; k < scores.length; k++) {
        const i = order ? order[k] : k, weight = weights ? weights[i] : 1
        if (last?.high !== scores[i]) entries.push(last = { low: scores[i], high: scores[i], rows: 0, ones: 0 })
        last.rows += weight
        last.ones += weight * labels[i]
    }
    return entries
}

// Pool adjacent violators: the pools of the isotonic fit, their shares of class 1 strictly increasing.
// Counts are whole numbers, and are compared exactly. The entries become the pools: a page that is dragged makes no others.
function pooled(entries) {
    const pools = []
    for (const entry of entries) {
        for (let at = pools.length - 1; at >= 0 && pools[at].ones * entry.rows >= entry.ones * pools[at].rows; at--) {
            const pool = pools.pop()
            entry.low = pool.low
            entry.rows += pool.rows
            entry.ones += pool.ones
        }
        pools.push(entry)
    }
    return pools
}

const MERGED = {
    log: (p0, p1) => (1 - p0 + p1 > 0 ? p1 / (1 - p0 + p1) : 0.5),
    square: (p0, p1) => p1 + (p0 * p0 - p1 * p1) / 2,
    midpoint: (p0, p1) => (p0 + p1) / 2,
}

function merged(p0, p1, rule) {
    return Math.min(Math.max(MERGED[rule](p0, p1), Math.min(p0, p1)), Math.max(p0, p1))
}
