// A triangle in which a point is dragged: three probabilities that sum to 1, what a calibrator makes of them, and what
// is true of photos with this prediction. Nothing is asked of a server; at rest, the settings are reported to it.

const ANIMALS = ["cat", "dog", "fox"], WIDE = 576, HIGH = 500, EDGE = 460
const CORNERS = [[58, 450], [58 + EDGE, 450], [58 + EDGE / 2, 450 - EDGE * Math.sqrt(3) / 2]]
const DOTS = 600, KEY_STEP = 0.02
const at = P => [0, 1].map(axis => total(P.map((p, k) => p * CORNERS[k][axis])))
const whole = value => `${Math.round(100 * value)} %`
const line = (from, to) => `M${fine(from[0])} ${fine(from[1])}L${fine(to[0])} ${fine(to[1])}`

// Three probabilities of a place in the picture; outside of the triangle those of its nearest inner place.
function probabilitiesAt([x, y]) {
    const fox = (CORNERS[0][1] - y) / (CORNERS[0][1] - CORNERS[2][1]), dog = (x - CORNERS[0][0]) / EDGE - fox / 2
    return normalised([1 - dog - fox, dog, fox].map(p => Math.max(p, 0.005)))
}

// What a reader can try, when it is done, and what it teaches. ``seen`` has the three probabilities of the point.
const TRIALS = [
    ["Drag the point among the dogs until the model's highest probability is right within 2 points.",
        ({ seen: { P, q }, calibrator }) => calibrator === "none" && top(P) === 1 && Math.abs(P[1] - q[1]) < 0.02 && Math.abs(P[0] - q[0]) > 0.05,
        "The confidence is right, but “cat” is too high and “fox” too low: a right confidence says nothing about the other classes."],
    ["Find a calibrator that moves every point to the truth.",
        ({ calibrator, tilt, found }) => calibrator !== "none" && tilt >= 1.5 && found.now.classes < 0.005,
        "Vector scaling has a power and a weight for each class. This model's error has the same form, so here the calibrator is its exact inverse; with real data it has to be fitted. Temperature scaling keeps the order of the classes."],
    ["Change the model so that temperature scaling is enough.",
        ({ calibrator, found }) => calibrator === "temperature" && found.before.classes > 0.01 && found.now.classes < 0.005,
        "If all classes are overconfident alike, one number corrects them all."],
]

