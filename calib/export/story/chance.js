// Part 3: other customers, whose marks make a band of the reader's own; what a right model would show; and thin bins.

const MOST = 20
const BANK_SEEN = { ask: [10, 11], place: ["mark", "money"] }  // before the bank's outcomes are shown

// Earlier sets of customers as faint marks, and their range in each bin.
function ghosts(world, stage, sets, kind) {
    const cells = sets.map(set => binned(set, BANK_BINS))
    const each = cells.flatMap((all, k) => all.flatMap(({ rows, ones, sum }, bin) => (rows ? [[`ghost${k}-${bin}`, "circle",
        { class: "ghost", cx: stage.px(sum / rows), cy: stage.py(ones / rows), r: stage.small() ? 2.5 : 3.5 }]] : [])))
    const ranges = cells.length < 2 ? [] : cells[0].flatMap((_, bin) => {
        const { low, high, at } = rangeOf(cells, bin), wide = stage.small() ? 10 : 18
        return [[`range${bin}`, "rect", { class: `range ${kind}`, x: stage.px(at) - wide / 2, width: wide, y: stage.py(high), height: Math.max(2, stage.py(low) - stage.py(high)), rx: 3 }]]
    })
    return [...ranges, ...each]
}

function rangeOf(cells, bin) {
    const filled = cells.map(all => all[bin]).filter(({ rows }) => rows), shares = filled.map(({ ones, rows }) => ones / rows)
    return { low: Math.min(...shares), high: Math.max(...shares), at: mean(filled.map(({ sum, rows }) => sum / rows)) }
}

function chancePart(world) {
    const { people } = world
    const sets = (name, risks) => Array.from({ length: Number(world.state[name]) }, (_, k) => world.other(k + 1, risks))
    const cellsOf = (name, risks) => sets(name, risks).map(set => binned(set, BANK_BINS))
    const seventy = (name, risks) => rangeOf(cellsOf(name, risks), SEVENTY)
    const highest = () => {
        const [[p, y]] = cellsOf("others", people.truth).map(cells => cells[SEVENTY]).map(({ sum, ones, rows }) => [sum / rows, ones / rows]).sort((a, b) => b[1] - a[1])
        return `Even the highest mark near 70 % (predicted ${decimal(p)}, defaulted ${decimal(y)}) is ${apart(p, y)} points below the diagonal.`
    }
    const said = (name, risks) => {
        const n = Number(world.state[name])
        if (!n) return ""
        const { low, high } = seventy(name, risks)
        return n === 1 ? `In this set, the mark near 70 % is at ${percent(high)}.` : `In ${n} sets, the mark near 70 % ranged from ${percent(low)} to ${percent(high)}.`
    }
    function show(stage, name, risks, kind, more = []) {
        const all = sets(name, risks), set = all.at(-1) ?? people, cells = binned(set, BANK_BINS)
        stage.handles()
        stage.dots({ place: columns(stage, { ...set, bins: BANK_BINS }), paint: i => (set.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2 })
        stage.ink([...keyOf(stage), ...axes(stage, "Predicted risk of default", "Share that defaulted"), ...diagonalOf(stage), ...more,
            ...ghosts(world, stage, all, kind), ...levels(stage, cells), ...marksOf(stage, cells, "mark", 618)])
        stage.say(said(name, risks) || "The 900 customers of the bank.", "Other customers")
    }
    const errors = kept(bins => errorOf(binned(world.rightSet(), Number(bins)), people.p.length))
    const far = () => world.cells.filter(cell => { const [low, high] = consistency(cell), at = cell.ones / cell.rows; return at < low || at > high }).length
    const drawing = (text, name, risks) => [row(...pressUpTo(world, text, `Draw all ${MOST}`, name, 1, MOST, "sets")), live(world, () => said(name, risks), "result")]
    return { id: "chance", number: 3, name: "Is it chance?", steps: [
        {
            id: "chance", needs: BANK_SEEN, asks: [12],
            build: () => [heading(3, "Is it chance?"),
                words("Perhaps the bank was just unlucky with these 900 customers. How would other customers of this kind have turned out?"),
                bet(world, 12),
                after(world, ({ others }) => Number(others) > 0,
                    live(world, ({ others }) => (Number(others) < MOST ? "Draw again, twenty times in all. The marks leave a band behind."
                        : `Chance moves the marks, above all in columns with few customers. ${highest()} So chance alone does not explain this gap.`)))],
            dock: () => drawing("Draw other customers", "others", people.truth),
            view: stage => show(stage, "others", people.truth, "bank"),
        },
        {
            id: "right", needs: BANK_SEEN,
            build: () => [words("And if the model were right? Then each customer would default with the predicted probability. Draw such customers, and compare their marks with the bank’s own (the rings)."),
                after(world, ({ right }) => Number(right) > 0,
                    words("The marks of a perfect model scatter too, but around the diagonal."),
                    live(world, () => `In grey, the *consistency band*: 95 of 100 marks of a perfect model fall inside it. ${far()} of the bank’s 5 rings are outside.`))],
            dock: () => drawing("Draw from a perfect model", "right", people.p),
            view: stage => {
                const rings = world.cells.map((cell, k) => [`ring${k}`, "circle", { class: "ring", cx: stage.px(cell.sum / cell.rows), cy: stage.py(cell.ones / cell.rows), r: stage.small() ? 6 : 9 }])
                show(stage, "right", people.p, "right", [...(world.state.right === "0" ? [] : bandsOf(stage, world.cells)), ...rings])
            },
        },
        {
            id: "bins", asks: [13],
            build: () => [words("The number of columns is our choice, and it matters. The *ECE* (expected calibration error) is the mean distance of the marks from the diagonal; marks with more customers count more. Here are 900 customers of a perfect model, in five columns."),
                bet(world, 13),
                after(world, ({ bins }) => bins !== "5" || world.settled(13),
                    words("Customers and predictions are the same; only the columns are thinner. Marks with few customers scatter more (hollow marks: fewer than ten). So no number of columns is the right one: compare an ECE with what chance alone gives."),
                    live(world, () => (world.settled(13) ? "" : "Move the slider to 70."), "hint"))],
            dock: () => [slider(world, "bins", "Columns (bins)", 2, 70),
                live(world, ({ bins }) => `${bins} columns: ECE ${errors(bins).ece.toFixed(3)}. By chance alone, a perfect model has ${errors(bins).byChance.toFixed(3)} on average.`, "result")],
            view: stage => {
                const bins = Number(world.state.bins), set = world.rightSet(), cells = binned(set, bins)
                stage.handles()
                stage.dots({ place: columns(stage, { ...set, bins }), paint: i => (set.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2, still: world.dragging })
                stage.ink([...keyOf(stage), ...axes(stage, "Predicted risk of default", "Share that defaulted"), ...diagonalOf(stage), ...levels(stage, cells), ...marksOf(stage, cells)])
                stage.say(`${counts(cells.filter(({ rows }) => rows).length, "mark")} in ${bins} columns${world.asked(13) ? `; ECE ${errors(bins).ece.toFixed(3)}` : ""}.`, "A perfect model")
            },
        },
    ] }
}
