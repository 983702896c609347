"""Elements that many charts share: marks with a rim, error bars, lanes below each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib.figures.theme import Theme


def outlined(color: Any, size: Any, theme: Theme, rim: float = 1, **more: Any) -> dict[str, Any]:
    """Return a marker with a rim in the paper's colour, so that overlapping marks stay distinct."""
    return {"color": color, "size": size, "line": {"color": theme.paper, "width": rim}, **more}


def hollow(color: str, size: float, width: float, symbol: str = "circle-open", **more: Any) -> dict[str, Any]:
    """Return a marker that is a line of this width: a ring, or another open symbol."""
    return {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": width}, **more}


def error_bars(
    value: Any, lower: Any, upper: Any, color: str, thickness: float, width: float = 0
) -> dict[str, Any]:
    """Return error bars from values to the ends of their intervals; ``width`` is that of the end strokes."""
    value, lower, upper = (
        np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (value, lower, upper)
    )
    ends = {"array": upper - value, "arrayminus": value - lower}
    return {
        "type": "data",
        "symmetric": False,
        **ends,
        "color": color,
        "thickness": thickness,
        "width": width,
    }


def vertical_line(at: float, x: str, y: str, **line: Any) -> dict[str, Any]:
    """Return a shape: a line through the whole height of a panel at a value of its x axis."""
    ends = {"x0": at, "x1": at, "xref": x, "y0": 0, "y1": 1, "yref": f"{y} domain"}
    return {"type": "line", **ends, "line": line}


def lanes(names: Sequence[str]) -> dict[str, Any]:
    """Return the axis of lanes at 0, 1, …, the first at the top.

    >>> lanes(["a", "b"])["range"]
    [1.6, -0.6]
    """
    return {
        "range": [len(names) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "ticks": "",
        "showgrid": False,
        "automargin": True,
    }
