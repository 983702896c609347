// Controls, tasks and reports of a picture that is dragged, in the playground and in the triangle.

const rounded = value => Math.round(value * 1000) / 1000  // as an address holds it
const DECIMALS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 })

// Write a text where it is another one, so that a page that is dragged lays out only what changes; tell whether it was.
function write(element, text) {
    if (element.textContent === text) return false
    element.textContent = text
    return true
}

function button(label, title, act) {
    const made = element("button", { type: "button", title }, label)
    made.addEventListener("click", act)
    return made
}

// A choice among calibrators; ``act`` gets the key.
function radios(calibrators, act) {
    return element("fieldset", {}, element("legend", {}, "Calibrator"), ...calibrators.map(({ key, label }) => {
        const input = element("input", { type: "radio", name: "calibrator", value: key })
        input.addEventListener("change", () => act(key))
        return element("label", {}, input, element("span", {}, label))
    }))
}

// A slider for each setting; ``act`` gets its name and its value.
function ranges(described, act) {
    return element("div", { class: "sliders" }, ...described.map(({ name, label, low, high, whole, help }) => {
        const input = element("input", { type: "range", min: low, max: high, step: whole ? 1 : 0.01, "data-name": name })
        input.addEventListener("input", () => act(name, Number(input.value)))
        return element("label", { title: help }, element("span", {}, label), input,
            element("span", { class: "value", "aria-hidden": "true" }))  // the slider itself tells its value
    }))
}

// Show the settings on the controls that ``radios`` and ``ranges`` made.
function showSettings(controls, settings) {
    for (const input of controls) {
        if (input.type === "radio") { input.checked = input.value === settings.calibrator; continue }
        const { name } = input.dataset, value = settings[name]
        const text = name === "prevalence" || name === "threshold" ? percent(value) : DECIMALS.format(value).replace("-", "−")
        if (Number(input.value) !== value) input.value = value
        if (write(input.nextSibling, text)) input.setAttribute("aria-valuetext", text)
    }
}

// Tasks, each a text, whether it is done and what it taught, in a line that shows the first that is open. Those that are
// done stay done. ``judge`` asks about the first; what is there at first, or after a reset, does none.
function taskLine(tasks) {
    const line = element("p", { class: "task", role: "status" })
    let open = 0
    const show = (before = "") => write(line, before + (open < tasks.length
        ? `Task ${open + 1} of ${tasks.length}: ${tasks[open][0]}` : "You have done all tasks."))
    show()
    return {
        line,
        judge(...found) {
            if (open < tasks.length && tasks[open][1](...found)) {
                open += 1
                show(`Task ${open} is done: ${tasks[open - 1][2]} `)
            }
        },
    }
}

// Draw at the next frame, and call ``rest`` once nothing has changed for a while.
function painter(paint, rest) {
    let asked = false, waiting = null
    const later = () => {
        clearTimeout(waiting)
        waiting = setTimeout(rest, 400)
    }
    return {
        later,
        draw() {
            if (!asked) requestAnimationFrame(() => { asked = false; paint() })
            asked = true
            later()
        },
    }
}

// For a component whose Python tells what it knows after every run: whether the picture in ``root`` has reported these
// settings, or later ones. A reader who continues dragging is ahead of Python; other settings, as of a link, are new.
const REPORTS = new WeakMap()
function alreadyReported(root, now) {
    const reports = REPORTS.get(root), at = reports ? reports.indexOf(now) : -1
    if (at >= 0) reports.splice(0, at)
    else REPORTS.set(root, [now])
    return at >= 0
}
const report = (root, now) => REPORTS.get(root).push(now)
