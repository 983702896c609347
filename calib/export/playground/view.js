// The controls and the words of the playground around its diagram, in a given element. Nothing is asked of a server.

const STEEP = 2  // log-odds at which the handle of the slope stands
const ALONG = Array.from({ length: 201 }, (_, i) => within(i / 200, 1e-6, 1 - 1e-6))  // predictions at which curves are drawn
const brief = value => (Number.isFinite(value) ? value.toPrecision(value < 0.1 ? 2 : 3) : "∞")
const rounded = value => Math.round(value * 1000) / 1000  // as an address holds it

const DECIMALS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 })
const SCORES = [
    ["Brier score", "brier", "Mean squared error of the probabilities"],
    ["miscalibration", "miscalibration", "Part of the Brier score that recalibration would remove"],
    ["− discrimination", "discrimination", "Reduction of the Brier score by separating the classes"],
    ["+ uncertainty", "uncertainty", "Brier score of always predicting the overall frequency"],
    ["ECE", "ece", "Expected calibration error: mean difference between prediction and frequency over bins"],
    ["ECE by chance", "byChance", "Mean ECE of a calibrated model with these predictions"],
    ["Log loss", "logLoss", "Mean −ln of the probability of the true label"],
]

// What a reader can try, whether the settings with their numbers do it, and what it teaches. Below a slope of 1 a model
// is overconfident.
const TASKS = [
    ["Make the model overconfident: drag the upper handle down, to a slope of at most 0.7.",
        ({ slope, curve }) => !curve && slope <= 0.7,
        "An overconfident model's high predictions are too high, and its low predictions are too low."],
    ["Keep the model calibrated (level 0, slope 1), but make its ECE larger than 0.08.",
        ({ level, slope, noise, curve }, { before }) => !curve && level === 0 && slope === 1 && !noise && before.ece > 0.08,
        "With few rows per bin, chance alone gives a calibrated model a large ECE."],
    ["Let a calibrator lower the Brier score by at least 0.02.",
        (settings, { fits, before, now }) => fits !== "none" && now.brier <= before.brier - 0.02,
        "A calibrator lowers the Brier score much if the predictions are far off, and not at all if they are right."],
]

