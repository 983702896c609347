"""Lines of forests and calibrators along one setting, for the two long experiments.

Calibrators have their own colours. Forests without a calibration set have the text colour, and differ by dash and
marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of, name_of
from calib.experiments.shared.long_run import BASELINES, LongResult
from calib.figures.axes import padded
from calib.figures.panels import band
from calib.figures.theme import Mark, Theme

BASELINE_MARKS = {
    "rf_d": ("circle-open", "solid"),
    "rf_opt": ("square-open", "dash"),
    "rf_large": ("diamond-open", "dot"),
    "ct": ("triangle-up-open", "dashdot"),
}
UNCALIBRATED = "none"
PAPER_CALIBRATORS = ("platt", "isotonic", "beta", "venn_abers", "ppa", "rank")
PAPER_METHODS = (*BASELINES, *PAPER_CALIBRATORS)
DRAWN_METHODS = (*PAPER_METHODS, UNCALIBRATED)
"""The paper's methods and the uncalibrated forest that they must beat; others can be switched on in the legend."""


def line_mark(method: str, theme: Theme) -> Mark:
    """Return colour, marker and dash of a forest or a calibrator."""
    if method == UNCALIBRATED:
        return Mark(theme.muted, "circle", "solid")
    return Mark(theme.ink, *BASELINE_MARKS[method]) if method in BASELINES else theme.mark(method)


def name(method: str) -> str:
    """Return the name in the legend; UNCALIBRATED is the forest that the calibrators start from."""
    return BASELINES.get(method) or (
        "Same forest, uncalibrated" if method == UNCALIBRATED else label_of(method)
    )


def method_name(method: str) -> str:
    """Return the name of a forest or a calibrator within a sentence."""
    forest = BASELINES.get(method)
    return f"the {forest[0].lower()}{forest[1:]}" if forest else name_of(method)


def of_base(table: pd.DataFrame, base: str) -> pd.DataFrame:
    """Select the forests without a calibration set, and the calibrators of one base forest."""
    return table[table["base"].isin(["", base])]


def wide(table: pd.DataFrame, along: str, measure: str) -> pd.DataFrame:
    """Pivot the means of a measure: one row per value of the column ``along``, one column per method."""
    return table.pivot_table(index=along, columns="method", values=measure)


def add_lines(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    measure: str,
    theme: Theme,
    *,
    where: Mapping[str, Any],
    hover: str,
    first: bool,
    bands: bool = False,
) -> None:
    """Add one line per method of ``measure`` along the column ``x``, with optional bands of two standard errors.

    Parameters
    ----------
    where
        Axes of the traces.
    hover
        Name of x.
    first
        Whether the legend shows these lines.
    """
    for method, rows in table.groupby("method", sort=False):
        ink = line_mark(method, theme)
        visible = True if method in DRAWN_METHODS else "legendonly"
        at, mean = rows[x].to_numpy(), rows[measure].to_numpy()
        error = rows[f"{measure}_error"].fillna(0).to_numpy()
        if bands:
            low, high = mean - 2 * error, mean + 2 * error
            shape = band(at, low, high, ink.color, legendgroup=method, visible=visible, **where)
            figure.add_trace(shape.update(opacity=0.5 if method in BASELINES else 1))
        figure.add_scatter(
            x=at,
            y=np.round(mean, 6),
            mode="lines+markers" if len(at) <= 25 and method != UNCALIBRATED else "lines",
            name=name(method),
            legendgroup=method,
            showlegend=first,
            visible=visible,
            line={"color": ink.color, "dash": ink.dash, "width": 5 if method == UNCALIBRATED else 2},
            marker={"color": ink.color, "symbol": ink.symbol, "size": 7},
            customdata=np.column_stack([2 * error, rows["runs"]]),
            hovertemplate=f"{name(method)}: %{{y:.4f}} ± %{{customdata[0]:.4f}}<br>{hover} %{{x}}"
            "<br>%{customdata[1]} repetitions<extra></extra>",
            **where,
        )


def span(table: pd.DataFrame, measure: str, from_zero: bool = True) -> list[float]:
    """Return a vertical range for the means, from zero for errors and losses unless ``from_zero`` is off."""
    values = table.loc[table["method"].isin(DRAWN_METHODS), measure]
    low, high = padded(values)
    return [0.0 if from_zero and values.min() >= 0 and measure != "accuracy" else low, high]


def source_in_words(found: LongResult) -> str:
    """State the source of the numbers: stored results, or repetitions computed here."""
    if found.made is not None:
        return found.made.sentence()
    runs = found.table["runs"]
    low, high = int(runs.min()), int(runs.max())
    return f"Computed here: means over {high if low == high else f'{low} to {high}'} repetitions."
