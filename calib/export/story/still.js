// Part 7: the same customers come one week after the other. An ordinary test, and evidence, look every week.

const YEAR = 6, CHANGE = 25, ALARM = Math.log(20)

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
    const alarms = (of, week = WEEKS) => of.evidence.slice(0, week).map(value => value >= ALARM)
    const others = count => Array.from({ length: Number(count) }, (_, k) => year(100 + k, WEEKS))
    let timer = null
    function play() {
        clearInterval(timer)
        if (world.state.week === "50") world.set("week", "0")
        timer = setInterval(() => {
            const next = Number(world.state.week) + 1
            if (next > WEEKS || world.now() !== "still") return clearInterval(timer)
            visit(String(next))
            world.set("week", String(next))
        }, 160)
    }
    const visit = week => Number(week) > Number(world.state.weeks) && world.set("weeks", week)
    const reached = ({ weeks }) => Number(weeks) >= WEEKS
    const odds = value => (Math.exp(value) < 10 ? Math.exp(value).toFixed(1) : value > Math.log(1e6) ? "over a million" : Math.round(Math.exp(value)).toLocaleString("en"))
    const tell = state => {
        const week = Number(state.week), of = shown(state)
        if (!week) return "The year has not begun."
        const test = first(tests(of, week)), alarm = first(alarms(of, week))
        return `Week ${week}: evidence ${odds(of.evidence[week - 1])}. ${test ? `The test first raised an alarm in week ${test}` : "No alarm of the test"}; ${alarm ? `the evidence reached 20 in week ${alarm}.` : "the evidence has not reached 20."}`
    }
    const counted = count => {
        const all = others(count), wolf = all.filter(of => first(tests(of))).length, right = all.filter(of => first(alarms(of))).length
        return { all: all.length, wolf, right, range: all.length ? wilson(wolf, all.length) : [0, 1] }
    }
    return { id: "still", number: 7, name: "Still true?", steps: [
        {
            id: "still",
            build: () => [heading(7, "Is it still true?"),
                words("The repaired model is in use, and 18 of the customers come each week. After every week the bank asks: is the model still right? Drag the week, or let the year run."),
                choices(world, "kind", "Year", [["calm", "The model is right"], ["worse", "From week 26 more default"]]),
                slider(world, "week", "Week", 0, WEEKS, String, visit),
                element("p", {}, press("Let the year run", play)),
                live(world, tell, "finding"),
                after(world, ({ weeks }) => Number(weeks) > 0,
                    words("Upper row: an ordinary test (Hosmer and Lemeshow), which compares ten groups of customers. A red square is an alarm: p below 5 %."),
                    words("Line: the *evidence* against the model. You bet one coin that other risks fit better, before the outcomes come; the evidence is what you hold then. If the model is right, it reaches 20 with a probability of at most 5 %, however often you look."),
                    live(world, state => (!reached(state) ? "" : state.kind === "calm" ? "The model was right all year, and the test cried wolf. This year was picked to show it. How often does it happen?"
                        : `The risks rose in week 26. The evidence reached 20 in week ${first(alarms(shown(state)))}. The test had cried wolf in week ${first(tests(shown(state)))}, before anything changed.`)))],
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
                const path_ = of.evidence.slice(0, week).map((value, k) => [x(k), at(value)]), wide = width / WEEKS
                stage.ink([...keyOf(stage), ["name", "text", { class: "name", x: left, y: top - 5 }, "Test, week by week"],
                    ...tests(of, week).map((alarm, k) => [`test${k}`, "rect", { class: alarm ? "wolf" : "calm", x: x(k) - wide * 0.4, y: top + 3, width: wide * 0.8, height: 11, rx: 2 }]),
                    ["name2", "text", { class: "name", x: left, y: top + 34 }, "Evidence against the model"],
                    ["limit", "line", { class: "limit dashed", x1: left, x2: left + width, y1: at(ALARM), y2: at(ALARM) }],
                    ["alarm", "text", { class: "tick", x: left - 6, y: at(ALARM) + 4, "text-anchor": "end" }, "20"],
                    ["most", "text", { class: "tick", x: left - 6, y: at(high) + 4, "text-anchor": "end" }, "1,000"],
                    ["one", "text", { class: "tick", x: left - 6, y: at(0) + 4, "text-anchor": "end" }, "1"],
                    ["begin", "line", { class: "grid", x1: left, x2: left + width, y1: at(0), y2: at(0) }],
                    ["line", "path", { class: "evidence", d: path(path_) }],
                    ...(state.kind === "worse" ? [["change", "line", { class: "limit", x1: x(CHANGE - 0.5), x2: x(CHANGE - 0.5), y1: top, y2: top + height }], ["changed", "text", { class: "tick", x: x(CHANGE - 0.5) + 5, y: foot + 2 }, "more default"]] : []),
                    ...[1, 10, 20, 30, 40, 50].map(k => [`week${k}`, "text", { class: "tick", x: x(k - 1), y: top + height + 17, "text-anchor": "middle" }, String(k)]),
                    ["weeks", "text", { class: "name", x: left + width / 2, y: top + height + (stage.small() ? 34 : 40), "text-anchor": "middle" }, "Week"]])
                stage.say(tell(state), "One week after the other")
            },
        },
        {
            id: "years",
            build: () => [bet(world, 19),
                words("Watch other years in which the model is right. Each year is a dot on both sides; red is a year with a false alarm."),
                element("p", {}, press("Watch 20 other years", () => world.set("years", String(Math.min(100, Number(world.state.years) + 20))))),
                after(world, ({ years: count }) => Number(count) > 0,
                    live(world, ({ years: count }) => {
                        const { all, wolf, right, range } = counted(count)
                        return `In ${all} years the weekly test raised a false alarm in ${wolf} (95 % interval ${percent(range[0])} to ${percent(range[1])}), the evidence in ${right}.`
                    }, "finding"),
                    words("One look has a false alarm with a probability of 5 %. Fifty looks are fifty chances. Evidence allows any number of looks."))],
            view: stage => {
                const count = Number(world.state.years), all = others(count), { size: { width, height } } = stage, step = Math.min(width / 26, height / 13)
                const spot = (k, side) => [width * (side ? 0.75 : 0.25) + (k % 10 - 4.5) * step, height * 0.52 + (Math.floor(k / 10) - 4.5) * step]
                stage.handles()
                stage.dots({ place: i => (i < 2 * count ? spot(i >> 1, i & 1) : [width / 2, height + 30]), size: step * 0.34,
                    paint: i => (i >= 2 * count ? NEUTRAL : first(i & 1 ? alarms(all[i >> 1]) : tests(all[i >> 1])) ? CHOSEN : PAID) })
                stage.ink([["left", "text", { class: "title", x: width * 0.25, y: height * 0.52 - 5.6 * step, "text-anchor": "middle" }, "Ordinary test"], ["right", "text", { class: "title", x: width * 0.75, y: height * 0.52 - 5.6 * step, "text-anchor": "middle" }, "Evidence"]])
                const { wolf, right } = counted(count)
                stage.say(count ? `${count} years with a right model: the test cried wolf in ${wolf}, the evidence in ${right}.` : "No year watched yet.", "Other years")
            },
        },
    ] }
}
