"""Axes of probabilities: linear, or in log-odds, where 0.1 % and 3 % are as far apart as 3 % and 50 %.

A log-odds axis has no 0 and no 1: a mark there is drawn at its end, and a line leaves the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calib.analysis.decision import small_median
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.checks import Array
from calib.recipe import AXES

NEAREST_TO_ENDS = 1e-6  # smallest distance of an axis from 0 and 1
PADDING = 0.4  # log-odds between the outermost point and the end of the axis
SHARE_BEYOND_ENDS = 0.035  # share of the axis' length beyond its ends, so that marks there are drawn whole
MOST_TICKS = 6
LETTERS_IN_PANEL = 24  # of labels side by side in the narrowest diagrams, three in a row; more would turn
DECADES = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999])
EVERY_OTHER = np.arange(len(DECADES)) % 2 == 0  # with 0.5 in the middle
FINE = np.sort(np.concatenate([DECADES, *((q, 1 - q) for q in (3e-5, 3e-4, 3e-3, 0.03, 0.3))]))


def in_log_odds(axes: str, evaluation: Evaluation) -> bool:
    """Tell whether the axes are in log-odds: as chosen or, with "auto", if half of the predictions are small."""
    checks.one_of(axes, AXES, "axes")
    return axes == "log_odds" or (axes == "auto" and small_median(evaluation) is not None)


@dataclass(frozen=True)
class LogOddsAxis:
    """An axis of log-odds with probabilities at its ticks.

    Attributes
    ----------
    low, high
        Probabilities at its ends, in (0, 1).
    """

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[Array]) -> LogOddsAxis:
        """Return an axis that contains all of these probabilities except 0 and 1."""
        joined = np.concatenate([np.ravel(each) for each in values] or [np.empty(0)])
        inside = joined[(joined > 0) & (joined < 1)]  # NaN fails both
        ends = (inside.min(), inside.max()) if inside.size else (0.1, 0.9)
        low, high = logit(np.clip(ends, NEAREST_TO_ENDS, 1 - NEAREST_TO_ENDS))
        return cls(float(expit(low - PADDING)), float(expit(high + PADDING)))

    def place(self, p: Any, *, beyond: bool = False) -> Array:
        """Return the positions of probabilities: log-odds, clipped to the ends or to a place beyond them.

        >>> LogOddsAxis(0.1, 0.9).place([0.0, 0.5]).round(4)
        array([-2.1972,  0.    ])
        >>> LogOddsAxis(0.1, 0.9).place([0.0, 0.5], beyond=True).round(4)
        array([-13.8155,   0.    ])
        """
        ends = (NEAREST_TO_ENDS, 1 - NEAREST_TO_ENDS) if beyond else (self.low, self.high)
        return logit(np.clip(np.asarray(p, dtype=np.float64), *ends))

    def edges(self, bins: int) -> Array:
        """Return edges (bins + 1,) of bins of equal width on the axis; the outermost are 0 and 1."""
        inner = expit(np.linspace(logit(self.low), logit(self.high), bins + 1)[1:-1])
        return np.concatenate([[0.0], inner, [1.0]])

    @property
    def settings(self) -> dict[str, Any]:
        """Range and ticks of a Plotly axis, with ticks as percentages."""
        ticks = FINE[(self.low <= FINE) & (self.high >= FINE)]
        if len(ticks) > MOST_TICKS:
            inside = (self.low <= DECADES) & (self.high >= DECADES)
            ticks = DECADES[inside]
            if len(ticks) > MOST_TICKS:
                ticks = DECADES[inside & EVERY_OTHER]
        low, high = logit([self.low, self.high]).tolist()
        return {
            "range": [low - SHARE_BEYOND_ENDS * (high - low), high + SHARE_BEYOND_ENDS * (high - low)],
            **percent_ticks(ticks),
            "tickvals": logit(ticks).tolist(),
        }

    @property
    def across(self) -> dict[str, Any]:
        """Settings of a horizontal axis: if the labels do not fit side by side, every other tick has none.

        >>> LogOddsAxis(0.2, 0.8).across["ticktext"], LogOddsAxis(5e-6, 0.7).across["ticktext"]
        (['30 %', '50 %', '70 %'], ['', '0.01 %', '', '1 %', '', '50 %'])
        """
        settings = self.settings
        labels = settings["ticktext"]
        if sum(map(len, labels)) > LETTERS_IN_PANEL:
            last = len(labels) - 1
            labels = ["" if (last - i) % 2 else label for i, label in enumerate(labels)]
        return settings | {"ticktext": labels}

    def moved(self, trace: dict[str, Any]) -> dict[str, Any]:
        """Return a trace of probabilities on this axis; parts of a line beyond its ends are not visible.

        The trace is a scatter plot in Plotly's JSON. The axes x and y are probabilities, further ones are not.
        """
        x, y = trace.get("xaxis", "x") == "x", trace.get("yaxis", "y") == "y"
        beyond = x and y and trace["mode"] == "lines"
        places: dict[str, Any] = {"x": self.place(trace["x"], beyond=beyond)} if x else {}
        if y:
            at = np.asarray(trace["y"], dtype=np.float64)
            places["y"] = placed = self.place(at, beyond=beyond)
            if ends := trace.get("error_y"):
                above, below = ends["array"], ends.get("arrayminus", ends["array"])
                lengths = {
                    "array": self.place(at + above) - placed,
                    "arrayminus": placed - self.place(at - below),
                }
                places["error_y"] = ends | {"symmetric": False} | lengths
        return trace | places


def padded(values: Any, share: float = 0.06) -> list[float]:
    """Return the range of an axis that contains all finite values, with a share of their range free at both ends.

    >>> padded([0, 1, np.nan]), padded([2.0], share=0.5)
    ([-0.06, 1.06], [1.0, 3.0])
    """
    known = np.asarray(values, dtype=np.float64)
    finite = known[np.isfinite(known)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    edge = share * (high - low or abs(high) or 1.0)
    return [low - edge, high + edge]


def percent_ticks(shares: Iterable[float]) -> dict[str, list]:
    """Return ticks at these shares as percentages with a space, which Plotly's own format leaves out.

    >>> percent_ticks([0, 0.5])
    {'tickvals': [0, 0.5], 'ticktext': ['0 %', '50 %']}
    """
    at = list(shares)
    return {"tickvals": at, "ticktext": [f"{100 * share:.6g} %" for share in at]}


def two_line_ticks(at: Iterable[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return ticks with labels narrow enough for a phone: two words are on two lines.

    Labels are horizontal if only the last has more than two letters; otherwise Plotly may rotate them to save space.

    >>> two_line_ticks([0, 1], ["15", "no limit"])["ticktext"]
    ['15', 'no<br>limit']
    """
    short = all(len(name) <= 2 for name in names[:-1])
    return {
        "tickvals": list(at),
        "ticktext": [name.replace(" ", "<br>") for name in names],
        "tickangle": 0 if short else None,
    }
