// Part 4: the reader moves predictions to the diagonal, then a calibrator does it.

const A = 32, B = 714  // customers: A paid, B defaulted

function repairPart(world) {
    const { people, cells } = world, bin = i => Math.min(4, Math.floor(people.p[i] * 5 + 1e-9))
    const shifts = state => state.shifts.split("_").map(value => Number(value) / 100)
    const moved = state => { const by = shifts(state); return people.p.map((at, i) => within(at + by[bin(i)], 0, 1)) }
    const before = brierScore(people.p, people.y)
    const maps = { none: at => at, platt: world.platt, isotonic: world.isotonic }
    const fitted = ({ fit }) => world.after(fit)
    const own = state => brierScore(moved(state), people.y)
    const gap = p => total(cells.map((cell, k) => Math.abs(cell.ones - total(p.filter((_, i) => bin(i) === k))))) / people.p.length
    const options = [["none", "No calibrator"], ["platt", "Platt scaling"], ["isotonic", "Isotonic"]]
    const name = { none: "No calibrator", platt: "Platt scaling", isotonic: "Isotonic regression" }
    const refused = (p, limit) => {
        const all = [...p.keys()].filter(i => p[i] > limit)
        return { all: all.length, paid: all.filter(i => !people.y[i]).length }
    }
    // What the bank earns from the customers within the limit: a repaid loan earns what a default costs.
    const earned = (fit, limit) => total(world.after(fit).map((at, i) => (at > limit ? 0 : people.y[i] ? -COST : COST)))
    const earnings = ({ limit }) => `The bank earns, in €1,000: ${[["none", "none"], ["platt", "Platt"], ["isotonic", "isotonic"]].map(([fit, name]) => `${name} ${earned(fit, limit / 100) / COST}`).join(", ")}.`
    // Why a limit that is wrong for these costs may earn more without a calibrator.
    function wrongLimit({ limit }) {
        const at = Number(limit) / 100, same = world.platt(within(at, 1e-9, 1 - 1e-9)), strict = at < 0.5
        if ((strict ? at >= same : at <= same) || earned("none", at) <= earned("platt", at)) return ""
        return `This limit is too ${strict ? "strict" : "lenient"}: lending pays up to a risk of 50 %. Without a calibrator, a risk of ${percent(at)} stands for ${percent(same)} after Platt scaling. So the bank lends to ${strict ? "more" : "fewer"} customers, and earns more. The order of customers is the same, but only a calibrated risk says where the limit belongs.`
    }
    function withoutLimit({ limit }) {
        const all = earned("none", 1), none = earned("none", Number(limit) / 100)
        return `If it lent to everybody, the bank would earn €${all.toLocaleString("en")}.${none < all ? " At this limit, the uncalibrated model is worse than no model." : ""}`
    }
    function pins(stage, p) {
        const { top, height } = stage.plot  // A among those who paid, B among those who defaulted
        return [[A, "A", top + 13], [B, "B", top + height - 13]].flatMap(([i, name, y]) => [
            [`pin${name}`, "circle", { class: "pin moves", style: `cx: ${fine(stage.px(p[i]))}px; cy: ${y}px; r: 11px;` }],
            [`name${name}`, "text", { class: "pinned moves", style: `transform: translate(${fine(stage.px(p[i]))}px, ${y + 4.5}px);`, "text-anchor": "middle" }, name],
        ])
    }
    // The calibrated people; with the calibrator itself, its curve has other axes: the old risk across, the new one up.
    function showFit(stage, more, itself) {
        const { fit } = world.state, p = fitted(world.state), now = binned({ p, y: people.y }, BANK_BINS), { left, top } = stage.plot
        const curve = !itself || fit === "none" ? [] : [...bandsOf(stage, now), ["of", "text", { class: "call", ...(stage.small() ? { x: left, y: top - 4 } : { x: left + 146, y: top - ABOVE }) }, "(curve: new risk)"], ["map", "path", { class: "map", d: path(Array.from({ length: 200 }, (_, k) => within(k / 199, 1e-6, 1 - 1e-6)).map(at => [stage.px(at), stage.py(maps[fit](at))])) }],
            ...cells.map((cell, k) => [`ring${k}`, "circle", { class: "ring", cx: stage.px(cell.sum / cell.rows), cy: stage.py(cell.ones / cell.rows), r: stage.small() ? 5 : 7 }])]
        stage.dots({ place: columns(stage, { p, y: people.y, bins: BANK_BINS }), paint: i => (people.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2 })
        stage.ink([...keyOf(stage), ...axes(stage, `Predicted risk of default${curve.length ? " (curve: old risk)" : ""}`, "Share that defaulted"), ...diagonalOf(stage), ...curve,
            ...levels(stage, now), ...marksOf(stage, now, "mark", 618), ...(curve.length ? legend(stage) : []), ...more])
    }
    // What is old and what is new, in the corner that the repaired risks leave empty.
    function legend(stage) {
        const small = stage.small(), x = stage.px(1) - (small ? 118 : 146), y = k => stage.py(0) - (small ? 88 : 120) + k * (small ? 15 : 20)
        const signs = [["circle", { class: "ring", cx: x - 14, cy: y(0) - 4, r: 5 }], ["circle", { class: "mark", cx: x - 14, cy: y(1) - 4, r: 6 }],
            ["rect", { class: "band", x: x - 17, y: y(2) - 10, width: 6, height: 12, rx: 2 }], ["line", { class: "map", x1: x - 21, x2: x - 7, y1: y(3) - 4, y2: y(3) - 4 }]]
        return ["marks before", "marks after", "consistency band", "old risk → new risk"].flatMap((name, k) => [[`sign${k}`, ...signs[k]], [`signed${k}`, "text", { class: "tick", x, y: y(k) }, name]])
    }
    // The first column of which a repair has moved customers past some of the next one, if any.
    const overtaking = p => {
        const risks = cells.map((_, k) => p.filter((_, i) => bin(i) === k))
        return risks.findIndex((column, k) => risks[k + 1] && Math.max(...column) > Math.min(...risks[k + 1]))
    }
    const lastMark = ({ fit }) => {
        const cell = binned({ p: world.after(fit), y: people.y }, BANK_BINS).findLast(({ rows }) => rows), [low, high] = consistency(cell)
        return fit === "none" ? "" : `The last mark (predicted ${percent(cell.sum / cell.rows)}, defaulted ${percent(cell.ones / cell.rows)}) has only ${cell.rows} customers: with correct risks, chance gives ${percent(low)} to ${percent(high)}.`
    }
    function compared(state) {
        if (state.shifts === FIELDS.shifts[1]) return ""
        const yours = own(state), platt = brierScore(world.after("platt"), people.y), but = yours > platt ? "" : " But you knew these customers’ outcomes."
        return `Your own repair has a Brier score of ${yours.toFixed(3)}, Platt scaling ${platt.toFixed(3)}.${but}`
    }
    return { id: "repair", number: 4, name: "Repair", steps: [
        {
            id: "repair", needs: BANK_SEEN,
            build: () => [heading(4, "Repair"),
                words("Now repair the predictions yourself. Drag each mark sideways to the diagonal: this changes the predicted risk of every customer in its column."),
                after(world, ({ shifts }) => shifts !== "0_0_0_0_0",
                    live(world, state => {
                        const now = gap(moved(state)), first = gap(people.p), both = `The mean distance of your marks from the diagonal, the ECE, is ${now.toFixed(3)}; at first it was ${first.toFixed(3)}.`
                        return both + (now < 0.02 ? " You have built a *calibrator*: it corrects the predictions and leaves the model as it is." : now < first ? " Go on with the other marks." : " Low risks must rise, high risks must fall.")
                    }, "finding"),
                    live(world, state => {
                        const k = overtaking(moved(state)) + 1
                        return k ? `Some customers of column ${k} now have a higher risk than some of column ${k + 1}: your shifts have changed the order of customers. The next two calibrators keep it.` : ""
                    }),
                    words("The *Brier score* is the mean squared difference between the predicted risk and the outcome (1 for default, 0 for paid back). Lower is better."),
                    words("But you used the outcomes of these very customers. A fair calibrator learns from other customers; the next two do."))],
            dock: () => [live(world, state => `ECE ${gap(people.p).toFixed(3)} → ${gap(moved(state)).toFixed(3)}, Brier score ${before.toFixed(3)} → ${own(state).toFixed(3)}`, "count")],
            view: stage => {
                const by = shifts(world.state), p = moved(world.state)
                stage.handles(...cells.map((_, k) => `shift${k}`))
                stage.dots({ place: columns(stage, { ...people, bins: BANK_BINS, shift: k => by[k] }), paint: i => (people.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2, still: world.dragging })
                const means = cells.map((_, k) => mean(p.filter((_, i) => bin(i) === k)))
                cells.forEach((cell, k) => stage.handle(`shift${k}`, {
                    at: [stage.px(means[k]), stage.py(cell.ones / cell.rows)], along: "x", low: 0, high: 1,
                    label: `Mean risk of the ${counts(cell.rows, "customer")} of column ${k + 1}, of whom ${percent(cell.ones / cell.rows)} defaulted`,
                    now: Math.round(100 * means[k]) / 100, text: percent(means[k]),
                    move: to => world.drag("shifts", by.map((value, j) => Math.round(100 * (j === k ? within(to - cell.sum / cell.rows, -0.99, 0.99) : value))).join("_")),
                }))
                stage.ink([...keyOf(stage), ...axes(stage, "Predicted risk of default", "Share that defaulted"), ...diagonalOf(stage), ...levels(stage, cells, k => by[k])])
                stage.say(`Brier score ${own(world.state).toFixed(4)}.`, "Five marks to drag to the diagonal")
            },
        },
        {
            id: "platt", needs: BANK_SEEN, asks: [14, 15],
            build: () => [words("A calibrator can be learnt. *Platt scaling* fits a smooth curve to the outcomes of 700 other customers, and reads the corrected risks from it. Customer A (risk 70 %) paid back; customer B (40 %) defaulted."),
                bet(world, 14), bet(world, 15),
                after(world, () => world.settled(14),
                    live(world, state => {
                        const p = fitted(state), now = brierScore(p, people.y), change = Math.round(100 * (1 - now / before))
                        return `${name[state.fit]}: Brier score ${before.toFixed(3)} → ${now.toFixed(3)}${change ? ` (${change} % lower)` : ""}. A has ${percent(p[A])}, B ${percent(p[B])}.`
                    }, "finding"),
                    live(world, lastMark), live(world, compared),
                    words("*Isotonic regression* fits steps instead of a smooth curve. Neither ever falls, so nobody overtakes anybody: A stays above B, although B defaulted."),
                    words("Both correct the numbers, not the order (isotonic regression gives some customers the same risk). Only a better model can improve the order."))],
            dock: () => [choices(world, "fit", "Calibrator", options)],
            view: stage => {
                const p = fitted(world.state)
                stage.handles()
                showFit(stage, pins(stage, p), true)
                stage.say(`${name[world.state.fit]}: A ${percent(p[A])}, B ${percent(p[B])}.`, "Calibrated")
            },
        },
        {
            id: "refused", needs: { ask: [10, 11, 14, 15], place: ["mark", "money"] },
            build: () => [words("Whom does the bank refuse? Drag the line: customers to its right get no loan. Then change the calibrator."),
                live(world, state => {
                    const { all, paid } = refused(fitted(state), Number(state.limit) / 100)
                    return `${name[state.fit]}, limit ${state.limit} %: ${counts(all, "customer")} refused. ${paid} of them would have paid back.`
                }, "finding"),
                after(world, state => state.fit !== "none" || state.limit !== "50",
                    live(world, ({ limit }) => {
                        const [old, now] = ["none", "platt"].map(fit => refused(world.after(fit), Number(limit) / 100))
                        return `With this limit, the uncalibrated model refuses ${old.all} customers, of whom ${old.paid} would have paid back. With Platt scaling, it is ${now.all} and ${now.paid}.`
                    }),
                    live(world, wrongLimit), live(world, withoutLimit),
                    words("The limit of 50 % follows from part 2: a repaid loan earns €1,000, a default costs €1,000. It is right only if 50 % means 50 %."))],
            dock: () => [choices(world, "fit", "Calibrator", options), live(world, earnings, "result")],
            view: stage => {
                const limit = Number(world.state.limit) / 100, half = 80  // of the label's width
                stage.handles("limit")
                stage.handle("limit", { at: [stage.px(limit), stage.plot.top + 22], along: "x", low: 0, high: 0.99, label: "Risk above which the bank refuses", now: limit, text: percent(limit),
                    move: to => world.drag("limit", String(Math.round(100 * to))) })
                showFit(stage, [["refuse", "rect", { class: "refuse", x: stage.px(limit), y: stage.plot.top, width: stage.px(1) - stage.px(limit), height: stage.plot.height }],
                    ["limit", "line", { class: "limit", x1: stage.px(limit), x2: stage.px(limit), y1: stage.plot.top, y2: stage.plot.top + stage.plot.height }],
                    ["refusal", "text", { class: "call", x: within(stage.px(limit), stage.px(0) + half, stage.px(1) - half), y: stage.plot.top - 4, "text-anchor": "middle" }, `no loan above ${percent(limit)}`]])
                const { all, paid } = refused(fitted(world.state), limit)
                stage.say(`Above ${percent(limit)}: ${all} refused, ${paid} of whom would have paid back. ${earnings(world.state)}`, "Refused customers")
            },
        },
    ] }
}
