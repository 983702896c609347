// The one picture of the story: 900 people as dots on a canvas, lines and marks as SVG above them, and handles that a
// pointer or the keyboard moves. Dots glide to new places; the canvas is drawn only while something changes.

const GLIDE = 700, LATEST = 250  // milliseconds: a dot's way, and how much later than the first the last one begins
const GOLDEN = 0.6180339887498949
const SHADES = 24  // steps from no risk to certain default
const NEUTRAL = 0, PAID = 1, DEFAULT = 2, DIM = 3, CROWD = 4, ALARM = 5, CALM = 6, SHADE = 7
const eased = share => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2)

// ``people`` dots, and as many twins, which leave them where a picture shows everybody twice.
function makeStage(host, people) {
    const count = 2 * people
    const canvas = element("canvas", { "aria-hidden": "true" }), ink = canvas.getContext("2d")
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), tools = element("div", { class: "tools" })
    const said = element("p", { class: "unseen", role: "status" })
    svg.setAttribute("role", "img")
    host.replaceChildren(canvas, svg, tools, said)
    const [x, y, fromX, fromY, toX, toY] = Array.from({ length: 6 }, () => new Float32Array(count))
    const colour = new Uint8Array(count), lag = Float32Array.from({ length: count }, (_, i) => LATEST * ((i * GOLDEN) % 1))
    const size = { width: 0, height: 0 }, plot = { left: 50, top: 22, width: 0, height: 0 }
    let colours = [], radius = 3, begin = 0, moving = false, placed = false, last = null, waiting = 0, used = people, view = () => {}
    const drawn = new Map()

    const stage = {
        size, plot, frames: 0, spots: { x: toX, y: toY },  // where the dots go, in pixels
        px: p => plot.left + p * plot.width,
        py: q => plot.top + (1 - q) * plot.height,
        small: () => size.width < 560,
        show(next) { view = next; view() },
        again: () => view(),
        dots, ink: overlay, handle, handles, tool, say, look,
    }

    // Place every dot: ``place(i)`` gives a position in pixels, ``paint(i)`` a colour. A new picture glides, a drag does not.
    function dots({ place, paint, size: wide = 3, shown = 1, still = false, twins = false }) {
        canvas.style.opacity = shown
        const begins = performance.now(), wanted = twins ? count : people
        let same = placed && used === wanted && radius === wide
        if (moving) for (let i = 0; i < used; i++) here(i, begins)
        if (twins && used === people) { x.copyWithin(people, 0, people); y.copyWithin(people, 0, people) }
        radius = Math.max(0, wide)  // a frame may have no room yet
        used = wanted
        for (let i = 0; i < used; i++) {
            const [left, top] = place(i).map(Math.fround), which = paint(i)
            same &&= left === toX[i] && top === toY[i] && which === colour[i]
            toX[i] = left
            toY[i] = top
            colour[i] = which
        }
        if (same) return  // a drag may move marks alone
        fromX.set(x)
        fromY.set(y)
        begin = still || STILL.matches || !placed ? -Infinity : begins
        placed = true
        if (!moving) requestAnimationFrame(frame)
        moving = true
    }

    function here(i, now) {
        const share = eased(within((now - begin - lag[i]) / GLIDE, 0, 1))
        x[i] = fromX[i] + share * (toX[i] - fromX[i])
        y[i] = fromY[i] + share * (toY[i] - fromY[i])
    }

    function frame(now) {
        for (let i = 0; i < used; i++) here(i, now)
        paintAll()
        stage.frames += 1
        moving = now - begin < GLIDE + LATEST
        if (moving) requestAnimationFrame(frame)
    }

    function paintAll() {
        ink.clearRect(0, 0, size.width, size.height)
        for (const which of new Set(colour.subarray(0, used))) {
            ink.fillStyle = colours[which]
            for (let i = 0; i < used; i++) {
                if (colour[i] !== which) continue
                ink.beginPath()  // one path for each dot is filled faster than one for all
                ink.arc(x[i], y[i], radius, 0, 7)
                ink.fill()
            }
        }
    }

    // Draw elements [key, tag, attributes, text]; an element keeps its key, so that its attributes can glide.
    function overlay(wanted) {
        const keys = new Set(wanted.map(([key]) => key))
        for (const [key, made] of drawn) if (!keys.has(key)) { made.remove(); drawn.delete(key) }
        let after = svg.firstChild
        for (const [key, tag, attributes, text] of wanted) {
            let made = drawn.get(key)
            if (!made || made.tagName !== tag) {
                if (made === after) after = made?.nextSibling ?? null
                made?.remove()
                drawn.set(key, made = document.createElementNS("http://www.w3.org/2000/svg", tag))
            }
            for (const [name, value] of Object.entries(attributes))
                name === "style" ? made.style.cssText !== value && (made.style.cssText = value) : put(made, name, value)
            if (text !== undefined && made.textContent !== text) made.textContent = text
            if (made === after) after = after.nextSibling
            else svg.insertBefore(made, after)
        }
    }

    // A handle at a position in pixels. ``move(value)`` gets a value between ``low`` and ``high`` along its axis;
    // ``done()`` is called when the pointer lets go, and by Enter.
    function handle(id, { at: [left, top], along, label, now, text, low = 0, high = 1, step = 0.01, move, done, fixed }) {
        const made = tool(id, () => {
            const made = element("button", { type: "button", class: "handle", role: "slider" })
            grip(made)
            return made
        })
        Object.assign(made, { to: { along, low, high, step, now, move, done, fixed } })
        made.style.transform = `translate(${left}px, ${top}px)`
        made.dataset.along = along
        put(made, "aria-disabled", Boolean(fixed))
        for (const [name, value] of Object.entries({ label, valuemin: low, valuemax: high, valuenow: now ?? low, valuetext: text, orientation: along === "y" ? "vertical" : "horizontal" }))
            put(made, `aria-${name}`, value)
        return made
    }

    // What lies above the picture under this name, made once.
    function tool(id, make) {
        let made = tools.querySelector(`[data-id="${id}"]`)
        if (!made) {
            tools.append(made = make())
            made.dataset.id = id
        }
        return made
    }

    function grip(made) {
        let held = null, moved = false  // a click alone moves nothing
        const value = event => {
            const box = svg.getBoundingClientRect(), { along, low, high } = made.to
            return within(along === "x" ? (event.clientX - box.left - plot.left) / plot.width
                : 1 - (event.clientY - box.top - plot.top) / plot.height, low, high)
        }
        const hold = event => { held = event; moved = false; dragging(Boolean(event)) }
        const follow = event => {
            moved ||= held && Math.hypot(event.clientX - held.clientX, event.clientY - held.clientY) > 3
            if (moved) made.to.move(value(event))
        }
        made.addEventListener("pointerdown", event => { hold(event); made.setPointerCapture(event.pointerId) })
        made.addEventListener("pointermove", follow)
        made.addEventListener("pointerup", event => { follow(event); if (moved) made.to.done?.(); hold(null) })
        made.addEventListener("pointercancel", () => hold(null))
        made.addEventListener("keydown", event => {
            const { low, high, step, now, move, done, fixed } = made.to
            if (fixed) return
            const by = { ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step, PageUp: 10 * step, PageDown: -10 * step }[event.key]
            const end = { Home: low, End: high }[event.key]
            if (by || end !== undefined) move(within(end ?? (now ?? low) + by, low, high))
            else if (event.key === "Enter" || event.key === " ") done?.()
            else return
            event.preventDefault()
        })
    }

    // Keep the handles of these names alone.
    function handles(...ids) {
        for (const made of [...tools.children]) if (!ids.includes(made.dataset.id)) made.remove()
    }

    // What a screen reader says of the picture, once it is at rest.
    function say(text, title) {
        if (title) svg.setAttribute("aria-label", `${title}. ${text}`)
        if (text === last) return
        last = text
        clearTimeout(waiting)
        waiting = setTimeout(() => { said.textContent = text }, 500)
    }

    // Take the colours from the stylesheet, as when the theme changes.
    function look() {
        const style = getComputedStyle(host), one = name => style.getPropertyValue(name).trim()
        const [low, high] = ["--low", "--high"].map(name => one(name).match(/\w\w/g).map(part => parseInt(part, 16)))
        colours = [..."neutral paid default dim crowd alarm calm".split(" ").map(name => one(`--${name}`)),
            ...Array.from({ length: SHADES }, (_, k) => `rgb(${low.map((from, c) => Math.round(from + k / (SHADES - 1) * (high[c] - from)))})`)]
        paintAll()
    }

    function fit() {
        const box = host.getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2)
        if (!box.width || (box.width === size.width && box.height === size.height)) return
        Object.assign(size, { width: box.width, height: box.height })
        const small = stage.small()
        Object.assign(plot, { left: small ? 46 : 62, top: small ? 36 : 42 })
        Object.assign(plot, { width: box.width - plot.left - (small ? 12 : 34), height: box.height - plot.top - (small ? 52 : 64) })
        Object.assign(canvas, { width: box.width * ratio, height: box.height * ratio })
        svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`)
        ink.setTransform(ratio, 0, 0, ratio, 0, 0)
        view()
        paintAll()
    }
    new ResizeObserver(fit).observe(host)
    look()
    fit()
    return stage
}

// While something is dragged, the pointer selects no text, and marks follow at once.
const dragging = on => document.documentElement.classList.toggle("dragging", on)

const shade = value => SHADE + within(Math.round(value * (SHADES - 1)), 0, SHADES - 1)

// Where people stand: a sunflower, whose seeds cover a disc evenly.
function sunflower(stage, count, order = i => i, middle = [0.5, 0.5], part = 1) {
    const across = Math.min(stage.size.width * part, stage.size.height) * 0.46, [cx, cy] = middle
    return i => {
        const rank = order(i), r = across * Math.sqrt((rank + 0.5) / count), angle = 2 * Math.PI * GOLDEN * rank
        return [stage.size.width * cx + r * Math.cos(angle), stage.size.height * cy + r * Math.sin(angle)]
    }
}

// Columns: each person stands at his or her own risk ``p``, and the people of a bin fill its height. Those who default sink
// to the bottom, so that the line between the two is the share of defaults. ``shift`` moves a bin to the side.
function columns(stage, { p, y, bins, shift = () => 0 }) {
    const shares = binned({ p, y }, bins).map(({ rows, ones }) => ones / rows), ups = upsOf(p, y)
    return i => {
        const k = Math.min(bins - 1, Math.floor(p[i] * bins + 1e-9))
        return [stage.px(within(p[i] + shift(k), 0, 1)), stage.py(y[i] ? shares[k] * ups[i] : shares[k] + (1 - shares[k]) * ups[i])]
    }
}

// How high each person stands among those of a column with the same outcome: neighbours in risk stand far apart. Sorting
// is too slow for each frame of a drag.
const sorted = new WeakMap()
function upsOf(p, y) {
    const known = sorted.get(p) ?? sorted.set(p, new WeakMap()).get(p)
    if (!known.has(y)) {
        const ups = new Float64Array(p.length)
        for (const label of [0, 1])
            [...p.keys()].filter(i => y[i] === label).sort((a, b) => p[a] - p[b]).forEach((i, rank) => { ups[i] = rank * GOLDEN % 1 })
        known.set(y, ups)
    }
    return known.get(y)
}

const ABOVE = 21  // from the plot up to the name of its axis; what belongs to one place in the plot stands between

// Axes from 0 to 100 % with their names, for ``stage.ink``.
function axes(stage, across, up, { x = percent, y = percent, ticks = [0, 0.2, 0.4, 0.6, 0.8, 1] } = {}) {
    const { left, top, width, height } = stage.plot, foot = top + height
    return [
        ["plate", "rect", { x: left, y: top, width, height, class: "plate" }],
        ...ticks.flatMap(at => [
            [`x${at}`, "text", { x: stage.px(at), y: foot + 17, class: "tick", "text-anchor": !stage.small() ? "middle" : at === 1 ? "end" : at ? "middle" : "start" }, x(at)],
            ...(y ? [[`y${at}`, "text", { x: left - 7, y: stage.py(at) + 4, class: "tick", "text-anchor": "end" }, y(at)],
                [`h${at}`, "line", { x1: left, x2: left + width, y1: stage.py(at), y2: stage.py(at), class: "grid" }],
                [`v${at}`, "line", { x1: stage.px(at), x2: stage.px(at), y1: top, y2: foot, class: "grid" }]] : []),
        ]),
        ["across", "text", { x: left + width / 2, y: foot + (stage.small() ? 45 : 40), class: "name", "text-anchor": "middle" }, across],
        ["up", "text", { x: left, y: top - ABOVE, class: "name" }, up],
    ]
}

// What the colours of the dots mean: [class, name] of each, at the right above the plot.
function keyOf(stage, names = [["default", "defaulted"], ["paid", "repaid"]]) {
    const { left, top, width } = stage.plot, up = top - ABOVE, letter = stage.small() ? 6.7 : 7.2
    let x = left + width
    return names.toReversed().flatMap(([kind, name]) => {
        x -= letter * name.length
        const made = [[`key ${kind}`, "circle", { class: kind, cx: x - 9, cy: up - 4, r: 5 }], [`named ${kind}`, "text", { class: "tick", x, y: up }, name]]
        x -= stage.small() ? 24 : 30
        return made
    })
}

const diagonalOf = stage => [["diagonal", "line", { x1: stage.px(0), y1: stage.py(0), x2: stage.px(1), y2: stage.py(1), class: "diagonal" }]]

// A mark for each bin with rows, its area growing with them; thin bins are hollow. ``kind`` names the marks.
function marksOf(stage, cells, kind = "mark", most = Math.max(...cells.map(({ rows }) => rows))) {
    const scale = stage.small() ? 0.75 : 1
    return cells.flatMap(({ rows, ones, sum }, bin) => (rows ? [[`${kind}${bin}`, "circle", {
        class: `${kind} moves${rows < FEW ? " thin" : ""}`,
        style: `cx: ${fine(stage.px(sum / rows))}px; cy: ${fine(stage.py(ones / rows))}px; r: ${fine(scale * (3 + 10 * Math.sqrt(rows / most)))}px;`,
    }]] : []))
}

// The level of each column: the share of defaults as a line over its width.
function levels(stage, cells, shift = () => 0) {
    const at = (edge, bin) => stage.px(within(edge / cells.length + shift(bin), 0, 1))
    return cells.flatMap(({ rows, ones }, bin) => (rows ? [[`level${bin}`, "line", {
        class: "level", x1: at(bin, bin), x2: at(bin + 1, bin),
        y1: stage.py(ones / rows), y2: stage.py(ones / rows),
    }]] : []))
}

// The band of each bin: where 95 % of such marks fall if the model is calibrated; never too thin to see.
const THINNEST = 8
function bandsOf(stage, cells, range = consistency) {
    return cells.flatMap((cell, bin) => {
        if (!cell.rows) return []
        const [foot, head] = range(cell).map(stage.py), wide = Math.min(26, stage.plot.width / cells.length * 0.5), x = stage.px(cell.sum / cell.rows)
        const tall = Math.max(THINNEST, foot - head)
        return [[`band${bin}`, "rect", { class: "band", x: x - wide / 2, width: wide, y: (foot + head - tall) / 2, height: tall, rx: 3 }]]
    })
}
