"""The type of a page's charts: how large it is, whether it lies on other type, and whether it is cut off."""

from tests.browser.driver import Tab

# Skips numbers at marks, which are placed by the marks, and tilted names, which are smaller than their boxes
TYPE = r"""part => {
    const seen = node => node.checkVisibility({visibilityProperty: true}) && node.textContent.trim()
        && !node.closest(".modebar, .hoverlayer, .textpoint")
    const texts = [...document.querySelectorAll(`${part} :is(.js-plotly-plot svg, svg.moving) text`)].filter(seen)
    // Before a room scales it (room.css); a picture of a script is drawn in units of its own
    const root = getComputedStyle(document.documentElement)
    const room = root.getPropertyValue("--room") ? parseFloat(root.fontSize) / 28 : 1
    const scale = node => node.closest(".moving") ? Math.hypot(node.getScreenCTM().a, node.getScreenCTM().b) / room : 1
    const level = node => !/rotate\((?!0|-?90)/.test(node.getAttribute("transform"))
    const boxes = texts.filter(level).map(node => [node.textContent, node.getBoundingClientRect()])
        .filter(([, b]) => b.width)
    const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6
    const pairs = boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) => on(a, b))
        .map(([other]) => `${one} / ${other}`))
    const cut = texts.filter(node => {
        const [b, all] = [node, node.closest(".js-plotly-plot, .moving")].map(one => one.getBoundingClientRect());
        return b.left < all.left - 2 || b.right > all.right + 2 || b.bottom > all.bottom + 2 || b.top < all.top - 6;
    }).map(node => node.textContent);
    return [Math.min(...texts.map(node => parseFloat(getComputedStyle(node).fontSize) * scale(node))), pairs, cut];
}"""


def type_in_charts(tab: Tab, part: str = ".stMain") -> tuple[float, list[str], list[str]]:
    """Return the smallest type in the charts of a part of the page, in pixels, overlapping labels, and labels cut
    off.
    """
    smallest, overlapping, cut = tab.page.evaluate(TYPE, part)
    return smallest, overlapping, cut
