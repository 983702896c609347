// Part 1, and the end: the reader's own reliability diagram.

const OWN_BINS = 5

// The answers that are settled, as rows of a diagram: the confidence p and whether the statement is true.
function ownRows(world) {
    const which = STATEMENTS.map((_, n) => n).filter(n => answerOf(world.state, n) !== null && world.settled(n))
    return { which, p: which.map(n => answerOf(world.state, n)), y: which.map(n => (world.happened(n) ? 1 : 0)) }
}

// How many marks lie outside their band, and in words what the answers show.
function ownFinding(world) {
    const rows = ownRows(world), n = rows.p.length
    if (!n) return { n, text: "No answers yet." }
    const cells = binned(rows, OWN_BINS).filter(cell => cell.rows)
    const outside = cells.filter(cell => { const [low, high] = consistency(cell), at = cell.ones / cell.rows; return at < low - 1e-9 || at > high + 1e-9 })
    const said = mean(rows.p), came = mean(rows.y)
    return { n, said, came, brier: brierScore(rows.p, rows.y), cells, outside: outside.length,
        text: `${counts(n, "answer")}: ${percent(said)} expected on average, ${percent(came)} true. ${outside.length
            ? `${outside.length} of your ${counts(cells.length, "mark")} ${outside.length === 1 ? "lies" : "lie"} outside the band.`
            : n < 6 ? "" : "All your marks lie in the band."}` }
}

// The reader's dots in columns, as in the diagram of the bank; ``at`` maps probabilities to pixels.
function ownDots(stage, rows, size) {
    const place = columns(stage, { ...rows, bins: OWN_BINS })
    return rows.which.map((n, i) => {
        const [x, y] = place(i)
        return [`own${n}`, "circle", { class: `own moves ${rows.y[i] ? "came" : "failed"}`, style: `cx: ${fine(x)}px; cy: ${fine(y)}px; r: ${size}px;` }]
    })
}

function ownPicture(stage, world, size = 8) {
    const rows = ownRows(world), cells = binned(rows, OWN_BINS)
    return [...diagonalOf(stage), ...bandsOf(stage, cells), ...ownDots(stage, rows, size), ...levels(stage, cells), ...marksOf(stage, cells, "mark")]
}

// The small diagram that stays in view: its place in pixels, without axes.
function ownMini(world, side) {
    const frame = { plot: { left: 3, top: 3, width: side - 6, height: side - 6 }, small: () => true,
        px: p => 3 + p * (side - 6), py: q => 3 + (1 - q) * (side - 6) }
    const svg = element("svg", { viewBox: `0 0 ${side} ${side}`, class: "mini", "aria-hidden": "true" })
    svg.append(element("rect", { x: 3, y: 3, width: side - 6, height: side - 6, class: "plate" }))
    for (const [, tag, attributes] of ownPicture(frame, world, side > 100 ? 5 : 2.2)) {
        if (side < 100 && attributes.class.startsWith("mark")) attributes.style = attributes.style.replace(/r: [\d.]+/, found => `r: ${Math.min(4, parseFloat(found.slice(3)) * 0.4)}`)
        svg.append(element(tag, attributes))
    }
    return svg
}

