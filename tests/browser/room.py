"""Sizes of a lesson's step on a projector, in pixels of the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SIZES = """() => {
    const seen = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    const boxes = elements => elements.filter(seen).map(element => element.getBoundingClientRect())
        .filter(box => box.width * box.height > 0)
    const all = (selector, root = document) => [...root.querySelectorAll(selector)]
    const [words] = all(".st-key-lesson_beside .stColumn")
    const charts = all(".st-key-lesson_beside :is(.js-plotly-plot, .moving)").filter(seen)
    const places = boxes(charts), ends = boxes(all("p, li, td, button", words)).map(box => box.bottom)
    const text = all("p, li, td, th", words).filter(element => seen(element) && element.innerText)
    const squares = charts.filter(chart => chart._fullLayout.yaxis?.scaleanchor)
    return {
        plot: Math.max(...places.map(box => box.bottom)) - Math.min(...places.map(box => box.top)),
        squares: squares.map(chart => chart._fullLayout.yaxis._length * chart.getBoundingClientRect().width
            / chart._fullLayout.width),
        share: words.getBoundingClientRect().width / innerWidth,
        text: Math.min(...text.map(element => parseFloat(getComputedStyle(element).fontSize))),
        bottom: Math.max(...places.map(box => box.bottom), ...ends),
        besides: all(".st-key-lesson_beside :is(.stCaptionContainer, .stPopover, .stDataFrame)").filter(seen).length,
    }
}"""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a step in presenter view.

    Attributes
    ----------
    plot
        Height from the top of the highest picture to the bottom of the lowest.
    squares
        Side of every square diagram.
    share
        Width of the words, as a share of the window's.
    text
        Smallest type of the words.
    bottom
        Position of the lower edge of the lowest part.
    besides
        Number of captions, menus and grids in small type.
    """

    plot: float
    squares: list[float]
    share: float
    text: float
    bottom: float
    besides: int


def sizes(tab: Any) -> Sizes:
    """Measure the step that is open."""
    return Sizes(**tab.page.evaluate(SIZES))
