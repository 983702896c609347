export default function ({ data, parentElement }) {
    const before = parentElement.dataset, changed = before.after !== undefined && before.after !== data.after
    // What was used may go later than this comes, what is next may come later or be drawn once more: until the next act
    const watch = new MutationObserver(() => move())
    const move = () => {
        const next = [...document.querySelectorAll(data.selector)].at(-1)
        if (document.activeElement !== document.body || !next) return
        next.focus({ preventScroll: data.still })
        if (data.still && next.matches(":focus-visible")) next.scrollIntoView({ block: "nearest" })
        if (data.seen) document.querySelector(data.seen)?.scrollIntoView({ block: innerWidth < 1100 ? "start" : "nearest" })
    }
    if (changed) {
        watch.observe(document.body, { childList: true, subtree: true })
        for (const act of ["keydown", "pointerdown"])
            document.addEventListener(act, () => watch.disconnect(), { once: true })
        move()
    }
    before.after = data.after
}
