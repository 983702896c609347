// Points to drag by mouse, finger or arrow keys. Their numbers follow at once, and the server gets the drop.
// All data are set as attributes or as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg"
const STILL = 4      // pixels within which a press is a click
const PAUSE = 400    // milliseconds from the last arrow key to the message to the server
const DIVISIONS = 200  // of an axis: how finely a point is placed
const DIAMOND = "M0,-8L8,0L0,8L-8,0Z", CIRCLE = "M-7,0A7,7 0 1,0 7,0A7,7 0 1,0 -7,0Z"
const ROW = "M0,-10L2.6,-3.4L9.5,-3.1L4.1,1.3L5.9,8.1L0,4.2L-5.9,8.1L-4.1,1.3L-9.5,-3.1L-2.6,-3.4Z"

const three = value => (value === 0 ? "0" : value.toPrecision(3).replace("-", "−"))
const within = (value, low, high) => Math.min(Math.max(value, low), high)
const clean = value => Number(value.toPrecision(12))

// A round number that divides an axis into at least DIVISIONS
function finest(span) {
    const fine = span / DIVISIONS, power = 10 ** Math.floor(Math.log10(fine))
    return Math.max(...[1, 2, 5].map(k => k * power).filter(step => step <= fine * (1 + 1e-9)))
}

function element(parent, name, attributes = {}) {
    const made = document.createElementNS(SVG, name)
    parent.append(made)
    return set(made, attributes)
}

function set(made, attributes) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
    return made
}

const KINDS = {
    // Rows on the axis of scores, class 0 at the bottom and class 1 at the top, and a row with unknown label
    scores: {
        moved(picture, handle, x, y) {
            const { low, high } = picture.data, { step } = picture
            handle.x = within(clean(Math.round(x / step) * step), low, high)
            if (handle.label !== null) handle.label = y > 0.5 ? 1 : 0
        },
        turned(handle) {
            if (handle.label !== null) handle.label = 1 - handle.label
        },
        y: (handle, found) => (handle.label === null ? found.p : handle.label),
        found(picture) {
            const { still, merge } = picture.data, [own, ...others] = picture.handles
            return pair([...still, ...others.map(({ x, label, rows }) => [x, label, rows])], own.x, merge)
        },
        say({ zero, one, p0, p1, p }) {
            const share = ({ pool }) => `${pool.ones}/${pool.rows}`
            return `p0 = ${share(zero)} = ${three(p0)}, p1 = ${share(one)} = ${three(p1)}, p = ${three(p)}`
        },
        name(handle) {
            return handle.label === null ? "The new row" : `Row of class ${handle.label}`
        },
        where: handle => `score ${clean(handle.x)}`,
        paths(picture, found) {
            const { x, y } = picture, { low, high } = picture.data, own = picture.handles[0].x
            const steps = ({ pools }) => pools.filter(pool => pool.high >= low && pool.low <= high).map((pool, i) =>
                `${i ? "L" : "M"}${x(pool.low)},${y(pool.ones / pool.rows)}H${x(pool.high)}`).join("")
            const box = ({ pool }) => `M${x(pool.low)},${y(0)}V${y(1)}H${x(pool.high)}V${y(0)}Z`
            const still = picture.data.still.filter(([score]) => score >= low && score <= high)
            return {
                still0: still.map(([score, label]) => (label ? "" : `M${x(score)},${y(0)}v-7`)).join(""),
                still1: still.map(([score, label]) => (label ? `M${x(score)},${y(1)}v7` : "")).join(""),
                pool0: box(found.zero), pool1: box(found.one), fit0: steps(found.zero), fit1: steps(found.one),
                asked: `M${x(own)},${y(0)}V${y(1)}`,
                interval: `M${x(own) - 7},${y(found.p0)}h14m-7,0V${y(found.p1)}m-7,0h14`,
            }
        },
    },
    // A line of points at their true probability, cut into leaves
    line: {
        moved(picture, handle, x, y) {
            const { low, high } = picture.data, { step } = picture, i = picture.handles.indexOf(handle)
            const left = (picture.handles[i - 1]?.x ?? -Infinity) + step
            const right = (picture.handles[i + 1]?.x ?? Infinity) - step
            const place = within(clean(Math.round(x / step) * step), Math.max(left, low), Math.min(right, high))
            if (left <= right) handle.x = clean(place)
            handle.y = within(clean(Math.round(y * 100) / 100), 0, 1)
        },
        turned(handle) {
            handle.label = handle.label === null ? 1 : 1 - handle.label
        },
        y: handle => handle.y,
        found: picture => partition(picture.handles.map(({ x, y, label }) => [x, y, label]), picture.data.cuts),
        say({ said, cl, gl, il, loss }, picture) {
            const { rows, ones, p } = said[picture.current]
            const share = (k, n) => (n ? `${k}/${n} = ${three(k / n)}` : three(p))
            return `The leaf of the chosen point has p = ${share(ones, rows)}. With one more label it has p0 = ` +
                `${share(ones, rows + 1)} or p1 = ${share(ones + 1, rows + 1)}. ` +
                `CL ${three(cl)} + GL ${three(gl)} + entropy ${three(il)} = ${three(loss)}`
        },
        name: (handle, i) => `Point ${i + 1}, ${handle.label === null ? "no label" : `class ${handle.label}`}`,
        where: handle => `position ${clean(handle.x)}, true probability ${clean(handle.y)}`,
        paths(picture, { said, leaves }) {
            const { x, y, handles } = picture, { low, high } = picture.data
            const gap = i => (i < 0 ? x(low) : i + 1 < handles.length ? x((handles[i].x + handles[i + 1].x) / 2) : x(high))
            const flat = level => said.map((one, i) => `M${gap(i - 1)},${y(one[level])}H${gap(i)}`).join("")
            return { leaf: flat("p"), group: flat("c"),
                cut: leaves.map((leaf, i) => (leaves[i + 1] > leaf ? `M${gap(i)},${y(0)}V${y(1)}` : "")).join("") }
        },
    },
}

