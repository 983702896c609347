// The controls and the words of the playground around its diagram, in a given element. Nothing is asked of a server.

const STEEP = 2  // log-odds at which the handle of the slope stands
const ALONG = Array.from({ length: 201 }, (_, i) => within(i / 200, 1e-6, 1 - 1e-6))  // predictions at which curves are drawn
const brief = value => (Number.isFinite(value) ? value.toPrecision(value < 0.1 ? 2 : 3) : "∞")
const DOTTED = 2000  // rows from which on the histogram has bars instead of a dot for each

const SCORES = [
    ["Brier score", "brier", "Mean squared error of the probabilities"],
    ["miscalibration", "miscalibration", "Part of the Brier score that recalibration would remove"],
    ["− discrimination", "discrimination", "Reduction of the Brier score by separating the classes"],
    ["+ uncertainty", "uncertainty", "Brier score of always predicting the overall frequency"],
    ["ECE", "ece", "Expected calibration error: mean difference between prediction and frequency over bins"],
    ["ECE by chance", "byChance", "Mean ECE of a calibrated model with these predictions"],
    ["Cost of 100 rows", "cost", "Cost of acting above the threshold t, in false alarms: a miss costs (1 − t) / t of them"],
    ["Log loss", "logLoss", "Mean −ln of the probability of the true label"],
]

// What a reader can try, whether the settings with their numbers do it, and what it teaches. Below a slope of 1 a model
// is overconfident.
const TASKS = [
    ["Make the model overconfident: drag the right square to the right, until the slope is 0.7 or less.",
        ({ slope, curve }) => !curve && slope <= 0.7,
        "The same people had the same outcomes. But the model now says more than is true, so its marks lie below the diagonal."],
    ["Keep the model calibrated (level 0, slope 1), but make its ECE larger than 0.08.",
        ({ level, slope, noise, curve }, { before }) => !curve && level === 0 && slope === 1 && !noise && before.ece > 0.08,
        "With few rows per bin, chance alone gives a calibrated model a large ECE."],
    ["Let a calibrator lower the Brier score by at least 0.02.",
        (settings, { fits, before, now }) => fits !== "none" && now.brier <= before.brier - 0.02,
        "A calibrator lowers the Brier score a lot if the predictions are far off, but not if they are right."],
]

// A curve as the text of an address, and back; anything else is no curve.
const written = curve => (curve ? curve.map(value => value.toFixed(3)).join(" ") : null)
function readCurve(text) {
    const values = String(text ?? "").trim().split(/[ ,+]+/).map(Number)
    return values.length === GRID + 1 && values.every(value => value >= 0 && value <= 1) ? values : null
}

// The settings in their ranges: those by default, with those that are given as texts or numbers.
function settled(told, given) {
    const found = {}
    for (const { name, low, high, value, whole } of told.settings) {
        const number = given[name] === undefined || given[name] === "" ? NaN : Number(given[name])
        if (low === null) found[name] = given[name] ?? value
        else found[name] = Number.isFinite(number) ? within(whole ? Math.round(number) : number, low, high) : value
    }
    found.curve = readCurve(found.curve)
    if (!told.calibrators.some(({ key }) => key === found.calibrator)) found.calibrator = "none"
    return found
}

