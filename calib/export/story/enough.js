// Part 5: a tree that says the same to everybody is calibrated. True and predicted risks side by side, by depth.

function enoughPart(world) {
    const { people } = world, n = people.p.length, rank = Array(n)
    Array.from(people.truth.keys()).sort((a, b) => people.truth[a] - people.truth[b]).forEach((i, k) => { rank[i] = n - 1 - k })
    const said = depth => people.trees[depth].leaf.map(leaf => people.trees[depth].values[leaf])
    const losses = Array.from(people.trees, (_, depth) => lossParts(people.truth, said(depth)))
    const been = depth => ({ depths }) => depths.includes(String(depth))
    const visit = depth => world.state.depths.includes(depth) || world.set("depths", world.state.depths + depth)
    const bar = (name, key) => {
        const fill = element("i", {}), value = element("output", {})
        world.follow(({ depth }) => {
            fill.style.width = `${100 * losses[depth][key] / 0.045}%`
            value.textContent = losses[depth][key].toFixed(4)
        })
        return element("div", { class: `bar ${key}` }, element("span", {}, name), element("b", {}, fill), value)
    }
    const bars = () => element("div", { class: "bars" }, bar("Calibration loss", "calibration"), bar("Grouping loss", "grouping"))
    const depth = () => slider(world, "depth", "Depth of the tree", 0, 8, String, visit)
    const leaves = d => counts(people.trees[d].values.length, "different risk")
    const tell = ({ depth: d }) => `Depth ${d}: ${leaves(d)}. Calibration loss ${losses[d].calibration.toFixed(4)}, grouping loss ${losses[d].grouping.toFixed(4)}.`
    return { id: "enough", number: 5, name: "Not enough", steps: [
        {
            id: "enough",
            build: () => [heading(5, "Is calibration enough?"),
                words("The same customers twice: on the left their true risks, on the right what a decision tree says. The tree asks up to eight questions about each customer. Take questions away, down to none."),
                bet(world, 16), bet(world, 17), depth(), bars(),
                after(world, ({ depths }) => depths.length > 1,
                    words("*Calibration loss*: customers who get the same number, and the number is not their mean risk. *Grouping loss*: customers who get the same number, but have different risks."),
                    live(world, state => (been(0)(state) ? `With no question the tree says ${percent(people.trees[0].values[0])} to everybody. It is calibrated, and of no use: all differences between people are lost.` : "Fewer questions: calibration loss falls, grouping loss rises."), "finding"),
                    live(world, state => (been(3)(state) ? "At depth 3 both losses together are smallest here. No calibrator lowers grouping loss; only a model that tells people apart does." : "Where are both together smallest?")))],
            view: stage => {
                const d = world.state.depth, p = said(d), left = sunflower(stage, n, i => rank[i % n], stage.small() ? [0.26, 0.5] : [0.26, 0.52], 0.5)
                const shift = stage.size.width * 0.48
                stage.handles()
                stage.dots({ twins: true, place: i => { const [x, y] = left(i); return [i < n ? x : x + shift, y] }, paint: i => shade(Math.sqrt(i < n ? people.truth[i] : p[i - n])), size: stage.small() ? 2 : 4, still: false })
                const high = Math.min(stage.size.height * 0.52 + Math.min(stage.size.width * 0.5, stage.size.height) * 0.46 + 44, stage.size.height - 8)
                stage.ink([["true", "text", { class: "title", x: stage.size.width * 0.26, y: stage.small() ? 18 : 40, "text-anchor": "middle" }, "True risk"],
                    ["told", "text", { class: "title", x: stage.size.width * 0.74, y: stage.small() ? 18 : 40, "text-anchor": "middle" }, "What the tree says"],
                    ...[0, 0.05, 0.2, 0.5, 1].flatMap((value, k) => [
                        [`key${k}`, "circle", { cx: stage.size.width / 2 + (k - 2) * 58, cy: high - 16, r: 6, style: `fill: color-mix(in srgb, var(--high) ${100 * Math.sqrt(value)}%, var(--low));` }],
                        [`keyed${k}`, "text", { class: "tick", x: stage.size.width / 2 + (k - 2) * 58, y: high + 4, "text-anchor": "middle" }, percent(value)]])])
                stage.say(tell(world.state), "True risks, and what a tree says")
            },
        },
        {
            id: "spread",
            build: () => [words("The same as a diagram: to the right what the tree says, upwards the true risk. The height of a column of dots is grouping loss. How far its ring lies from the diagonal is calibration loss."),
                depth(), bars(),
                words("A reliability diagram shows the rings only. It cannot see the height of a column.", "finding")],
            view: stage => {
                const d = world.state.depth, p = said(d), { values, leaf } = people.trees[d], risks = values.map(() => [])
                leaf.forEach((k, i) => risks[k].push(people.truth[i]))
                stage.handles()
                stage.dots({ place: i => [stage.px(p[i]) + ((i * GOLDEN % 1) - 0.5) * Math.min(26, stage.plot.width / values.length / 2), stage.py(people.truth[i])], paint: i => shade(Math.sqrt(people.truth[i])), size: stage.small() ? 2 : 3 })
                stage.ink([...axes(stage, "What the tree says", "True risk"), ...diagonalOf(stage), ...risks.flatMap((all, k) => (all.length ? [[`leaf${k}`, "circle",
                    { class: "ring", cx: stage.px(values[k]), cy: stage.py(mean(all)), r: 4 + 12 * Math.sqrt(all.length / n) }]] : []))])
                stage.say(tell(world.state), "True risk against what the tree says")
            },
        },
    ] }
}
