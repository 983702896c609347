"""The constant Venn predictor and Venn–Abers: equally valid, but no better than the frequency of class 1.

Vovk and Petej (2014), section 2: {k/(l + 1), (k + 1)/(l + 1)}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding, plus_minus
from calib.experiments.shared.one_feature import (
    CLASS_DISTANCE,
    PROOFS,
    PROVED,
    VENN_PAPER,
    WINDOW,
    NormalClasses,
    WindowScorer,
    draws,
    running_mean,
    training_objects,
    venn_abers_pairs,
)
from calib.experiments.theorem import Draws, draw_pairs
from calib.figures.base import FigureEntry
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.wording import briefly, number

STREAM = 2
POINTS_OF_BAND = 161


@dataclass(frozen=True, eq=False)
class OneTrainingSet:
    """Predictions of both methods over x from one training set, and their results over many draws.

    Attributes
    ----------
    x, posterior, p0, p1 : (g,)
        Full Venn–Abers pair.
    constant
        (p0, p1) of the constant predictor.
    train_x, train_y : (l,)
    many
        Predictor → draws.
    """

    x: Array
    posterior: Array
    p0: Array
    p1: Array
    constant: tuple[float, float]
    train_x: Array
    train_y: Array
    many: dict[str, Draws]


def set_side_by_side(settings: Mapping[str, Any], random_state: int, watch: Watch) -> OneTrainingSet:
    """Predict over x from one training set, and once from each of ``draws`` training sets.

    Parameters
    ----------
    settings
        objects (l), window, gap, draws.
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    train_x, train_y = classes.draw((settings["objects"],), rng)
    x = np.linspace(-2.5, settings["gap"] + 2.5, POINTS_OF_BAND)
    scorer = WindowScorer.fit(train_x[None], train_y[None], settings["window"]).repeated(POINTS_OF_BAND)
    p0, p1 = venn_abers_pairs(scorer.with_object(x, 0), scorer.with_object(x, 1), scorer.y)
    k, size = int(train_y.sum()), len(train_y) + 1
    many = {
        key: draw_pairs({**settings, "predictor": key}, random_state, watch.within(i / 2, (i + 1) / 2))
        for i, key in enumerate(("constant", "full"))
    }
    return OneTrainingSet(x, classes.posterior(x), p0, p1, (k / size, (k + 1) / size), train_x, train_y, many)


SAID = 5  # places at which the alternative text describes the bands
VENN_NAMES = {"constant": "Constant Venn predictor", "full": "Venn–Abers"}


@dataclass(frozen=True, eq=False)
class Constant(Finding):
    found: OneTrainingSet


def prepare(found: OneTrainingSet) -> Constant:
    """Compute mean error of P_Y, mean width and Brier score of both over many draws, and their bands over x."""
    errors, brier, words = {}, {}, []
    for key, many in found.many.items():
        run = running_mean(many.y - many.selected)
        errors[key] = float(run.mean[-1]), float(run.error[-1])
        brier[key] = float(((many.merged - many.y) ** 2).mean())
        words.append(
            f"{VENN_NAMES[key]}: mean error of P_Y {plus_minus(*errors[key])}, mean width "
            f"{number(float(many.width.mean()))}, Brier score {number(brier[key])}"
        )
    low, high = found.constant
    valid = all(abs(mean) <= 3 * error for mean, error in errors.values())
    useless = brier["constant"] > brier["full"]
    title = (
        "Both predictors are valid" if valid else "By chance, one mean error exceeds three standard errors"
    )
    worth = (
        "but the constant predictor is worse" if useless else "and here the constant predictor is no worse"
    )
    own, other = briefly(brier["constant"], brier["full"])
    return Constant(
        title=f"{title}, {worth}: its Brier score is {own}, compared with {other} for Venn–Abers",
        caption="Bands run from p0 to p1; the thin line is the true probability. Marks at the bottom and the "
        "top show the rows of class 0 and class 1 in one training set. The numbers are means over many "
        f"training sets. {'. '.join(words)}.",
        alt=f"The picture shows the intervals of two Venn predictors over x. {'. '.join(words)}.",
        drawn=f"The bands run from p0 to p1 over x. {VENN_NAMES['constant']}: from {number(low)} to {number(high)} "
        "everywhere. "
        + " ".join(
            f"{VENN_NAMES['full']} at x = {number(found.x[i])}: from {number(found.p0[i])} to {number(found.p1[i])}, "
            f"the true probability is {number(found.posterior[i])}."
            for i in np.linspace(0, len(found.x) - 1, SAID).astype(int)
        ),
        table=pd.DataFrame(
            {"x": found.x, "posterior": found.posterior, "p0": found.p0, "p1": found.p1}
        ).assign(constant_p0=found.constant[0], constant_p1=found.constant[1]),
        answer=2 if valid and useless else None,
        found=found,
    )