// Write a text where it is another one, so that a page that is dragged lays out only what changes; tell whether it was.
function write(element, text) {
    if (element.textContent === text) return false
    element.textContent = text
    return true
}

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
    let shift = 1, waiting = null, asked = false, tries = false, chosen = GRID / 2, found = null, reported = JSON.stringify(settings)
    const layers = ["band", "interval", "diagonal", "truth", "map", "ghost", "marks", "histogram", "handles"]
    const { svg, parts, most } = diagram(layers, { role: "group", "aria-label": "Reliability diagram with a curve to drag" })
    const said = element("p", { class: "said", role: "status" }), table = element("tbody", {}, ...SCORES.map(([label, , title]) =>
        element("tr", { title }, element("th", { scope: "row" }, label), element("td"), element("td"))))
    const beside = element("div", { class: "beside" }), task = element("p", { class: "task", role: "status" }), solved = new Set()
    root.replaceChildren(element("div", { class: "playground" }, element("div", { class: "picture" }, svg), beside))

    const line = name => parts[name].appendChild(element("path"))
    const [bandPath, intervalPath, truthPath, mapPath, barPath] = ["band", "interval", "truth", "map", "histogram"].map(line)
    const limits = Object.fromEntries(told.settings.map(one => [one.name, one]))
    const knob = (label, { low, high }) => parts.handles.appendChild(element("circle", { r: 9, tabindex: 0, role: "slider",
        "aria-label": label, "aria-valuemin": low, "aria-valuemax": high }))
    const handle = (label, move) => {
        const made = knob(label, limits[label.toLowerCase()])
        dragged(made, move)
        made.addEventListener("keydown", event => {
            const step = { ArrowUp: 0.1, ArrowRight: 0.1, ArrowDown: -0.1, ArrowLeft: -0.1 }[event.key]
            if (!step) return
            event.preventDefault()
            move(null, step * (event.shiftKey ? 5 : 1))
        })
        return made
    }
    const set = (name, value) => {
        const { low, high } = limits[name]
        settings[name] = rounded(within(value, low, high))
        settings.curve = null
        draw()
    }
    const level = handle("Level", (point, step) => set("level", point ? logit(point.q) : settings.level + step))
    const slope = handle("Slope",
        (point, step) => set("slope", point ? (logit(point.q) - settings.level) / STEEP : settings.slope + step))
    const pencil = knob("Drawn curve", { low: 0, high: 1 })
    pencil.addEventListener("keydown", event => {
        const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key], by = { ArrowUp: 0.05, ArrowDown: -0.05 }[event.key]
        if (!along && !by) return
        event.preventDefault()
        chosen = within(chosen + (along ?? 0), 0, GRID)
        settings.curve[chosen] = rounded(within(settings.curve[chosen] + (by ?? 0) / (event.shiftKey ? 5 : 1), 0, 1))
        draw()
    })
    // Drawn by hand: every step of the grid between two positions of the pointer
    let before = null
    dragged(svg, point => {
        if (!settings.curve || !point) return
        const from = before ?? point, cells = Math.max(1, Math.ceil(Math.abs(point.p - from.p) * GRID * 2))
        for (let i = 0; i <= cells; i++) {
            const share = i / cells, p = from.p + share * (point.p - from.p)
            settings.curve[Math.round(p * GRID)] = rounded(from.q + share * (point.q - from.q))
        }
        before = point
        draw()
    }, () => { before = null })

    const radios = calibrators(), ranges = sliders()
    const [choices, inputs] = [radios, ranges].map(all => [...all.querySelectorAll("input")])
    const drawing = button("Draw a curve", "Draw the true frequencies by hand", () => {
        settings.curve = settings.curve ? null : Array.from({ length: GRID + 1 }, (_, i) => rounded(frequency(settings, within(i / GRID, 1e-9, 1 - 1e-9))))
        draw()
    })
    beside.append(task, said, radios, element("table", { "aria-label": "Scores before and after calibration" }, element("thead", {}, element("tr", {},
        ...["", "before", "after"].map(text => element("th", { scope: "col" }, text)))), table), ranges,
        element("div", { class: "buttons" }, drawing,
            button("Simulate different rows", "Same settings, new random rows", () => { settings.seed = (settings.seed + 1) % 10001; draw() }),
            button("Reset", "Reset", () => { Object.assign(settings, settled(told, given)); draw(false) })), words())
    draw(false)

    function button(label, title, act) {
        const made = element("button", { type: "button", title }, label)
        made.addEventListener("click", act)
        return made
    }

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

    function calibrators() {
        const set = element("fieldset", {}, element("legend", {}, "Calibrator"))
        for (const { key, label } of told.calibrators) {
            const input = element("input", { type: "radio", name: "calibrator", value: key })
            input.addEventListener("change", () => { settings.calibrator = key; moved() })
            set.append(element("label", {}, input, element("span", {}, label)))
        }
        return set
    }

    function sliders() {
        const all = element("div", { class: "sliders" })
        for (const { name, label, low, high, whole, help } of told.settings.filter(one => one.low !== null && one.name !== "seed")) {
            const input = element("input", { type: "range", min: low, max: high, step: whole ? 1 : 0.01, "data-name": name })
            input.addEventListener("input", () => {
                settings[name] = Number(input.value)
                if (name === "level" || name === "slope") settings.curve = null
                draw()
            })
            all.append(element("label", { title: help }, element("span", {}, label), input,
                element("span", { class: "value", "aria-hidden": "true" })))  // the slider itself tells its value
        }
        return all
    }

    // The settings in words: a finger cannot point at a slider to read what it does.
    function words() {
        const all = told.settings.filter(one => one.low !== null && one.name !== "seed")
        return element("details", {}, element("summary", {}, "What do the settings mean?"),
            element("dl", {}, ...all.flatMap(({ label, help }) => [element("dt", {}, label), element("dd", {}, help)])))
    }

    // The first task that is open; those that are done stay done. What is there at first, or after a reset, does none.
    function tasks() {
        const open = TASKS.findIndex((one, i) => !solved.has(i))
        if (tries && open >= 0 && TASKS[open][1](settings, found)) solved.add(open)
        const next = TASKS.findIndex((one, i) => !solved.has(i)), done = next !== open ? `Task ${open + 1} is done: ${TASKS[open][2]} ` : ""
        if (done || !task.textContent) task.textContent = done + (next < 0 ? "You have done all tasks."
            : `Task ${next + 1} of ${TASKS.length}: ${TASKS[next][0]}`)
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
        if (asked) return
        asked = true
        requestAnimationFrame(() => { asked = false; paint() })
        later()
    }

    function later() {
        clearTimeout(waiting)
        waiting = setTimeout(() => {
            told_in_words()
            tasks()
            const now = JSON.stringify(settings)
            if (now === reported) return  // nothing to tell, as at the beginning
            reported = now
            changed({ ...settings, curve: written(settings.curve) })
        }, 400)
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
        const highest = Math.max(1, ...cells.map(({ rows }) => rows))
        put(barPath, "d", bars(cells, highest))
        write(most, DECIMALS.format(highest))
        handles()
        numbers(found)
        for (const input of inputs) {
            const { name } = input.dataset, value = settings[name]
            const text = name === "prevalence" ? percent(value) : DECIMALS.format(value).replace("-", "−")
            if (Number(input.value) !== value) input.value = value
            if (!write(input.nextSibling, text)) continue
            input.setAttribute("aria-valuetext", text)
        }
        for (const input of choices) input.checked = input.value === settings.calibrator
        write(drawing, settings.curve ? "Use level and slope" : "Draw a curve")
    }

    function handles() {
        const place = (made, p, q, value, text) => {
            put(made, "cx", fine(across(p)))
            put(made, "cy", fine(up(q)))
            put(made, "aria-valuenow", value)
            put(made, "aria-valuetext", text)
        }
        const at = expit(STEEP), own = Boolean(settings.curve)
        for (const made of [level, slope]) made.toggleAttribute("hidden", own)
        pencil.toggleAttribute("hidden", !own)
        svg.classList.toggle("drawing", own)
        if (own) {
            const value = settings.curve[chosen]
            return place(pencil, chosen / GRID, value, value, `at ${percent(chosen / GRID)}: ${percent(value)}`)
        }
        place(level, 0.5, frequency(settings, 0.5), settings.level, `${settings.level.toFixed(2)} on the log-odds scale`)
        place(slope, at, frequency(settings, at), settings.slope, settings.slope.toFixed(2))
    }

    function numbers({ fits, before, now }) {
        SCORES.forEach(([, name], i) => {
            const [, one, other] = table.rows[i].cells
            write(one, brief(before[name]))
            write(other, fits === "none" ? "–" : brief(now[name]))
        })
    }

    // One sentence or three, for everybody and for a screen reader; once the settings rest.
    function told_in_words() {
        const { fits, before, now } = found, label = told.calibrators.find(({ key }) => key === fits).label
        const clear = before.ece > before.byChance + 2 * before.spreadByChance
        said.textContent = `${settings.rows.toLocaleString("en")} rows. The ECE is ${brief(before.ece)}; `
            + `a calibrated model would show ${brief(before.byChance)} on average${clear ? "" : ", so chance may explain it"}. `
            + (fits !== "none" ? `${label} changes the Brier score from ${brief(before.brier)} to ${brief(now.brier)}.`
                : settings.calibrator === "none" ? "Drag the two handles, or choose a calibrator."
                    : "The calibration rows have only one class, so no calibrator can be fitted.")
    }
}
