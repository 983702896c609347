// Who this browser is in a room of a class. Its token is one for all its tabs and gives way to that of the next room; the
// key stays with the tab that opened the room, so that a reload keeps the class. Nothing else is stored.
const NAME = "calibration-explorer-room"

const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("")

function who(room, key, closed) {
    const kept = storage => {
        const [of, what] = (storage.getItem(NAME) ?? "").split(" ")
        return of === room ? what : null
    }
    const keep = (storage, what) => storage.setItem(NAME, `${room} ${what}`)
    if (closed) {
        for (const storage of [localStorage, sessionStorage]) if (kept(storage)) storage.removeItem(NAME)
        return null
    }
    if (key) keep(sessionStorage, key)
    keep(localStorage, kept(localStorage) ?? random())
    return { room, seat: kept(localStorage), key: kept(sessionStorage) }
}

export default function ({ data, parentElement, setStateValue }) {
    const { room, key, closed } = data, { told } = parentElement.dataset
    let found
    try {
        found = who(room, key, closed)
    } catch {  // a browser that stores nothing
        found = { room, seat: random(), key: null }
    }
    if (found && told !== room) setStateValue("who", found)
    parentElement.dataset.told = room
}
