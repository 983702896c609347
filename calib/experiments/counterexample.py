"""Proposition 2: simplified Venn–Abers can converge to an interval without the frequency of class 1.

Vovk and Petej (2014), proposition 2, with the distribution and the memorising score of ``calib.synthetic``. The
picture has the mean interval of a new row by the number of training rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding, level_line, plus_minus
from calib.experiments.shared.one_feature import (
    PROOFS,
    PROVED,
    VENN_PAPER,
    draws,
    method_mark,
    venn_abers_pairs,
)
from calib.figures.base import FigureEntry
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.wording import brief, number
from calib.synthetic import SignExample

STREAM = 4
COUNTEREXAMPLE_SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
UNSEEN = 2.0  # score of a row that is not among the training rows


@dataclass(frozen=True, eq=False)
class Settling:
    """Mean pairs of a new row by the number of training rows.

    Attributes
    ----------
    sizes : (k,)
    means, errors
        Method → (k, 2), mean p0 and p1 and their standard errors.
    draws
        Number of draws at each size.
    """

    sizes: Array
    means: dict[str, Array]
    errors: dict[str, Array]
    draws: int


def settle(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Settling:
    """Simulate simplified and full Venn–Abers with the memorising score, ``draws`` training sets of every size.

    Parameters
    ----------
    settings
        draws.
    """
    draws = settings["draws"]
    rng = np.random.default_rng([random_state, STREAM])
    means: dict[str, list[Array]] = {"simplified": [], "full": []}
    errors: dict[str, list[Array]] = {"simplified": [], "full": []}
    for size in watch.loop(COUNTEREXAMPLE_SIZES, "training sets"):
        x = rng.standard_normal((draws, size + 1))
        y = (
            rng.random((draws, size)) < SignExample().posterior(x[:, :-1].reshape(-1, 1)).reshape(draws, size)
        ).astype(int)
        seen = (x > 0).astype(float)
        unseen = np.column_stack([seen[:, :-1], np.full(draws, UNSEEN)])
        for method, scores in (("simplified", unseen), ("full", seen)):
            pair = np.column_stack(venn_abers_pairs(scores, scores, y))
            means[method].append(pair.mean(axis=0))
            errors[method].append(pair.std(axis=0, ddof=1) / np.sqrt(draws))
    return Settling(
        np.array(COUNTEREXAMPLE_SIZES),
        {method: np.array(values) for method, values in means.items()},
        {method: np.array(values) for method, values in errors.items()},
        draws,
    )


VENN_ABERS_NAMES = {"simplified": "simplified Venn–Abers", "full": "full Venn–Abers"}


@dataclass(frozen=True, eq=False)
class Counterexample(Finding):
    found: Settling


def prepare(found: Settling) -> Counterexample:
    """Compare both mean intervals for the largest training sets."""
    simplified, full = (found.means[key][-1] for key in ("simplified", "full"))
    outside = simplified[0] > 0.5 + 3 * found.errors["simplified"][-1, 0]
    verdict = "excludes" if outside else "includes"
    return Counterexample(
        title=f"The simplified interval converges to [{brief(simplified[0])}, {brief(simplified[1])}] and {verdict} "
        "the frequency 1/2",
        caption=f"Lines show p0 (dashed) and p1 (dotted) for a new row, averaged over {found.draws:,} "
        f"training sets of each size. By corollary 1, the horizontal line at P(Y = 1) = 1/2 "
        "should lie between p0 and p1. Simplified Venn–Abers misses this line more clearly with more rows; "
        "full Venn–Abers approaches it, apart from sampling error.",
        alt=f"With {found.sizes[-1]:,} training rows, simplified p0 "
        f"{plus_minus(simplified[0], found.errors['simplified'][-1, 0])}, p1 {number(simplified[1])}; full p0 "
        f"{plus_minus(full[0], found.errors['full'][-1, 0])}, p1 {plus_minus(full[1], found.errors['full'][-1, 1])}.",
        drawn=f"Two bands from p0 to p1, for {found.sizes[0]:,} to {found.sizes[-1]:,} training rows, and a "
        f"horizontal line at 1/2. {_widths(found, 'simplified')} {_widths(found, 'full')}",
        table=pd.concat(
            [
                pd.DataFrame(
                    {
                        "method": key,
                        "objects": found.sizes,
                        "p0": found.means[key][:, 0],
                        "p1": found.means[key][:, 1],
                        "p0_se": found.errors[key][:, 0],
                        "p1_se": found.errors[key][:, 1],
                    }
                )
                for key in found.means
            ],
            ignore_index=True,
        ),
        answer=3 if outside else None,
        found=found,
    )


def _widths(found: Settling, key: str) -> str:
    """Describe the width of a band with the fewest and with the most rows."""
    few, many = (found.means[key][i] for i in (0, -1))
    return (
        f"The band of {VENN_ABERS_NAMES[key]} is {number(few[1] - few[0])} wide with the fewest rows and "
        f"{number(many[1] - many[0])} with the most."
    )


def draw(record: Counterexample, theme: Theme = LIGHT) -> go.Figure:
    """Draw two bands over the size of the training set."""
    found = record.found
    figure = go.Figure(
        layout=layout(
            theme,
            height=480,
            shapes=[level_line(theme, 0.5, line={"color": theme.diagonal, "width": 2})],
            xaxis={
                "type": "log",
                "title": {"text": "Training rows"},
                "tickvals": found.sizes[::2].tolist(),
                "tickformat": ",d",
            },
            yaxis={"title": {"text": "Mean p0 and p1"}, "range": [0.2, 1.04]},
        )
    )
    for key in ("simplified", "full"):
        mark = method_mark(key, theme)
        color = theme.ink if key == "simplified" else mark.color
        (p0, p1), (e0, e1) = found.means[key].T, found.errors[key].T
        figure.add_trace(band(found.sizes, p0, p1, color))
        for values, errors, dash, name in ((p0, e0, "dash", "p0"), (p1, e1, "dot", "p1")):
            figure.add_scatter(
                x=found.sizes,
                y=values,
                mode="lines+markers",
                name=f"{name}, {VENN_ABERS_NAMES[key]}",
                line={"color": color, "width": 2, "dash": dash},
                marker={"symbol": mark.symbol, "size": 9, "color": color},
                error_y={"array": 2 * errors, "color": color, "thickness": 1, "width": 3},
                hovertemplate="%{y:.4f} with %{x:,d} training rows",
            )
    return figure


EXPERIMENT = Experiment(
    key="counterexample",
    page=PROVED,
    lab=PROOFS,
    name="Proposition 2",
    question="Training rows score 0 or 1, depending on the sign of x. New rows score 2, and half of them are "
    "in class 1. What is the simplified Venn–Abers interval for a new row?",
    answers=("Around 1/2", "About [1/3, 2/3]", "About [2/3, 1]"),
    right=3,
    why=(
        "The interval of a valid predictor would lie there. But this score distinguishes new rows from training rows, "
        "so the guarantee is lost.",
        "These are the probabilities of the two sides. But a new row scores 2, so it belongs to neither side.",
        "A new row scores above all other rows. With label 1 it forms its own pool; with label 0 it "
        "joins the right side.",
    ),
    no_turn="The proposition holds for any number of draws.",
    parameters=(draws(200, 50, 100, 200, 500, 1000),),
    simulation=settle,
    notice=(
        "A new row scores above every calibration score. With label 1 it forms its own pool, so p1 = 1. With label 0 "
        "it joins the pool on the right, so p0 is near 2/3. The frequency 1/2 lies outside this interval.",
        "More training rows do not help: the interval converges to [2/3, 1], which excludes 1/2.",
        "In full Venn–Abers the score also depends on the new row. The new row then scores 0 or 1 like the "
        "others, and both ends of the mean interval approach 1/2.",
    ),
    formulas=(
        r"s(x) = \begin{cases}0 & x \in \{x_1,\dots,x_l\},\ x<0\\ 1 & x \in \{x_1,\dots,x_l\},\ x>0\\ "
        r"2 & \text{else}\end{cases}",
        r"\mathbb{E}\,P_0 \to \tfrac23,\quad P_1 = 1,\quad \mathbb{P}(Y=1) = \tfrac12",
    ),
    source=f"{VENN_PAPER}, proposition 2.",
)


FIGURES = (FigureEntry("counterexample", "Proposition 2", prepare, draw),)
