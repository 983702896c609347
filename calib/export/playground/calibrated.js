// The picture of the start page: the marks of a model; a switch moves them to where a calibrator puts their rows.

// ``told`` holds the rows p and y, the calibrated ``moved``, the number of ``bins``, the positions of the ``ringed`` rows, and
// [before, after] of ``curves`` and ``bands`` (points), ``colours`` and ``words``.
function calibrated(root, told) {
    const layers = ["band", "diagonal", "ghost", "curve", "marks", "ring", "histogram"]
    const { svg, parts, most } = diagram(layers, { role: "img", "aria-label": told.alt })
    const line = name => parts[name].appendChild(element("path"))
    const [bandPath, ghostPath, curvePath, barPath] = ["band", "ghost", "curve", "histogram"].map(line)
    const strongPath = line("curve"), ringedPath = line("histogram"), ring = parts.ring.appendChild(element("circle", { r: 11 }))
    const input = element("input", { type: "checkbox", role: "switch" })
    const said = element("p", { role: "status" })
    root.replaceChildren(element("div", { class: "playground calibrated" }, svg,
        element("div", { class: "below" }, element("label", {}, input, element("span", {}, "Calibrate")), said)))
    ringedPath.setAttribute("class", "ringed")
    const drawn = cells => cells.filter(({ rows }) => rows >= FEW)
    const ringed = p => ({ p: told.ringed.map(i => p[i]), y: told.ringed.map(i => told.y[i]) })
    let share = 0

    function paint(now) {
        share = now
        const p = told.p.map((at, i) => at + share * (told.moved[i] - at)), cells = binned({ p, y: told.y }, told.bins)
        const last = share < 0.5 ? 0 : 1, highest = Math.max(...cells.map(({ rows }) => rows))
        svg.style.setProperty("--calibrator", told.colours[last])
        curvePath.setAttribute("d", path(Array.from({ length: 101 }, (_, i) => {
            const [[x, y], [to, high]] = told.curves.map(curve => curve[Math.round(i / 100 * (curve.length - 1))])
            return [across(x + share * (to - x)), up(y + share * (high - y))]
        })))
        strongPath.setAttribute("d", share % 1 ? "" : strong(told.curves[share]))
        bandPath.setAttribute("d", path(told.bands[last].map(([x, y]) => [across(x), up(y)])) + "Z")
        marks(parts.marks, drawn(cells))
        const [group] = binned(ringed(p), 1)
        ring.setAttribute("cx", across(group.sum / group.rows).toFixed(2))
        ring.setAttribute("cy", up(group.ones / group.rows).toFixed(2))
        barPath.setAttribute("d", bars(cells, highest))
        ringedPath.setAttribute("d", bars(binned(ringed(p), told.bins), highest))
        most.textContent = highest.toLocaleString("en")
        ghostPath.setAttribute("d", share ? path(told.curves[0].map(([x, y]) => [across(x), up(y)])) : "")
    }

    // The parts of a curve that enough rows support.
    function strong(curve) {
        return curve.map(([x, y, enough], i) => (enough ? `${curve[i - 1]?.[2] ? "L" : "M"}${across(x).toFixed(2)} ${up(y).toFixed(2)}` : "")).join("")
    }

    input.addEventListener("change", () => {
        const from = share, to = input.checked ? 1 : 0
        glide(part => paint(part === 1 ? to : from + part * (to - from)))
        said.textContent = told.words[to]
    })
    said.textContent = told.words[0]
    paint(0)
}
