"""What only the browser knows and can do: its address, copying a text, the keyboard's place, its colours."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

HTML = (
    '<button type="button"></button><input readonly hidden aria-label="Address"><small role="status"></small>'
)
CSS = """
:host, div {text-align: right}
button {font: inherit; font-size: 0.875rem; padding: 0.25rem 0; min-height: 2.5rem; white-space: nowrap;
    cursor: pointer; color: var(--st-text-color); background: none; border: none}
button:hover, button:focus-visible {color: var(--st-link-color)}
button:focus-visible {outline: 2px solid var(--st-link-color)}
input {display: block; width: 16rem; max-width: 100%; font: inherit; margin-top: 0.25rem;
    color: var(--st-text-color); background: var(--st-secondary-background-color)}
input[hidden] {display: none}
small {display: block; max-width: 16rem; margin-left: auto; color: var(--st-text-color)}
"""
COPY = """export default function ({ data, parentElement }) {
    const [button, field, said] = ["button", "input", "small"].map(name => parentElement.querySelector(name))
    if (field.value !== data.text) { button.textContent = data.label; field.hidden = true; said.textContent = "" }
    field.value = data.text
    button.title = data.help
    button.onclick = async () => {
        try {
            await navigator.clipboard.writeText(data.text)
            button.textContent = "Link copied"
        } catch {
            field.hidden = false
            field.select()
        }
        said.textContent = data.note
    }
}"""


FOCUS = """export default function ({ data, parentElement }) {
    const before = parentElement.dataset, changed = before.after !== undefined && before.after !== data.after
    // What was used may go later than this comes, what is next may come later or be drawn once more: until the next act
    const watch = new MutationObserver(() => move())
    const move = () => {
        const next = [...document.querySelectorAll(data.selector)].at(-1)
        if (document.activeElement !== document.body || !next) return
        next.focus({ preventScroll: data.still })
        if (data.still && next.matches(":focus-visible")) next.scrollIntoView({ block: "nearest" })
    }
    if (changed) {
        watch.observe(document.body, { childList: true, subtree: true })
        for (const act of ["keydown", "pointerdown"])
            document.addEventListener(act, () => watch.disconnect(), { once: true })
        move()
    }
    before.after = data.after
}"""

POPOVER = """export default function () {
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
}"""

PLACE = """export default function () {
    const reached = 'button, input, select, textarea, summary, a[href], [tabindex="0"]'
    const stops = () => [...document.querySelectorAll(reached)]
        .filter(at => at.tabIndex >= 0 && !at.disabled && at.checkVisibility({ visibilityProperty: true }))
    const key = at => at.closest('[class*="st-key-"]')?.className.match(/st-key-.*?(?=__\\d|\\s|$)/)[0]
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
}"""

LIVE = """export default function ({ parentElement }) {
    parentElement.closest(".stVerticalBlock").setAttribute("aria-live", "polite")
}"""

SCHEME = """export default function ({ data, parentElement, setTriggerValue }) {
    const page = document.querySelector(".stApp"), drawn = parentElement.dataset
    const look = () => {
        const [red, green, blue] = getComputedStyle(page).backgroundColor.match(/\\d+/g).map(Number)
        if (String(red + green + blue < 384) !== drawn.dark) setTriggerValue("other", true)
    }
    drawn.dark = data.dark
    const watch = new MutationObserver(look)
    watch.observe(page, { attributeFilter: ["class"] })
    return () => watch.disconnect()
}"""


TOP = """export default function ({ data }) {
    const { dataset } = document.querySelector(".stApp"), before = dataset.place
    if (before !== undefined && before !== data.place) document.querySelector(".stMain").scrollTo(0, 0)
    dataset.place = data.place
}"""


@st.cache_resource
def _component(name: str, js: str, html: str = "<i></i>", css: str | None = None):
    """Registered once. What shows nothing of its own is not isolated: it looks after the page around it."""
    return st.components.v2.component(
        f"calibration_explorer_{name}", html=html, css=css, js=js, isolate_styles=bool(css)
    )


def copy_button(label: str, text: str, help: str, note: str = "") -> None:
    """Copies ``text``, and says ``note``; where the browser does not allow it (no https), the text is shown."""
    _component("copy", COPY, HTML, CSS)(
        key="copy_link", data={"label": label, "text": text, "help": help, "note": note}, width="content"
    )


def link(query: Mapping[str, str]) -> str:
    """The address of the page that is open, with these parameters."""
    parts = urlsplit(st.context.url or "http://127.0.0.1:8501/")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))


def keep_focus(key: str, after: object, selector: str, still: bool = False) -> None:
    """To the last control there once ``after`` is another one, where the one that was used has gone.

    The page moves to it, after a click only if it need not stand ``still``.
    """
    data = {"selector": selector, "after": repr(after), "still": still}
    _component("focus", FOCUS)(key=f"focus_{key}", data=data, height="content")


def enter_popovers() -> None:
    """The keyboard goes from a popover's button into it, and from its end to what follows the button.

    Streamlit draws it at the end of the page, where Tab would come to it after all other controls.
    """
    _component("popover", POPOVER)(key="focus_popovers", height="content")


def keep_place() -> None:
    """Keep the keyboard at its control while that is redrawn, switched off for a moment or gone.

    If the control is gone, the keyboard goes to what stands in its place. Browsers would begin at the top again.
    """
    _component("place", PLACE)(key="focus_place", height="content")


def read_out(key: str) -> None:
    """What comes into the block that this stands in is read out by a screen reader, wherever the keyboard is."""
    _component("live", LIVE)(key=f"live_{key}", height="content")


def follow_scheme(dark: bool) -> None:
    """Redraw the page when its colours differ from those of its charts."""
    _component("scheme", SCHEME)(
        key="scheme", data={"dark": dark}, height="content", on_other_change=lambda: None
    )


def begin_at_the_top(place: object) -> None:
    """Another place than before is seen from its top: Streamlit leaves it as far down as the last one was left."""
    _component("top", TOP)(key="top", data={"place": repr(place)}, height="content")