function triangle(root, told, given, changed) {
    const settings = { ...given }, all = photos(), dots = all.slice(0, DOTS)
    let found = null, shift = 1, tries = false, reported = JSON.stringify(settings)
    const names = ["dots", "sides", "rods", "way", "truth", "after", "point"]
    const layers = Object.fromEntries(names.map(name => [name, element("g", { class: name })]))
    const svg = element("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": "Triangle of three probabilities, with a point to drag" }, ...Object.values(layers))
    const tasks = taskLine(TRIALS), said = element("p", { class: "said", role: "status" }), { draw: again, later } = painter(paint, rest)
    const rows = ANIMALS.map((name, k) => element("tr", { class: `class${k}` }, element("th", { scope: "row" }, name), ...[0, 1, 2].map(() => element("td"))))
    const beside = element("div", { class: "beside" })
    root.replaceChildren(element("div", { class: "playground triangle" }, element("div", { class: "picture" }, svg), beside))
    ANIMALS.forEach((name, k) => root.firstChild.style.setProperty(`--class${k}`, told.inks[k]))

    const dotPaths = ANIMALS.map((_, k) => layers.dots.appendChild(element("path", { class: `class${k}` })))
    const middle = at([1 / 3, 1 / 3, 1 / 3])
    layers.sides.append(element("path", { class: "frame", d: `${line(CORNERS[0], CORNERS[1])}L${CORNERS[2].map(fine).join(" ")}Z` }),
        ...[[0, 1], [1, 2], [0, 2]].map(([i, j]) => element("path", { class: "border", d: line(middle, [0, 1].map(axis => (CORNERS[i][axis] + CORNERS[j][axis]) / 2)) })),
        ...ANIMALS.map((_, k) => element("circle", { class: `class${k}`, cx: CORNERS[k][0] - 50, cy: CORNERS[k][1] + (k === 2 ? -17 : 21), r: 6 })),
        ...ANIMALS.map((name, k) => element("text", { x: CORNERS[k][0], y: CORNERS[k][1] + (k === 2 ? -12 : 26), "text-anchor": "middle" }, `100 % ${name}`)))
    const rods = ANIMALS.map((_, k) => layers.rods.appendChild(element("path", { class: `class${k}` })))
    const way = layers.way.appendChild(element("path")), star = layers.truth.appendChild(element("path", { d: "M0 -11L11 0L0 11L-11 0Z" }))
    const trueName = layers.truth.appendChild(element("text", {}, "truth")), ring = layers.after.appendChild(element("circle", { r: 15 }))
    const point = layers.point.appendChild(element("circle", { r: 12, tabindex: 0, role: "slider", "aria-label": "The model's three probabilities",
        "aria-valuemin": 0, "aria-valuemax": 100 }))
    const drag = P => { Object.assign(settings, { cat: rounded(P[0]), dog: rounded(P[1]) }); draw() }
    const seen = () => {
        const P = normalised([settings.cat, settings.dog, 1 - settings.cat - settings.dog].map(p => Math.max(p, 0.001)))
        return { P, after: found.map(P), q: truthOf(P, settings) }
    }
    const place = ({ clientX, clientY }) => {
        const box = svg.getBoundingClientRect(), unit = WIDE / box.width
        return probabilitiesAt([(clientX - box.left) * unit, (clientY - box.top) * unit])
    }
    let held = false
    svg.addEventListener("pointerdown", event => {
        if (event.pointerType !== "mouse" && event.target !== point) return  // a finger beside the point scrolls the page
        held = true
        svg.setPointerCapture(event.pointerId)
        event.preventDefault()
        point.focus({ preventScroll: true })
        drag(place(event))
    })
    svg.addEventListener("pointermove", event => held && drag(place(event)))
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => { held = false })
    point.addEventListener("keydown", event => {
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
        if (!by) return
        event.preventDefault()
        const from = at(seen().P), far = EDGE * KEY_STEP * (event.shiftKey ? 5 : 1)
        drag(probabilitiesAt([from[0] + by[0] * far, from[1] + by[1] * far]))
    })

    const choices = radios(told.calibrators, key => {
        settings.calibrator = key
        compute()
        tries = true
        glide(share => { shift = share; paint() })
        later()
    })
    const sliders = ranges(told.settings, (name, value) => { settings[name] = value; compute(); draw() })
    const inputs = [choices, sliders].flatMap(all => [...all.querySelectorAll("input")])
    beside.append(tasks.line, element("table", { "aria-label": "The model's probabilities, the calibrated ones and the truth" },
        element("thead", {}, element("tr", {}, ...["A photo here", "model", "calibrated", "truth"].map(text => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows)), choices, said, sliders,
        element("div", { class: "buttons" }, button("Reset", "Reset", () => { Object.assign(settings, told.begin); compute(); draw(false) })))
    compute()
    draw(false)

    function compute() { found = classified(all, settings) }

    function draw(byReader = true) {
        tries = byReader
        again()
    }

    function paint() {
        const now = seen(), { P, after, q } = now, fits = settings.calibrator !== "none"
        const paths = ANIMALS.map(() => "")
        dots.forEach(({ shows }, i) => {
            const [x, y] = at(found.predicted[i].map((p, k) => p + shift * (found.after[i][k] - p)))
            paths[shows] += `M${fine(x)} ${fine(y)}h0`
        })
        dotPaths.forEach((path, k) => put(path, "d", paths[k]))
        const here = at(P), truth = at(q)
        // The distances to the three sides are the three probabilities, in units of the height
        rods.forEach((rod, k) => {
            const [a, b] = [0, 1, 2].filter(j => j !== k), share = ((here[0] - CORNERS[a][0]) * (CORNERS[b][0] - CORNERS[a][0]) + (here[1] - CORNERS[a][1]) * (CORNERS[b][1] - CORNERS[a][1])) / EDGE ** 2
            put(rod, "d", line(here, [0, 1].map(axis => CORNERS[a][axis] + share * (CORNERS[b][axis] - CORNERS[a][axis]))))
        })
        const moved = at(P.map((p, k) => p + shift * (after[k] - p)))
        put(way, "d", fits ? line(here, moved) : line(here, truth))
        way.classList.toggle("far", !fits)
        put(star, "transform", `translate(${truth.map(fine).join(" ")})`)
        const left = truth[0] > 0.7 * WIDE
        put(trueName, "x", fine(truth[0] + (left ? -18 : 18)))
        put(trueName, "text-anchor", left ? "end" : "start")
        put(trueName, "y", fine(truth[1] + 5))
        ring.toggleAttribute("hidden", !fits)
        ring.setAttribute("cx", fine(moved[0]))
        ring.setAttribute("cy", fine(moved[1]))
        put(point, "cx", fine(here[0]))
        put(point, "cy", fine(here[1]))
        put(point, "aria-valuenow", Math.round(100 * Math.max(...P)))
        put(point, "aria-valuetext", ANIMALS.map((name, k) => `${name} ${whole(P[k])}`).join(", "))
        rows.forEach((row, k) => [P, fits ? after : null, q].forEach((of, j) => {
            write(row.cells[j + 1], of ? whole(of[k]) : "–")
            row.cells[j + 1].classList.toggle("highest", Boolean(of) && k === top(of))
        }))
        showSettings(inputs, settings)
    }

    function rest() {
        const points = value => (100 * value).toFixed(1), { before, now } = found
        const { label } = told.calibrators.find(({ key }) => key === settings.calibrator)
        write(said, `All ${PHOTOS.toLocaleString("en")} photos: the confidence is off by ${points(before.confidence)} points on average, single classes by ${points(before.classes)}.`
            + (settings.calibrator === "none" ? "" : ` ${label}: ${points(now.confidence)} and ${points(now.classes)}.`))
        if (tries) tasks.judge({ ...settings, found, seen: seen() })
        const state = JSON.stringify(settings)
        if (state === reported) return
        reported = state
        changed({ ...settings })
    }
}

export default function ({ data, parentElement, setTriggerValue }) {
    const root = parentElement.querySelector(".root")
    if (alreadyReported(root, JSON.stringify(data.given))) return
    triangle(root, data.told, data.given, settings => {
        report(root, JSON.stringify(settings))
        setTriggerValue("changed", settings)
    })
}
