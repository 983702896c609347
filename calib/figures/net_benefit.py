"""The decision curve: the net benefit of acting by each calibrator, at every threshold.

Vickers & Elkin 2006, *Decision curve analysis*: TP/n − FP/n · t/(1 − t), beside the two rules without a
model, acting on all (its net benefit is share − (1 − share) t/(1 − t)) and acting on none (0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.decision import Decision, gain, net_benefit, thresholds_within
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, ReportOptions, of_decision, predictions_of
from calib.figures.costs import NO_PROBABILITIES
from calib.figures.many import grey_lines_note, in_colour, mute
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, number, probability

MARKED = 11  # thresholds with a marker on each curve
THRESHOLD = "threshold"  # name of the vertical line, by which a lesson shows it before the answer
LOWEST = -0.15  # lower end of the axis, relative to the share of class 1: rules below do clear harm


@dataclass(frozen=True, eq=False)
class NetBenefit(Record):
    """Decision curves by calibrator.

    Attributes
    ----------
    thresholds : (k,)
    curves
        Calibrator → (k,).
    all_ : (k,)
        Net benefit of acting on all.
    share
        Share of class 1.
    at
        The Recipe's threshold.
    ends
        Lowest and highest threshold of the range.
    named
        The calibrators in the title.
    constant
        Calibrator → its prediction if it predicts the same for every row.
    """

    thresholds: np.ndarray
    curves: Mapping[str, np.ndarray]
    all_: np.ndarray
    share: float
    at: float
    ends: tuple[float, float]
    named: tuple[str, ...]
    constant: Mapping[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per threshold and one column per rule."""
        return pd.DataFrame(
            {"threshold": self.thresholds, **self.curves, "act on all": self.all_, "act on none": 0.0}
        )


def prepare(
    decision: Decision,
    lowest: float = 0.0,
    highest: float = 1.0,
    calibrators: Sequence[str] | None = None,
) -> NetBenefit:
    """Compute the decision curves of these calibrators (all by default) for thresholds of this range.

    Raises
    ------
    InputError
        If there is none.
    """
    thresholds = thresholds_within(lowest, highest)
    evaluation, t = decision.evaluation, decision.threshold
    shown = predictions_of(evaluation, calibrators)
    if not shown:
        raise InputError(NO_PROBABILITIES)
    y, share, weight = evaluation.y, evaluation.share, evaluation.weight
    curves = {key: net_benefit(y, each.p, thresholds, weight) for key, each in shown.items()}
    here = {key: float(net_benefit(y, each.p, np.array([t]), weight)[0]) for key, each in shown.items()}
    odds = thresholds / (1 - thresholds)
    simple = max(0.0, share - (1 - share) * t / (1 - t))
    best = max(here, key=lambda key: here[key])
    return NetBenefit(
        thresholds,
        curves,
        share - (1 - share) * odds,
        share,
        t,
        (lowest, highest),
        tuple(dict.fromkeys([*(key for key in curves if key == "none"), best])),
        {key: float(each.p[0]) for key, each in shown.items() if len(each.p) and np.ptp(each.p) == 0},
        title=_finding(best, gain(evaluation, best, t), simple, t, len(shown) < len(evaluation.predictions)),
        caption="Lines show the net benefit of acting on predictions above each threshold; higher is "
        "better. Net benefit is the share of rows rightly acted on, minus the share wrongly acted "
        "on times the odds of the threshold. A model is useful at thresholds where its curve lies "
        "above both grey lines, “act on all” and “act on none”. Poor calibration can move a "
        f"curve below these lines. {_where(decision, lowest, highest)}" + grey_lines_note(curves),
        alt=f"Decision curve. At the threshold {number(t)}: "
        + "; ".join(f"{label_of(key)} {number(value)}" for key, value in here.items())
        + f"; acting on all or on none, whichever is better: {number(simple)}.",
    )


def _where(decision: Decision, lowest: float, highest: float) -> str:
    costs = f"a false alarm costs {decision.cost_false_alarm:g} and a miss costs {decision.cost_miss:g}"
    if lowest <= decision.threshold <= highest:
        return f"The vertical line marks the threshold if {costs}."
    return f"If {costs}, the threshold is {probability(decision.threshold)}, which is outside this range."


def _finding(best: str, gained: tuple[float, float, float], simple: float, t: float, some: bool) -> str:
    (mean, lower, _), rule = gained, f"acting on {'all' if simple > 0 else 'none'}"
    none = "none of these methods" if some else "no calibrator"
    if mean <= 0:
        return f"At the threshold {brief(t)} {none} beats {rule}"
    here, more = f"At the threshold {brief(t)}", f"{brief(1000 * mean)} rows per 1,000"
    if not lower > 0:  # or unknown
        return (
            f"{here} {none} clearly beats {rule}: the net benefit of {name_of(best)} is {more} higher, "
            "which may be due to sampling variability"
        )
    return f"{here} the net benefit of {name_of(best)} is {more} above that of {rule}"


def draw(record: NetBenefit, theme: Theme = LIGHT) -> go.Figure:
    """Draw net benefit against the threshold, on axes that depend only on the data and the range."""
    low, high = record.ends
    top = (
        record.share
        if low == 0
        else max(float(np.max([record.all_, *record.curves.values()])), 1e-3 * record.share)
    )
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            uirevision=f"net_benefit {record.ends}",
            xaxis={"title": {"text": "Threshold"}, "range": [low, high]},
            yaxis={
                "title": {"text": "Net benefit"},
                "range": [LOWEST * top, 1.06 * top],
                "automargin": True,  # the numbers of rare events are long
            },
            legend={"y": -0.2},
        )
    )
    grey = {"color": theme.diagonal, "width": 1.5}
    figure.add_scatter(x=record.thresholds, y=record.all_, mode="lines", name="act on all", line=grey)
    figure.add_scatter(
        x=[low, high], y=[0, 0], mode="lines", name="act on none", line={**grey, "dash": "dash"}
    )
    for key, curve in record.curves.items():
        mark = theme.mark(key)
        figure.add_scatter(
            x=record.thresholds,
            y=curve,
            mode="lines+markers",
            name=label_of(key),
            legendgroup=key,
            line={"color": mark.color, "width": 2, "dash": mark.dash},
            marker={
                "symbol": mark.symbol,
                "size": 9,
                "color": mark.color,
                "maxdisplayed": MARKED,
                "line": {"width": 0},
            },
            hovertemplate="threshold %{x:.3g}: %{y:.3g}",
        )
    if low <= record.at <= high:
        figure.add_vline(x=record.at, line={"color": theme.ink, "width": 1, "dash": "dot"}, name=THRESHOLD)
        _word(figure, record.at, 1, f"threshold {100 * record.at:.2g} %", theme, name=THRESHOLD, yref="paper")
    for key, p in record.constant.items():
        _word(figure, p, 0, f"{100 * p:.2g} % for every row", theme, name=label_of(key), yanchor="bottom")
    return mute(figure, in_colour(record.named, record.curves), theme)


def _word(figure: go.Figure, x: float, y: float, text: str, theme: Theme, **place: Any) -> None:
    """Write a word at the right of a point."""
    right = {"xanchor": "left", "yanchor": "top", "xshift": 6, "showarrow": False, "bgcolor": theme.paper}
    figure.add_annotation(x=x, y=y, text=text, font={"color": theme.muted}, **(right | place))


def _reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    return of_decision(evaluation, options)[0], options.stated("lowest", "highest")


NET_BENEFIT = FigureEntry("net_benefit", "Decision curve", prepare, draw, reported=_reported, overlaid=True)
