// A guess placed in the picture of a lesson's step, by mouse, touch or arrow keys. An SVG of its own lies over the
// picture, which stays as it is; places are in the units of its first two axes.
const OPEN = new WeakMap(), SVG = "http://www.w3.org/2000/svg", POINTS = 20, STEPS = 100
const make = (name, attributes = {}) => {
    const element = document.createElementNS(SVG, name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    return element
}
// The first picture of Plotly, or of a script that draws over Plotly's (calibrated.js)
const first = () => [...document.querySelectorAll(".st-key-lesson_beside :is(.js-plotly-plot, .moving)")]
    .find(at => at._fullLayout?.xaxis?._length && at.checkVisibility({ visibilityProperty: true }))
const within = (value, low, high) => Math.min(Math.max(value, low), high)

function overlay(chart) {
    const svg = make("svg", { class: "guess" })
    chart.parentElement.style.position = "relative"
    chart.parentElement.append(svg)
    return svg
}

// Each way of guessing: what is drawn for a state, what a pointer and a key make of it, and what is reported
// No mark is there at first: a guess that nobody made would be one, and its place might tell the answer
function mark(chart, { at, label }) {
    const axes = () => [chart._fullLayout.xaxis, chart._fullLayout.yaxis]
    const band = make("rect", { class: "over" }), line = make("path"), dot = make("circle", { r: 9 }), words = make("text"), thumb = make("g", { tabindex: 0 })
    thumb.append(line, dot, words)
    let share = null  // of the axis, from its upper end
    const value = () => { const [, Y] = axes(); return Y.p2d(share * Y._length) }
    const draw = () => {
        const [X, Y] = axes(), x = X._offset + X.d2p(at), placed = share !== null, y = Y._offset + (share ?? 0.5) * Y._length
        for (const [key, to] of Object.entries({ x: x - 10, y: Y._offset, width: 20, height: Y._length })) band.setAttribute(key, to)
        line.setAttribute("d", placed ? `M${X._offset} ${y}h${x - X._offset}` : "")
        dot.setAttribute("cx", x)
        dot.setAttribute("cy", y)
        thumb.classList.toggle("untouched", !placed)
        words.textContent = placed ? `${label}: ${value().toFixed(2)}` : "place a mark here"
        const long = words.getComputedTextLength(), last = chart._fullLayout.width - long
        const beside = x + 14 > last ? x - 14 - long : x + 14  // at the left if there is no room to the right
        words.setAttribute("x", within(beside, Math.min(X._offset + 4, last), last))  // not over the scale
        words.setAttribute("y", y < 28 ? y + 24 : y - 12)  // below the mark at the upper edge
        const ends = [0, Y._length].map(pixel => Y.p2d(pixel)).sort((one, other) => one - other)
        const told = { role: "slider", "aria-label": label, "aria-orientation": "vertical", "aria-valuemin": ends[0], "aria-valuemax": ends[1],
            "aria-valuenow": placed ? value() : 0.5, "aria-valuetext": placed ? value().toFixed(2) : "not placed yet" }
        for (const [key, text] of Object.entries(told)) thumb.setAttribute(key, text)
    }
    const pointed = (_, y) => { const [, Y] = axes(); share = within((y - Y._offset) / Y._length, 0, 1) }
    const pressed = (key, big) => {
        const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[key]
        if (!step) return false
        share = within((share ?? 0.5) - step * (big ? 10 : 1) / STEPS, 0, 1)
        return true
    }
    return { parts: [band, thumb], focus: thumb, draw, pointed, pressed, value, ready: () => share !== null, area: "none" }
}

// Nothing is drawn at first: a line that is there already would be a guess that nobody made
function curve(chart, { label, over: [first, last] }) {
    const axes = () => [chart._fullLayout.xaxis, chart._fullLayout.yaxis]
    const x = Array.from({ length: POINTS }, (_, i) => (i + 0.5) / POINTS), y = x.map(() => null)
    const asked = x.map((here, i) => i).filter(i => x[i] >= first && x[i] <= last)
    const band = make("rect", { class: "over" }), line = make("path"), dot = make("circle", { r: 7 }), words = make("text")
    const thumb = make("g", { tabindex: 0 })
    thumb.append(line, dot, words)
    let at = asked[Math.floor(asked.length / 2)], before
    const level = i => y[i] ?? 0.5, drawn = () => x.map((_, i) => i).filter(i => y[i] !== null)
    const pixel = i => { const [X, Y] = axes(); return [X._offset + X.d2p(x[i]), Y._offset + Y.d2p(level(i))] }
    const draw = () => {
        const [X, Y] = axes(), there = drawn(), left = X._offset + X.d2p(first)
        const place = { x: left, y: Y._offset, width: X._offset + X.d2p(last) - left, height: Y._length }
        for (const [key, value] of Object.entries(place)) band.setAttribute(key, value)
        line.setAttribute("d", there.map((i, k) => (there[k - 1] === i - 1 ? "L" : "M") + pixel(i).join(" ")).join(""))
        const [dotX, dotY] = pixel(at)
        dot.setAttribute("cx", dotX)
        dot.setAttribute("cy", dotY)
        thumb.classList.toggle("untouched", !there.length)
        const end = there.length ? pixel(there.at(-1)) : [place.x + place.width / 2, place.y + 4]
        words.setAttribute("x", there.length ? end[0] - 8 : end[0])
        words.setAttribute("y", end[1] + 22)
        words.setAttribute("text-anchor", there.length ? "end" : "middle")
        words.textContent = there.length ? label : "draw here"
        const told = { role: "slider", "aria-label": `${label} where the prediction is ${x[at].toFixed(2)}`, "aria-orientation": "vertical",
            "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": level(at).toFixed(2),
            "aria-valuetext": y[at] === null ? "not drawn yet" : y[at].toFixed(2) }
        for (const [key, text] of Object.entries(told)) thumb.setAttribute(key, text)
    }
    const pointed = (left, top, begins) => {
        const [X, Y] = axes(), to = [within(X.p2d(left - X._offset), 0, 1), within(Y.p2d(top - Y._offset), 0, 1)]
        const from = begins || !before ? to : before
        // All points between the last place of the pointer and this one follow its path
        x.forEach((here, i) => {
            const near = Math.abs(here - to[0]) <= 0.5 / POINTS
            if (!near && (here - from[0]) * (here - to[0]) > 0) return
            const share = from[0] === to[0] ? 1 : within((here - from[0]) / (to[0] - from[0]), 0, 1)
            y[i] = from[1] + share * (to[1] - from[1])
        })
        at = within(Math.floor(to[0] * POINTS), 0, POINTS - 1)
        before = to
    }
    const pressed = (key, big) => {
        const side = { ArrowRight: 1, ArrowLeft: -1 }[key], up = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[key]
        if (!side && !up) return false
        const here = level(at)
        if (side) at = within(at + side, 0, POINTS - 1)
        y[at] = side ? y[at] ?? here : within(here + up * (big ? 10 : 1) / STEPS, 0, 1)  // on new ground the line goes on level
        return true
    }
    const ready = () => asked.every(i => y[i] !== null), value = () => asked.map(i => [x[i], y[i]])
    return { parts: [band, thumb], focus: thumb, draw, pointed, pressed, value, ready, area: "none" }
}

function placed(chart, data, button) {
    const svg = overlay(chart), way = (data.kind === "curve" ? curve : mark)(chart, data)
    const area = make("rect", { class: "area" })
    svg.style.touchAction = way.area  // its parts are inline: browsers would scroll and take the pointer away
    svg.append(area, ...way.parts)
    const draw = () => {
        const { xaxis, yaxis } = chart._fullLayout
        const box = { x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length }
        for (const [key, value] of Object.entries(box)) area.setAttribute(key, value)
        way.draw()
    }
    const moved = () => { button.disabled = !way.ready(); draw() }
    const point = (event, begins) => {
        const box = svg.getBoundingClientRect(), scale = box.width / svg.clientWidth  // in a room it is another one
        way.pointed((event.clientX - box.left) / scale, (event.clientY - box.top) / scale, begins)
        moved()
    }
    svg.addEventListener("pointerdown", event => {
        event.preventDefault()
        svg.setPointerCapture(event.pointerId)
        way.focus.focus({ preventScroll: true })
        point(event, true)
    })
    svg.addEventListener("pointermove", event => { if (svg.hasPointerCapture(event.pointerId)) point(event, false) })
    way.focus.addEventListener("keydown", event => {
        if (event.key === "Enter" && !button.disabled) button.click()
        else if (!way.pressed(event.key, event.shiftKey)) return
        else moved()
        event.preventDefault()
        event.stopPropagation()  // elsewhere the arrow keys lead to another step
    })
    draw()
    return { svg, draw, value: way.value }
}

export default function ({ data, parentElement, setTriggerValue }) {
    if (OPEN.has(parentElement)) return OPEN.get(parentElement)
    const button = parentElement.querySelector("button"), how = parentElement.querySelector("p")
    const [act, keys, tolerance] = data.how, byKeys = !matchMedia("(pointer: coarse)").matches
    how.textContent = `${byKeys ? `${act}, ${keys}` : act}. ${tolerance}`
    let on, now
    // The picture may come later than the question, or be drawn once more
    const look = setInterval(() => {
        const chart = first()
        if (!chart) return
        if (chart === on && now.svg.isConnected) return now.draw()
        now?.svg.remove()
        on = chart
        now = placed(chart, data, button)
    }, 200)
    button.onclick = () => now && setTriggerValue("guess", now.value())
    const end = () => { clearInterval(look); now?.svg.remove(); OPEN.delete(parentElement) }
    OPEN.set(parentElement, end)
    return end
}
