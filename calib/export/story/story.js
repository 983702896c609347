// The story: parts of the text beside one picture. The step in view decides what the picture shows.

function story(root, data) {
    // What follows the state runs again only if a field that it has read is another: a drag must not wait for other parts.
    let reading = null, written = new Set()
    const state = new Proxy(readState(), {
        get(kept, name) { reading?.add(name); return kept[name] },
        set(kept, name, value) {
            if (kept[name] !== value) written.add(name)
            kept[name] = value
            return true
        },
    })
    const followers = [], sets = new Map()
    const platted = platt(data.calibration), stepped = isotonic(data.calibration)
    const after = { none: data.p, platt: data.p.map(platted), isotonic: data.p.map(stepped) }
    const letter = n => String.fromCharCode(97 + n)
    const settling = {  // statement → whether the gesture that settles it was made
        10: () => state.mark !== "", 11: () => state.money !== "", 12: () => Number(state.others) >= MOST, 13: () => state.bins === "70",
        14: () => state.fit !== "none", 15: () => state.fit !== "none", 16: () => state.depths.includes("0"), 17: () => state.depths.includes("3"),
        18: () => state.found === "1", 19: () => Number(state.years) >= 20,
    }
    const begun = {  // whether its outcomes are partly shown
        10: settling[10], 11: settling[11], 12: () => state.others !== "0", 13: () => state.bins !== "5", 14: settling[14], 15: settling[15],
        16: () => state.depths.length > 1, 17: () => state.depths.length > 1, 18: () => state.tried !== "0", 19: () => state.years !== "0",
    }
    const world = {
        state, people: data, ready: false, dragging: false, trial: {}, platt: platted, isotonic: stepped, cells: binned(data, BANK_BINS),
        after: fit => after[fit],
        other(seed, risks) {
            const key = `${seed} ${risks === data.p}`
            if (!sets.has(key)) sets.set(key, otherCustomers(data.p, seed, risks))
            return sets.get(key)
        },
        rightSet: () => world.other(2, data.p),  // typical: its ECE is near the mean by chance, with 5 and with 70 columns
        happened: n => STATEMENTS[n].truth ?? outcomes(world)[n],
        asked: n => state.bets[n] !== "-",
        settled: n => (n < 10 ? state.bets[n] !== "-" : state.done.includes(letter(n))),
        begun: n => n < 10 || world.settled(n) || begun[n](),
        follow(act) { followers.push({ act }); run(followers.at(-1)) },
        set(name, value) {
            if (state[name] === value) return
            state[name] = value
            changed()
        },
        // As a pointer drags: the picture follows at once, without gliding.
        drag(name, value) {
            world.dragging = true
            world.set(name, value)
            world.dragging = false
        },
        redraw: () => world.stage.again(),
        now: () => state.at,
        go: id => keys.enter(steps.findIndex(step => step.id === id), { glide: true }),
        restart() {
            world.deleted = { ...state }
            replace(Object.fromEntries(Object.entries(FIELDS).map(([name, [, first]]) => [name, first])), "start")
        },
        undo() {
            const before = world.deleted
            world.deleted = null
            replace(before, "end")
        },
    }
    function replace(other, id) {
        Object.assign(state, other)
        world.trial = {}
        changed(true)
        world.go(id)
    }
    let saving = 0
    function save() {
        clearTimeout(saving)
        saving = setTimeout(() => writeState(state), 250)
    }
    function settle() {
        for (const n of Object.keys(settling)) if (settling[n]() && world.asked(n) && !world.settled(Number(n))) state.done += letter(Number(n))
    }
    function run(follower) {
        reading = follower.reads = new Set()
        follower.act(state)
        reading = null
    }
    function changed(all = false) {
        const held = document.activeElement
        settle()
        const now = written
        written = new Set()
        for (const one of followers) if (all || [...one.reads].some(name => now.has(name))) run(one)
        world.redraw()
        keys.keep(held)
        save()
    }

    settle()
    const parts = [youPart, bankPart, chancePart, repairPart, enoughPart, whomPart, stillPart, endPart].map(make => make(world))
    const steps = parts.flatMap(part => part.steps.map(step => ({ ...step, part })))
    const picture = element("div", { class: "stage", role: "region", "aria-label": "Picture" })
    const docks = steps.map(dockOf), view = element("div", { class: "view" }, picture, element("div", { class: "docks" }, ...docks))
    const texts = steps.map(step => element("section", { id: `step-${step.id}`, class: "step", "data-part": step.part.id, tabindex: -1 }, element("div", { class: "card" }, ...gated(step))))
    const links = parts.map(part => {
        const link = element("a", { href: `#at=${part.steps[0].id}`, title: part.name, "aria-label": part.number > 7 ? part.name : `Part ${part.number}: ${part.name}` }, element("span", {}, part.number > 7 ? "★" : String(part.number)), element("em", {}, part.name))
        link.addEventListener("click", event => { event.preventDefault(); world.go(part.steps[0].id) })
        return link
    })
    const you = element("details", { class: "you" }), summary = element("summary", {}), panel = element("div", { class: "panel" })
    you.append(summary, panel)
    const header = element("header", {}, element("nav", { "aria-label": "Parts of the story" }, ...links), you)
    root.replaceChildren(header, element("main", {}, view, element("div", { class: "texts" }, ...texts)))
    const report = element("p", {}), large = element("div", {}), small = element("div", { class: "thumb" }), number = element("span", {})
    summary.append(small, number)
    panel.append(large, report, sharing(world))
    world.follow(() => {
        const { n, text } = ownFinding(world)
        small.replaceChildren(ownMini(world, 48))
        large.replaceChildren(ownMini(world, 260))
        number.replaceChildren(element("span", { class: "whose" }, "You: "), `${n} of ${COUNT}`)
        rich(report, text)
    })
    document.addEventListener("keydown", event => { if (event.key === "Escape" && you.open) { you.open = false; summary.focus() } })
    document.addEventListener("click", event => { if (!event.composedPath().includes(you)) you.open = false })

    const keys = followKeys(world, { header, view, texts, steps, go })
    world.stage = makeStage(picture, data.p.length)
    themed(world.stage)
    const begin = state.at
    go(begin, true)
    world.ready = true
    addEventListener("scroll", look, { passive: true })
    addEventListener("resize", look)
    addEventListener("hashchange", () => {
        const at = new URLSearchParams(location.hash.slice(1)).get("at")
        if (at && at !== state.at) go(at)
    })

    // A step that shows outcomes before the reader has guessed them says so first.
    function missing({ needs }) {
        return Boolean(needs) && (needs.ask.some(n => !world.asked(n)) || needs.place.some(name => !state[name]))
    }
    function skip({ ask, place }) {
        for (const n of ask) if (!world.asked(n)) state.bets = withAnswer(state, n, "s")
        for (const name of place) state[name] ||= "x"
        changed()
    }
    // The first step with a question or a mark that is needed and not given.
    function unfinished({ ask, place }) {
        return steps.findIndex(step => step.asks?.some(n => ask.includes(n) && !world.asked(n)) || (place.includes(step.place) && !state[step.place]))
    }
    function gated(step) {
        const inside = step.build()
        if (!step.needs) return inside
        const shut = element("div", { class: "shut" }, words(`${step.part.name}: not yet`, "task"),
            words("This step shows outcomes that you have not guessed yet. If you see them at once, the questions you skip do not count in your diagram."),
            row(press("Guess first", () => keys.enter(unfinished(step.needs), { open: true })), press("Show them", () => { skip(step.needs); go(step.id, true) })))
        const open = element("div", {}, ...inside)
        world.follow(() => { shut.hidden = !(open.hidden = missing(step)) })
        return [shut, open]
    }
    // The controls of a step stand below its picture, once the reader has answered its questions.
    function dockOf(step) {
        const tools = step.dock?.() ?? [], made = element("div", { id: `dock-${step.id}`, class: "dock" })
        const first = words(step.asks?.length > 1 ? "First answer the two questions." : "First answer the question.", "hint")
        const inside = element("div", {}, ...tools)
        made.append(first, inside)
        world.follow(() => {
            const waits = !ready(step)
            made.classList.toggle("none", !tools.length || missing(step))
            first.hidden = !waits
            inside.hidden = waits
        })
        return made
    }
    function ready({ asks = [] }) {
        return asks.every(world.asked)
    }
    function paint(stage, step) {
        if (missing(step)) {
            showCrowd(stage)
            stage.say("The outcomes are not shown yet.", "The picture")
        } else step.view(stage, ready(step))
    }

    function go(id, at_once = false) {
        const text = texts[Math.max(0, steps.findIndex(step => step.id === id))]
        const top = text.getBoundingClientRect().top + scrollY - (steps[0].id === id ? 1e6 : reach() - (innerWidth < 900 ? 0 : 30))
        scrollTo({ top, behavior: at_once || STILL.matches ? "auto" : "smooth" })
        look(true)
    }

    // Where the text begins: below the bar, and on a phone below the picture.
    function reach() {
        return innerWidth < 900 ? view.getBoundingClientRect().height + 52 : 60
    }

    // The step at the line of reading, a little below where the text begins.
    function look(first) {
        const line = reach() + (innerHeight - reach()) * 0.42, found = texts.findLastIndex(text => text.getBoundingClientRect().top <= line)
        const step = steps[Math.max(0, found)]
        if (first !== true && step === world.step) return
        const held = document.activeElement
        world.step = step
        state.at = step.id
        texts.forEach((text, i) => text.classList.toggle("now", steps[i] === step))
        docks.forEach((dock, i) => { dock.hidden = steps[i] !== step })
        links.forEach((link, i) => (parts[i] === step.part ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current")))
        world.stage.show(() => paint(world.stage, step))
        keys.keep(held)
        save()
    }
    return world
}

// Dark as the system is, or as the page that shows the story says.
function themed(stage) {
    const system = matchMedia("(prefers-color-scheme: dark)"), show = dark => {
        document.documentElement.classList.toggle("dark", dark)
        stage.look()
    }
    show(system.matches)
    system.addEventListener("change", ({ matches }) => show(matches))
    addEventListener("message", ({ source, data }) => {
        if (source === parent && typeof data?.dark === "boolean") show(data.dark)
    })
}

// What happened, of the statements that the story settles; the numbers are those of the picture.
function outcomes(world) {
    if (world.known) return world.known
    const { people } = world, share = ({ ones, rows }) => ones / rows, group = people.income.map((income, i) => (income === null ? i : -1)).filter(i => i >= 0)
    const risk = world.cells[SEVENTY], low = world.cells[0], q = world.after("platt"), bins = n => scores(world.rightSet(), n).ece
    const losses = people.trees.map(tree => lossParts(people.truth, tree.leaf.map(leaf => tree.values[leaf])))
    const all = losses.map(({ calibration, grouping }) => calibration + grouping)
    const tenths = tenthsOf(q), years = Array.from({ length: 20 }, (_, k) => k).filter(k => falseAlarm(q, tenths, 100 + k))
    return world.known = {
        10: share(risk) >= 0.6 && share(risk) <= 0.8,
        11: low.ones > 50,
        12: Array.from({ length: MOST }, (_, k) => binned(world.other(k + 1, people.truth), BANK_BINS)[SEVENTY]).every(cell => share(cell) < cell.sum / cell.rows),
        13: bins(70) >= 2 * bins(5),
        14: brierScore(q, people.y) < 0.9 * brierScore(people.p, people.y),
        15: q[B] > q[A],
        16: losses[0].calibration < losses[8].calibration,
        17: all[8] === Math.min(...all),
        18: group.length > 100 && mean(group.map(i => people.y[i] - q[i])) >= 0.1,
        19: years.length >= 5,
    }
}