def draw(record: Constant, theme: Theme = LIGHT) -> go.Figure:
    """Draw the bands over x."""
    found, color = record.found, theme.mark("venn_abers").color
    figure = go.Figure(
        layout=layout(
            theme,
            height=480,
            xaxis={"title": {"text": "x"}, "range": [found.x[0], found.x[-1]]},
            yaxis={"title": {"text": "Probability of class 1"}, "range": [-0.07, 1.07]},
        )
    )
    low, high = np.minimum(found.p0, found.p1), np.maximum(found.p0, found.p1)
    figure.add_trace(band(found.x, low, high, color))
    for values, dash, name in ((found.p0, "dash", "p0, Venn–Abers"), (found.p1, "dot", "p1, Venn–Abers")):
        line = {"color": color, "width": 2, "dash": dash, "shape": "hvh"}
        figure.add_scatter(x=found.x, y=values, mode="lines", name=name, line=line)
    (p0, p1), ends, venn = found.constant, np.array([found.x[0], found.x[-1]]), theme.mark("venn").color
    figure.add_trace(band(ends, np.full(2, p0), np.full(2, p1), venn))
    for x, y, name, ink, width in (
        (ends, [(p0 + p1) / 2] * 2, "constant Venn predictor", venn, 3),
        (found.x, found.posterior, "true probability", theme.ink, 1.6),
    ):
        figure.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": ink, "width": width})
    return figure.add_traces(_training(found, theme))


def _training(found: OneTrainingSet, theme: Theme) -> list[go.Scatter]:
    """Draw rows of class 0 at the bottom, rows of class 1 at the top."""
    traces = []
    for label, at, ink, symbol in (
        (0, -0.03, theme.negative, "circle"),
        (1, 1.03, theme.positive, "diamond"),
    ):
        chosen = found.train_x[found.train_y == label]
        traces.append(
            go.Scatter(
                x=chosen,
                y=np.full(len(chosen), at),
                mode="markers",
                name=f"class {label}",
                marker={"color": ink, "symbol": symbol, "size": 7, "opacity": 0.7},
                hovertemplate=f"class {label} at x = %{{x:.3f}}<extra></extra>",
            )
        )
    return traces


EXPERIMENT = Experiment(
    key="constant",
    page=PROVED,
    lab=PROOFS,
    name="The constant predictor",
    question="The constant Venn predictor gives every row the same pair: the share of ones so far, with an added 0 "
    "and with an added 1. How good is this prediction?",
    answers=("Valid and useful", "Valid, but useless", "Narrow, therefore not valid"),
    right=2,
    why=(
        "The predictor never looks at the row. A prediction that is right on average over all rows says nothing about "
        "a single row.",
        "The predictor is right on average, but gives the same prediction for every row.",
        "An interval can be narrow and valid: many labels give a precise share of ones.",
    ),
    no_turn="The right answer is the same for all settings.",
    ghosts=(
        {"traces": ["true probability"]},
        {"traces": ["constant Venn predictor"]},
        {"lines": [[[-2.5, 0.8], [4, 0.8]]]},
    ),
    parameters=(CLASS_DISTANCE, training_objects(100), WINDOW, draws(2000, 500, 1000, 2000, 5000, 10000)),
    simulation=set_side_by_side,
    notice=(
        "Its interval has the width 1/(l + 1), and its selected probability is right on average, as for every Venn "
        "predictor. Validity alone says nothing about an individual row.",
        "Venn–Abers is equally valid, and its interval follows the true probability, but the interval is wider.",
        "Set the distance between the classes to 0. Then x says nothing about the label, and the constant "
        "predictor is the best predictor.",
    ),
    formulas=(r"P_0 = \frac{k}{l+1}, \qquad P_1 = \frac{k+1}{l+1}",),
    source=f"{VENN_PAPER}, section 2, after corollary 1.",
)


FIGURES = (FigureEntry("constant", "The constant Venn predictor and Venn–Abers", prepare, draw),)
