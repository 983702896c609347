// Part 1, and the end: the reader's own reliability diagram.

const OWN_BINS = 5, FEWEST = 3  // answers from which on they are judged

// The answers that are settled, as rows of a diagram: the probability p stated and whether the statement is true.
function ownRows(world) {
    const which = STATEMENTS.map((_, n) => n).filter(n => answerOf(world.state, n) !== null && world.settled(n))
    return { which, p: which.map(n => answerOf(world.state, n)), y: which.map(n => (world.happened(n) ? 1 : 0)) }
}

// The columns of these rows; ``each`` holds the probabilities of a column.
function ownCells({ p, y }) {
    const each = Array.from({ length: OWN_BINS }, () => [])
    p.forEach(at => each[Math.min(OWN_BINS - 1, Math.floor(at * OWN_BINS + 1e-9))].push(at))
    return binned({ p, y }, OWN_BINS).map((cell, bin) => ({ ...cell, each: each[bin] }))
}

// Where 95 % of the frequencies of a column fall if each of its statements is true with the probability stated.
const ownRange = ({ rows, each }) => usualNumber(each).map(k => k / rows)

// Who gives a probability takes the side that he or she calls likelier; with 50 %, no side.
function sidesOf({ p, y }) {
    const sides = [...p.keys()].filter(i => p[i] !== 0.5)
    return { taken: sides.length, sure: sides.map(i => Math.max(p[i], 1 - p[i])), right: sides.filter(i => (p[i] > 0.5) === Boolean(y[i])).length }
}

// What the answers show.
function ownFinding(world) {
    const rows = ownRows(world), n = rows.p.length, cells = ownCells(rows).filter(cell => cell.rows)
    if (!n) return { n, cells, text: "No answers yet." }
    const { taken, sure, right } = sidesOf(rows), range = usualNumber(sure)
    const outside = cells.filter(cell => { const [low, high] = ownRange(cell), at = cell.ones / cell.rows; return at < low - 1e-9 || at > high + 1e-9 }).length
    return { n, cells, outside, taken, sure: taken ? mean(sure) : 0.5, right, range, brier: brierScore(rows.p, rows.y),
        text: ownVerdict({ n, taken, sure, right, range, outside, marks: cells.length }) }
}

function ownVerdict({ n, taken, sure, right, range: [low, high], outside, marks }) {
    if (!taken) return `You said 50 % in ${counts(n, "answer")}, so no answer could be wrong. A diagram needs answers that take a side.`
    const begin = `You took a side in ${taken} of ${counts(n, "answer")} and were ${percent(mean(sure))} sure on average. ${right} of ${taken} ${right === 1 ? "was" : "were"} right: ${percent(right / taken)}. `
    if (taken < FEWEST) return begin
    const usual = low === high ? `exactly ${low}` : `${low} to ${high}`, gap = points(between(mean(sure), right / taken))
    const total = `Calibrated people with your probabilities usually get ${usual} right. `
    const verdict = right < low ? `You were *overconfident*, by ${gap}. ` : right > high ? `You were *underconfident*, by ${gap}. ` : "Your number is within that range. "
    return begin + total + verdict + (outside ? `${outside} of your ${counts(marks, "mark")} ${outside === 1 ? "is" : "are"} outside the band.` : right < low || right > high ? "No single mark shows it: each has too few answers." : `${marks === 1 ? "Your mark is" : `All ${marks} marks are`} inside the band.`)
}

// The first ten questions beside the later ones, and the reader beside the bank's model, by how sure and how often right.
function ownProgress(world) {
    const { which, p, y } = ownRows(world), part = late => sidesOf({ p: p.filter((_, i) => which[i] >= 10 === late), y: y.filter((_, i) => which[i] >= 10 === late) })
    const [first, later] = [false, true].map(part)
    if (Math.min(first.taken, later.taken) < FEWEST) return ""
    const said = ({ sure, right, taken }) => [mean(sure), right / taken].map(percent)
    const [[sure, right], [sureLater, rightLater]] = [first, later].map(said)
    return `In the first ten questions you were ${sure} sure, and ${right} of your answers were right; in the later ones, ${sureLater} and ${rightLater}.`
}

