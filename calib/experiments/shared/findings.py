"""The record of an experiment's figure, and a few shapes that several figures share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.axes import percent_ticks
from calib.figures.base import TableRecord
from calib.figures.panels import axes
from calib.figures.theme import Theme, rgba
from calib.kernel.checks import Array
from calib.kernel.wording import number


@dataclass(frozen=True, eq=False, kw_only=True)
class Finding(TableRecord):
    """Record of an experiment's figure, with the answer to its question.

    Attributes
    ----------
    answer
        Number, from 1, of the right answer; None if no single answer is right.
    drawn
        Description of the picture without the answer, used in place of ``alt`` while the question is open.
    unasked
        Why there is no answer if the picture shows something else than the question is about.
    """

    answer: int | None
    drawn: str = ""
    unasked: str = ""

    def covered(self) -> Finding:
        """Return the record for a picture without numbers that give the answer away."""
        return self


def plus_minus(mean: float, error: float) -> str:
    """Write a mean with two standard errors."""
    return f"{number(mean)} ± {number(2 * error, 2)}"


def level_line(theme: Theme, y: float = 0.0, **changes) -> dict:
    """Return a thin horizontal line across a panel as a shape."""
    return {
        "type": "line",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": theme.diagonal, "width": 1},
        "layer": "below",
        **changes,
    }


def class_marks(
    X: Array, y: Array, theme: Theme, marker: dict[str, Any], one: str = "diamond-open", **style: Any
) -> list[go.Scatter]:
    """Draw rows (m, 2) in their plane, circles for class 0 and the symbol ``one`` for class 1."""
    return [
        go.Scatter(
            x=np.round(X[y == label, 0], 3),
            y=np.round(X[y == label, 1], 3),
            mode="markers",
            name=f"class {label}",
            legendgroup=f"class {label}",
            marker={"symbol": symbol, "color": color, **marker},
            **style,
        )
        for label, symbol, color in ((0, "circle", theme.negative), (1, one, theme.positive))
    ]


SHARE_AXIS = {"range": [-0.03, 1.03], **percent_ticks([0, 0.25, 0.5, 0.75, 1])}
"""Axis of shares from 0 to 1."""


def share_lines(
    panel: int,
    places: Any,
    shares: Mapping[str, Any],
    names: Mapping[str, str],
    compared: str,
    theme: Theme,
    *,
    hover: str,
    size: int = 6,
) -> list[go.Scatter]:
    """Draw a line per method in a panel of ``panels``; the first panel names them.

    Parameters
    ----------
    places : (m,)
        Positions on the x axis.
    shares
        Method → (m,).
    names
        Method → its name, in the order of the lines.
    compared
        Method that the others are compared with.
    hover
        Name of a position.
    size
        Pixels of the marks; 0 for none, where many of them would hide the dashes.
    """
    x, y = axes(panel)
    return [
        go.Scatter(
            x=places,
            y=shares[method],
            xaxis=x,
            yaxis=y,
            mode="lines+markers" if size else "lines",
            name=name,
            legendgroup=method,
            showlegend=panel == 0,
            line={
                "color": theme.muted if method == compared else theme.ink,
                "width": 2.4,
                "dash": "dash" if method == compared else "solid",
            },
            marker={"size": size, "symbol": "diamond" if method == compared else "circle"},
            hovertemplate=f"{hover}: %{{y:.1%}}",
        )
        for method, name in names.items()
    ]


STACKED_LOSSES = {
    "irreducible": "IL, irreducible",
    "grouping": "GL, grouping",
    "calibration": "CL, calibration",
}


def stacked_bars(names: list[str], terms: dict[str, np.ndarray], theme: Theme) -> list[go.Bar]:
    """Draw IL, GL and CL of every name, (k,) each, from below, with patterns. Infinite values have no height."""
    inks = {
        "irreducible": (theme.muted, ""),
        "grouping": (theme.grouping, "/"),
        "calibration": (theme.calibration, "."),
    }
    return [
        go.Bar(
            x=names,
            y=np.where(np.isfinite(terms[term]), terms[term], 0),
            name=STACKED_LOSSES[term],
            marker={
                "color": rgba(color, 0.45) if term == "irreducible" else color,
                "pattern": {
                    "shape": pattern,
                    "fillmode": "overlay",
                    "fgcolor": rgba(theme.paper, 0.45),
                    "size": 7,
                },
            },
            customdata=[number(value) for value in terms[term]],
            hovertemplate=f"{STACKED_LOSSES[term]}: %{{customdata}}<extra></extra>",
        )
        for term, (color, pattern) in inks.items()
    ]