// A picture to share, drawn on a canvas of 1200 × 630 pixels.
function ownImage(world) {
    const canvas = element("canvas", { width: 1200, height: 630 }), ink = canvas.getContext("2d"), found = ownFinding(world)
    const style = getComputedStyle(document.documentElement), tone = name => style.getPropertyValue(`--${name}`).trim()
    const left = 110, top = 70, width = 440, x = p => left + p * width, y = q => top + (1 - q) * width
    const text = (words, at, up, font, fill = "ink") => { ink.font = font; ink.fillStyle = tone(fill); ink.fillText(words, at, up) }
    ink.fillStyle = tone("paper")
    ink.fillRect(0, 0, 1200, 630)
    ink.strokeStyle = tone("grid")
    ink.strokeRect(left, top, width, width)
    ink.strokeStyle = tone("muted")
    ink.beginPath(); ink.moveTo(x(0), y(0)); ink.lineTo(x(1), y(1)); ink.stroke()
    for (const cell of found.cells ?? []) {
        const [low, high] = consistency(cell), at = cell.sum / cell.rows
        ink.fillStyle = tone("band")
        ink.fillRect(x(at) - 18, y(high), 36, Math.max(3, y(low) - y(high)))
    }
    for (const cell of found.cells ?? []) {
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
    text("What I said", left + width / 2, top + width + 74, "24px system-ui, sans-serif")
    ink.textAlign = "left"
    text("What was true", left - 70, top - 24, "24px system-ui, sans-serif")
    text("How sure am I?", 620, 150, "600 58px Georgia, serif")
    const lines = found.n ? [counts(found.n, "answer"), `I said ${percent(found.said)} on average;`, `${percent(found.came)} were true.`,
        `${found.cells.length - found.outside} of ${counts(found.cells.length, "mark")} in the band`, "", "How sure are you?"] : ["No answers yet"]
    lines.forEach((line, i) => text(line, 620, 230 + 50 * i, "34px system-ui, sans-serif", i > 4 ? "word" : "ink"))
    return canvas
}

function sharing(world) {
    const link = element("a", { class: "press", download: "how-sure-am-i.png", href: "#" }, "Save the picture")
    link.addEventListener("click", () => { link.href = ownImage(world).toDataURL("image/png") })
    return link
}

const dark = i => (i * 389 + 17) % 900 < DARK  // spread evenly: 389 and 900 have no common factor

function showCrowd(world, stage, shaded) {
    stage.dots({ place: sunflower(stage, 900), paint: i => (shaded && dark(i) ? CHOSEN : NEUTRAL), size: stage.small() ? 3 : 5 })
    stage.ink([])
    stage.handles()
}

function showOwn(world, stage) {
    const rows = ownRows(world), found = ownFinding(world)
    stage.dots({ place: sunflower(stage, 900), paint: () => NEUTRAL, shown: 0, size: 3 })
    stage.handles()
    stage.ink([...keyOf(stage, ["true", "false"]), ...axes(stage, "How likely you said it was", "How often it was true"), ...ownPicture(stage, world)])
    stage.say(rows.p.length ? found.text : "No dots yet.", "Your reliability diagram")
}

function youPart(world) {
    const first = ({ bets }) => bets[0] !== "-"
    const ten = ({ bets }) => !bets.slice(0, 10).includes("-")
    return { id: "you", number: 1, name: "You", steps: [
        {
            id: "start",
            build: () => [element("h1", {}, "How sure are you?"),
                words("A forecaster says 70 %. A model says 70 %. You say you are fairly sure. Do such numbers come true?", "lead"),
                words("Find out in 20 minutes, first with your own numbers, then with those of a bank. Everything stays in your browser."),
                words("Scroll to begin.", "hint")],
            view: stage => { showCrowd(world, stage); stage.say("900 dots, each one a person.", "The picture") },
        },
        {
            id: "ten",
            build: () => [heading(1, "You"),
                words("Choose for each statement how likely it is true. If you have no idea, say 50 %. Each answer becomes a dot of your own diagram."),
                ...Array.from({ length: 10 }, (_, n) => bet(world, n))],
            view: stage => {
                if (!first(world.state)) { showCrowd(world, stage, true); stage.say("900 dots; some are dark.", "The picture") } else showOwn(world, stage)
            },
        },
        {
            id: "own",
            build: () => [
                live(world, ({ bets }) => (/[^-]/.test(bets.slice(0, 10)) ? "" : "Answer one of the statements above, and your first dot falls into the diagram."), "hint"),
                after(world, ({ bets }) => /[^-]/.test(bets.slice(0, 10)),
                    words("This is a *reliability diagram*. Each dot is an answer of yours. A column holds answers that were about equally sure; those that were true sink to the bottom."),
                    words("The *mark* of a column shows two numbers: how likely you said (to the right), and how often it was true (upwards). On the *diagonal* both are the same."),
                    words("The grey *band* shows where 95 of 100 marks fall if you judge perfectly. With so few answers it is wide, because chance moves a mark a lot."),
                    live(world, () => ownFinding(world).text, "finding"),
                    live(world, state => {
                        const rows = ownRows(world), n = rows.p.length, [low, high] = consistency({ rows: n, sum: total(rows.p) }), came = mean(rows.y)
                        if (!ten(state)) return ""
                        const range = `If you judge perfectly, 95 of 100 times between ${percent(low)} and ${percent(high)} of your ten are true. `
                        return range + (came < low ? "Fewer were: you overestimated. " : came > high ? "More were: you underestimated. " : "So it was. ") + "Ten more follow in the story; your diagram stays above."
                    }))],
            view: stage => showOwn(world, stage),
        },
    ] }
}

function endPart(world) {
    return { id: "end", number: 8, name: "Your twenty", steps: [{
        id: "end",
        build: () => [element("h2", {}, "Your twenty answers"),
            live(world, () => ownFinding(world).text, "finding"),
            live(world, () => {
                const { n, brier } = ownFinding(world)
                return n ? `Your Brier score is ${brier.toFixed(3)}. Saying 50 % to everything gives 0.250; smaller is better.` : ""
            }),
            live(world, () => {
                const { n } = ownFinding(world)
                return n < COUNT ? `You answered ${n} of ${COUNT}. An answer counts if you give it before the gesture below it.` : ""
            }, "hint"),
            words("What you now know: a probability can be checked. A calibrator repairs the numbers, but not the order. A right average can hide a group, and one test is made for one look."),
            element("p", {}, sharing(world), " ", press("Begin again", () => world.restart())),
            words("The bank and its customers are simulated, so their true risks are known. No real bank knows them.", "hint")],
        view: stage => showOwn(world, stage),
    }] }
}
