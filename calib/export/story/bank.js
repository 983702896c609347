// Part 2: the bank's customers, two marks to drag, and what they cost.

const BANK_BINS = 5, SEVENTY = 3, COST = 1000  // euros that a default costs

// The diagram of the bank with the outcomes of the bins that are ``known``.
function showBank(world, stage, known, more = []) {
    const { p, y } = world.people, cells = world.cells, bin = i => Math.min(4, Math.floor(p[i] * 5 + 1e-9))
    const place = columns(stage, { p, y: y.map((label, i) => (known(bin(i)) ? label : 0)), bins: BANK_BINS })
    stage.dots({ place, paint: i => (known(bin(i)) ? (y[i] ? DEFAULT : PAID) : NEUTRAL), size: stage.small() ? 2 : 3.2 })
    const shown = cells.map((cell, k) => (known(k) ? cell : { ...cell, rows: 0 })), all = shown.every(({ rows }) => rows)
    stage.ink([...keyOf(stage, [...(all ? [] : [["neutral", "unknown"]]), ["default", "defaulted"], ["paid", "repaid"]]), ...axes(stage, "Predicted risk of default", "Share that defaulted"), ...diagonalOf(stage),
        ...levels(stage, shown), ...marksOf(stage, shown, "mark", 618), ...more])
}

// A mark that waits below the axis until it is dragged; where it lies after that is the reader's guess.
function guess(world, stage, name, bin) {
    const { state, trial } = world, cell = world.cells[bin], at = cell.sum / cell.rows
    const fixed = state[name] !== "", value = fixed ? Number(state[name]) / 100 : trial[name] ?? null
    if (state[name] === "x") return []
    const tray = stage.plot.top + stage.plot.height + (stage.small() ? 18 : 24)
    stage.handle(name, {
        at: [stage.px(at), value === null ? tray : stage.py(value)], along: "y", low: 0, high: 1,
        label: `Share of the ${counts(cell.rows, "customer")} that defaulted`, now: value ?? 0, fixed,
        text: value === null ? "not placed yet" : `${Math.round(100 * value)} %`,
        move: to => { trial[name] = Math.round(100 * to) / 100; world.redraw() },
        done: () => trial[name] !== undefined && world.set(name, String(Math.round(100 * trial[name]))),
    })
    const truth = cell.ones / cell.rows, right = at > 0.5
    return value === null ? [["lift", "text", { x: stage.px(at) + (right ? 0 : 26), y: tray + (right ? -26 : -22), class: "call", "text-anchor": right ? "middle" : "start" }, "drag me up"]]
        : [["guess", "text", { x: stage.px(at) + (right ? -18 : 18), y: stage.py(value) + 5, class: "call", "text-anchor": right ? "end" : "start" }, `your guess: ${Math.round(100 * value)} %`],
            ...(fixed ? [["gap", "line", { class: "gap", x1: stage.px(at), x2: stage.px(at), y1: stage.py(value), y2: stage.py(truth) }]] : [])]
}

function bankPart(world) {
    const placed = name => state => state[name] !== ""
    const [low, , , risky] = world.cells, rate = risky.ones / risky.rows, euros = n => `€${(n * COST).toLocaleString("en")}`
    const ask = (name, n) => [live(world, state => (placed(name)(state) ? "" : `Drag the mark up to the share of these ${n} customers that you expect to default.`), "task"),
        live(world, state => (placed(name)(state) ? "" : "Or press Tab to reach the mark, then use the arrow keys and Enter."), "keys")]
    const against = (mark, { rows, ones }) => Math.round(mark / 100 * rows) - ones
    return { id: "bank", number: 2, name: "The bank", steps: [
        {
            id: "bank",
            build: () => [heading(2, "The bank"),
                words("Each dot is one of 900 customers of a bank. A model has predicted for each the risk of *default*: that the loan is not paid back. Each dot stands above this risk, in one of five columns. Its height means nothing yet."),
                words("You do not see the outcomes yet. First say what you expect. Then those who defaulted drop to the bottom of their column, and its mark is where they end.", "hint")],
            view: stage => { stage.handles(); showBank(world, stage, () => false); stage.say("900 customers in five columns by their predicted risk: 618, 126, 74, 49 and 33.", "The bank") },
        },
        {
            id: "seventy", asks: [10], place: "mark",
            build: () => [bet(world, 10),
                after(world, placed("mark"),
                    live(world, ({ mark }) => {
                        const model = `the model’s ${percent(risky.sum / risky.rows)} ${points(between(risky.sum / risky.rows, rate))} too high`
                        const result = `${risky.ones} of the 49 defaulted: ${percent(rate)}. `
                        if (mark === "x") return `${result}That makes ${model}.`
                        const off = between(Number(mark) / 100, rate), many = Math.abs(against(mark, risky))
                        return `${result}Your ${mark} % was ${off ? `${points(off)} too ${off > 0 ? "high" : "low"} (${counts(many, "customer")})` : "exactly right"}, ${model}.`
                    }, "finding"),
                    words(`Suppose a default costs the bank €1,000 and a repaid loan earns €1,000. Lending then pays below a risk of 50 %, so the bank refuses all 49. But ${risky.rows - risky.ones} of them pay back: lending would have earned ${euros(risky.rows - 2 * risky.ones)}.`),
                    words("A mark below the diagonal means that the model *overestimates* these risks."))],
            dock: () => ask("mark", 49),
            view: (stage, asked) => {
                const done = placed("mark")(world.state)
                stage.handles(...(asked ? ["mark"] : []))
                showBank(world, stage, bin => done && bin === SEVENTY, asked ? guess(world, stage, "mark", SEVENTY) : [])
                stage.say(done ? `The dots of the fourth column have dropped: ${risky.ones} of 49 defaulted, ${percent(rate)}.` : "The fourth column holds 49 customers with risks near 70 %.", "The bank")
            },
        },
        {
            id: "money", asks: [11], place: "money",
            build: () => [
                words(`The bank lends to the 618 customers in the first column. Their mean risk is 5.5 %, so it expects ${Math.round(low.sum)} defaults. Each costs €1,000: the bank sets aside ${euros(Math.round(low.sum))}.`),
                bet(world, 11),
                after(world, placed("money"),
                    live(world, ({ money }) => {
                        const result = `${low.ones} of the 618 defaulted: ${percent(low.ones / low.rows)}. The bank is ${euros(low.ones - Math.round(low.sum))} short`
                        if (money === "x") return `${result}.`
                        const off = against(money, low)
                        return `${result}; with your ${money} % it would ${off < 0 ? `be ${euros(-off)} short` : off ? `have ${euros(off)} too much` : "have exactly enough"}.`
                    }, "finding"),
                    words("Low risks are too low and high risks too high: the model is *overconfident*. It took coincidences in its training data for patterns."))],
            dock: () => ask("money", 618),
            view: (stage, asked) => {
                const done = placed("money")(world.state)
                stage.handles(...(asked ? ["money"] : []))
                showBank(world, stage, bin => done || (bin === SEVENTY && world.state.mark !== ""), asked ? guess(world, stage, "money", 0) : [])
                stage.say(done ? `All dots have dropped. The first mark is above the diagonal, at ${percent(low.ones / low.rows)} instead of 5.5 %; the marks at 50, 70 and 86 % are below it.` : "The first column holds 618 customers.", "The bank")
            },
        },
    ] }
}
