const MOMENT = 1000  // milliseconds between the two entries of one step

// On the way to another page, Streamlit first writes the new settings into the address of the old one. To that address,
// which is of no view, the back button would lead: the entry of the new page replaces it.
export default function () {
    const push = history.pushState
    let settled = 0
    history.pushState = (state, title, address) => {
        const to = new URL(address ?? "", location), stays = to.pathname === location.pathname
        const passed = !stays && to.search === location.search && performance.now() < settled + MOMENT
        const enter = passed ? history.replaceState : push
        enter.call(history, state, title, address)
        if (stays) settled = performance.now()
    }
    return () => { history.pushState = push }
}
