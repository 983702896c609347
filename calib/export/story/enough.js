// Part 5: a tree that says the same to everybody is calibrated. True and predicted risks side by side, by depth.

const LARGEST = 0.06  // of the bars; no depth has a larger sum of losses

function enoughPart(world) {
    const { people } = world, n = people.p.length, rank = Array(n)
    Array.from(people.truth.keys()).sort((a, b) => people.truth[a] - people.truth[b]).forEach((i, k) => { rank[i] = n - 1 - k })
    const said = depth => people.trees[depth].leaf.map(leaf => people.trees[depth].values[leaf])
    const losses = Array.from(people.trees, (_, depth) => lossParts(people.truth, said(depth)))
    const been = depth => ({ depths }) => depths.includes(String(depth))
    const visit = depth => world.state.depths.includes(depth) || world.set("depths", world.state.depths + depth)
    const bar = (name, ...kinds) => {
        const fills = kinds.map(kind => element("i", { class: kind })), value = element("output", {})
        world.follow(({ depth }) => {
            fills.forEach(fill => { fill.style.width = `${100 * losses[depth][fill.className] / LARGEST}%` })
            value.textContent = total(kinds.map(kind => Number(losses[depth][kind].toFixed(4)))).toFixed(4)  // of what is shown
        })
        return element("div", { class: "bar" }, element("span", {}, name), element("b", {}, ...fills), value)
    }
    const bars = () => element("div", { class: "bars" }, bar("Calibration loss", "calibration"), bar("Grouping loss", "grouping"), bar("Sum of both", "calibration", "grouping"))
    const dock = () => [slider(world, "depth", "Depth (questions)", 0, 8, visit), bars()]
    const sum = d => losses[d].calibration + losses[d].grouping
    const best = losses.map((_, d) => d).sort((a, b) => sum(a) - sum(b))[0]
    const tell = ({ depth: d }) => `Depth ${d}: ${counts(people.trees[d].values.length, "different prediction")}, calibration loss ${losses[d].calibration.toFixed(4)}, grouping loss ${losses[d].grouping.toFixed(4)}.`
    const deepest = said(8), surest = people.truth.filter((_, i) => deepest[i] === 0)
    const key = (stage, high) => [0, 0.05, 0.2, 0.5, 1].flatMap((value, k) => [
        [`key${k}`, "circle", { cx: stage.size.width / 2 + (k - 2) * 58, cy: high - 16, r: 6, style: `fill: color-mix(in srgb, var(--high) ${100 * Math.sqrt(value)}%, var(--low));` }],
        [`keyed${k}`, "text", { class: "tick", x: stage.size.width / 2 + (k - 2) * 58, y: high + 4, "text-anchor": "middle" }, percent(value)]])
    return { id: "enough", number: 5, name: "Not enough", steps: [
        {
            id: "enough", asks: [16, 17],
            build: () => [heading(5, "Is calibration enough?"),
                words("The bank’s model adds up many *decision trees*. To see what calibration cannot repair, look at one tree. It learnt from the same data and asks up to eight yes-or-no questions about each customer."),
                words("The same 900 customers twice. Left: their true risk, known because they are simulated. Right: the tree’s prediction."),
                words("A tree can lose in two ways. *Calibration loss*: customers with the same prediction have another risk on average. *Grouping loss*: customers with the same prediction have different risks. The Brier score is their sum, plus what no model can avoid."),
                bet(world, 16), bet(world, 17),
                after(world, ({ depths }) => depths.length > 1,
                    live(world, ({ depth: d }) => (d === "0" ? `With no questions, the tree predicts ${percent(people.trees[0].values[0])} for everybody. Its calibration loss is almost 0, but it tells no two customers apart: grouping loss ${losses[0].grouping.toFixed(3)}.`
                        : `Depth ${d}: calibration loss ${losses[d].calibration.toFixed(3)}, grouping loss ${losses[d].grouping.toFixed(3)}. The sum is ${sum(d).toFixed(3)}${Number(d) === best ? ", the smallest of all nine." : `, ${(sum(d) - sum(best)).toFixed(3)} above the smallest.`}`), "finding"),
                    live(world, state => (been(best)(state) || been(0)(state) ? "" : "Find the depth with the smallest sum. Then go down to 0."), "hint"),
                    live(world, state => (been(best)(state) && been(0)(state) ? `With fewer questions, calibration loss falls all the way from depth 8 to 0. Grouping loss is smallest at depth 6. The sum is smallest at depth ${best}.` : "")),
                    live(world, state => (been(best)(state) && been(0)(state) ? `Why does grouping loss rise after depth 6? Its groups are customers with the same prediction. At depth 8, ${surest.length} customers have exactly 0 %, with true risks from ${percent(Math.min(...surest))} to ${percent(Math.max(...surest))}.` : "")),
                    words("A calibrator can remove calibration loss. It cannot remove grouping loss: that needs a model that tells people apart."))],
            dock,
            view: stage => {
                const d = world.state.depth, p = said(d), left = sunflower(stage, n, i => rank[i % n], stage.small() ? [0.26, 0.48] : [0.26, 0.5], 0.5)
                const shift = stage.size.width * 0.48, small = stage.small()
                stage.handles()
                stage.dots({ twins: true, place: i => { const [x, y] = left(i); return [i < n ? x : x + shift, y] }, paint: i => shade(Math.sqrt(i < n ? people.truth[i] : p[i - n])), size: small ? 2.4 : 4.4, still: false })
                const across = Math.min(stage.size.width * 0.5, stage.size.height) * 0.46, high = Math.min(stage.size.height * 0.5 + across + 50, stage.size.height - 8)
                const top = Math.max(18, stage.size.height * 0.5 - across - 20)
                stage.ink([["true", "text", { class: "title", x: stage.size.width * 0.26, y: top, "text-anchor": "middle" }, "True risk"],
                    ["told", "text", { class: "title", x: stage.size.width * 0.74, y: top, "text-anchor": "middle" }, "Prediction of the tree"], ...key(stage, high)])
                stage.say(world.asked(16) && world.asked(17) ? tell(world.state) : "Customers by their true risk, and what a tree predicts.", "True and predicted risks")
            },
        },
        {
            id: "spread", needs: { ask: [16, 17], place: [] },
            build: () => [words("The same customers as a diagram: left to right what the tree predicts, bottom to top the true risk."),
                words("Each column holds customers with the same prediction. The further its ring is from the diagonal, the larger is the *calibration loss*. The taller the column, the larger is the *grouping loss*."),
                words("A reliability diagram shows only the rings. It cannot show how different the customers of one column are.", "finding")],
            dock,
            view: stage => {
                const d = world.state.depth, p = said(d), { values, leaf } = people.trees[d], risks = values.map(() => [])
                leaf.forEach((k, i) => risks[k].push(people.truth[i]))
                stage.handles()
                stage.dots({ place: i => [stage.px(within(p[i], 0.015, 0.985)) + ((i * GOLDEN % 1) - 0.5) * Math.min(26, stage.plot.width / values.length / 2), stage.py(people.truth[i])], paint: i => shade(Math.sqrt(people.truth[i])), size: stage.small() ? 2 : 3 })
                stage.ink([...axes(stage, "Prediction of the tree", "True risk"), ...diagonalOf(stage), ...risks.flatMap((all, k) => (all.length ? [[`leaf${k}`, "circle",
                    { class: "ring", cx: stage.px(values[k]), cy: stage.py(mean(all)), r: 4 + 12 * Math.sqrt(all.length / n) }]] : []))])
                stage.say(tell(world.state), "True risk against what the tree predicts")
            },
        },
    ] }
}
