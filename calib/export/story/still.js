// Part 7: the same customers come one week after the other. An ordinary test, and evidence, look every week.

const YEAR = 6, CHANGE = 25, TWENTY = Math.log(20)

function stillPart(world) {
    const q = world.after("platt"), tenths = tenthsOf(q), size = q.length / WEEKS, years = new Map()
    const year = (seed, change) => {
        const key = `${seed} ${change}`
        if (!years.has(key)) years.set(key, yearOf(q, tenths, seed, change))
        return years.get(key)
    }
    const shown = ({ kind }) => year(YEAR, kind === "calm" ? WEEKS : CHANGE)
    const first = all => all.findIndex(Boolean) + 1
    const tests = (of, week = WEEKS) => of.tests.slice(0, week).map(value => value < 0.05)
    const alarms = (of, week = WEEKS) => of.evidence.slice(0, week).map(value => value >= TWENTY)
    const others = count => Array.from({ length: Number(count) }, (_, k) => year(100 + k, WEEKS))
    let timer = null
    const button = press("Play", () => (timer ? pause() : play()))
    function pause() {
        clearInterval(timer)
        timer = null
        button.textContent = "Play"
    }
    function play() {
        if (world.state.week === "50") world.set("week", "0")
        button.textContent = "Pause"
        timer = setInterval(() => {
            const next = Number(world.state.week) + 1
            if (next > WEEKS || world.now() !== "still") return pause()
            visit(String(next))
            world.set("week", String(next))
            if (next === WEEKS) pause()
        }, 160)
    }
    const visit = week => Number(week) > Number(world.state.weeks) && world.set("weeks", week)
    const reached = ({ weeks }) => Number(weeks) >= WEEKS
    const odds = value => (Math.exp(value) < 10 ? Math.exp(value).toFixed(1) : value > Math.log(1e6) ? "over a million" : Math.round(Math.exp(value)).toLocaleString("en"))
    const tell = state => {
        const week = Number(state.week), of = shown(state)
        if (!week) return "The year has not begun."
        const test = first(tests(of, week)), alarm = first(alarms(of, week))
        return `Week ${week}: ${test ? `the test raised its first alarm in week ${test}` : "no alarm of the test"}. The evidence is ${odds(of.evidence[week - 1])}${alarm ? `; it reached 20 in week ${alarm}.` : "; 20 would be an alarm."}`
    }
    const counted = count => {
        const all = others(count), wolf = all.filter(of => first(tests(of))).length, right = all.filter(of => first(alarms(of))).length
        return { all: all.length, wolf, right, range: all.length ? wilson(wolf, all.length) : [0, 1] }
    }
    const ended = state => {
        const of = shown(state), test = first(tests(of)), alarm = first(alarms(of)), after = CHANGE + first(tests(of).slice(CHANGE))
        return state.kind === "calm" ? `The model was right all year. The alarm in week ${test} was false. This year was chosen as an example: how often does this happen?`
            : `In week ${CHANGE + 1}, the odds of default rose to ${Math.exp(WORSE).toFixed(1)} times; the evidence noticed after ${counts(alarm - CHANGE, "week")}, in week ${alarm}. The test’s first alarm, in week ${test}, came before anything had changed: it was false.${after < alarm ? ` After the change the test was quicker, with an alarm in week ${after}; but it looks like a false one.` : ""}`
    }
    return { id: "still", number: 7, name: "Still true?", steps: [
        {
            id: "still",
            build: () => [heading(7, "Is it still true?"),
                words("The bank now uses its model with Platt scaling for a year. Suppose that its risks are now right for every group, too: the outcomes here are drawn from them."),
                words("Each week, 18 of the customers come. After each week, two methods ask: are the risks still right?"),
                words("The *Hosmer–Lemeshow test* compares predicted and observed defaults in ten groups of all customers so far. Its p-value is the probability of a difference at least as large if the risks are right; below 5 %, it raises an alarm."),
                words(`*Evidence* is a bet against the model. You start with €1, spread over ${LINE_BETS.length + MEMORIES.length} rival predictions: risks that are higher, lower, more extreme, less extreme, or fitted to past weeks. The evidence is what you own; €20 is an alarm.`),
                live(world, tell, "finding"),
                after(world, ({ weeks }) => Number(weeks) > 0,
                    live(world, state => (reached(state) ? ended(state) : "")),
                    words("If the model is right, each bet is fair: on average you keep your €1. So you ever reach €20 with a probability of at most 1 in 20, no matter how often you look. The test promises 5 % for a single look."))],
            dock: () => [choices(world, "kind", "Year", [["calm", "Model stays right"], ["worse", "Risks rise in week 26"]]),
                row(slider(world, "week", "Week", 0, WEEKS, visit), button)],
            view: stage => {
                const { state } = world, of = shown(state), week = Number(state.week), { left, top, width, height } = stage.plot
                const x = k => left + width * (k + 0.5) / WEEKS, foot = top + height * 0.46, low = Math.log(0.05), high = Math.log(1000)
                const at = value => foot - (within(value, low, high) - low) / (high - low) * (foot - top - 40)
                const place = Array(q.length), cell = (top + height - foot - 26) / size
                for (let k = 0; k < WEEKS; k++) {
                    const who = of.order.map((i, j) => j).slice(k * size, (k + 1) * size)
                    const ranked = [...who.filter(j => of.y[j]), ...who.filter(j => !of.y[j])]
                    ranked.forEach((j, rank) => { place[of.order[j]] = { at: [x(k), top + height - (rank + 0.5) * cell], week: k, label: of.y[j] } })
                }
                stage.handles()
                stage.dots({ place: i => place[i].at, paint: i => (place[i].week >= week ? DIM : place[i].label ? DEFAULT : PAID), size: Math.min(cell * 0.42, width / WEEKS * 0.42), still: world.dragging })
                const path_ = of.evidence.slice(0, week).map((value, k) => [x(k), at(value)]), wide = width / WEEKS, cut = of.evidence.slice(0, week).findIndex(value => value > high)
                stage.ink([...keyOf(stage, [["alarm", "alarm"], ["default", "defaulted"], ["paid", "repaid"]]), ["name", "text", { class: "name", x: left, y: top - 7 }, stage.small() ? "Test" : "Test after each week"],
                    ...tests(of, week).map((alarm, k) => [`test${k}`, "rect", { class: alarm ? "alarm" : "calm", x: x(k) - wide * 0.4, y: top + 3, width: wide * 0.8, height: 11, rx: 2 }]),
                    ["name2", "text", { class: "name", x: left, y: top + 34 }, stage.small() ? "Evidence" : "Evidence against the model"],
                    ["limit", "line", { class: "limit dashed", x1: left, x2: left + width, y1: at(TWENTY), y2: at(TWENTY) }],
                    ["alarm", "text", { class: "tick", x: left - 6, y: at(TWENTY) + 4, "text-anchor": "end" }, "20"],
                    ["most", "text", { class: "tick", x: left - 6, y: at(high) + 4, "text-anchor": "end" }, "1,000"],
                    ["one", "text", { class: "tick", x: left - 6, y: at(0) + 4, "text-anchor": "end" }, "1"],
                    ["begin", "line", { class: "grid", x1: left, x2: left + width, y1: at(0), y2: at(0) }],
                    ["line", "path", { class: "evidence", d: path(cut < 0 ? path_ : path_.slice(0, cut + 1)) }],
                    ...(cut < 0 ? [] : [["beyond", "path", { class: "evidence beyond", d: path(path_.slice(cut)) }],
                        ["off", "text", { class: "call", x: left + width, y: top + 34, "text-anchor": "end" }, `↑ off the scale: ${odds(of.evidence[week - 1])}`]]),
                    ...(state.kind === "worse" ? [["change", "line", { class: "limit", x1: x(CHANGE - 0.5), x2: x(CHANGE - 0.5), y1: top, y2: top + height }], ["changed", "text", { class: "tick", x: x(CHANGE - 0.5) + 5, y: foot + 2 }, "risks rise"]] : []),
                    ...[1, 10, 20, 30, 40, 50].map(k => [`week${k}`, "text", { class: "tick", x: x(k - 1), y: top + height + 17, "text-anchor": "middle" }, String(k)]),
                    ["weeks", "text", { class: "name", x: left + width / 2, y: top + height + (stage.small() ? 34 : 40), "text-anchor": "middle" }, "Week"]])
                stage.say(tell(state), "One week after the other")
            },
        },
        {
            id: "years", asks: [19],
            build: () => [words("How often does the weekly test raise a false alarm? Look at other years in which the model is right all the time."),
                bet(world, 19),
                after(world, ({ years: count }) => Number(count) > 0,
                    live(world, ({ years: count }) => {
                        const { all, wolf, right, range } = counted(count)
                        return `In ${all} years, the test raised a false alarm in ${wolf} (${percent(wolf / all)}; 95 % interval ${percent(range[0])} to ${percent(range[1])}). The evidence did so in ${right}.`
                    }, "finding"),
                    words("One look at the 5 % level raises a false alarm with a probability of about 5 %. Fifty looks at all customers so far are fifty chances, which overlap: in 2,000 simulated years, 36 % had one (34 to 38 %). Evidence allows any number of looks."))],
            dock: () => [row(...pressUpTo(world, "Watch 20 other years", "Watch all 100", "years", 20, 100, "years"))],
            view: stage => {
                const count = Number(world.state.years), all = others(count), { size: { width, height } } = stage, step = Math.min(width / 24, height / 13)
                const top = Math.max(0, (height - 12 * step) / 2)
                const spot = (k, side) => [width * (side ? 0.75 : 0.25) + (k % 10 - 4.5) * step, top + (Math.floor(k / 10) + 2.4) * step]
                stage.handles()
                stage.dots({ place: i => (i < 2 * count ? spot(i >> 1, i & 1) : [width / 2, height + 30]), size: step * 0.34,
                    paint: i => (i >= 2 * count ? NEUTRAL : first(i & 1 ? alarms(all[i >> 1]) : tests(all[i >> 1])) ? ALARM : CALM) })
                stage.ink([...["Weekly test", "Evidence"].map((title, side) => [`title${side}`, "text", { class: "title", x: width * (side ? 0.75 : 0.25), y: top + step, "text-anchor": "middle" }, title]),
                    ...Array.from({ length: 2 * (100 - count) }, (_, k) => { const [x, y] = spot(count + (k >> 1), k & 1); return [`next${k}`, "circle", { class: "next", cx: x, cy: y, r: step * 0.34 }] }),
                    ...[["alarm", "year with a false alarm"], ["calm", "year without"]].flatMap(([kind, name], k) => [[`key${k}`, "circle", { class: kind, cx: width / 2 + (k ? 50 : -140), cy: top + 12.6 * step - 4, r: 6 }], [`named${k}`, "text", { class: "tick", x: width / 2 + (k ? 62 : -128), y: top + 12.6 * step }, name]])])
                const { wolf, right } = counted(count)
                stage.say(count ? `${count} years with a right model: a false alarm of the test in ${wolf}, of the evidence in ${right}.` : "No year watched yet.", "Other years")
            },
        },
    ] }
}
