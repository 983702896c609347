"""Infinite log loss: which methods are certain and wrong, in one run and in the share of runs that stay finite.

Vovk and Petej (2014), lemma 2 and Table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.findings import Finding
from calib.experiments.shared.one_feature import (
    CLASS_DISTANCE,
    SIX_METHODS,
    TAUGHT,
    TRIED,
    VENN_PAPER,
    WINDOW,
    SixMethods,
    compare_methods,
    draws,
    method_mark,
    training_objects,
)
from calib.figures.axes import percent_ticks
from calib.figures.base import FigureEntry
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.kernel.checks import Array
from calib.kernel.records import Parameter
from calib.kernel.wording import number

SHORT_NAMES = SIX_METHODS | {"dir": "DIR", "isotonic": "held out"}
"""Method → short name beside its line."""


@dataclass(frozen=True, eq=False)
class LogLoss(Finding):
    """Log loss of one run by test rows, and the share of runs without a certain mistake.

    Attributes
    ----------
    run
        Number of the run, from 1.
    traces
        Method → mean log loss of its first t rows, ∞ after a certain mistake.
    finite
        Method → share of runs without a certain mistake in the first t rows; all (m,).
    """

    run: int
    traces: dict[str, Array]
    finite: dict[str, Array]


def prepare(found: SixMethods, run: int = 1) -> LogLoss:
    """Compute the log losses; ``run`` is the draw in the upper picture."""
    losses = {key: found.log_loss(key) for key in found.p}
    t = np.arange(1, found.y.shape[1] + 1)
    traces = {key: np.cumsum(values[run - 1]) / t for key, values in losses.items()}
    finite = {key: np.isfinite(np.cumsum(values, axis=1)).mean(axis=0) for key, values in losses.items()}
    left = finite["dir"][-1]
    early = max(1, len(t) // 10)
    safe = all(finite[key][-1] == 1 for key in ("simplified", "full"))
    pairs = (
        "it is finite in all of them"
        if safe
        else "it is not finite in all of them, which contradicts the theorem"
    )
    return LogLoss(
        title=f"After {t[-1]} test rows the log loss of DIR is finite in {100 * left:.0f} % of {found.y.shape[0]} "
        f"runs; with Venn–Abers {pairs}",
        caption=f"The upper picture shows the mean log loss of run {run} so far. A line ends with a cross when it "
        "becomes infinite. The lower picture shows the share of runs in which the log loss is still finite.",
        alt="Share of runs with finite log loss: "
        + "; ".join(f"{SIX_METHODS[key]} {100 * share[-1]:.0f} %" for key, share in finite.items())
        + ".",
        drawn=f"The upper picture shows run {run}: "
        + "; ".join(_ends(SIX_METHODS[key], trace) for key, trace in traces.items())
        + f". The lower picture shows the share of {found.y.shape[0]} runs with finite log loss after {early} rows: "
        + "; ".join(f"{SIX_METHODS[key]} {100 * share[early - 1]:.0f} %" for key, share in finite.items())
        + ".",
        table=pd.concat(
            [
                pd.DataFrame(
                    {"method": key, "test_objects": t, "log_loss": traces[key], "finite_share": finite[key]}
                )
                for key in found.p
            ],
            ignore_index=True,
        ),
        answer=1 if left > 0.75 else 2 if left > 0.25 else 3,
        run=run,
        traces=traces,
        finite=finite,
    )


def _ends(name: str, trace: Array) -> str:
    """Describe the last value of a line, or where it ends."""
    if np.isfinite(trace[-1]):
        return f"{name} {number(trace[-1])} after {len(trace)} rows"
    return f"{name} ends at row {1 + int(np.argmin(np.isfinite(trace)))}"


def draw(record: LogLoss, theme: Theme = LIGHT) -> go.Figure:
    """Draw one run above and all runs below, on one axis of test rows."""
    m = len(next(iter(record.traces.values())))
    ends = np.concatenate([trace[min(4, m - 1) :] for trace in record.traces.values()])
    known = ends[np.isfinite(ends)]
    top = 1.15 * float(known.max()) if known.size and known.max() > 0 else 1.0
    figure = go.Figure(
        layout=layout(
            theme,
            height=640,
            margin={"l": 60, "r": 16, "t": 30, "b": 52},
            xaxis={"title": {"text": "Test rows so far"}, "range": [0, m + 1], "anchor": "y2"},
            yaxis={"title": {"text": "Mean log loss"}, "range": [0, top], "domain": [0.56, 1]},
            yaxis2={
                "title": {"text": "Runs with finite log loss"},
                "range": [-0.03, 1.05],
                "domain": [0, 0.44],
                **percent_ticks([0, 0.5, 1]),
            },
            annotations=[
                heading(f"Run {record.run}", "y"),
                heading("All runs", "y2", "x"),
                *_groups(record, theme),
            ],
        )
    )
    for key, trace in record.traces.items():
        finite = np.isfinite(trace)
        figure.add_trace(_line(key, np.where(finite, trace, np.nan), "%{y:.3f} after %{x} rows", theme))
        if not finite.all():
            end = int(np.argmin(finite))
            last = trace[end - 1] if end else 0.0
            figure.add_trace(_end(key, end + 1, min(last, 0.97 * top), theme))
        share = _line(key, record.finite[key], "%{customdata:.0f} % finite after %{x} rows", theme)
        lower = {"customdata": 100 * record.finite[key], "yaxis": "y2", "line_shape": "hv"}
        figure.add_trace(share.update(showlegend=False, **lower))
    return figure


def _groups(record: LogLoss, theme: Theme) -> list[dict[str, Any]]:
    """Name the lines that fall and those that do not beside them: on a phone the legend is far below."""
    falling = {key: share for key, share in record.finite.items() if share[-1] < 1}
    if not falling or len(falling) == len(record.finite):
        return []
    at = len(next(iter(falling.values()))) * 3 // 10
    names = " and ".join(SHORT_NAMES[key] for key in falling)
    place = {"xref": "x", "yref": "y2", "showarrow": False, "bgcolor": rgba(theme.paper, 0.85)}
    corner = {
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"color": method_mark(next(iter(falling)), theme).color},
    }
    high = max(share[at] for share in falling.values())
    others = {"text": f"the {len(record.finite) - len(falling)} others", "x": at, "y": 1, "yanchor": "top"}
    return [
        place | corner | {"text": names, "x": at, "y": high + 0.04},
        place | others | {"xanchor": "left", "yshift": -4, "font": {"color": theme.muted}},
    ]


def _line(key: str, values: Array, hover: str, theme: Theme) -> go.Scatter:
    """Draw a method's line over the test rows so far."""
    mark = method_mark(key, theme)
    return go.Scatter(
        x=np.arange(1, len(values) + 1),
        y=values,
        mode="lines",
        name=SIX_METHODS[key],
        legendgroup=key,
        line={"color": mark.color, "width": 2.2, "dash": mark.dash},
        hovertemplate=hover,
    )


