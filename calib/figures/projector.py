"""A figure for a projector: legible from the last row, and no higher than its page below a title."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.narrowing import unpacked

# For a projector of 1920 by 1080: factor of type and margins, smallest type, and largest height of charts
ENLARGED, LEGIBLE, PROJECTED = 4 / 3, 24, 1000
ABOVE_CAPTION = 860  # height of a chart whose caption is in sight, too (room.css)
BOLDER = 1.6  # factor of marks and lines, which a figure twice as high would else show as thin as on a laptop
# Pixels below a square diagram: histogram, gap above it, scale
BELOW_DIAGRAM, BETWEEN, SPACE_OF_SCALE = 66, 12, 92
MOST_TICK_LABELS = 10  # more tick labels than this would overlap
SHARE_OF_LANES = 0.6  # share of a figure's height between margins, scale and legend
STANDOFF = 12  # pixels between an axis' scale and its title


def for_projector(
    figure: go.Figure, rows: int = 1, highest: float = PROJECTED, fills: bool = False
) -> go.Figure:
    """Adapt a figure to a projector: type of at least 24 pixels, larger marks, and no higher than its page.

    Pictures that are longer than any page, such as that of a tree, keep their height.

    Parameters
    ----------
    rows
        Number of rows of such figures; they share the height of the page.
    highest
        Height of the page in pixels.
    fills
        Whether a lower figure is enlarged to this height; a square diagram fills it as far as possible.
    """
    figure = go.Figure(_larger(figure.to_dict()))
    _embolden(figure)
    for axis in figure.select_yaxes():  # large names on two lines would overlap unless lanes are high
        if not _have_space(axis, figure.layout.height, highest / rows, fills):
            axis.ticktext = axis.ticktext and [str(text).replace("<br>", " ") for text in axis.ticktext]
    for axis in figure.select_xaxes():  # keep every second of many tick labels, and the last
        texts = axis.ticktext or ()
        if sum(str(text)[:1].isdigit() for text in texts) > MOST_TICK_LABELS:
            axis.ticktext = ["" if (len(texts) - i) % 2 == 0 else text for i, text in enumerate(texts)]
    height = figure.layout.height
    if height is not None and height <= 2 * PROJECTED:
        figure.update_layout(
            height=highest / rows if fills else min(height * ENLARGED * 1.25, highest / rows)
        )
    # The last label of an axis that ends with the picture needs space
    figure.layout.margin.t = max(figure.layout.margin.t or 0, LEGIBLE)
    # Fewer ticks, because labels are large; the legend goes to the bottom, below the axis' title
    figure.update_layout(legend={"yref": "container", "y": 0, "yanchor": "bottom"})
    figure.update_xaxes(automargin=True, nticks=5, title_standoff=STANDOFF).update_yaxes(automargin=True)
    for axis in figure.select_yaxes():  # a low panel, such as a histogram below its diagram, has even fewer
        low, high = axis.domain or (0, 1)
        axis.nticks = 5 if high - low > 0.4 else 4 if high - low > 0.2 else 3
    if fills and rows == 1 and figure.layout.yaxis.scaleanchor and figure.layout.yaxis2.domain:
        _square(figure)
    else:
        _spread(figure)
    return figure


def _embolden(figure: go.Figure) -> None:
    """Enlarge the marks and lines that have a size."""
    for part in (*figure.data, *figure.layout.shapes):
        if "marker" in part and "size" in part.marker and part.marker.size is not None:
            size = part.marker.size
            part.marker.size = np.multiply(size if np.isscalar(size) else unpacked(size), BOLDER)
        if "line" in part and "width" in part.line and part.line.width is not None:
            part.line.width *= BOLDER


def _square(figure: go.Figure) -> None:
    """Give a square diagram all the height except that of its histogram, with its legend beside it."""
    figure.update_layout(margin={"t": LEGIBLE / 2, "b": SPACE_OF_SCALE})
    inner = figure.layout.height - LEGIBLE / 2 - SPACE_OF_SCALE
    figure.update_layout(
        xaxis={"constraintoward": "left"},
        yaxis={"domain": [(BELOW_DIAGRAM + BETWEEN) / inner, 1]},
        yaxis2={"domain": [0, BELOW_DIAGRAM / inner], "nticks": 2},
        legend={
            "orientation": "v",
            "xref": "container",
            "x": 1,
            "xanchor": "right",
            "y": 1,
            "yanchor": "top",
        },
    )


def _spread(figure: go.Figure) -> None:
    """Enlarge the gaps between rows of panels for large type: a scale and the name of the panel below."""
    rows = sorted({axis.domain for axis in figure.select_yaxes() if axis.domain})
    if rows:
        figure.layout.margin.t = max(figure.layout.margin.t or 0, _names_above(figure, rows[-1]))
    margin = figure.layout.margin
    inner = (figure.layout.height or 0) - sum(margin[side] or 0 for side in "tb")
    if len(rows) < 2 or inner <= 0 or any(low >= high for (_, low), (high, _) in pairwise(rows)):
        return
    gaps = [
        max(upper[0] - lower[1], _written_between(figure, lower, upper) / inner)
        for lower, upper in pairwise(rows)
    ]
    share = (rows[-1][1] - rows[0][0] - sum(gaps)) / sum(high - low for low, high in rows)
    if share <= 0:
        return
    before, after, place = [], [], rows[0][0]
    for (low, high), gap in zip(rows, [*gaps, 0.0], strict=True):
        before += [low, high]
        after += [place, place + share * (high - low)]
        place = after[-1] + gap
    after = np.clip(after, 0, 1)  # sums of shares may exceed 1 by rounding
    for axis in figure.select_yaxes():
        axis.domain = axis.domain and np.interp(axis.domain, before, after)
    for words in figure.select_annotations():
        if words.yref == "paper" and 0 <= words.y <= 1:
            words.y = float(np.interp(words.y, before, after))


def _written_between(figure: go.Figure, lower: tuple[float, float], upper: tuple[float, float]) -> float:
    """Return the pixels of the scale and title of the upper row and the names of the lower one."""
    above = _axes_of(figure, upper)
    scales = [axis for axis in figure.select_xaxes() if (axis.anchor or "y") in above]
    scaled = any(axis.showticklabels is not False for axis in scales)
    titled = any(axis.title.text for axis in scales)
    return _names_above(figure, lower) + 1.7 * LEGIBLE * scaled + (STANDOFF + 1.3 * LEGIBLE) * titled


def _axes_of(figure: go.Figure, row: tuple[float, float]) -> set[str]:
    """Return the names of the vertical axes of a row of panels in traces."""
    return {f"y{axis.plotly_name[5:]}" for axis in figure.select_yaxes() if axis.domain == row}


def _names_above(figure: go.Figure, row: tuple[float, float]) -> float:
    """Return the height in pixels of the names of a row's panels."""
    tops = {("paper", row[1])} | {(f"{axis} domain", 1) for axis in _axes_of(figure, row)}
    names = [
        str(words.text).count("<br>") + 1
        for words in figure.select_annotations()
        if words.y is not None and any(words.yref == on and abs(words.y - top) < 1e-6 for on, top in tops)
    ]
    return 1.3 * LEGIBLE * max(names, default=0)


def _have_space(axis: Any, height: float | None, highest: float, fills: bool) -> bool:
    """Tell whether names of several lines fit their lanes, for the share of the height that lanes use."""
    texts = list(map(str, axis.ticktext or ()))
    if not texts or height is None:
        return False
    low, high = axis.domain or (0, 1)
    shown = highest if fills else min(height * ENLARGED * 1.25, highest)
    lines = 1 + max(text.count("<br>") for text in texts)
    return SHARE_OF_LANES * shown * (high - low) / len(texts) >= 1.3 * LEGIBLE * lines


def _larger(part: Any, sizes: tuple[str, ...] = ()) -> Any:
    """Multiply all sizes of fonts and margins in a figure's nested parts."""
    if isinstance(part, dict):
        return {
            name: (max(value * ENLARGED, LEGIBLE) if name == "size" else value * ENLARGED)
            if name in sizes
            else _larger(
                value, ("size",) if name.endswith("font") else tuple("lrtb") if name == "margin" else ()
            )
            for name, value in part.items()
        }
    return (
        [_larger(one) for one in part]
        if isinstance(part, list) and part and isinstance(part[0], dict)
        else part
    )
