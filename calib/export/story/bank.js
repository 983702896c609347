// Part 2: the bank's customers, two marks to drag, and what they cost.

const BANK_BINS = 5, SEVENTY = 3

// The diagram of the bank with the outcomes of the bins that are ``known``.
function showBank(world, stage, known, more = []) {
    const { p, y } = world.people, cells = world.cells, bin = i => Math.min(4, Math.floor(p[i] * 5 + 1e-9))
    const place = columns(stage, { p, y: y.map((label, i) => (known(bin(i)) ? label : 0)), bins: BANK_BINS })
    stage.dots({ place, paint: i => (known(bin(i)) ? (y[i] ? DEFAULT : PAID) : NEUTRAL), size: stage.small() ? 2 : 3.2 })
    const shown = cells.map((cell, k) => (known(k) ? cell : { ...cell, rows: 0 }))
    stage.ink([...keyOf(stage), ...axes(stage, "Risk of default that the model states", "Share that defaulted"), ...diagonalOf(stage),
        ...levels(stage, shown), ...marksOf(stage, shown, "mark", 618), ...more])
}

// A mark that waits below the axis until it is dragged; where it lies after that is the reader's guess.
function guess(world, stage, name, bin, noun) {
    const { state, trial } = world, cell = world.cells[bin], at = cell.sum / cell.rows
    const value = state[name] !== "" ? Number(state[name]) / 100 : trial[name] ?? null
    const tray = stage.plot.top + stage.plot.height + (stage.small() ? 18 : 24)
    stage.handle(name, {
        at: [stage.px(at), value === null ? tray : stage.py(value)], along: "y", low: 0, high: 1,
        label: `Share of the ${counts(cell.rows, "customer")} that defaulted`, now: value ?? 0, fixed: state[name] !== "",
        text: value === null ? "not placed yet" : `${Math.round(100 * value)} %`,
        move: to => { trial[name] = Math.round(100 * to) / 100; world.redraw() },
        done: () => trial[name] !== undefined && world.set(name, String(Math.round(100 * trial[name]))),
    })
    const truth = cell.ones / cell.rows
    return value === null ? [["lift", "text", { x: stage.px(at), y: tray - 26, class: "call", "text-anchor": "middle" }, "drag me up"]]
        : [["guess", "text", { x: stage.px(at) + (at > 0.5 ? -16 : 16), y: stage.py(value) + 5, class: "call", "text-anchor": at > 0.5 ? "end" : "start" }, `${Math.round(100 * value)} % ${noun}`],
            ...(state[name] === "" ? [] : [["gap", "line", { class: "gap", x1: stage.px(at), x2: stage.px(at), y1: stage.py(value), y2: stage.py(truth) }]])]
}

function bankPart(world) {
    const placed = name => state => state[name] !== ""
    const [low, , , risky] = world.cells
    return { id: "bank", number: 2, name: "The bank", steps: [
        {
            id: "bank",
            build: () => [heading(2, "The bank"),
                words("The dots are 900 customers of a bank. A model states for each the risk of *default*: of not paying a loan back. They stand in five columns, from low risks to high ones."),
                words("Nobody has looked at the outcomes yet. You look first.", "hint")],
            view: stage => { stage.handles(); showBank(world, stage, () => false); stage.say("900 customers in five columns by their risk: 618, 126, 74, 49 and 33.", "The bank") },
        },
        {
            id: "seventy",
            build: () => [bet(world, 10),
                words("Drag the mark to the share of these 49 customers that defaulted. With the keyboard: arrow keys, then Enter.", "task"),
                after(world, placed("mark"),
                    live(world, ({ mark }) => `You placed it at ${mark} %. Of the 49 customers with a risk near 70 %, only 13 defaulted: 27 %.`, "finding"),
                    words(`A bank that refuses loans above 50 % refuses all 49, although ${risky.rows - risky.ones} of them pay. A mark below the diagonal means that the risks are too high there.`))],
            view: stage => {
                const done = placed("mark")(world.state)
                stage.handles("mark")
                showBank(world, stage, bin => done && bin === SEVENTY, guess(world, stage, "mark", SEVENTY, "expected"))
                stage.say(done ? "The dots of the fourth column have dropped: 13 of 49 defaulted, 27 %." : "A mark to drag in the column of 70 %.", "The bank")
            },
        },
        {
            id: "money",
            build: () => [bet(world, 11),
                words(`The bank lends to the 618 customers below 20 %. Their mean risk is 5.5 %, so it expects ${Math.round(low.sum)} defaults, and sets money aside for them. Drag the mark to what you expect now.`, "task"),
                after(world, placed("money"),
                    live(world, ({ money }) => `You placed it at ${money} %, the model at 5.5 %. There were ${low.ones} defaults: 15 %.`, "finding"),
                    words(`Money for ${Math.round(low.sum)} defaults pays about a third of ${low.ones}. Low risks are too low and high ones too high: the model is *overconfident*. It has learnt coincidences of its training data.`))],
            view: stage => {
                const done = placed("money")(world.state)
                stage.handles("money")
                showBank(world, stage, bin => done || (bin === SEVENTY && world.state.mark !== ""), guess(world, stage, "money", 0, "expected"))
                stage.say(done ? "All dots have dropped. The first mark is above the diagonal, at 15 % instead of 5.5 %; the marks at 50, 70 and 86 % are below it." : "A mark to drag in the first column.", "The bank")
            },
        },
    ] }
}
