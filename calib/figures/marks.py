"""Rows as marks: one per distinct point, with the area showing the number of rows, or one per cell of a grid.

A chart of a million rows is thus as small as one of a thousand, shows how many rows lie where, and still responds to
a click.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.base import chart_text
from calib.figures.theme import Theme, hollow

MOST_MARKS = 5_000
CELLS_OF_AXIS = 60  # cells along each axis
ONE_ROW, LARGEST_MARK, SMALLEST_MARK = 8, 30, 6  # diameters in pixels


@dataclass(frozen=True, eq=False)
class Marks:
    """One mark per group of rows, arrays (k,).

    Attributes
    ----------
    x, y
        Mean position.
    count
        Number of rows.
    share
        Share of class 1.
    value
        Mean of the quantity that the colour shows.
    row
        The number of one of its rows.
    cells
        Whether the groups are cells of a grid instead of equal points.
    """

    x: np.ndarray
    y: np.ndarray
    count: np.ndarray
    share: np.ndarray
    value: np.ndarray
    row: np.ndarray
    cells: bool

    @property
    def note(self) -> str:
        """A sentence for the caption on what a mark is, or ""."""
        rows = int(self.count.sum())
        if self.cells:
            return (
                f"The {rows:,} rows are grouped in cells: a mark's area is proportional to the number of rows in its "
                "cell."
            )
        if len(self.count) == 1 < rows:
            return f"All {rows:,} rows lie at the same point."
        if len(self.count) < rows:
            places = f"{len(self.count):,} different points"
            return (
                f"The {rows:,} rows lie at {places}: a mark's area is proportional to the number of rows at "
                f"its point."
            )
        return ""


def gather(x: np.ndarray, y: np.ndarray, labels: np.ndarray, value: np.ndarray, rows: np.ndarray) -> Marks:
    """Group rows into marks; the first row of a group names it.

    Parameters
    ----------
    x, y : (m,)
        Positions of the rows.
    labels : (m,)
        0 or 1.
    value : (m,)
        The quantity that the colour shows.
    rows : (m,)
        Numbers of the rows.

    Examples
    --------
    >>> marks = gather(*np.array([[0.5, 0.5, 1.0], [1, 1, 0]]), np.array([0, 1, 1]), np.zeros(3), np.array([7, 8, 9]))
    >>> marks.count, marks.share, marks.row
    (array([2, 1]), array([0.5, 1. ]), array([7, 9]))
    """
    first, group = _groups(x + 1j * y)
    cells = len(first) > MOST_MARKS
    if cells:
        first, group = _groups(_cell(x) + 1j * _cell(y))
    count = np.bincount(group)
    mean_x, mean_y, share, mean_value = (
        np.bincount(group, values) / count for values in (x, y, labels, value)
    )
    if not cells:
        mean_x, mean_y = x[first], y[first]  # exact, without rounding of means
    return Marks(mean_x, mean_y, count, share, mean_value, rows[first], cells)


def _groups(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (first member of each group, group of each member); complex numbers sort by both parts at once."""
    _, first, group = np.unique(places, return_index=True, return_inverse=True)
    return first, group


def _cell(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    return np.minimum(CELLS_OF_AXIS - 1, np.floor((values - low) / (high - low or 1.0) * CELLS_OF_AXIS))


def diameters(count: np.ndarray) -> np.ndarray:
    """Return diameters in pixels: the area is proportional to the rows, within a smallest and a largest mark.

    >>> diameters(np.array([1, 4, 9]))
    array([ 8., 16., 24.])
    """
    unit = min(ONE_ROW, LARGEST_MARK / np.sqrt(count.max()))
    return np.maximum(unit * np.sqrt(count), SMALLEST_MARK)


def mark_traces(
    marks: Marks,
    theme: Theme,
    classes: tuple[str, str],
    color: str,
    hover: str,
    limits: tuple[float, float],
    hovertext: Sequence[str] = (),
) -> list[go.Scatter]:
    """Return circles for rows of class 0, diamonds for class 1, and squares for marks with both.

    Parameters
    ----------
    color
        "label" or the name of the quantity ``value``, on a scale over ``limits``.
    hover
        The first line on hover.
    hovertext
        The value of %{hovertext} in it for each mark.
    """
    kinds = (
        (f"{chart_text(classes[0])} (class 0)", "circle", marks.share == 0),
        (f"{chart_text(classes[1])} (class 1)", "diamond", marks.share == 1),
        ("both classes", "square", (marks.share > 0) & (marks.share < 1)),
    )
    values, limits = (marks.share, (0, 1)) if color == "label" else (marks.value, limits)
    sizes = diameters(marks.count)
    traces: list[go.Scatter] = []
    for name, symbol, chosen in kinds:
        if not chosen.any():
            continue
        known = [marks.row, marks.count, 100 * marks.share, marks.value]
        traces.append(
            go.Scatter(
                x=marks.x[chosen],
                y=marks.y[chosen],
                mode="markers",
                cliponaxis=False,
                name=name,
                hovertext=[hovertext[i] for i in np.flatnonzero(chosen).tolist()] if hovertext else None,
                customdata=np.stack([each[chosen] for each in known], axis=1),
                hovertemplate=f"{hover}<br>rows: %{{customdata[1]:,d}}, %{{customdata[2]:.3g}} % of class 1"
                f"<br>row %{{customdata[0]:d}}<extra></extra>",
                marker={
                    "symbol": symbol,
                    "size": sizes[chosen],
                    "color": values[chosen],
                    "cmin": limits[0],
                    "cmax": limits[1],
                    "showscale": color != "label" and not traces,
                    **_scale(color, theme),
                },
            )
        )
    return traces


def _scale(color: str, theme: Theme) -> dict[str, Any]:
    """Return colours of marks by their label, or by a number with a colour bar."""
    by_label = [theme.negative, theme.muted, theme.positive]
    return {
        "colorscale": by_label if color == "label" else list(theme.scale),
        "opacity": 0.8,
        "line": {"color": theme.paper, "width": 0.6},
        "colorbar": {"title": {"text": color}, "thickness": 10, "len": 0.5, "y": 0.4, "outlinewidth": 0},
    }


def ring(x: float, y: float, row: int, theme: Theme) -> go.Scatter:
    """Return a ring around the explained row."""
    return go.Scatter(
        x=[x],
        y=[y],
        mode="markers",
        cliponaxis=False,
        name=f"row {row}",
        hoverinfo="skip",
        marker=hollow(theme.ink, 22, 2.5),
    )
