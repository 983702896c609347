const HEARD = new WeakSet()
export default function ({ data, parentElement, setTriggerValue }) {
    const place = document.querySelector(`.st-key-${CSS.escape(data.place)}`)
    // A chart that is drawn anew forgets who listens to it, and has other events
    const listen = () => place?.querySelectorAll(".js-plotly-plot").forEach(chart => {
        if (!chart._ev || HEARD.has(chart._ev)) return
        HEARD.add(chart._ev)
        chart.on("plotly_legendclick", ({ curveNumber, data }) => {
            const line = data[curveNumber].legendgroup
            if (line) setTriggerValue("line", line)
            return !line  // Plotly would hide the line
        })
    })
    const watch = new MutationObserver(listen)
    if (place) watch.observe(place, { childList: true, subtree: true })
    listen()
    return () => watch.disconnect()
}
