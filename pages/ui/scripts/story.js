// The story in a frame of its own, because it scrolls beside its picture. What the reader did is in this page's address.
// The first page of a new server is opened twice, and loses its fragment between; the browser still has the first address.
let opened = false
function fragment() {
    const { hash, pathname } = opened ? location : new URL(performance.getEntriesByType("navigation")[0]?.name ?? location.href)
    opened = true
    return location.hash || (pathname === location.pathname ? hash : "")
}

export default function ({ data, parentElement }) {
    const root = parentElement.querySelector(".root")
    if (root.firstChild) return
    const page = document.querySelector(".stApp"), frame = document.createElement("iframe")
    const file = URL.createObjectURL(new Blob([data.html], { type: "text/html" }))
    const theme = () => {
        const [red, green, blue] = getComputedStyle(page).backgroundColor.match(/\d+/g).map(Number)
        frame.contentWindow?.postMessage({ dark: red + green + blue < 384 }, "*")
    }
    const heard = ({ source, data }) => {
        if (source !== frame.contentWindow || typeof data?.story !== "string") return
        history.replaceState(history.state, "", `${location.pathname}${location.search}#${data.story}`)
    }
    frame.title = "How sure are you? A story about calibration"
    Object.assign(frame.style, { width: "100%", height: "calc(100dvh - 10.5rem)", minHeight: "30rem", border: 0, display: "block", borderRadius: ".5rem" })
    frame.src = `${file}${data.at ? "#at=" + data.at : fragment()}`
    frame.addEventListener("load", theme)
    addEventListener("message", heard)
    const watch = new MutationObserver(theme)
    watch.observe(page, { attributeFilter: ["class"] })
    root.append(frame)
    return () => {
        watch.disconnect()
        removeEventListener("message", heard)
        URL.revokeObjectURL(file)
    }
}
