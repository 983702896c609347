"""The record of an experiment's figure, and a few shapes that several figures share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.base import TableRecord
from calib.figures.theme import Theme
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
