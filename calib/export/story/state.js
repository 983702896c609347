// What the reader did: in the address and in the browser's storage, so that nothing is lost on reload.

const STORED = "calibration-story"
const COUNT = 20  // statements
const FIELDS = {  // name: the texts that are valid, and the one at the beginning
    at: [/^[a-z]+$/, "start"],
    bets: [/^[-0-9as]{20}$/, "-".repeat(COUNT)],  // tenths, a for 100 %, s for skipped
    done: [/^[k-t]{0,10}$/, ""],  // statements that a gesture has settled, k for the eleventh
    mark: [/^(\d{1,3}|x)$/, ""],  // x: shown without a guess
    money: [/^(\d{1,3}|x)$/, ""],
    others: [/^(1?\d|20)$/, "0"],
    right: [/^(1?\d|20)$/, "0"],
    bins: [/^([2-9]|[1-6]\d|70)$/, "5"],
    shifts: [/^(-?\d{1,2}_){4}-?\d{1,2}$/, "0_0_0_0_0"],
    fit: [/^(none|platt|isotonic)$/, "none"],
    limit: [/^\d{1,2}$/, "50"],
    depth: [/^[0-8]$/, "8"],
    depths: [/^[0-8]{1,9}$/, "8"],
    brush: [/^(\d{1,3}_){3}\d{1,3}$/, ""],
    found: [/^[01]$/, "0"],
    tried: [/^\d{1,3}$/, "0"],
    again: [/^\d{1,2}$/, "0"],
    week: [/^([1-4]?\d|50)$/, "0"],
    weeks: [/^([1-4]?\d|50)$/, "0"],
    kind: [/^(calm|worse)$/, "calm"],
    years: [/^(0|20|40|60|80|100)$/, "0"],
}

function readState() {
    const found = Object.fromEntries(Object.entries(FIELDS).map(([name, [, first]]) => [name, first]))
    const linked = location.hash.slice(1), alone = /^(at=[a-z]+)?$/.test(linked)  // a link to a step alone keeps the answers
    for (const [name, value] of new URLSearchParams(alone ? `${storedText()}&${linked}` : linked))
        if (FIELDS[name]?.[0].test(value)) found[name] = value
    return found
}

function storedText() {
    try {
        return localStorage.getItem(STORED) ?? ""
    } catch {
        return ""  // a browser that stores nothing: the address keeps the state
    }
}

function writeState(state) {
    const text = String(new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== FIELDS[name][1])))
    try {
        localStorage.setItem(STORED, text)
    } catch { /* as above */ }
    try {
        history.replaceState(null, "", `#${text}`)
    } catch {
        location.hash = text
    }
    if (parent !== window) parent.postMessage({ story: text }, "*")
}

const answerOf = (state, n) => (/[-s]/.test(state.bets[n]) ? null : parseInt(state.bets[n], 11) / 10)
const withAnswer = (state, n, answer) => state.bets.slice(0, n) + answer + state.bets.slice(n + 1)
