// Streamlit may write the address twice after one action: on the way to another page, the new settings into the address of
// the old one; after a click in the menu, first the page without its settings. The back button would lead to the former
// address, which is of no view, and from the latter no further: so each action makes one entry, and opening a page none.
const ACTIONS = ["click", "pointerdown", "keydown", "change", "popstate"]

export default function () {
    if (history.made !== undefined) return  // once for each document: an action may outlast what is drawn
    history.made = true
    const push = history.pushState
    for (const action of ACTIONS) addEventListener(action, () => { history.made = false }, true)
    history.pushState = (...entry) => {
        const enter = history.made ? history.replaceState : push
        enter.apply(history, entry)
        history.made = true
    }
}
