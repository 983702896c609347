export default function () {
    const stops = 'button, input, select, textarea, summary, a[href], [tabindex="0"], .stCode *'
    const step = event => {
        const body = [...document.querySelectorAll("[data-testid=stPopoverBody]")].at(-1)
        const opener = document.querySelector("[data-testid=stPopover] button[aria-expanded=true]")
        if (event.key !== "Tab" || !body || !opener) return
        const inside = [...body.querySelectorAll(stops)].filter(at => !at.disabled
            && at.checkVisibility({ visibilityProperty: true }) && (at.tabIndex >= 0
                || at.scrollWidth > at.clientWidth && getComputedStyle(at).overflowX === "auto"))
        const at = document.activeElement, enter = at === opener && !event.shiftKey
        if (enter && inside.length || event.shiftKey && at === inside[0]) {
            event.preventDefault();
            (enter ? inside[0] : opener).focus()
        } else if (!event.shiftKey && at === inside.at(-1)) opener.focus()  // and on to what follows it
    }
    document.addEventListener("keydown", step)
    return () => document.removeEventListener("keydown", step)
}