class Picture {
    constructor(root) {
        [this.svg, this.said, this.live] = ["svg", ".said", ".live"].map(name => root.querySelector(name))
        this.frame = element(this.svg, "g", { class: "frame" })
        this.ink = element(this.svg, "g")
        this.marks = element(this.svg, "g")
        this.handles = []
        this.sent = this.current = 0
        this.paths = {}
        new ResizeObserver(() => this.data && this.draw()).observe(this.svg)
    }

    // Take the server's data, unless something newer is on its way to the server
    take(data, tell) {
        this.tell = tell
        if (this.held || this.waiting || data.answered < this.sent) return
        this.sent = data.answered
        this.data = data
        this.kind = KINDS[data.kind]
        this.step = finest(data.high - data.low)
        this.svg.setAttribute("aria-label", data.alt)
        for (const [name, color] of Object.entries(data.inks)) this.svg.style.setProperty(`--${name}`, color)
        this.svg.classList.toggle("room", data.room)
        while (this.handles.length > data.points.length) this.handles.pop().mark.remove()
        data.points.forEach((point, i) => Object.assign(this.handles[i] ??= this.made(i), point))
        this.draw()
    }

    made(i) {
        const handle = { mark: element(this.marks, "g", { tabindex: 0, role: "slider" }) }
        element(handle.mark, "circle", { r: 15, class: "reach" })
        handle.shape = element(handle.mark, "path")
        // Chromium ignores touch-action within a picture: the page would scroll, and the finger would lose the point
        handle.mark.addEventListener("touchstart", event => event.preventDefault(), { passive: false })
        handle.mark.addEventListener("pointerdown", event => this.grasp(event, handle))
        handle.mark.addEventListener("pointermove", event => this.drag(event, handle))
        handle.mark.addEventListener("pointerup", event => this.release(event, handle))
        handle.mark.addEventListener("pointercancel", () => this.put_back(handle))
        handle.mark.addEventListener("keydown", event => this.key(event, handle))
        handle.mark.addEventListener("focus", () => { this.current = i; this.draw() })
        handle.mark.addEventListener("blur", () => this.waiting && this.drop())
        return handle
    }

    // Where things are, in pixels and back

    x = value => this.left + ((value - this.data.low) / (this.data.high - this.data.low)) * this.width
    y = value => this.top + (1 - value) * this.height

    values({ clientX, clientY }) {
        const { left, top } = this.svg.getBoundingClientRect(), { low, high } = this.data
        return [low + ((clientX - left - this.left) / this.width) * (high - low),
            1 - (clientY - top - this.top) / this.height]
    }

    // By hand

    grasp(event, handle) {
        if (event.button || this.held) return
        handle.mark.focus({ preventScroll: true })
        handle.mark.setPointerCapture(event.pointerId)
        const { x, y, label } = handle
        this.held = { handle, from: [event.clientX, event.clientY], before: { x, y, label } }
    }

