// Part 6: a brush over the same dots finds the group for whom the repaired model is wrong.

const HISTORIES = ["paid well", "new", "late once", "late often"]
const POOREST = 6000, RICHEST = 130000, UNKNOWN = 0.12  // of the axis of income; left of it those who did not state it

function whomPart(world) {
    const { people } = world, n = people.p.length, q = world.after("platt"), spread = (i, by) => (i * by) % 1
    const across = people.income.map((income, i) => (income === null ? UNKNOWN * (0.1 + 0.66 * spread(i, 0.7548776662466927))
        : UNKNOWN + (1 - UNKNOWN) * Math.log(income / POOREST) / Math.log(RICHEST / POOREST)))
    const up = people.history.map((row, i) => (row + 0.12 + 0.76 * spread(i, 0.5698402909980532)) / 4)
    const hidden = people.income.map(income => income === null)
    const area = ({ brush }) => (brush ? brush.split("_").map(value => Number(value) / 100) : null)
    const inside = state => {
        const [left, right, low, high] = area(state) ?? [1, 0, 1, 0]
        return [...q.keys()].filter(i => across[i] >= left && across[i] <= right && up[i] >= low && up[i] <= high)
    }
    // What the group shows among these customers; its range is that of a right model, by chance.
    function group(chosen, y) {
        const rows = chosen.length, sum = total(chosen.map(i => q[i])), ones = total(chosen.map(i => y[i]))
        const [low, high] = rows ? consistency({ rows, sum }) : [0, 1]
        return { rows, sum, ones, low, high, out: rows > 0 && (ones / rows < low || ones / rows > high) }
    }
    const found = state => {
        const chosen = inside(state), hits = chosen.filter(i => hidden[i]).length
        return hits >= 0.8 * 114 && hits >= 0.8 * chosen.length
    }
    const describe = ({ rows, sum, ones, low, high, out }) => (rows < FEW ? "Fewer than ten customers: too few to say." :
        `${counts(rows, "customer")}: predicted ${percent(sum / rows)}, defaulted ${percent(ones / rows)}. For a right model, 95 of 100 such groups lie between ${percent(low)} and ${percent(high)}: ${out ? "this one does not." : "so does this one."}`)
    const others = state => {
        const set = world.other(100 + Number(state.again), people.truth), chosen = new Set(inside(state))
        const rows = set.who.map((i, k) => [i, set.y[k]]).filter(([i]) => chosen.has(i))
        const sum = total(rows.map(([i]) => q[i])), ones = total(rows.map(([, y]) => y))
        const [low, high] = rows.length ? consistency({ rows: rows.length, sum }) : [0, 1]
        return { rows: rows.length, sum, ones, low, high, out: rows.length > 0 && (ones / rows.length < low || ones / rows.length > high) }
    }
    const tries = state => Number(state.tried)
    function count() {
        if (found(world.state)) world.set("found", "1")
        world.set("tried", String(Math.min(999, tries(world.state) + 1)))
    }
    function brushed(corners, final) {
        const [[a, c], [b, d]] = corners, text = [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)].map(value => Math.round(100 * value)).join("_")
        world.drag("brush", text)
        if (final) count()
    }
    // A pointer draws a box; with the keyboard arrows move it, and Shift and arrows change its size.
    function brush(stage) {
        const made = stage.tool("brush", canvasOfBrush), { left, top, width, height } = stage.plot
        Object.assign(made.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
    }
    function canvasOfBrush() {
        const made = element("div", { class: "brush", role: "application", tabindex: 0, "aria-label": "Box over a group of customers: arrow keys move it, Shift and arrow keys change its size, Enter counts it" })
        let from = null
        const spot = event => { const box = made.getBoundingClientRect(); return [within((event.clientX - box.left) / box.width, 0, 1), within(1 - (event.clientY - box.top) / box.height, 0, 1)] }
        made.addEventListener("pointerdown", event => { from = spot(event) })
        made.addEventListener("pointermove", event => from && brushed([from, spot(event)]))
        made.addEventListener("pointerup", event => { if (from) brushed([from, spot(event)], true); from = null })
        made.addEventListener("keydown", event => {
            const [dx, dy] = { ArrowRight: [0.04, 0], ArrowLeft: [-0.04, 0], ArrowUp: [0, 0.04], ArrowDown: [0, -0.04] }[event.key] ?? []
            if (event.key === "Enter") return count()
            if (dx === undefined) return
            const [left, right, low, high] = area(world.state) ?? [0.5, 0.7, 0.3, 0.6], move = event.shiftKey ? 0 : 1
            brushed([[within(left + move * dx, 0, 1), within(low + move * dy, 0, 1)], [within(right + dx, 0, 1), within(high + dy, 0, 1)]])
            event.preventDefault()
        })
        return made
    }
    return { id: "whom", number: 6, name: "Whom it fails", steps: [{
        id: "whom",
        build: () => [heading(6, "Whom does it fail?"),
            words("With Platt scaling the model is right on average. Is it right for everybody? The dots now stand by income and payment history."),
            bet(world, 18),
            words("Draw a box over a group, as often as you like. With the keyboard: arrow keys, Shift and arrow keys, Enter.", "task"),
            live(world, state => (area(state) ? describe(group(inside(state), people.y)) : ""), "finding"),
            after(world, state => tries(state) > 0,
                live(world, state => (found(state) ? "These are the ones: the customers who did not state their income. The model treats the empty field almost as any other." : "Look for a group of 100 or more whose outcome lies far outside the range.")),
                words("If you try many boxes, some look wrong by chance. So ask customers who were not there when you chose the box."),
                element("p", {}, press("Ask other customers", () => world.set("again", String((Number(world.state.again) + 1) % 100)))),
                live(world, state => (Number(state.again) && area(state) ? `Others: ${describe(others(state))}` : ""), "finding"),
                element("p", {}, press("Show me the group", () => { world.set("brush", "0_11_0_100"); count() }))),
            after(world, () => world.settled(18),
                words("Among them 31 % were expected to default, and 46 % did. Others make up for this, so the diagram of all customers looks right. No curve of the risk alone can repair it; a model that uses the group can."))],
        view: stage => {
            const chosen = new Set(inside(world.state)), y = people.y
            stage.handles("brush")
            brush(stage)
            stage.dots({ place: i => [stage.px(across[i]), stage.py(up[i])], paint: i => (y[i] ? DEFAULT : PAID), size: stage.small() ? 2.4 : 4, still: world.dragging })
            const box = area(world.state)
            stage.ink([...keyOf(stage), ...axes(stage, "Income", "Payment history", { x: at => (at === 0 ? "not stated" : Math.round(POOREST * (RICHEST / POOREST) ** ((at - UNKNOWN) / (1 - UNKNOWN)) / 1000) + ",000"), y: null, ticks: stage.small() ? [0, 0.4, 0.7, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1] }),
                ...HISTORIES.flatMap((name, row) => [[`row${row}`, "line", { class: "grid", x1: stage.px(0), x2: stage.px(1), y1: stage.py(row / 4), y2: stage.py(row / 4) }],
                    [`history${row}`, "text", { class: "row", x: stage.px(1) - 6, y: stage.py((row + 1) / 4) + 16, "text-anchor": "end" }, name]]),
                ["stated", "line", { class: "grid", x1: stage.px(UNKNOWN * 0.86), x2: stage.px(UNKNOWN * 0.86), y1: stage.plot.top, y2: stage.plot.top + stage.plot.height }],
                ...(box ? [["box", "rect", { class: `box ${group([...chosen], y).out ? "out" : ""}`, x: stage.px(box[0]), y: stage.py(box[3]), width: (box[1] - box[0]) * stage.plot.width, height: (box[3] - box[2]) * stage.plot.height }]] : [])])
            stage.say(box ? describe(group([...chosen], y)) : "900 customers by income and payment history. Draw a box.", "Who are they?")
        },
    }] }
}
