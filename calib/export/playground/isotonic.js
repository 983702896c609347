// Isotonic regression and Venn–Abers pairs, equal to those of calib; ratios of counts to the last digit.
// Sources: calib/kernel/pav.py, calibrators/venn_abers.py and calibrators/merge.py.

// Rows [score, label, weight] as one entry for each distinct score, from the lowest to the highest.
function tied(rows) {
    const entries = []
    for (const [score, label, weight] of [...rows].sort((a, b) => a[0] - b[0])) {
        if (entries.at(-1)?.high !== score) entries.push({ low: score, high: score, rows: 0, ones: 0 })
        entries.at(-1).rows += weight
        entries.at(-1).ones += weight * label
    }
    return entries
}

// Pool adjacent violators: the pools of the isotonic fit, their shares of class 1 strictly increasing.
// Counts are whole numbers, and are compared exactly.
function pooled(entries) {
    const pools = []
    for (const entry of entries) {
        const last = { ...entry }
        while (pools.length && pools.at(-1).ones * last.rows >= last.ones * pools.at(-1).rows) {
            const { low, rows, ones } = pools.pop()
            last.low = low
            last.rows += rows
            last.ones += ones
        }
        pools.push(last)
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