    drag(event, handle) {
        if (this.held?.handle !== handle) return
        const [x, y] = this.held.from
        this.held.moved ||= Math.hypot(event.clientX - x, event.clientY - y) > STILL
        if (!this.held.moved) return
        this.kind.moved(this, handle, ...this.values(event))
        this.draw()
    }

    release(event, handle) {
        if (this.held?.handle !== handle) return
        const { moved, before } = this.held
        this.held = null
        if (!moved) this.kind.turned(handle)
        if (before.x !== handle.x || before.y !== handle.y || before.label !== handle.label) this.drop()
    }

    put_back(handle) {
        if (this.held?.handle !== handle) return
        Object.assign(handle, this.held.before)
        this.held = null
        this.draw()
    }

    // By keys

    key(event, handle) {
        const far = event.shiftKey ? 10 : 1, { low, high } = this.data, { step } = this, y = this.kind.y(handle, this.found)
        const places = {
            ArrowLeft: [handle.x - far * step, y], ArrowRight: [handle.x + far * step, y],
            ArrowUp: [handle.x, this.data.kind === "line" ? y + far / 100 : 1],
            ArrowDown: [handle.x, this.data.kind === "line" ? y - far / 100 : 0],
            Home: [low, y], End: [high, y],
        }
        if (event.key === "Enter" || event.key === " ") this.kind.turned(handle)
        else if (event.key in places) this.kind.moved(this, handle, ...places[event.key])
        else return
        event.preventDefault()
        event.stopPropagation()  // the arrow keys also move through a lesson
        clearTimeout(this.waiting)
        this.waiting = setTimeout(() => this.drop(), PAUSE)
        this.draw()
        this.announce()
    }

    drop() {
        clearTimeout(this.waiting)
        this.waiting = null
        this.sent += 1
        this.draw()
        this.announce()
        this.tell({ n: this.sent, points: this.handles.map(({ x, y, label }) => ({ x, y, label })) })
    }

    announce() {
        this.live.textContent = this.said.textContent
    }

    // On paper

    draw() {
        const { width, height } = this.svg.getBoundingClientRect(), type = parseFloat(getComputedStyle(this.svg).fontSize)
        if (!width) return
        Object.assign(this, { left: 2.6 * type, top: 1.2 * type })
        Object.assign(this, { width: width - this.left - 1.2 * type, height: height - this.top - 3.2 * type })
        this.found = this.kind.found(this)
        this.said.textContent = this.kind.say(this.found, this)
        this.axes(type)
        for (const [name, d] of Object.entries(this.kind.paths(this, this.found)))
            set(this.paths[name] ??= element(this.ink, "path", { class: name }), { d })
        this.handles.forEach((handle, i) => this.place(handle, i))
    }

    place(handle, i) {
        const { low, high } = this.data, { mark, shape, label, x } = handle, y = this.kind.y(handle, this.found)
        const asked = this.data.kind === "scores" && label === null
        set(mark, { transform: `translate(${this.x(x)},${this.y(y)})`, class: asked ? "row" : `class${label ?? ""}`,
            "aria-label": this.kind.name(handle, i), "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": x,
            "aria-valuetext": `${this.kind.where(handle)}, ${this.kind.name(handle, i)}` })
        set(shape, { d: asked ? ROW : label === 1 ? DIAMOND : CIRCLE })
    }

    axes(type) {
        const { low, high, label } = this.data, { frame, left, width } = this, bottom = this.y(0)
        frame.replaceChildren()
        const text = (x, y, anchor, words) =>
            (element(frame, "text", { x, y, "text-anchor": anchor }).textContent = words)
        for (const value of [0, 0.5, 1]) {
            element(frame, "path", { class: "grid", d: `M${left},${this.y(value)}H${left + width}` })
            text(left - 0.5 * type, this.y(value) + 0.35 * type, "end", String(value))
        }
        const round = 10 ** Math.floor(Math.log10((high - low) / 3))
        const apart = round * (high - low > 6 * round ? (high - low > 12 * round ? 5 : 2) : 1)
        for (let i = Math.ceil(low / apart); i * apart <= high; i++)
            text(this.x(i * apart), bottom + 1.5 * type, "middle", String(clean(i * apart)))
        text(left + width / 2, bottom + 2.8 * type, "middle", label)
    }
}

const PICTURES = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
    if (!PICTURES.has(parentElement)) PICTURES.set(parentElement, new Picture(parentElement))
    PICTURES.get(parentElement).take(data, dropped => setTriggerValue("dropped", dropped))
}
