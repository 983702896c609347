"""p0 and p1 as functions of the score, as fitted by Venn–Abers, with the calibration rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import METHOD, position_of
from calib.calibrators.venn_abers import StepCurves
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, chart_text, itself, stacked
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.figures.width_by_score import score_range
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, number

MOST_STEPS = 2_000  # most steps drawn per curve, which is more than there are pixels
MOST_SINGLE_ROWS = 2_000  # most calibration or test rows drawn singly; more are counted in STRIP cells
STRIP = 240
LONGEST_CLASS_NAME = 24  # letters of a class name in the legend
MARK_LANES = {"ones": 1.06, "zeros": -0.06, "tests": -0.14}


@dataclass(frozen=True, eq=False)
class StepDiagram(Record):
    """The curves, one per calibration set, and the scores below them.

    Attributes
    ----------
    lanes
        "ones" and "zeros" (calibration rows of class 1 and 0) and "tests" → scores.
    chosen
        Score of the explained row, or None.
    """

    curves: tuple[StepCurves, ...]
    lanes: dict[str, np.ndarray]
    score_range: tuple[float, float]
    chosen: float | None
    classes: tuple[str, str]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per step: the range of scores, and p0 and p1 in it."""
        frames = [
            pd.DataFrame(
                {
                    "score from": np.append(-np.inf, curve.thresholds),
                    "score to": np.append(curve.thresholds, np.inf),
                    "p0": curve.p0,
                    "p1": curve.p1,
                }
            )
            for curve in self.curves
        ]
        return stacked(enumerate(frames, 1), "calibration set")


def prepare(evaluation: Evaluation, row: int | None = None) -> StepDiagram:
    """Prepare the step curves of Venn–Abers; ``row`` is the number of the row whose score is marked.

    Raises
    ------
    InputError
        If there are none: no calibration set, or a new fit for every row.
    """
    fitted = evaluation.fitted(METHOD)
    if evaluation.recipe.placement == "full":
        raise InputError(
            "Full Venn–Abers has no step curves, because it refits the model for every row: p0 and p1 are not "
            "functions of one score. See “Explain one prediction” for the fits of a single row."
        )
    # one calibrator per training part, or one per fold of a cross-calibrated part
    curves = tuple(one.step_curves() for each in fitted for one in getattr(each, "folds", (each,)))
    scores, y = evaluation.calibration_scores, evaluation.calibration_y
    chosen = None if row is None else float(evaluation.scores[position_of(evaluation, row)])
    steps = sum(len(curve.p0) for curve in curves)
    gaps = [curve.p1 - curve.p0 for curve in curves]
    return StepDiagram(
        curves,
        {"ones": scores[y == 1], "zeros": scores[y == 0], "tests": evaluation.scores},
        score_range(evaluation),
        chosen,
        evaluation.dataset.classes,
        title=f"{evaluation.calibration_size_text} give {steps:,} steps"
        + (f" on {len(curves)} curves" if len(curves) > 1 else ""),
        caption=_caption(evaluation, len(curves)),
        alt=f"Step curves of p0 and p1 against the score from {evaluation.calibration_size_text}: {steps} "
        f"steps, gap from {number(float(min(gap.min() for gap in gaps)))} to "
        f"{number(float(max(gap.max() for gap in gaps)))}.",
    )


def _caption(evaluation: Evaluation, curves: int) -> str:
    points, tests = evaluation.calibration_size, evaluation.size
    zero, one = map(class_named, evaluation.dataset.classes)
    text = (
        "The two curves are p0 and p1 by score; the gap between them is the interval. The curves rise in steps, "
        "because isotonic regression pools neighbouring calibration rows until no frequency falls. "
        f"Diamonds above show calibration rows of {one}, circles below those of {zero}. Ticks at the bottom "
        "show test rows; their probabilities are uncertain where the gap is wide."
    )
    if curves > 1:
        text += (
            " Each calibration set has one thin pair of curves; probabilities are averaged over the folds."
        )
    if evaluation.recipe.placement == "oob":
        text += (
            " In out-of-bag calibration, one calibration row is excluded for each test row, which shifts "
            "the curves slightly for that row."
        )
    if max(points, tests) > MOST_SINGLE_ROWS:
        text += (
            f" {evaluation.calibration_size_text} and {evaluation.size_text} are drawn as strips: the "
            "darker a strip, the more rows."
        )
    return text


