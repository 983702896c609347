// A reliability diagram over a histogram of its predictions, as SVG: axes, marks and how they move.

const SIDE = 440, LEFT = 56, TOP = 16, WIDTH = LEFT + SIDE + 14  // of the square diagram, in units
const BETWEEN = 10, UNDER = 96  // above the histogram, and its height unless a picture has less room
const FEW = 10  // rows of a bin from which on its band is drawn: for fewer the normal approximation is too rough
const STILL = matchMedia("(prefers-reduced-motion: reduce)")
const within = (value, low, high) => Math.min(Math.max(value, low), high)
const percent = value => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`

function element(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "path", "circle", "rect", "line", "text"].includes(tag)
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
    made.append(...children)
    return made
}

const across = p => LEFT + SIDE * p
const up = q => TOP + SIDE * (1 - q)
const fine = value => Math.round(100 * value) / 100  // units of the picture; many times as fast as toFixed
function path(points) {
    let text = ""
    for (const [x, y] of points) text += `${text ? "L" : "M"}${fine(x)} ${fine(y)}`
    return text
}

// Set an attribute where it has another value: the browser works out anew what an attribute that is set changes.
function put(element, name, value) {
    const text = String(value)
    if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

// The SVG with its axes and diagonal, its layers by their names, the first below the others, and the label of the highest bar.
// ``under`` is the height of the histogram.
function diagram(names, attributes, under = UNDER) {
    const parts = Object.fromEntries(["axes", ...names].map(name => [name, element("g", { class: name })]))
    const foot = TOP + SIDE + BETWEEN + under
    const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${foot + 48}`, ...attributes }, ...Object.values(parts))
    const add = (...all) => parts.axes.append(...all)
    for (const value of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
        add(element("line", { x1: across(value), x2: across(value), y1: TOP, y2: TOP + SIDE }),
            element("line", { x1: LEFT, x2: LEFT + SIDE, y1: up(value), y2: up(value) }),
            element("text", { x: across(value), y: foot + 18, "text-anchor": "middle" }, String(value)),
            element("text", { x: LEFT - 8, y: up(value) + 4, "text-anchor": "end" }, String(value)))
    }
    const beside = height => ({ transform: `translate(14 ${height}) rotate(-90)`, "text-anchor": "middle" })
    add(element("text", { x: LEFT + SIDE / 2, y: foot + 40, "text-anchor": "middle" }, "Predicted probability"),
        element("text", beside(TOP + SIDE / 2), "Observed frequency"), element("text", beside(foot - under / 2), "Rows"))
    const most = parts.axes.appendChild(element("text", { x: LEFT - 8, y: foot - under + 12, "text-anchor": "end" }))
    parts.diagonal.append(element("path", { d: `M${across(0)} ${up(0)}L${across(1)} ${up(1)}` }))
    return { svg, parts, most }
}

// One mark for each bin, its area growing with its rows.
function marks(into, cells) {
    const most = Math.max(1, ...cells.map(({ rows }) => rows))
    while (into.childElementCount < cells.length) into.append(element("circle"))
    while (into.childElementCount > cells.length) into.lastChild.remove()
    cells.forEach(({ rows, ones, sum }, i) => {
        const mark = into.children[i]
        put(mark, "cx", fine(across(sum / rows)))
        put(mark, "cy", fine(up(ones / rows)))
        put(mark, "r", fine(2.5 + 7 * Math.sqrt(rows / most)))
    })
}

// The bars of these bins as a path; the highest of ``most`` rows fills the histogram.
function bars(cells, most, under = UNDER) {
    const foot = TOP + SIDE + BETWEEN + under, width = SIDE / cells.length
    return cells.map(({ rows }, i) => rows &&
        `M${(LEFT + i * width + 0.5).toFixed(2)} ${foot}v${(-under * rows / most).toFixed(2)}h${(width - 1).toFixed(2)}V${foot}Z`)
        .filter(Boolean).join("")
}

// Half a second from 0 to 1, drawn by ``paint``; at once for readers who asked for reduced motion.
function glide(paint) {
    if (STILL.matches) return paint(1)
    const begin = performance.now(), step = now => {
        const share = within((now - begin) / 500, 0, 1)
        paint(share)
        if (share < 1) requestAnimationFrame(step)
    }
    paint(0)
    requestAnimationFrame(step)
}
