export default function () {
    const reached = 'button, input, select, textarea, summary, a[href], [tabindex="0"]'
    const stops = () => [...document.querySelectorAll(reached)]
        .filter(at => at.tabIndex >= 0 && !at.disabled && at.checkVisibility({ visibilityProperty: true }))
    const key = at => at.closest('[class*="st-key-"]')?.className.match(/st-key-.*?(?=__\d|\s|$)/)[0]
    const alike = (all, element, name) => all.filter(at => at.tagName === element.tagName && key(at) === name)
    // In a room nothing of the page before is left, not even where the address has the same path
    const page = () => location.pathname + (new URLSearchParams(location.search).get("room") ?? "")
    let place, lost = 0
    const note = ({ target }) => {
        const all = stops(), name = key(target)
        place = { target, name, nth: alike(all, target, name).indexOf(target), path: page(),
            before: all.slice(0, Math.max(0, all.indexOf(target))), preventScroll: !target.matches(":focus-visible") }
    }
    const leave = () => { place = undefined }
    const back = () => {
        const now = stops(), { target, name, nth, before } = place
        const above = now.indexOf(before.findLast(at => now.includes(at)))
        const there = above < 0 ? undefined : now[above + 1] ?? now[above]
        const next = now.includes(target) ? target : alike(now, target, name)[nth] ?? there
        next?.focus(place)
    }
    // A moment after the last run: until then the page is drawn, and may give the keyboard another place by itself
    const look = setInterval(() => {
        const here = place?.path === page() && document.activeElement === document.body
        lost = here && document.querySelector(".stApp").dataset.testScriptState === "notRunning" ? lost + 1 : 0
        if (lost === 3) back()
    }, 100)
    document.addEventListener("focusin", note)
    document.addEventListener("pointerdown", leave)
    return () => {
        clearInterval(look)
        document.removeEventListener("focusin", note)
        document.removeEventListener("pointerdown", leave)
    }
}
