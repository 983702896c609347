export default function () {
    // Plotly takes every touch of a plot for the beginning of a drag, so that the page would not scroll. Without it a swipe
    // scrolls, and a tap is a click. With a tool for selecting, a finger draws the box.
    const leave = event => {
        const chart = event.target.closest?.(".draglayer")?.closest(".js-plotly-plot")
        if (chart && !["select", "lasso"].includes(chart._fullLayout.dragmode)) event.stopPropagation()
    }
    document.addEventListener("touchstart", leave, { capture: true, passive: true })
    return () => document.removeEventListener("touchstart", leave, true)
}
