export default function () {
    const buttons = bar => [...bar.querySelectorAll(".modebar-btn")]
    let waiting = 0
    // Plotly draws a toolbar anew whenever its chart changes
    const tidy = () => {
        waiting = 0
        for (const bar of document.querySelectorAll(".modebar")) {
            const all = buttons(bar), stop = all.find(button => button.dataset.stop) ?? all[0]
            bar.role = "toolbar"
            bar.ariaLabel = "Chart tools"
            for (const button of all) button.tabIndex = button === stop ? 0 : -1
        }
    }
    const later = () => { waiting ||= requestAnimationFrame(tidy) }
    const move = event => {
        const bar = event.target.closest?.(".modebar"), all = bar ? buttons(bar) : [], at = all.indexOf(event.target)
        const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
        if (at < 0 || to === undefined) return
        event.preventDefault()
        event.stopPropagation()  // arrow keys move through a lesson, too
        const next = all.at(to % all.length)
        for (const button of all) delete button.dataset.stop
        next.dataset.stop = "here"
        tidy()
        next.focus()
    }
    const watch = new MutationObserver(later)
    watch.observe(document.body, { childList: true, subtree: true })
    document.addEventListener("keydown", move, true)
    later()
    return () => {
        watch.disconnect()
        cancelAnimationFrame(waiting)
        document.removeEventListener("keydown", move, true)
    }
}