function besideModel(world) {
    const model = sidesOf(world.people), mine = sidesOf(ownRows(world)), sure = mean(model.sure), right = model.right / model.taken
    if (mine.taken < FEWEST || !world.state.money) return ""  // the bank's outcomes are not known yet
    const own = between(mean(mine.sure), mine.right / mine.taken)
    const [low, high] = usualNumber(mine.sure), chance = mine.right >= low && mine.right <= high
    return `Measured in the same way, the bank’s model was ${percent(sure)} sure, and ${percent(right)} of its predictions were right. It was overconfident by ${points(between(sure, right))}. `
        + (chance ? `Your gap of ${points(own)} may be chance.` : `You were ${own > 0 ? "over" : "under"}confident by ${points(own)}.`)
}

// Which answers do not count yet, or never will.
function uncounted(world) {
    const { n } = ownFinding(world), all = STATEMENTS.map((_, k) => k), skipped = all.filter(k => world.state.bets[k] === "s").length
    if (n === COUNT) return ""
    const open = [...new Set(all.filter(k => !world.asked(k) || !world.settled(k)).map(k => (k < 10 ? 1 : PARTS[k])))]
    return `${n} of your ${COUNT} answers count.${skipped ? ` You skipped ${counts(skipped, "question")}.` : ""}`
        + (open.length ? ` Still open: part${open.length > 1 ? "s" : ""} ${open.join(", ").replace(/, (\d)$/, " and $1")}. An answer counts once you have tried what follows.` : "")
}