def _end(key: str, x: int, y: float, theme: Theme) -> go.Scatter:
    """Draw a cross where a line becomes infinite."""
    return go.Scatter(
        x=[x],
        y=[y],
        mode="markers+text",
        text=[f"∞ {SHORT_NAMES[key]}"],
        textposition="middle right",
        textfont={"size": 15, "color": theme.ink},
        name=SIX_METHODS[key],
        legendgroup=key,
        showlegend=False,
        marker={"symbol": "x", "size": 11, "color": method_mark(key, theme).color},
        hovertemplate="infinite from row %{x} onwards",
    )


EXPERIMENT = Experiment(
    key="log_loss",
    page=TAUGHT,
    lab=TRIED,
    name="Infinite log loss",
    question="One wrong prediction of 0 or 1 makes log loss infinite, and direct isotonic regression predicts both. "
    "In how many runs is this loss still finite after 100 test rows?",
    answers=("Nearly all", "About half", "Hardly any"),
    right=3,
    why=(
        "You expected such errors to be rare. They are rare for a single row, but one error in a hundred "
        "test rows is enough.",
        "You expect half of the runs to avoid such an error. But a hundred test rows are a hundred chances "
        "for such an error.",
        "Among a hundred rows at least one prediction of 0 or 1 is usually wrong, and the loss then stays infinite.",
    ),
    turn={"tests": 20},
    ghosts=(
        {"lines": [[[100, 0.95]]], "axes": 2},
        {"lines": [[[100, 0.5]]], "axes": 2},
        {"lines": [[[100, 0.1]]], "axes": 2},
    ),
    parameters=(
        Parameter(
            "tests",
            "Test rows",
            "choice",
            100,
            choices=(20, 50, 100, 200),
            help="Number of test rows in each run.",
        ),
        WINDOW,
        training_objects(50),
        CLASS_DISTANCE,
        draws(100, 20, 50, 100, 200),
        Parameter(
            "run",
            "Run shown",
            "integer",
            1,
            1,
            20,
            help="The run in the upper picture.",
            extra=view_of("log_loss"),
        ),
    ),
    simulation=compare_methods,
    notice=(
        "A wrong prediction of 0 or 1 ends the two lines of isotonic regression, on the training scores (DIR) and on "
        "a held-out third.",
        "With a window of 0.5, the other four lines never end. Platt scaling comes near 0 and 1 but never "
        "reaches them. Nor does the score, except with the narrowest window, where its lines end too.",
        "The two Venn–Abers predictors guarantee a finite log loss for every score: p0 < 1 and p1 > 0, because "
        "the row itself is always in its pool. They need no clipping, and no probability is clipped in this "
        "experiment.",
    ),
    formulas=(
        r"\lambda_{\ln}(p, y) = \begin{cases}-\ln(1-p) & y = 0\\ -\ln p & y = 1\end{cases}",
        r"p_0 \le \frac{N-1}{N} < 1, \qquad p_1 \ge \frac1N > 0",
    ),
    source=f"{VENN_PAPER}, lemma 2 and Table 1. In this table, the log loss of DIR is always infinite.",
    plays="run",
)


FIGURES = (FigureEntry("log_loss", "Infinite log loss", prepare, draw),)