function playground(root, told, given, changed) {
    const settings = settled(told, given)
    let shift = 1, tries = false, chosen = GRID / 2, found = null, reported = JSON.stringify(settings)
    const layers = ["band", "interval", "diagonal", "truth", "map", "ghost", "marks", "histogram", "threshold", "handles"]
    const { svg, parts, most } = diagram(layers, { role: "group", "aria-label": "Reliability diagram with handles to drag" })
    const said = element("p", { class: "said", role: "status" }), table = element("tbody", {}, ...SCORES.map(([label, , title]) =>
        element("tr", { title }, element("th", { scope: "row" }, label), element("td"), element("td"))))
    const beside = element("div", { class: "beside" }), tasks = taskLine(TASKS), { draw: again, later } = painter(paint, rest)
    root.replaceChildren(element("div", { class: "playground" }, element("div", { class: "picture" }, svg), beside))

    const line = name => parts[name].appendChild(element("path"))
    const [bandPath, intervalPath, truthPath, mapPath, barPath, limitPath] = ["band", "interval", "truth", "map", "histogram", "threshold"].map(line)
    const dotPaths = ["negative", "positive"].map(name => parts.histogram.appendChild(element("path", { class: `people ${name}` })))
    const limitText = parts.threshold.appendChild(element("text", { y: TOP + 5 }))
    const limits = Object.fromEntries(told.settings.map(one => [one.name, one]))
    const numeric = told.settings.filter(one => one.low !== null && one.name !== "seed")
    const names = ["level", "slope"].map(() => parts.threshold.appendChild(element("text", { class: "named" })))
    const knob = (label, { low, high }, shape = element("circle", { r: 9 })) => {
        for (const [name, value] of Object.entries({ tabindex: 0, role: "slider", "aria-label": label, "aria-valuemin": low, "aria-valuemax": high }))
            shape.setAttribute(name, value)
        return parts.handles.appendChild(shape)
    }
    // ``move`` gets the place of the pointer, or null and the step of a key.
    const handle = (made, move, step) => {
        dragged(made, move)
        made.addEventListener("keydown", event => {
            const sign = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key]
            if (!sign) return
            event.preventDefault()
            move(null, sign * step * (event.shiftKey ? 5 : 1))
        })
        return made
    }
    const bounded = (name, value) => within(value, limits[name].low, limits[name].high)

    // Change what is true at each prediction: the predictions stay, so that the prevalence follows.
    const makeTrue = change => {
        const middle = centre(settings)
        change()
        settings.prevalence = Math.round(1e5 * bounded("prevalence", prevalenceAt(settings, middle))) / 1e5
        draw()
    }
    const set = (name, value) => makeTrue(() => { settings.curve = null; settings[name] = rounded(bounded(name, value)) })
    const level = handle(knob("Level", limits.level), (point, step) => set("level", point ? logit(point.q) : settings.level + step), 0.1)
    const slope = handle(knob("Slope", limits.slope),
        (point, step) => set("slope", point ? (logit(point.q) - settings.level) / STEEP : settings.slope + step), 0.1)

    // Change what the model says: the predictions one standard deviation below and above the middle go to these log-odds,
    // and all others with them. The true probabilities of people stay, and so do their labels.
    const say = (low, high) => {
        const stated = says(settings, (low + high) / 2, (high - low) / 2)
        if (Object.entries(stated).some(([name, value]) => value !== bounded(name, value))) return
        for (const [name, value] of Object.entries(stated)) settings[name] = Math.round(1e5 * value) / 1e5
        draw()
    }
    const ends = () => { const middle = centre(settings); return [middle - settings.spread, middle + settings.spread] }
    const square = () => element("rect", { x: -8, y: -8, width: 16, height: 16, rx: 2, class: "sideways" })
    const [lower, higher] = ["Low predictions", "High predictions"].map((label, i) => handle(knob(label, { low: 0, high: 1 }, square()), (point, step) => {
        const now = ends()
        now[i] = point ? logit(within(point.p, 0.002, 0.998)) : now[i] + step
        say(...now)
    }, 0.1))
    const limit = handle(knob("Threshold", limits.threshold, element("circle", { r: 9, class: "sideways" })), (point, step) => {
        settings.threshold = rounded(bounded("threshold", point ? point.p : settings.threshold + step))
        draw()
    }, 0.01)
    const pencil = knob("Drawn curve", { low: 0, high: 1 })
    pencil.addEventListener("keydown", event => {
        const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key], by = { ArrowUp: 0.05, ArrowDown: -0.05 }[event.key]
        if (!along && !by) return
        event.preventDefault()
        chosen = within(chosen + (along ?? 0), 0, GRID)
        makeTrue(() => { settings.curve[chosen] = rounded(within(settings.curve[chosen] + (by ?? 0) / (event.shiftKey ? 5 : 1), 0, 1)) })
    })
    // Drawn by hand: every step of the grid between two positions of the pointer
    let before = null
    dragged(svg, point => {
        if (!settings.curve || !point) return
        const from = before ?? point, cells = Math.max(1, Math.ceil(Math.abs(point.p - from.p) * GRID * 2))
        makeTrue(() => {
            for (let i = 0; i <= cells; i++) {
                const share = i / cells, p = from.p + share * (point.p - from.p)
                settings.curve[Math.round(p * GRID)] = rounded(from.q + share * (point.q - from.q))
            }
        })
        before = point
    }, () => { before = null })

    const choices = radios(told.calibrators, key => { settings.calibrator = key; moved() })
    const scales = ranges(numeric.filter(({ name }) => !["level", "slope", "threshold"].includes(name)), (name, value) => {
        settings[name] = value
        draw()
    })
    const inputs = [choices, scales].flatMap(all => [...all.querySelectorAll("input")])
    const drawing = button("Draw a curve", "Draw the true frequencies by hand", () => {
        settings.curve = settings.curve ? null : Array.from({ length: GRID + 1 }, (_, i) => rounded(frequency(settings, within(i / GRID, 1e-9, 1 - 1e-9))))
        draw()
    })
    beside.append(tasks.line, said, choices, element("table", { "aria-label": "Scores before and after calibration" }, element("thead", {}, element("tr", {},
        ...["", "before", "after"].map(text => element("th", { scope: "col" }, text)))), table), scales,
        element("div", { class: "buttons" }, drawing,
            button("Simulate different rows", "Same settings, new random rows", () => { settings.seed = (settings.seed + 1) % 10001; draw() }),
            button("Reset", "Reset", () => { Object.assign(settings, settled(told, given)); draw(false) })), meanings())
    draw(false)

    function dragged(target, move, end) {
        const place = event => {
            const box = svg.getBoundingClientRect(), unit = svg.viewBox.baseVal.width / box.width
            return { p: within(((event.clientX - box.left) * unit - LEFT) / SIDE, 0, 1),
                q: within(1 - ((event.clientY - box.top) * unit - TOP) / SIDE, 0.002, 0.998) }
        }
        let held = false
        target.addEventListener("pointerdown", event => {
            if (target === svg && !settings.curve) return
            held = true
            target.setPointerCapture(event.pointerId)
            event.stopPropagation()
            if (target === svg) move(place(event))
        })
        target.addEventListener("pointermove", event => held && move(place(event)))
        for (const name of ["pointerup", "pointercancel"])
            target.addEventListener(name, () => { held = false; end?.() })
    }

    // The settings in words: a finger cannot point at a slider to read what it does.
    function meanings() {
        return element("details", {}, element("summary", {}, "What do the settings mean?"),
            element("dl", {}, ...numeric.flatMap(({ label, help }) => [element("dt", {}, label), element("dd", {}, help)])))
    }

    // The marks go from where they were to where the calibrator moves them.
    function moved() {
        if (settings.calibrator === "none") return draw()
        tries = true
        glide(share => { shift = share; paint() })
        later()
    }

    function draw(byReader = true) {
        tries = byReader
        again()
    }

    function rest() {
        tell()
        if (tries) tasks.judge(settings, found)
        const now = JSON.stringify(settings)
        if (now === reported) return  // nothing to tell, as at the beginning
        reported = now
        changed({ ...settings, curve: written(settings.curve) })
    }

    function paint() {
        found = explored(settings)
        const colour = told.calibrators.find(({ key }) => key === found.fits).colour
        if (svg.style.getPropertyValue("--calibrator") !== colour) svg.style.setProperty("--calibrator", colour)
        put(truthPath, "d", path(ALONG.map(p => [across(p), up(frequency(settings, p))])))
        const maps = found.fits === "none" ? [] : ALONG.map(p => [p, ...found.map(p)])
        put(mapPath, "d", path(maps.map(([p, q]) => [across(p), up(q)])))
        const pairs = maps.filter(one => one.length > 2)
        put(intervalPath, "d", pairs.length ? path([...pairs.map(([p, , , high]) => [across(p), up(high)]),
            ...pairs.toReversed().map(([p, , low]) => [across(p), up(low)])]) + "Z" : "")
        const p = found.fits === "none" ? found.test.p : found.test.p.map((at, i) => at + shift * (found.after.p[i] - at))
        const cells = binned({ p, y: found.test.y }, settings.bins), filled = cells.filter(({ rows }) => rows)
        const ends = filled.filter(({ rows }) => rows >= FEW).map(bin => [across(bin.sum / bin.rows), ...band(bin)])
        put(bandPath, "d", ends.length < 2 ? "" : path([...ends.map(([x, , high]) => [x, up(high)]),
            ...ends.toReversed().map(([x, low]) => [x, up(low)])]) + "Z")
        marks(parts.ghost, found.fits === "none" ? [] : binned(found.test, settings.bins).filter(({ rows }) => rows))
        marks(parts.marks, filled)
        const highest = Math.max(1, ...cells.map(({ rows }) => rows)), dotted = settings.rows <= DOTTED
        put(barPath, "d", dotted ? "" : bars(cells, highest))
        const { wide, paths } = dotted ? people(cells, highest) : { wide: 0, paths: ["", ""] }
        dotPaths.forEach((dots, label) => { put(dots, "d", paths[label]); put(dots, "stroke-width", wide) })
        write(most, DECIMALS.format(highest))
        handles()
        numbers(found)
        showSettings(inputs, settings)
        write(drawing, settings.curve ? "Use level and slope" : "Draw a curve")
    }

    function handles() {
        const place = (made, x, y, value, text) => {
            put(made, "transform", `translate(${fine(x)} ${fine(y)})`)
            put(made, "aria-valuenow", value)
            put(made, "aria-valuetext", text)
        }
        const at = expit(STEEP), own = Boolean(settings.curve), { threshold } = settings, left = threshold > 0.5
        for (const made of [level, slope, lower, higher, ...names]) made.toggleAttribute("hidden", own)
        pencil.toggleAttribute("hidden", !own)
        svg.classList.toggle("drawing", own)
        put(limitPath, "d", `M${fine(across(threshold))} ${TOP}V${up(0) + BETWEEN + UNDER}`)
        put(limitText, "x", fine(across(threshold) + (left ? -14 : 14)))
        put(limitText, "text-anchor", left ? "end" : "start")
        write(limitText, `act above ${percent(threshold)}: cost ${brief(found.now.cost)}`)
        place(limit, across(threshold), TOP, threshold, percent(threshold))
        if (own) {
            const value = settings.curve[chosen]
            return place(pencil, across(chosen / GRID), up(value), value, `at ${percent(chosen / GRID)}: ${percent(value)}`)
        }
        place(level, across(0.5), up(frequency(settings, 0.5)), settings.level, `${settings.level.toFixed(2)} on the log-odds scale`)
        place(slope, across(at), up(frequency(settings, at)), settings.slope, settings.slope.toFixed(2))
        names.forEach((made, i) => {
            const p = [0.5, at][i], name = ["level", "slope"][i]
            put(made, "x", fine(across(p) + (i ? -14 : 14)))
            put(made, "text-anchor", i ? "end" : "start")
            put(made, "y", fine(up(frequency(settings, p)) + 22))
            write(made, `${name} ${settings[name].toFixed(2).replace("-", "−")}`)
        })
        const places = [-1, 1].map(sign => expit(found.middle + sign * settings.spread))
        place(lower, across(places[0]), up(0), rounded(places[0]), percent(places[0]))
        place(higher, across(places[1]), up(0), rounded(places[1]), percent(places[1]))
    }

    function numbers({ fits, before, now }) {
        SCORES.forEach(([, name], i) => {
            const [, one, other] = table.rows[i].cells
            write(one, brief(before[name]))
            write(other, fits === "none" ? "–" : brief(now[name]))
        })
    }

    // A few sentences, for everybody and for a screen reader; once the settings rest.
    function tell() {
        const { fits, before, now, best } = found, label = told.calibrators.find(({ key }) => key === fits).label
        const clear = before.ece > before.byChance + 2 * before.spreadByChance
        said.textContent = `The ECE of ${settings.rows.toLocaleString("en")} rows is ${brief(before.ece)}; a calibrated model would show ${brief(before.byChance)} on average${clear ? "" : ", so chance may explain it"}. `
            + `The decisions make ${counted(now.alarms, "false alarm")} and ${counted(now.misses, "miss", "misses")}; with the true probabilities, they would cost ${brief(best.cost)}. `
            + (fits !== "none" ? `${label} changes the Brier score from ${brief(before.brier)} to ${brief(now.brier)}.`
                : settings.calibrator !== "none" ? "The calibration rows have only one class, so no calibrator can be fitted."
                    : tries ? "" : "Drag the circles (what is true), the squares (what the model says) or the threshold.")
    }
}

const counted = (n, noun, many = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : many}`

// The people of each bin as dots above the axis, those with the event at the foot: a path for each label, and the dots' width.
function people(cells, highest) {
    const width = SIDE / cells.length, foot = up(0) + BETWEEN + UNDER, paths = ["", ""]
    let columns = Math.ceil(width / 9)
    while (Math.ceil(highest / columns) * width / columns > UNDER - 8) columns += 1
    const step = width / columns
    cells.forEach(({ rows, ones }, bin) => {
        for (let i = 0; i < rows; i++)
            paths[i < ones ? 1 : 0] += `M${fine(LEFT + bin * width + (i % columns + 0.5) * step)} ${fine(foot - (Math.floor(i / columns) + 0.5) * step)}h0`
    })
    return { wide: fine(0.84 * step), paths }
}