// The address of the page that shows the story; a file has none to share.
function sharedAddress() {
    let { href } = location
    try {
        href = parent.location.href
    } catch { /* another site shows the story */ }
    return /^https?:/.test(href) ? href.replace(/^https?:\/\/|[?#].*/g, "") : ""
}

// A dot is above the probability that was stated, at the top if the statement was true and at the bottom if it was false,
// so that a mark is the mean of its dots. Equal answers are stacked.
function ownDots(stage, rows, size) {
    const stacks = {}
    return rows.which.map((n, i) => {
        const key = `${rows.p[i]} ${rows.y[i]}`, rank = stacks[key] = (stacks[key] ?? -1) + 1
        const up = stage.py(rows.y[i]) + 2 * size * (rows.y[i] ? rank : -rank)
        return [`own${n}`, "circle", { class: `own moves ${rows.y[i] ? "came" : "failed"}`, style: `cx: ${fine(stage.px(rows.p[i]))}px; cy: ${fine(up)}px; r: ${size}px;` }]
    })
}

function ownPicture(stage, world, size) {
    const rows = ownRows(world), cells = ownCells(rows)
    return [...diagonalOf(stage), ...bandsOf(stage, cells, ownRange), ...marksOf(stage, cells, "mark"), ...ownDots(stage, rows, size)]
}

// The small diagram that stays in view. The smallest has no dots: they would hide its marks.
function ownMini(world, side) {
    const tiny = side < 100, inset = tiny ? 5 : 12
    const frame = { plot: { left: inset, top: inset, width: side - 2 * inset, height: side - 2 * inset }, small: () => true,
        px: p => inset + p * (side - 2 * inset), py: q => inset + (1 - q) * (side - 2 * inset) }
    const svg = element("svg", { viewBox: `0 0 ${side} ${side}`, class: "mini", "aria-hidden": "true" })
    svg.append(element("rect", { x: inset, y: inset, width: side - 2 * inset, height: side - 2 * inset, class: "plate" }))
    for (const [, tag, attributes] of ownPicture(frame, world, 5)) {
        if (tiny && attributes.class.startsWith("own")) continue
        if (tiny && attributes.class.startsWith("mark")) attributes.style = attributes.style.replace(/r: [\d.]+/, "r: 2.6")
        svg.append(element(tag, attributes))
    }
    return svg
}

// A picture to share, drawn on a canvas of 1200 × 630 pixels.
function ownImage(world) {
    const canvas = element("canvas", { width: 1200, height: 630 }), ink = canvas.getContext("2d"), found = ownFinding(world)
    const style = getComputedStyle(document.documentElement), tone = name => style.getPropertyValue(`--${name}`).trim()
    const left = 110, top = 70, width = 440, x = p => left + p * width, y = q => top + (1 - q) * width
    const text = (words, at, up, font, fill = "ink") => { ink.font = font; ink.fillStyle = tone(fill); ink.fillText(words, at, up, 560) }
    ink.fillStyle = tone("paper")
    ink.fillRect(0, 0, 1200, 630)
    ink.strokeStyle = tone("grid")
    ink.strokeRect(left, top, width, width)
    ink.strokeStyle = tone("muted")
    ink.beginPath(); ink.moveTo(x(0), y(0)); ink.lineTo(x(1), y(1)); ink.stroke()
    for (const cell of found.cells) {
        const [low, high] = ownRange(cell), at = cell.sum / cell.rows, tall = Math.max(16, y(low) - y(high))
        ink.fillStyle = tone("band")
        ink.fillRect(x(at) - 18, (y(low) + y(high) - tall) / 2, 36, tall)
    }
    for (const cell of found.cells) {
        ink.fillStyle = tone("word")
        ink.beginPath(); ink.arc(x(cell.sum / cell.rows), y(cell.ones / cell.rows), 8 + 3 * Math.sqrt(cell.rows), 0, 7); ink.fill()
    }
    for (const at of [0, 0.5, 1]) {
        ink.textAlign = "center"
        text(percent(at), x(at), top + width + 34, "22px system-ui, sans-serif", "muted")
        ink.textAlign = "right"
        text(percent(at), left - 12, y(at) + 8, "22px system-ui, sans-serif", "muted")
    }
    ink.textAlign = "center"
    text("Probability I gave", left + width / 2, top + width + 74, "24px system-ui, sans-serif")
    ink.textAlign = "left"
    text("Share that was true", left - 70, top - 24, "24px system-ui, sans-serif")
    text("How sure am I?", 620, 150, "600 58px Georgia, serif")
    const lines = found.n ? [counts(found.n, "answer"), `I was ${percent(found.sure)} sure on average;`, `${found.right} of ${found.taken} were right.`,
        `${found.cells.length - found.outside} of ${counts(found.cells.length, "mark")} in the band`, "", "How sure are you?"] : ["No answers yet"]
    lines.forEach((line, i) => text(line, 620, 220 + 46 * i, "32px system-ui, sans-serif", i > 4 ? "word" : "ink"))
    const small = [...(found.n ? ["Grey band: where 95 of 100 marks fall", "if my probabilities are right"] : []), sharedAddress()]
    small.forEach((line, i) => text(line, 620, 510 + 34 * i, "24px system-ui, sans-serif", "muted"))
    return canvas
}

function sharing(world) {
    const link = element("a", { class: "press", download: "how-sure-am-i.png", href: "#" }, "Save the picture")
    link.addEventListener("click", () => { link.href = ownImage(world).toDataURL("image/png") })
    return link
}

const green = i => (i * 389 + 17) % 900 < GREEN  // spread evenly: 389 and 900 have no common factor

function showCrowd(stage, coloured) {
    stage.dots({ place: sunflower(stage, 900), paint: i => (coloured && green(i) ? CROWD : NEUTRAL), size: stage.small() ? 3.4 : 5.5 })
    stage.ink([])
    stage.handles()
}

function showOwn(world, stage) {
    const rows = ownRows(world), found = ownFinding(world)
    stage.dots({ place: sunflower(stage, 900), paint: () => NEUTRAL, shown: 0, size: 3 })
    stage.handles()
    stage.ink([...keyOf(stage, [["default", "true"], ["paid", "false"]]), ...axes(stage, "Probability that you gave", "Share that was true"), ...ownPicture(stage, world, stage.small() ? 6 : 8)])
    stage.say(rows.p.length ? found.text.replaceAll("*", "") : "No dots yet.", "Your reliability diagram")
}

function youPart(world) {
    const some = ({ bets }) => /[^-]/.test(bets.slice(0, 10))
    return { id: "you", number: 1, name: "You", steps: [
        {
            id: "start",
            build: () => [element("h1", {}, "How sure are you?"),
                words("The forecast says 70 % chance of rain. A bank’s model says 70 % risk. A friend is 70 % sure. Can you trust such numbers?", "lead"),
                words("Find out in 20 minutes: first with your own numbers, then with a bank’s."),
                row(press("Begin", () => world.go("ten")), after(world, () => world.deleted, press("Restore my answers", world.undo)))],
            view: stage => { showCrowd(stage); stage.say("900 dots.", "The picture") },
        },
        {
            id: "ten",
            build: () => [heading(1, "You"),
                words("How likely is each statement to be true? If you have no idea, say 50 %. Each answer becomes a dot in your own diagram."),
                ...Array.from({ length: 10 }, (_, n) => bet(world, n))],
            dock: () => [live(world, state => (some(state) && !world.asked(0) ? "The dots stay until you have answered the first question. Then your diagram takes their place." : some(state) ? "Dot: one answer, at the top if true. Ring: the mean of the answers in a column. Grey bar: where 95 of 100 rings are if your probabilities are right. Dashed line: true as often as you said." : ""), "keys")],
            view: stage => {
                if (!world.asked(0)) { showCrowd(stage, true); stage.say("900 dots; some are green.", "The picture") } else showOwn(world, stage)
            },
        },
        {
            id: "own",
            build: () => [
                live(world, state => (some(state) ? "" : "Answer one of the statements above. Then your first dot appears."), "hint"),
                after(world, some,
                    words("This is a *reliability diagram*. Each small dot is one of your answers, at the top if the statement was true and at the bottom if it was false. Answers from 0 to 10 % share a column, as do 20 to 30 %, 40 to 50 %, 60 to 70 %, and 80 to 100 %."),
                    words("The ring in each column is its *mark*, the mean of its dots. Its horizontal position is the mean probability you gave. Its height is the share of statements that were true. On the *diagonal* the two are equal."),
                    words("The grey *band* shows where 95 of 100 marks fall if your probabilities are right. Ten answers are few, so chance alone moves a mark a lot."),
                    live(world, () => ownFinding(world).text, "finding"),
                    live(world, ({ bets }) => {
                        const left = bets.slice(0, 10).split("-").length - 1
                        return left ? `You have not answered ${left} of the ten statements.` : "Ten more questions follow in the story. Your diagram stays at the top of the page."
                    }, "hint"))],
            view: stage => showOwn(world, stage),
        },
    ] }
}

function endPart(world) {
    const lesson = text => { const made = element("li"); rich(made, text); return made }
    return { id: "end", number: 8, name: "Your twenty", steps: [{
        id: "end",
        build: () => [element("h2", {}, "Your twenty answers"),
            live(world, () => ownFinding(world).text, "finding"),
            live(world, () => {
                const { n, brier } = ownFinding(world)
                return n ? `Your Brier score is ${brier.toFixed(3)}. Always saying 50 % gives 0.250; lower is better.` : ""
            }),
            live(world, () => ownProgress(world)),
            live(world, () => besideModel(world)),
            live(world, () => uncounted(world), "hint"),
            words("The forecast, the bank and the friend all said 70 %. The number alone does not tell whom to trust. Ask how often it happened when each of them said 70 %."),
            words("What to remember", "task"),
            element("ul", {},
                lesson("Probabilities can be checked: compare what was predicted with how often it happened, and allow for chance."),
                lesson("Platt scaling and isotonic regression correct the numbers, not the order of the customers."),
                lesson("Being right on average can hide a group for which the model is wrong."),
                lesson("An ordinary test is made for one look. To look every week, use a method made for that.")),
            element("p", { class: "row" }, sharing(world), press("Begin again", world.restart)),
            words("The bank and its customers are simulated. So their true risks are known, which no real bank can say.", "hint")],
        view: stage => showOwn(world, stage),
    }] }
}
