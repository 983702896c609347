// The lessons that were done in this browser, by their keys: so that the list still knows them after a reload. Nothing
// else is stored.
const NAME = "calibration-explorer-lessons"

export default function ({ data, setStateValue }) {
    let stored = []
    try {
        stored = (localStorage.getItem(NAME) ?? "").split(" ").filter(Boolean)
        const all = [...new Set([...stored, ...data.done])].sort()
        if (all.length > stored.length) localStorage.setItem(NAME, all.join(" "))
    } catch {  // a browser that stores nothing
    }
    if (stored.some(key => !data.done.includes(key))) setStateValue("kept", stored)
}
