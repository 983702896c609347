// The story with the keyboard alone. Tab goes from the text of a step to its controls in and below the picture, then to
// the next step, although the document has them in another order. A step without controls is itself a stop.

const CONTROLS = "button, input, a[href], summary, [tabindex]"
const seen = one => one.checkVisibility?.({ visibilityProperty: true }) ?? one.getClientRects().length > 0
const stopsIn = host => [...host.querySelectorAll(CONTROLS)].filter(one => one.tabIndex >= 0 && seen(one) && (one.type !== "radio" || one.checked))

function followKeys(world, { header, view, texts, steps, go }) {
    const now = () => steps.indexOf(world.step)
    const stops = k => [...stopsIn(texts[k]), ...(k === now() ? stopsIn(view) : [])]
    const placeOf = held => (view.contains(held) ? now() : texts.findIndex(text => text.contains(held)))
    // Go to a step: to its first control, its last, or the first after the questions that are answered.
    function enter(k, { last, open, glide } = {}) {
        go(steps[k].id, !glide)
        const all = glide ? [texts[k]] : stops(k)
        focusOn((open ? all.find(one => !one.closest(".asked")) : all.at(last ? -1 : 0)) ?? texts[k])
    }
    const focusOn = one => one.focus({ preventScroll: view.contains(one) || texts.includes(one) })

    document.addEventListener("keydown", event => {
        if (event.key !== "Tab" || event.defaultPrevented) return
        const held = document.activeElement, by = event.shiftKey ? -1 : 1, bar = header.contains(held)
        if (bar && (by < 0 || held !== stopsIn(header).at(-1))) return
        const here = bar ? now() : placeOf(held)
        if (here < 0) return
        if (!bar && here !== now()) go(steps[here].id, true)
        const all = stops(here), at = all.indexOf(held), next = all[by < 0 && at < 0 ? -1 : at + by]
        if (!next && !steps[here + by]) return
        event.preventDefault()
        if (next) focusOn(next)
        else if (bar) focusOn(texts[here])
        else enter(here + by, { last: by < 0 })
    })

    return {
        enter,
        // If what had the focus is now out of sight, the focus stays in its question or its step, or follows the picture.
        keep(held) {
            if (held === document.body || (held.isConnected && seen(held))) return
            const text = texts.find(one => one.contains(held)), next = text && stopsIn(held.closest(".bet") ?? text)[0]
            const place = next ?? text ?? texts[now()]
            place.focus({ preventScroll: true })
        },
    }
}
