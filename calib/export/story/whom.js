// Part 6: a brush over the same dots finds the group for whom the repaired model is wrong.

const HISTORIES = ["paid well", "new", "late once", "late often"]
const TAP = 6  // pixels within which a press is a tap
const SHOWN = "00_11_0_100"  // the box of "Show me": no box that a reader draws is written with 00
const LEAST = 101, GAP = 0.1  // a group that the model fails: customers, and by how much its risk is too low
const POOREST = 6000, RICHEST = 130000, UNKNOWN = 0.12  // of the axis of income; left of it those who did not state it

function whomPart(world) {
    const { people } = world, n = people.p.length, q = world.after("platt"), spread = (i, by) => (i * by) % 1
    const across = people.income.map((income, i) => (income === null ? UNKNOWN * (0.1 + 0.66 * spread(i, 0.7548776662466927))
        : UNKNOWN + (1 - UNKNOWN) * Math.log(income / POOREST) / Math.log(RICHEST / POOREST)))
    const up = people.history.map((row, i) => (row + 0.12 + 0.76 * spread(i, 0.5698402909980532)) / 4)
    const hidden = people.income.map(income => income === null)
    const sides = ({ brush }) => (brush ? brush.split("_").map(value => Number(value) / 100) : [])
    // A box without a size is the first of two corners.
    const area = state => { const [left, right, low, high] = sides(state); return right > left || high > low ? [left, right, low, high] : null }
    const corner = state => (area(state) || !state.brush ? null : [sides(state)[0], sides(state)[2]])
    const boxed = kept(brush => {
        const [left, right, low, high] = area({ brush }) ?? [1, 0, 1, 0]
        return [...q.keys()].filter(i => across[i] >= left && across[i] <= right && up[i] >= low && up[i] <= high)
    })
    const inside = ({ brush }) => boxed(brush)
    // What a group shows; its range is that of correct risks, by chance.
    function judged(rows, sum, ones) {
        const [low, high] = rows ? consistency({ rows, sum }) : [0, 1]
        return { rows, sum, ones, low, high, out: rows > 0 && (ones / rows < low || ones / rows > high) }
    }
    const group = (chosen, y) => judged(chosen.length, total(chosen.map(i => q[i])), total(chosen.map(i => y[i])))
    const those = test => group([...q.keys()].filter(test), people.y)
    // Any box is right that holds enough customers, whose risk is far too low, by more than chance gives.
    const right = ({ rows, sum, ones, out }) => rows >= LEAST && (ones - sum) / rows >= GAP && out
    const describe = ({ rows, sum, ones, low, high }) => (rows < FEW ? "Fewer than ten customers: too few to say." :
        `${counts(rows, "customer")}: predicted ${decimal(sum / rows)}, defaulted ${decimal(ones / rows)}. With correct risks, chance gives ${decimal(low)} to ${decimal(high)}.`)
    const silent = hidden.filter(Boolean).length, hits = state => inside(state).filter(i => hidden[i]).length
    function verdict(state) {
        const now = group(inside(state), people.y), gap = (now.ones - now.sum) / now.rows, off = apart(now.ones / now.rows, now.sum / now.rows)
        if (now.rows < FEW) return "Draw a larger box."
        if (right(now)) {
            const got = hits(state), others = now.rows - got
            const all = `${state.brush === SHOWN ? "Here it is" : "You found it"}: the risk of these ${now.rows} customers is ${off} points too low. `
            if (got < silent / 5) return `${all}${got ? `Only ${got}` : "None"} of them belong to the ${silent} customers without a stated income, the group that is hidden here. Test your box on others.`
            return all + (got === silent && !others ? `They are exactly the ${silent} customers who did not state their income.`
                : `The box holds ${got} of the ${silent} customers who did not state their income${others ? `, and ${others} others` : ""}; the ${silent} are a group that the model fails.`)
        }
        const near = hits(state) >= silent / 2 && 3 * hits(state) > now.rows ? " But you are close." : ""
        if (now.rows >= LEAST) return `${gap < 0 ? `Here the risk is ${off} points too high` : `The risk is ${off} points too low`}; we look for at least 10 points too low.${near}`
        return now.out && gap >= GAP ? `The risk is ${off} points too low: a good place. But the box holds ${now.rows} customers, and we look for more than 100.`
            : `The box holds ${now.rows} customers; we look for more than 100, with a risk at least 10 points too low.${near}`
    }
    // A gap that was chosen is usually smaller among others.
    const repeated = state => { const first = group(inside(state), people.y), other = others(state); return other.out && (first.ones - first.sum) * (other.ones - other.sum) > 0 }
    function shrunk(state) {
        const [before, now] = [group(inside(state), people.y), others(state)].map(({ rows, sum, ones }) => apart(ones / rows, sum / rows))
        return `You chose a box with a gap of ${before} points. Among other customers, it is ${now} points.${Number(now) < Number(before) ? " Gaps that were chosen usually shrink." : ""}`
    }
    const others = state => drawn(`${state.again} ${state.brush}`)
    const drawn = kept(key => {
        const [again, brush] = key.split(" "), set = world.other(100 + Number(again), people.truth), chosen = new Set(boxed(brush))
        const rows = set.who.map((i, k) => [i, set.y[k]]).filter(([i]) => chosen.has(i))
        return judged(rows.length, total(rows.map(([i]) => q[i])), total(rows.map(([, y]) => y)))
    })
    const task = live(world, state => (corner(state) ? "Now tap the opposite corner." : Number(state.again) && area(state) ? ""
        : area(state) ? "Draw another box, or test this one on others." : "Drag sideways, or tap two corners: find a group that defaults more than predicted."), "task")
    put(task, "role", "status")
    const tries = state => Number(state.tried)
    function count() {
        if (right(group(inside(world.state), people.y))) world.set("found", "1")
        world.set("again", "0")
        world.set("tried", String(Math.min(999, tries(world.state) + 1)))
    }
    function brushed(corners, final) {
        const [[a, c], [b, d]] = corners, text = [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)].map(value => Math.round(100 * value)).join("_")
        world.drag("brush", text)
        if (final) count()
    }
    // A pointer draws a box, or taps two of its corners; a finger that moves up or down scrolls the page instead. With the
    // keyboard arrows move the box, and Shift and arrows change its size.
    function brush(stage) {
        const made = stage.tool("brush", canvasOfBrush), { left, top, width, height } = stage.plot
        Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
    }
    function canvasOfBrush() {
        const made = element("div", { class: "brush", role: "application", tabindex: 0, "aria-label": "Box over a group of customers: arrow keys move it, Shift and arrow keys change its size, Enter counts it" })
        let from = null, before = "", moved = false
        const begin = event => { from = event && spot(event); before = world.state.brush; moved = false; dragging(Boolean(event)) }
        const spot = event => { const box = made.getBoundingClientRect(); return [within((event.clientX - box.left) / box.width, 0, 1), within(1 - (event.clientY - box.top) / box.height, 0, 1)] }
        const far = ([x, y], event) => { const { width, height } = made.getBoundingClientRect(), [a, b] = spot(event); return Math.hypot((a - x) * width, (b - y) * height) > TAP }
        made.addEventListener("pointerdown", event => { begin(event); made.setPointerCapture(event.pointerId) })
        made.addEventListener("pointermove", event => {
            moved ||= from && far(from, event)
            if (moved) brushed([from, spot(event)])
        })
        made.addEventListener("pointerup", event => {
            if (!from) return
            const first = moved ? from : corner(world.state)
            first ? brushed([first, spot(event)], true) : brushed([from, from])
            begin(null)
        })
        made.addEventListener("pointercancel", () => { if (moved) world.drag("brush", before); begin(null) })
        made.addEventListener("keydown", event => {
            const [dx, dy] = { ArrowRight: [0.04, 0], ArrowLeft: [-0.04, 0], ArrowUp: [0, 0.04], ArrowDown: [0, -0.04] }[event.key] ?? []
            if (event.key === "Enter") return count()
            if (dx === undefined) return
            const [left, right, low, high] = area(world.state) ?? [0.5, 0.7, 0.3, 0.6]
            const x = within(dx, event.shiftKey ? left - right : -left, 1 - right), y = within(dy, event.shiftKey ? low - high : -low, 1 - high)
            brushed([event.shiftKey ? [left, low] : [left + x, low + y], [right + x, high + y]])
            event.preventDefault()
        })
        return made
    }
    return { id: "whom", number: 6, name: "Whom it fails", steps: [{
        id: "whom", asks: [18],
        build: () => [heading(6, "Whom does it fail?"),
            words("After Platt scaling, the predicted risks are right on average. Are they right for everybody? The dots are now arranged by income and payment history."),
            bet(world, 18),
            live(world, state => (area(state) ? describe(group(inside(state), people.y)) : ""), "finding"),
            after(world, state => tries(state) > 0,
                live(world, verdict),
                live(world, state => `${counts(tries(state), "box", "boxes")} tried. Of many boxes, about 1 in 20 looks wrong by chance alone. So test yours on customers who were not there when you chose it.`)),
            live(world, state => (Number(state.again) && area(state) && repeated(state) ? shrunk(state) : "")),
            after(world, () => world.settled(18),
                live(world, () => {
                    const { sum, ones } = those(i => hidden[i])
                    return `For the ${silent} customers without a stated income, the model predicts ${decimal(sum / silent)}; ${decimal(ones / silent)} defaulted. The rest balance this, so the diagram of all customers looks right.`
                }),
                live(world, () => {
                    const failed = HISTORIES.map((name, row) => ({ name, ...those(i => people.history[i] === row) })).filter(({ out }) => out)
                    return `It is not the only group: ${failed.map(({ name, rows, sum, ones }) => `for “${name}” it predicts ${decimal(sum / rows)}, and ${decimal(ones / rows)} defaulted`).join("; ")}.`
                }),
                words("No curve of the risk alone can repair this. A model that treats such groups separately can."))],
        dock: () => [row(press("Test on others", () => (area(world.state) ? world.set("again", String(Number(world.state.again) % 99 + 1)) : rich(task, "First draw a box over the dots. Then test it."))),
                press("Show me", () => { world.set("brush", SHOWN); world.set("found", "1"); world.set("again", "0") })), task,
            live(world, state => (Number(state.again) && area(state) ? `Other customers in this box: ${describe(others(state))} ${repeated(state) ? "The gap is there again." : "So this gap may be chance."}` : ""), "result"),
            words("Keys: arrows move the box, Shift and arrows resize it, Enter checks it.", "keys")],
        view: (stage, asked) => {
            const chosen = new Set(inside(world.state)), y = people.y
            stage.handles(...(asked ? ["brush"] : []))
            if (asked) brush(stage)
            stage.dots({ place: i => [stage.px(across[i]), stage.py(up[i])], paint: i => (y[i] ? DEFAULT : PAID), size: stage.small() ? 2.4 : 4, still: world.dragging })
            const box = area(world.state), first = corner(world.state)
            stage.ink([...keyOf(stage), ...axes(stage, "Income in euros", "Payment history", { x: at => Math.round(POOREST * (RICHEST / POOREST) ** ((at - UNKNOWN) / (1 - UNKNOWN)) / 1000) + ",000", y: null, ticks: stage.small() ? [0.4, 0.7, 1] : [0.2, 0.4, 0.6, 0.8, 1] }),
                ...(stage.small() ? ["not", "stated"] : ["not stated"]).map((name, k) => [`none${k}`, "text", { class: "tick", x: stage.px(UNKNOWN * 0.43), y: stage.plot.top + stage.plot.height + 17 + 13 * k, "text-anchor": "middle" }, name]),
                ...HISTORIES.flatMap((name, row) => [[`row${row}`, "line", { class: "grid", x1: stage.px(0), x2: stage.px(1), y1: stage.py(row / 4), y2: stage.py(row / 4) }],
                    [`history${row}`, "text", { class: "row", x: stage.px(1) - 6, y: stage.py((row + 1) / 4) + 16, "text-anchor": "end" }, name]]),
                ["stated", "line", { class: "grid", x1: stage.px(UNKNOWN * 0.86), x2: stage.px(UNKNOWN * 0.86), y1: stage.plot.top, y2: stage.plot.top + stage.plot.height }],
                ...(box ? [["box", "rect", { class: `box ${group([...chosen], y).out ? "out" : ""}`, x: stage.px(box[0]), y: stage.py(box[3]), width: (box[1] - box[0]) * stage.plot.width, height: (box[3] - box[2]) * stage.plot.height }]] : []),
                ...(first ? [["corner", "circle", { class: "box", cx: stage.px(first[0]), cy: stage.py(first[1]), r: 7 }]] : [])])
            stage.say(box ? describe(group([...chosen], y)) : "900 customers by income and payment history. Draw a box.", "Groups of customers")
        },
    }] }
}
