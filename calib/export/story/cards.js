// Pieces of the text beside the picture: paragraphs, statements with a confidence, sliders, choices.

// A paragraph; *words* between stars are a term that is explained here.
function words(text, name = "") {
    const made = element("p", name ? { class: name } : {})
    rich(made, text)
    return made
}

function rich(made, text) {
    made.replaceChildren(...text.replace(/(\d) %/g, "$1\u00a0%").split("*").map((part, i) => (i % 2 ? element("dfn", {}, part) : part)))
}

// A paragraph whose text follows the state.
function live(world, text, name = "") {
    const made = element("p", name ? { class: name } : {})
    let shown
    world.follow(() => {
        const next = text(world.state)
        if (next !== shown) rich(made, shown = next)
        made.hidden = !next
    })
    return made
}

// What is shown once the reader has acted.
function after(world, acted, ...inside) {
    const made = element("div", { class: "after" }, ...inside)
    world.follow(() => {
        const shown = Boolean(acted(world.state))
        if (shown && made.hidden && world.ready) made.classList.add("fresh")
        made.hidden = !shown
    })
    return made
}

// A statement and the reader's confidence in it: eleven steps, none of them chosen at first. One of the first ten is
// settled at once, the others by the gesture that follows, which may also be had without an answer. An answer can be
// changed, and a skipped question answered, until the gesture begins.
function bet(world, n) {
    const { text, told } = STATEMENTS[n], settled = () => world.settled(n), later = n >= 10
    const closed = () => world.asked(n) && world.begun(n)
    const steps = Array.from({ length: 11 }, (_, k) => element("button", { type: "button", "aria-label": `${10 * k} %`, tabindex: k ? -1 : 0 }, String(10 * k)))
    const scale = element("div", { class: "scale", role: "group", "aria-label": `How likely is this to be true? ${text}` }, ...steps)
    const outcome = element("p", { class: "outcome", role: "status" }), pass = element("button", { type: "button", class: "pass" }, "Skip this question (it will not count)")
    const give = answer => (closed() ? tell(" This answer is locked, because you have seen what happened.") : world.set("bets", withAnswer(world.state, n, answer)))
    steps.forEach((step, k) => step.addEventListener("click", () => give(k.toString(11))))
    pass.addEventListener("click", () => give("s"))
    scale.addEventListener("keydown", event => {
        const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key], now = steps.indexOf(document.activeElement)
        if (!by || now < 0) return
        event.preventDefault()
        steps[now].tabIndex = -1
        const next = steps[within(now + by, 0, 10)]
        next.tabIndex = 0
        next.focus()
    })
    const statement = element("p", { class: "statement" }), made = element("div", { class: "bet" })
    rich(statement, text)
    function tell(more = "") {
        const answer = answerOf(world.state, n), happened = settled() && world.happened(n)
        rich(outcome, (settled() ? `${happened ? "True." : "False."} ${told} ${measured(answer, happened)}` : world.asked(n) ? noted(world, n, answer) : "") + more)
        outcome.dataset.result = settled() ? String(happened) : ""
    }
    world.follow(() => {
        const answer = answerOf(world.state, n), chosen = answer === null ? -1 : Math.round(10 * answer)
        steps.forEach((step, k) => {
            put(step, "aria-pressed", k === chosen)
            put(step, "aria-disabled", closed())
            step.tabIndex = k === Math.max(0, chosen) ? 0 : -1
        })
        made.classList.toggle("asked", world.asked(n))
        scale.classList.toggle("closed", closed())
        pass.hidden = world.asked(n) || !later
        tell()
    })
    made.append(statement, scale,
        element("p", { class: "ends", "aria-hidden": "true" }, element("span", {}, "0 %: certainly false"), element("span", {}, "100 %: certainly true")), outcome, pass)
    return made
}

// What is said of an answer that is not settled yet: whether it can be changed, and what to do next.
function noted(world, n, answer) {
    const kept = answer === null ? "Skipped" : "Noted", free = world.begun(n) ? "" : answer === null ? " (you can still answer)" : " (you can change it)"
    const next = PAIRS[n] && !world.asked(PAIRS[n]) ? "answer the other question" : ACTS[n]
    return `${kept}${free}. Now ${next}.`
}

// How far a stated probability was from what happened.
function measured(answer, happened) {
    if (answer === null) return "You skipped this question."
    const right = happened ? 1 : 0, off = between(answer, right)
    return `You gave ${percent(answer)} to something ${happened ? "true" : "false"}: ${off ? `${points(off)} from ${percent(right)}` : "exactly right"}.`
}

// A slider of whole numbers.
function slider(world, name, label, low, high, also = () => {}) {
    const input = element("input", { type: "range", min: low, max: high, step: 1 }), value = element("output", {})
    input.addEventListener("input", () => {
        const chosen = input.value  // which ``also`` may set back
        dragging(true)
        also(chosen)
        world.set(name, chosen)
    })
    input.addEventListener("change", () => dragging(false))
    world.follow(() => {
        input.value = world.state[name]
        value.textContent = world.state[name]
        put(input, "aria-valuetext", value.textContent)
    })
    return element("label", { class: "slider" }, element("span", {}, label), input, value)
}

function press(text, act) {
    const made = element("button", { type: "button", class: "press" }, text)
    made.addEventListener("click", act)
    return made
}

// A button that counts up to a last time, one that goes there at once, and how far the reader is.
function pressUpTo(world, text, all, name, step, most, noun) {
    const full = () => Number(world.state[name]) >= most
    const made = [[text, step], [all, most]].map(([label, by]) => press(label, () => world.set(name, String(Math.min(most, Number(world.state[name]) + by)))))
    world.follow(() => made.forEach(one => put(one, "aria-disabled", full())))
    return [...made, live(world, state => `${state[name]} of ${most} ${noun}${full() ? ": that is enough" : ""}`, "count")]
}

let groups = 0
function choices(world, name, label, options) {
    const group = `story-${name}-${groups++}`  // two pictures have the same choice
    const made = element("fieldset", { class: "choices" }, element("legend", { class: "unseen" }, label))
    for (const [key, text] of options) {
        const input = element("input", { type: "radio", name: group, value: key })
        input.addEventListener("change", () => world.set(name, key))
        world.follow(() => { input.checked = world.state[name] === key })
        made.append(element("label", {}, input, element("span", {}, text)))
    }
    return made
}

// A function that remembers its last answer: several sentences and the picture ask for the same.
function kept(answer) {
    let asked, last
    return question => (question === asked ? last : (last = answer(asked = question)))
}

const heading = (number, text) => element("h2", {}, element("span", { class: "number" }, String(number)), text)
const counts = (n, noun, many = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : many}`
const row = (...parts) => element("div", { class: "row" }, ...parts)
// How many points two shares are apart, as the difference of what is shown of them.
const apart = (a, b) => Math.abs(parseFloat(decimal(a)) - parseFloat(decimal(b))).toFixed(1)
const decimal = share => `${(100 * share).toFixed(1)} %`
// The whole percentage points between two shares, as the difference of what is shown of them.
const between = (a, b) => Math.round(parseFloat(percent(a)) - parseFloat(percent(b)))
const points = off => counts(Math.abs(off), "point")
