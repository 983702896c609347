// The marks of a model in a reliability diagram, which a switch moves to where a calibrator puts their rows.

const REACH = 30  // units around a mark in which a pointer finds it

// ``told`` holds the labels ``y``; predictions ``p`` before and, if there is a switch, after a calibrator; of each ``curves``
// and ``bands`` (points), ``colours`` and ``words``; the number of ``bins`` and the positions of the ``ringed`` rows.
// ``calibrates`` names the switch, and ``on`` tells whether it is on at first.
// ``guess`` is the curve that the reader expected. ``under`` is the height of the histogram.
function calibrated(root, told) {
    const layers = ["band", "diagonal", "guessed", "ghost", "curve", "marks", "ring", "histogram", "values"]
    const { svg, parts, most } = diagram(layers, { role: "img", "aria-label": told.alt, class: "moving" }, told.under)
    const picture = element("div", { class: "playground calibrated" }, svg)
    placed(svg)
    root.replaceChildren(picture)
    const line = name => parts[name].appendChild(element("path"))
    const [bandPath, ghostPath, curvePath, barPath] = ["band", "ghost", "curve", "histogram"].map(line)
    const strongPath = line("curve"), ringedPath = line("histogram")
    const ring = told.ringed.length ? parts.ring.appendChild(element("circle", { r: 11 })) : null
    ringedPath.setAttribute("class", "ringed")
    const enough = cells => cells.filter(({ rows }) => rows >= FEW)
    const ringed = p => ({ p: told.ringed.map(i => p[i]), y: told.ringed.map(i => told.y[i]) })
    const through = points => path(points.map(([x, y]) => [across(x), up(y)]))
    let share = told.on && told.p.length > 1 ? 1 : 0, drawn = []

    function paint() {
        const [before, after = before] = told.p, last = share < 0.5 ? 0 : told.p.length - 1
        const p = before.map((at, i) => at + share * (after[i] - at)), cells = binned({ p, y: told.y }, told.bins)
        const highest = Math.max(...cells.map(({ rows }) => rows))
        drawn = enough(cells)
        svg.style.setProperty("--calibrator", told.colours[last])
        curvePath.setAttribute("d", path(Array.from({ length: 101 }, (_, i) => {
            const [[x, y], [to, high] = [x, y]] = told.curves.map(curve => curve[Math.round(i / 100 * (curve.length - 1))])
            return [across(x + share * (to - x)), up(y + share * (high - y))]
        })))
        strongPath.setAttribute("d", share % 1 ? "" : strong(told.curves[share]))
        const band = told.bands[last] ?? []
        bandPath.setAttribute("d", band.length ? through(band) + "Z" : "")
        marks(parts.marks, drawn)
        barPath.setAttribute("d", bars(cells, highest, told.under))
        if (ring) {
            const [group] = binned(ringed(p), 1)
            ring.setAttribute("cx", across(group.sum / group.rows).toFixed(2))
            ring.setAttribute("cy", up(group.ones / group.rows).toFixed(2))
            ringedPath.setAttribute("d", bars(binned(ringed(p), told.bins), highest, told.under))
        }
        most.textContent = highest.toLocaleString("en")
        ghostPath.setAttribute("d", share ? strong(told.curves[0]) : "")
        parts.values.replaceChildren()
    }

    // The parts of a curve that enough rows support.
    function strong(curve) {
        return curve.map(([x, y, enough], i) => (enough ? `${curve[i - 1]?.[2] ? "L" : "M"}${across(x).toFixed(2)} ${up(y).toFixed(2)}` : "")).join("")
    }

    // The numbers of the mark nearest to a pointer.
    function tell({ clientX, clientY }) {
        const box = svg.getBoundingClientRect(), unit = WIDTH / box.width
        const to = { x: (clientX - box.left) * unit, y: (clientY - box.top) * unit }
        const places = drawn.map(({ rows, ones, sum }) => ({ rows, p: sum / rows, q: ones / rows, x: across(sum / rows), y: up(ones / rows) }))
        const far = ({ x, y }) => Math.hypot(x - to.x, y - to.y), [near] = places.toSorted((a, b) => far(a) - far(b))
        if (!near || far(near) > REACH) return parts.values.replaceChildren()
        const left = near.x > LEFT + SIDE / 2, below = near.y < TOP + 60, at = { x: near.x, "text-anchor": left ? "end" : "start" }
        parts.values.replaceChildren(
            element("text", { ...at, y: near.y + (below ? 28 : -32) }, `${near.rows.toLocaleString("en")} rows: predicted`),
            element("text", { ...at, y: near.y + (below ? 46 : -14) }, `${percent(near.p)}, observed ${percent(near.q)}`))
    }
    svg.addEventListener("pointermove", event => { if (event.pointerType === "mouse") tell(event) })
    svg.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") parts.values.replaceChildren() })
    svg.addEventListener("click", tell)  // a finger that swipes scrolls the page

    if (told.guess) {
        const { curve, area, gap } = told.guess
        parts.guessed.append(element("path", { class: "area", d: area.length ? `${through(area)}Z` : "" }), element("path", { d: through(curve) }))
        if (gap) parts.guessed.append(element("text", { x: across(gap.x), y: up(gap.y) + 4, "text-anchor": "middle" }, gap.text))
        // In the corner where no marks are: next to a guess it would cover those that are near
        parts.guessed.append(element("text", { x: across(0) + 10, y: TOP + 20 }, told.guess.label))
    }
    const move = (from, to) => glide(part => { share = part === 1 ? to : from + part * (to - from); paint() })
    if (told.p.length > 1) {
        const input = element("input", { type: "checkbox", role: "switch" }), said = element("p", { role: "status" })
        picture.append(element("div", { class: "below" }, element("label", {}, input, element("span", {}, told.calibrates)), said))
        input.checked = share === 1
        input.addEventListener("change", () => {
            const to = input.checked ? 1 : 0
            move(share, to)
            said.textContent = told.words[to]
        })
        said.textContent = told.words[share]
    }
    paint()
}

// Lets scripts that lay something over a chart of Plotly's find the axes in pixels here, too.
function placed(svg) {
    const axis = (offset, turned) => {
        const unit = svg.clientWidth / WIDTH, length = SIDE * unit
        return { type: "linear", range: [0, 1], scaleanchor: "x", _offset: offset * unit, _length: length,
            d2p: value => length * (turned ? 1 - value : value), p2d: pixel => (turned ? 1 - pixel / length : pixel / length) }
    }
    Object.defineProperty(svg, "_fullLayout", { get: () => ({ width: svg.clientWidth, xaxis: axis(LEFT), yaxis: axis(TOP, true) }) })
}
