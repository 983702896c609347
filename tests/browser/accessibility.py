"""Run axe-core on a page, and measure the contrast of the words in its charts, which axe does not check.

axe-core comes inside a package of PyPI (requirements-dev.txt) and is put into the page from there: nothing
is fetched.
"""

from __future__ import annotations

from importlib.resources import files

from tests.browser.driver import Tab
from tests.waiting import until

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")

# Findings that Streamlit causes and no page can change: rule, element, reason
STREAMLIT = (
    (
        "list",
        "[data-testid=stSidebarNavItems]",
        "The navigation's sections are boxes between the list and its links; each link is read and reached.",
    ),
    (
        "listitem",
        "[data-testid=stSidebarNavItems] li",
        "The same, seen from the links.",
    ),
    (
        "scrollable-region-focusable",
        ".katex-display",
        "A formula wider than its place scrolls; browsers of today make any such place a stop of the keyboard.",
    ),
    (
        "scrollable-region-focusable",
        ".stCode pre",
        "The same of long lines of code, which are copied by the button beside them.",
    ),
)

RUN = """async ([grave, theirs]) => {
    const {violations} = await axe.run(document, {resultTypes: ["violations"], elementRef: true})
    const known = (id, element) => theirs.some(([rule, selector]) => rule === id && element.matches(selector))
    return violations.filter(({impact}) => grave.includes(impact)).flatMap(({id, nodes}) => nodes
        .filter(({element}) => !known(id, element))
        .map(({element, failureSummary}) => `${id}: ${element.outerHTML.slice(0, 200)} ${failureSummary}`))
}"""

# Words of charts with a contrast below 4.5 to the background, or to the mark below them
FAINT = """() => {
    const parts = color => { const [r, g, b, a = 1] = (color.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number)
        return [[r, g, b], a] }
    const over = ([color, alpha], below) => below.map((v, i) => color[i] * alpha + v * (1 - alpha))
    const light = color => color.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
    const ratio = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y)
        return (high + 0.05) / (low + 0.05) }
    return [...document.querySelectorAll(".stPlotlyChart .main-svg text")].flatMap(text => {
        const box = text.getBoundingClientRect(), chart = text.closest(".js-plotly-plot")
        const off = text.closest(".traces")?.style.opacity < 1  // of a legend: a line that is not shown
        if (!box.width || off || !text.textContent.trim()) return []
        const paper = over(parts(getComputedStyle(chart.querySelector(".main-svg")).backgroundColor), [255, 255, 255])
        let alpha = 1
        for (let at = text; at !== chart; at = at.parentElement) alpha *= getComputedStyle(at).opacity
        const {fill, fillOpacity} = getComputedStyle(text), [color, own] = parts(fill)
        const below = [...text.parentElement.children].filter(e => e.matches("rect.bg")).map(e => getComputedStyle(e))
            .reduce((under, s) => over([parts(s.fill)[0], parts(s.fill)[1] * s.fillOpacity], under), paper)
        const found = ratio(over([color, own * fillOpacity * alpha], below), below)
        return found < 4.5 ? [`${found.toFixed(2)}: ${text.textContent.slice(0, 60)}`] : []
    })
}"""

# Name of the element with the keyboard focus, and whether the focus is visible
STOP = """() => {
    let at = document.activeElement
    if (at === document.body) return null
    for (let next; (next = (at.shadowRoot ?? at.contentDocument)?.activeElement);) at = next  // in a frame, too
    const keyed = at.closest('[class*="st-key-"]')
    const key = keyed ? [...keyed.classList].find(name => name.startsWith("st-key-")).slice(7) : ""
    const near = [at]
    while (near.length < 5 && near.at(-1).parentElement) near.push(near.at(-1).parentElement)
    const unseen = at.matches(".choices input, .playground fieldset input")  // whose words are ringed
    if (unseen) near.push(at.nextElementSibling)
    const ringed = near.map(e => getComputedStyle(e)).some(style =>
        style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2
        || style.boxShadow.endsWith("0px 0px 0px 1px") || at.matches(".step") && style.boxShadow !== "none")
    // A table rings the cell that it is at. It draws that; the cell itself stands unseen in its canvas
    const own = at.matches("canvas, .dvn-scroller, .stDataFrame *"),
        drawing = at.closest("canvas") ?? (unseen ? at.parentElement : at)
    const around = at.querySelector(":scope > .reach")  // of a point that is dragged: a ring drawn about it
    const drawn = around && getComputedStyle(around).stroke !== "none"
    const box = drawing.getBoundingClientRect(), inWindow = box.right > 0 && box.left < innerWidth
    const seen = inWindow && drawing.checkVisibility({opacityProperty: true, visibilityProperty: true})
    const name = `${key} ${at.ariaLabel ?? at.innerText ?? ""}`.trim() || at.tagName
    return [name, Boolean(seen && (own || ringed || drawn))]
}"""
MOST_STOPS = 400

STILL = "() => Promise.allSettled(document.getAnimations().map(animation => animation.finished))"


def findings(tab: Tab) -> list[str]:
    """Return serious and critical findings of axe-core on the page, without those that Streamlit causes."""
    tab.page.evaluate(AXE)
    theirs = [[rule, selector] for rule, selector, _ in STREAMLIT]
    return tab.page.evaluate(RUN, [list(GRAVE), theirs])


def faint_words(tab: Tab) -> list[str]:
    """Return words of charts with too little contrast to the background (WCAG 2.2, level AA)."""
    return tab.page.evaluate(FAINT)


def tab_stops(tab: Tab) -> list[str]:
    """Return the stops of the Tab key, from the page's first to its last; the focus must be visible at each."""
    stops: list[str] = []
    while len(stops) < MOST_STOPS:
        tab.page.keyboard.press("Tab")
        stop = tab.page.evaluate(STOP)
        if stop is None:
            return stops
        if not stop[1]:  # what the keyboard makes appear may take a moment
            until(lambda: tab.page.evaluate(STOP)[1], f"the page shows that the keyboard is at {stop[0]}")
        stops.append(stop[0])
    raise AssertionError(f"the Tab key does not come to an end: {stops[-5:]}")


def unfold(tab: Tab) -> Tab:
    """Open everything folded on the page, and finally the popover with Python code."""
    folded = tab.page.locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()
        tab.settle()
    python = tab.page.get_by_role("button", name="Show Python", exact=True)
    if python.count():
        python.press("Enter")
        tab.settle().page.evaluate(STILL)
    return tab
