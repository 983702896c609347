// The answers of a class, each above a bar for its share of the votes. Parts are kept while votes come in: bars grow.
function drawn(list, count) {
    if (list.children.length !== count) list.replaceChildren(...Array.from({ length: count }, () => {
        const [item, text, bar, track, share, votes] = ["li", "p", "div", "span", "i", "b"].map(tag => document.createElement(tag))
        track.append(share)
        bar.append(track, votes)
        item.append(text, bar)
        return item
    }))
    return [...list.children]
}

export default function ({ data: { answers }, parentElement }) {
    drawn(parentElement.querySelector("ol"), answers.length).forEach((item, i) => {
        const { text, votes, share, kind } = answers[i]
        item.className = kind
        item.querySelector("p").textContent = text
        item.querySelector("i").style.width = `${100 * share}%`
        item.querySelector("b").textContent = votes
    })
}
