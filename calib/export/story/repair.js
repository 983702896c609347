// Part 4: the reader moves predictions to the diagonal, then a calibrator does it.

const A = 32, B = 714  // customers: A paid, B defaulted

function repairPart(world) {
    const { people, cells } = world, bin = i => Math.min(4, Math.floor(people.p[i] * 5 + 1e-9))
    const shifts = state => state.shifts.split("_").map(value => Number(value) / 100)
    const moved = state => people.p.map((at, i) => within(at + shifts(state)[bin(i)], 0, 1))
    const before = brierScore(people.p, people.y)
    const maps = { none: at => at, platt: world.platt, isotonic: world.isotonic }
    const fitted = ({ fit }) => world.after(fit)
    const tried = () => world.settled(14)
    const own = state => brierScore(moved(state), people.y)
    const refused = (p, limit) => {
        const all = [...p.keys()].filter(i => p[i] > limit)
        return { all: all.length, paid: all.filter(i => !people.y[i]).length }
    }
    function pins(stage, p) {
        const foot = stage.plot.top + stage.plot.height
        return [[A, "A"], [B, "B"]].flatMap(([i, name]) => [
            [`pin${name}`, "circle", { class: "pin moves", style: `cx: ${fine(stage.px(p[i]))}px; cy: ${foot}px; r: 11px;` }],
            [`name${name}`, "text", { class: "pinned moves", style: `transform: translate(${fine(stage.px(p[i]))}px, ${foot + 4.5}px);`, "text-anchor": "middle" }, name],
        ])
    }
    function showFit(stage, more = []) {
        const { fit } = world.state, p = fitted(world.state), now = binned({ p, y: people.y }, BANK_BINS)
        const curve = fit === "none" ? [] : [["map", "path", { class: "map", d: path(Array.from({ length: 200 }, (_, k) => within(k / 199, 1e-6, 1 - 1e-6)).map(at => [stage.px(at), stage.py(maps[fit](at))])) }]]
        stage.dots({ place: columns(stage, { p, y: people.y, bins: BANK_BINS }), paint: i => (people.y[i] ? DEFAULT : PAID), size: stage.small() ? 2 : 3.2 })
        const old = cells.map((cell, k) => [`ring${k}`, "circle", { class: "ring", cx: stage.px(cell.sum / cell.rows), cy: stage.py(cell.ones / cell.rows), r: stage.small() ? 5 : 7 }])
        stage.ink([...keyOf(stage), ...axes(stage, "Risk of default", "Share that defaulted"), ...diagonalOf(stage), ...curve, ...(fit === "none" ? [] : old), ...levels(stage, now), ...marksOf(stage, now, "mark", 618), ...more])
    }
    return { id: "repair", number: 4, name: "Repair", steps: [
        {
            id: "repair",
            build: () => [heading(4, "Repair"),
                words("Repair the predictions yourself. Drag each mark sideways to the diagonal: all customers of the column get another risk."),
                live(world, state => `Brier score: ${before.toFixed(4)} before, ${own(state).toFixed(4)} now`, "count"),
                after(world, ({ shifts }) => shifts !== "0_0_0_0_0",
                    words("The *Brier score* is the mean squared difference between risk and outcome, 0 or 1. Smaller is better."),
                    live(world, state => (own(state) < before - 0.02 ? "You have built a *calibrator*: it corrects the predictions, not the model." : "Low risks must rise and high ones fall."), "finding"),
                    words("But you have looked at the outcomes of these very customers. A fair calibrator learns from others. Next, two do."))],
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
                stage.ink([...keyOf(stage), ...axes(stage, "Risk of default", "Share that defaulted"), ...diagonalOf(stage), ...levels(stage, cells, k => by[k])])
                stage.say(`Brier score ${own(world.state).toFixed(4)}.`, "Five marks to drag to the diagonal")
            },
        },
        {
            id: "platt",
            build: () => [words("*Platt scaling* learns a smooth curve from 700 customers whom the model has not seen. *Isotonic regression* learns steps that only rise. Customer A paid, and had a risk of 70 %; B defaulted, with 40 %."),
                bet(world, 14), bet(world, 15),
                choices(world, "fit", "Calibrator", [["none", "No calibrator"], ["platt", "Platt scaling"], ["isotonic", "Isotonic"]]),
                after(world, tried,
                    live(world, state => {
                        const p = fitted(state)
                        return `Brier score ${before.toFixed(4)} → ${brierScore(p, people.y).toFixed(4)}. A now has ${percent(p[A])}, B ${percent(p[B])}.`
                    }, "finding"),
                    words("The risks move, the order stays: both curves only rise. A calibrator makes numbers true. It does not find more of those who default; a better model does."),
                    words("The rings are the marks before. Compare the smooth curve with the steps."))],
            view: stage => {
                stage.handles()
                showFit(stage, pins(stage, fitted(world.state)))
                const p = fitted(world.state)
                stage.say(`${{ none: "No calibrator", platt: "Platt scaling", isotonic: "Isotonic regression" }[world.state.fit]}: A ${percent(p[A])}, B ${percent(p[B])}.`, "Calibrated")
            },
        },
        {
            id: "refused",
            build: () => [words("Whom does the bank refuse? Drag the line: above it, customers get no loan. Then change the calibrator.", "task"),
                choices(world, "fit", "Calibrator", [["none", "No calibrator"], ["platt", "Platt scaling"], ["isotonic", "Isotonic"]]),
                live(world, state => {
                    const { all, paid } = refused(fitted(state), Number(state.limit) / 100)
                    return `Above ${state.limit} %: ${counts(all, "customer")} refused, ${paid} of whom paid.`
                }, "finding"),
                after(world, state => tried() || state.limit !== "50",
                    live(world, ({ limit }) => {
                        const [old, now] = ["none", "platt"].map(fit => refused(world.after(fit), Number(limit) / 100))
                        return `Uncalibrated, ${old.all} are refused and ${old.paid} of them would have paid. With Platt scaling: ${now.all} and ${now.paid}.`
                    }),
                    words("A threshold on a risk makes sense only if the risk is true."))],
            view: stage => {
                const limit = Number(world.state.limit) / 100
                stage.handles("limit")
                stage.handle("limit", { at: [stage.px(limit), stage.plot.top + 14], along: "x", low: 0, high: 0.99, label: "Risk above which the bank refuses", now: limit, text: percent(limit),
                    move: to => world.drag("limit", String(Math.round(100 * to))) })
                showFit(stage, [["refuse", "rect", { class: "refuse", x: stage.px(limit), y: stage.plot.top, width: stage.px(1) - stage.px(limit), height: stage.plot.height }],
                    ["limit", "line", { class: "limit", x1: stage.px(limit), x2: stage.px(limit), y1: stage.plot.top, y2: stage.plot.top + stage.plot.height }]])
                const { all, paid } = refused(fitted(world.state), limit)
                stage.say(`Above ${percent(limit)}: ${all} refused, ${paid} of whom paid.`, "Refused customers")
            },
        },
    ] }
}
