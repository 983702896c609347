"""The regret of one probability for two: the rising and the falling regret meet at the minimax rule.

Vovk and Petej (2014), section 4, eq. 10 (log loss) and 11 (square loss).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import MERGE_RULES, merge_pair
from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.findings import Finding, level_line
from calib.experiments.shared.one_feature import TAUGHT, TRIED, VENN_PAPER
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, number

POINTS_OF_REGRET = 401


@dataclass(frozen=True, eq=False)
class Regrets:
    """Regrets of p for both losses, if the label is 0 (against p0) and if it is 1 (against p1), (g,).

    Attributes
    ----------
    rules
        Merge rule → its p.
    """

    p0: float
    p1: float
    p: Array
    against_p0: dict[str, Array]
    against_p1: dict[str, Array]
    rules: dict[str, float]

    def worst(self, loss: str, p: float) -> float:
        """Return the larger of the two regrets at p."""
        return float(
            max(_loss(loss, p, 0) - _loss(loss, self.p0, 0), _loss(loss, p, 1) - _loss(loss, self.p1, 1))
        )


def _loss(loss: str, p: Array | float, y: int) -> Array:
    p = np.asarray(p, dtype=float)
    with np.errstate(divide="ignore"):
        return (p - y) ** 2 if loss == "square" else -np.log(p if y else 1 - p)


def regret_curves(settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None) -> Regrets:
    """Compute regret curves over p in [0, 1] and the p of every merge rule; nothing is random.

    Parameters
    ----------
    settings
        p0 (below 1) and p1 (above 0).

    Examples
    --------
    >>> found = regret_curves({"p0": 0.0, "p1": 0.5})
    >>> {rule: round(p, 4) for rule, p in found.rules.items()}
    {'log': 0.3333, 'square': 0.375, 'midpoint': 0.25}
    >>> round(found.worst("log", 1 / 3), 4), round(found.worst("log", 0.25), 4)    # ln 1.5 and ln 2
    (0.4055, 0.6931)
    """
    p0, p1 = settings["p0"], settings["p1"]
    p = np.linspace(0, 1, POINTS_OF_REGRET)
    return Regrets(
        p0,
        p1,
        p,
        {loss: _loss(loss, p, 0) - _loss(loss, p0, 0) for loss in ("log", "square")},
        {loss: _loss(loss, p, 1) - _loss(loss, p1, 1) for loss in ("log", "square")},
        {rule: float(merge_pair(p0, p1, rule)) for rule in MERGE_RULES},
    )


SAID = 6  # places at which the alternative text describes the curves
REGRET_LOSSES = {"log": "log loss", "square": "square loss"}


@dataclass(frozen=True, eq=False)
class Regret(Finding):
    found: Regrets
    loss: str


def prepare(found: Regrets, loss: str = "log") -> Regret:
    """Prepare the regrets of one loss, and compare its rule with the midpoint."""
    best, midpoint = found.rules[loss], found.rules["midpoint"]
    worst, worst_mid = found.worst(loss, best), found.worst(loss, midpoint)
    moved = abs(best - 0.5) - abs(midpoint - 0.5)
    near = abs(best - midpoint) < 1e-9
    return Regret(
        title=f"p = {brief(best)} has a worst-case regret of {brief(worst)}; at the midpoint {brief(midpoint)} it is "
        f"{brief(worst_mid)}",
        caption=f"The two curves show the regret in {REGRET_LOSSES[loss]} of p: one rises (label 0), the other falls "
        "(label 1). "
        f"The rising curve compares p with p0 = {number(found.p0)}, the falling curve with p1 = {number(found.p1)}. "
        "The thick line shows the larger of the two regrets. The star marks its lowest point, the open "
        "circle the midpoint.",
        alt=f"Two regret curves over p. They cross at {number(best)}, where both are {number(worst)}.",
        drawn="Two regret curves over p: one rises (label 0), the other falls (label 1). "
        + " ".join(
            f"At p = {number(found.p[i])}: {number(found.against_p0[loss][i])} and {number(found.against_p1[loss][i])}."
            for i in np.linspace(0, len(found.p) - 1, SAID).astype(int)
        ),
        table=pd.DataFrame(
            {"p": found.p, "regret_label_0": found.against_p0[loss], "regret_label_1": found.against_p1[loss]}
        ),
        answer=1 if near else 2 if moved < 0 else 3,
        found=found,
        loss=loss,
    )


def draw(record: Regret, theme: Theme = LIGHT) -> go.Figure:
    """Draw both regrets, the larger of the two, and the two rules."""
    found, loss = record.found, record.loss
    zero, one = found.against_p0[loss], found.against_p1[loss]
    best, midpoint = found.rules[loss], found.rules["midpoint"]
    worst = found.worst(loss, midpoint)
    top = 2.2 * (worst if np.isfinite(worst) and worst > 0 else max(found.worst(loss, best), 0.05))
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            shapes=[level_line(theme)],
            xaxis={"title": {"text": "p"}, "range": [-0.01, 1.01]},
            yaxis={"title": {"text": f"Regret in {REGRET_LOSSES[loss]}"}, "range": [-0.7 * top, top]},
        )
    )
    hover = "regret %{y:.4f} at p = %{x:.3f}"
    thick = {"color": theme.diagonal, "width": 7}
    dashed = {"color": theme.negative, "width": 2.4, "dash": "dash"}
    dotted = {"color": theme.positive, "width": 2.4, "dash": "dot"}
    figure.add_traces(
        [
            _line(found.p, np.maximum(zero, one), "the larger of the two", line=thick, hoverinfo="skip"),
            _line(
                found.p, zero, "regret if the label is 0, compared with p0", line=dashed, hovertemplate=hover
            ),
            _line(
                found.p, one, "regret if the label is 1, compared with p1", line=dotted, hovertemplate=hover
            ),
        ]
    )
    rim = {"width": 2, "color": theme.ink}
    for p, name, symbol, size in (
        (best, "minimax", theme.mark("venn_abers").symbol, 17),
        (midpoint, "midpoint", "circle-open", 13),
    ):
        figure.add_scatter(
            x=[p],
            y=[found.worst(loss, p)],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": size, "color": theme.ink, "line": rim},
            hovertemplate=f"{name}: p = %{{x:.4f}}, larger regret %{{y:.4f}}<extra></extra>",
        )
    return figure


def _line(p: Array, values: Array, name: str, **style: Any) -> go.Scatter:
    """Draw a regret over p where it is finite."""
    return go.Scatter(x=p, y=np.where(np.isfinite(values), values, np.nan), mode="lines", name=name, **style)


EXPERIMENT = Experiment(
    key="regret",
    page=TAUGHT,
    lab=TRIED,
    name="One probability from two",
    question="You choose one probability p. If the label is 0, p0 would have been better; if it is 1, p1. Which p "
    "makes "
    "the larger of the two extra losses (regrets) smallest?",
    answers=("The midpoint", "A p nearer to 1/2 than the midpoint", "A p further from 1/2 than the midpoint"),
    right=2,
    why=(
        "The midpoint is equally far from p0 and p1, but its two regrets differ: an error near 0 or 1 costs more.",
        "Near 0 and 1 the loss is steeper, so the two regrets are equal nearer to one half.",
        "This p is on the more certain side, where a mistake costs most.",
    ),
    turn={"p1": 0.9},
    ghosts=(
        {"lines": [[[0.3, 0.511]]]},
        {"lines": [[[0.36, 0.341]]]},
        {"lines": [[[0.24, 0.734]]]},
    ),
    parameters=(
        Parameter(
            "p0",
            "p0",
            "number",
            0.1,
            0.0,
            0.99,
            help="p0 is the better prediction if the label is 0.",
            extra={"step": 0.01},
        ),
        Parameter(
            "p1",
            "p1",
            "number",
            0.5,
            0.01,
            1.0,
            help="p1 is the better prediction if the label is 1.",
            extra={"step": 0.01},
        ),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "log",
            choices={"log": "Log loss", "square": "Square loss"},
            help="The loss behind the regret: log loss or square loss.",
            extra=view_of("regret"),
        ),
    ),
    simulation=regret_curves,
    notice=(
        "One regret rises with p, and the other falls. Where the two curves cross, the larger regret is "
        "smallest: this is the minimax rule of the loss.",
        "The rules for log loss and square loss move p from the midpoint towards 1/2, further for a wider interval.",
        "If p0 < p1, both rules give a p strictly between p0 and p1. Therefore p is never 0 or 1, and the "
        "log loss is never infinite.",
    ),
    formulas=(
        r"\ln\tfrac{1-p_0}{1-p} = \ln\tfrac{p_1}{p} \;\Rightarrow\; p = \tfrac{p_1}{1-p_0+p_1}",
        r"p^2 - p_0^2 = (1-p)^2 - (1-p_1)^2",
        r"\Rightarrow\; p = p_1 + \tfrac12 p_0^2 - \tfrac12 p_1^2",
    ),
    source=f"{VENN_PAPER}, section 4, eq. 10 and 11.",
    seeded=False,
)


FIGURES = (FigureEntry("regret", "Regret of replacing p0 and p1 by one probability", prepare, draw),)
