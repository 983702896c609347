export default function () {
    const show = () => {
        const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details")
        if (!entry) return
        entry.open = true
        entry.scrollIntoView()
    }
    show()
    addEventListener("hashchange", show)
    return () => removeEventListener("hashchange", show)
}