def draw(record: StepDiagram, theme: Theme = LIGHT) -> go.Figure:
    """Draw p0 and p1 over lanes of calibration and test rows, on fixed axes."""
    figure = go.Figure(layout=_layout(record, theme))
    for curve in record.curves:
        figure.add_traces(_pair(curve, record.score_range, theme, alone=len(record.curves) == 1))
    names = {
        "ones": (
            f"calibration, class {chart_text(record.classes[1], LONGEST_CLASS_NAME)}",
            theme.positive,
            "diamond",
        ),
        "zeros": (
            f"calibration, class {chart_text(record.classes[0], LONGEST_CLASS_NAME)}",
            theme.negative,
            "circle",
        ),
        "tests": ("test rows", theme.muted, "line-ns-open"),
    }
    for lane, (name, color, symbol) in names.items():
        figure.add_trace(_lane(record.lanes[lane], MARK_LANES[lane], record.score_range, name, color, symbol))
    if record.chosen is not None:
        figure.add_vline(x=record.chosen, line={"color": theme.ink, "width": 1, "dash": "dot"})
    return figure


def thinned_steps(curve: StepCurves, ends: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (scores, p0, p1) of a step line; very many steps are thinned to those of a thousandth or more."""
    x = np.concatenate([[ends[0]], curve.thresholds, [ends[1]]])
    p0, p1 = np.append(curve.p0, curve.p0[-1]), np.append(curve.p1, curve.p1[-1])
    if len(x) > MOST_STEPS:
        cell = np.stack(
            [np.floor(1000 * p0), np.floor(1000 * p1), np.floor(1000 * (x - x[0]) / (x[-1] - x[0]))]
        )
        kept = np.append(True, (np.diff(cell, axis=1) != 0).any(axis=0))
        kept[-1] = True
        x, p0, p1 = x[kept], p0[kept], p1[kept]
    return x, p0, p1


def _pair(curve: StepCurves, ends: tuple[float, float], theme: Theme, *, alone: bool) -> list[go.Scatter]:
    x, p0, p1 = thinned_steps(curve, ends)
    color, width = theme.mark(METHOD).color, 2 if alone else 1
    common = {"mode": "lines", "x": x, "showlegend": alone, "opacity": 1 if alone else 0.55}
    lower = go.Scatter(
        **common,
        y=p0,
        name="p0",
        line={"color": color, "width": width, "dash": "dot", "shape": "hv"},
        hovertemplate="from score %{x:.3f}: p0 %{y:.3f}<extra></extra>",
    )
    upper = go.Scatter(
        **common,
        y=p1,
        name="p1",
        line={"color": color, "width": width, "shape": "hv"},
        fill="tonexty",
        fillcolor=rgba(color, 0.2 if alone else 0.06),
        hovertemplate="from score %{x:.3f}: p1 %{y:.3f}<extra></extra>",
    )
    return [lower, upper]


def _lane(
    scores: np.ndarray, y: float, ends: tuple[float, float], name: str, color: str, symbol: str
) -> go.Scatter | go.Heatmap:
    """Return rows along one line: single marks, or a strip of cells that are darker with more rows."""
    if len(scores) <= MOST_SINGLE_ROWS:
        rim = {"width": 1, "color": color}
        marker = {"symbol": symbol, "size": 7, "color": rgba(color, 0.55), "line": rim}
        return go.Scatter(
            x=scores,
            y=np.full(len(scores), y),
            mode="markers",
            name=name,
            marker=marker,
            hovertemplate="%{x:.3f}",
        )
    counts, edges = np.histogram(scores, STRIP, ends)
    return go.Heatmap(
        x=edges,
        y=[y - 0.03, y + 0.03],
        z=np.sqrt(counts)[None, :],
        customdata=counts[None, :],
        name=name,
        showlegend=True,
        showscale=False,
        colorscale=[rgba(color, 0), color],
        hovertemplate="%{customdata:,d} rows near %{x:.3f}",
    )


def _layout(record: StepDiagram, theme: Theme) -> dict[str, Any]:
    return layout(
        theme,
        height=480,
        legend={"traceorder": "normal"},
        xaxis={"title": {"text": "Score of the model"}, "range": list(record.score_range)},
        yaxis={
            "title": {"text": f"Probability of {chart_text(class_named(record.classes[1]))}"},
            "range": [-0.2, 1.12],
            "tickvals": np.linspace(0, 1, 6).tolist(),
        },
    )


STEP_CURVES = FigureEntry("step_curves", "p0(s) and p1(s)", prepare, draw, reported=itself)
