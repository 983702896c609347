// Part 3: other customers, whose marks make a band of the reader's own; what a right model would show; and thin bins.

const MOST = 20

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
    const draw = name => () => world.set(name, String(Math.min(MOST, Number(world.state[name]) + 1)))
    const said = (name, risks) => {
        const all = sets(name, risks)
        if (!all.length) return ""
        const { low, high } = rangeOf(all.map(set => binned(set, BANK_BINS)), SEVENTY), n = all.length
        return n === 1 ? `One other set: the mark near 70 % is at ${percent(high)}.` : `In ${n} sets, the mark near 70 % lies between ${percent(low)} and ${percent(high)}.`
    }
    function show(stage, name, risks, kind, more = []) {
        const all = sets(name, risks), set = all.at(-1) ?? people, cells = binned(set, BANK_BINS)
        stage.handles()
        stage.dots({ place: columns(stage, { ...set, bins: BANK_BINS }), paint: i => (set.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2 })
        stage.ink([...keyOf(stage), ...axes(stage, "Risk of default that the model states", "Share that defaulted"), ...diagonalOf(stage), ...more,
            ...ghosts(world, stage, all, kind), ...levels(stage, cells), ...marksOf(stage, cells, "mark", 618)])
        stage.say(said(name, risks) || "The 900 customers of the bank.", "Other customers")
    }
    const errors = bins => scores(world.rightSet(), Number(bins))
    return { id: "chance", number: 3, name: "Is it chance?", steps: [
        {
            id: "chance",
            build: () => [heading(3, "Is it chance?"),
                words("Perhaps this is only chance: other customers would give other marks."),
                bet(world, 12),
                element("p", {}, press("Other customers", draw("others"))),
                live(world, ({ others }) => `${others} of ${MOST} sets`, "count"),
                after(world, ({ others }) => Number(others) > 0,
                    live(world, () => said("others", people.truth), "finding"),
                    live(world, ({ others }) => (Number(others) < 10 ? "Press again, up to twenty times: your own band grows." : "Chance moves the thin columns most. But at 70 % your band stays below the diagonal: this gap is a fault of the model.")))],
            view: stage => show(stage, "others", people.truth, "bank"),
        },
        {
            id: "right",
            build: () => [words("And if the model were right? Then each customer would default with exactly the risk that the model states. Draw such customers."),
                element("p", {}, press("Customers of a right model", draw("right"))),
                live(world, ({ right }) => `${right} of ${MOST} sets`, "count"),
                after(world, ({ right }) => Number(right) > 0,
                    live(world, () => said("right", people.p), "finding"),
                    words("The rings are the bank’s own marks. A right model’s marks wander too, but around the diagonal."),
                    live(world, ({ right }) => (Number(right) < MOST ? "" : "Your band after twenty sets, and in grey the *consistency band*: where 95 of 100 such marks fall. A mark far outside is not chance.")))],
            view: stage => {
                const rings = world.cells.map((cell, k) => [`ring${k}`, "circle", { class: "ring", cx: stage.px(cell.sum / cell.rows), cy: stage.py(cell.ones / cell.rows), r: stage.small() ? 6 : 9 }])
                show(stage, "right", people.p, "right", [...(Number(world.state.right) < MOST ? [] : bandsOf(stage, world.cells)), ...rings])
            },
        },
        {
            id: "bins",
            build: () => [words("How many columns should there be? The *ECE* (expected calibration error) is the mean gap between the marks and the diagonal; each mark counts with its customers. Here is one set of a right model."),
                bet(world, 13),
                slider(world, "bins", "Columns (bins)", 2, 70),
                after(world, ({ bins }) => bins !== "5" || world.settled(13),
                    live(world, ({ bins }) => `${bins} bins: ECE ${errors(bins).ece.toFixed(3)}. Chance alone gives a right model ${errors(bins).byChance.toFixed(3)} on average.`, "finding"),
                    words("The model and its predictions stay the same. Thin columns hold few customers; hollow marks stand for fewer than ten. All of this ECE is noise: compare it with what chance gives."),
                    live(world, ({ bins }) => (bins === "70" || world.settled(13) ? "" : "Move the slider to 70."), "hint"))],
            view: stage => {
                const bins = Number(world.state.bins), set = world.rightSet(), cells = binned(set, bins)
                stage.handles()
                stage.dots({ place: columns(stage, { ...set, bins }), paint: i => (set.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2, still: world.dragging })
                stage.ink([...keyOf(stage), ...axes(stage, "Risk of default that the model states", "Share that defaulted"), ...diagonalOf(stage), ...levels(stage, cells), ...marksOf(stage, cells)])
                stage.say(`${counts(cells.filter(({ rows }) => rows).length, "mark")} in ${bins} bins; ECE ${errors(bins).ece.toFixed(3)}.`, "A right model")
            },
        },
    ] }
}
