"""Calibration of three Gaussian classes with a known posterior: which probabilities are off, and what calibrators
correct.

The model weights the classes wrongly, or is overconfident: P_k ∝ w_k q_k^s, with q the true posterior, w = (t, 1, 1/t)
and s the sharpness. Its confidence is its highest probability. Errors are expected calibration errors in 15 bins, with
the true posterior instead of labels, so that no label adds noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import softmax

from calib.calibrators import JOINT, Isotonic
from calib.calibrators.joint import normalised
from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.findings import Finding
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import number

STREAM = 20  # experiments with the same seed use different random streams
TEST, ERROR_BINS = 40_000, 15
ANGLES = np.pi / 2 + 2 * np.pi * np.arange(3) / 3  # angles of the classes' centres, seen from the middle
JOINT_METHODS = {
    "none": "uncalibrated",
    "temperature": "temperature scaling",
    "vector": "vector scaling",
    "rest": "one against the rest",
    "divided": "… divided by the sum",
}
SHOWN_METHODS = {
    "temperature": ("none", "temperature"),
    "one against the rest": ("none", "rest", "divided"),
    "all": tuple(JOINT_METHODS),
}
"""Picture → the methods that it compares."""


@dataclass(frozen=True, eq=False)
class ThreeClasses:
    """Calibration errors by method.

    Attributes
    ----------
    confidence
        Method → error of the highest probability of each row.
    classes
        Method → mean over the classes of the error of each against the rest.
    sums
        Standard deviation of the sums of one against the rest before normalisation.
    """

    confidence: dict[str, float]
    classes: dict[str, float]
    sums: float
    tilt: float
    sharpness: float
    rows: int


def posterior(X: Array, centres: Array) -> Array:
    """Return P(class | x) of Gaussians with unit covariance and equal shares, (n, K), by Bayes' rule.

    >>> posterior(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    return softmax(X @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)


def model(q: Array, tilt: float, sharpness: float) -> Array:
    """Return P_k ∝ w_k q_k^s, normalised to rows that sum to 1.

    >>> model(np.array([[0.5, 0.25, 0.25]]), 2.0, 1.0).round(3)     # 1, 1/4 and 1/8
    array([[0.727, 0.182, 0.091]])
    """
    return normalised(np.array([tilt, 1.0, 1 / tilt]) * q**sharpness)


def error(q: Array, p: Array) -> float:
    """Return the expected calibration error of p (n,), with true probabilities q (n,) instead of labels.

    >>> error(np.array([0.5, 0.7, 0.1]), np.array([0.61, 0.61, 0.11]))
    0.01
    """
    bins = np.minimum((p * ERROR_BINS).astype(int), ERROR_BINS - 1)
    return round(float(np.abs(np.bincount(bins, q - p, minlength=ERROR_BINS)).sum() / len(p)), 12)


def three_classes(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> ThreeClasses:
    """Fit each calibrator on labelled rows, and measure its errors on many others.

    Parameters
    ----------
    settings
        tilt, sharpness, distance, rows.

    Examples
    --------
    >>> found = three_classes({"tilt": 2.0, "sharpness": 1.0, "distance": 1.5, "rows": 2000})
    >>> bool(found.classes["none"] > 2 * found.confidence["none"])
    True
    """
    rng = np.random.default_rng([random_state, STREAM])
    centres = settings["distance"] * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    tilt, sharpness = settings["tilt"], settings["sharpness"]

    def drawn(n: int) -> tuple[Array, Array, Array]:
        y = rng.integers(0, 3, n)
        q = posterior(centres[y] + rng.normal(size=(n, 2)), centres)
        return y, q, model(q, tilt, sharpness)

    y, _, P = drawn(settings["rows"])
    _, q, new = drawn(TEST)
    rest = np.column_stack([Isotonic().fit(P[:, k], y == k).predict(new[:, k]) for k in range(3)])
    answers = {
        "none": new,
        **{key: JOINT[key]().fit(P, y).predict(new) for key in ("temperature", "vector")},
        "rest": rest,
        "divided": normalised(rest),
    }
    top = {key: each.argmax(axis=1)[:, None] for key, each in answers.items()}
    confidence = {
        key: error(np.take_along_axis(q, top[key], 1)[:, 0], np.take_along_axis(each, top[key], 1)[:, 0])
        for key, each in answers.items()
    }
    classes = {
        key: float(np.mean([error(q[:, k], each[:, k]) for k in range(3)])) for key, each in answers.items()
    }
    return ThreeClasses(confidence, classes, float(rest.sum(axis=1).std()), tilt, sharpness, settings["rows"])


LOW_POINTS, HIGH_POINTS = 1.5, 4.5  # points between the answers
METHOD_HEIGHT, SCALE_HEIGHT = (
    44,
    88,
)  # pixels of a method's line, and of the scale, its title and the legend below them
ERROR_KINDS = {"classes": "individual classes, mean", "confidence": "confidence"}


@dataclass(frozen=True, eq=False)
class Errors(Finding):
    found: ThreeClasses


def prepare(found: ThreeClasses, shown: str = "all") -> Errors:
    """Tabulate both errors of each selected method, in percentage points."""
    names = {key: JOINT_METHODS[key] for key in SHOWN_METHODS[shown]}
    table = pd.DataFrame(
        {kind: {name: 100 * getattr(found, kind)[key] for key, name in names.items()} for kind in ERROR_KINDS}
    )
    scaled = {kind: number(100 * getattr(found, kind)["temperature"], 2) for kind in ERROR_KINDS}
    rest, divided = (number(100 * found.classes[key], 2) for key in ("rest", "divided"))
    wrong = 100 * found.classes["temperature"]
    titles = {
        "one against the rest": f"One against the rest: the error of individual classes is {rest} points, "
        f"and {divided} points after dividing by the sum",
    }
    usual = (
        f"After temperature scaling, the error is {scaled['confidence']} points for the confidence and "
        f"{scaled['classes']} points for individual classes"
    )
    return Errors(
        title=titles.get(shown, usual),
        caption="Mean distance of predictions from the true probabilities, in 15 bins. The distance is "
        "measured on 40,000 new rows from three Gaussians. Circles show the error of the highest probability "
        "of each row. Diamonds show the mean error of the three classes, each against the rest. With "
        f"one-against-the-rest calibration, the error is {rest} points, and {divided} points after each row "
        "is divided by its sum. Before this step, the sums scatter around 1 with a standard deviation of "
        f"{number(found.sums, 2)}.",
        alt=f"Calibration errors. Temperature scaling: confidence {scaled['confidence']} points, classes "
        f"{scaled['classes']}. One against the rest: classes {rest} points, and {divided} points after "
        f"division by the sum.",
        drawn="Two marks for each method: the calibration error of the confidence, and that of individual "
        "classes.",
        table=table.rename_axis("method").reset_index(),
        answer=1 if wrong < LOW_POINTS else 2 if wrong < HIGH_POINTS else 3,
        found=found,
    )


def draw(record: Errors, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method with a mark for each kind of error."""
    table = record.table
    lanes = METHOD_HEIGHT * len(table)
    figure = go.Figure(
        layout=layout(
            theme,
            height=12 + lanes + SCALE_HEIGHT,  # low, so that a phone shows it with its question
            margin={"l": 150, "r": 16, "t": 12, "b": SCALE_HEIGHT},
            legend={"y": -60 / lanes},
            xaxis={"title": {"text": "Calibration error in percentage points"}, "rangemode": "tozero"},
            yaxis={"autorange": "reversed", "type": "category"},
        )
    )
    for kind, symbol, color in (
        ("classes", "diamond", theme.ink),
        ("confidence", "circle", theme.muted),
    ):
        figure.add_trace(
            go.Scatter(
                x=table[kind],
                y=table["method"],
                mode="markers",
                name=ERROR_KINDS[kind],
                marker={"symbol": symbol, "size": 12, "color": color},
                hovertemplate="%{y}: %{x:.1f} points",
            )
        )
    return figure


EXPERIMENT = Experiment(
    key="three_classes",
    page="labs",
    name="Errors by calibrator",
    lab="Three classes",
    question="A model favours one of three classes. Temperature scaling makes its confidence right. How far off are "
    "the probabilities of individual classes, on average?",
    answers=("Less than 1 point", "2 to 4 points", "More than 5 points"),
    right=3,
    why=(
        "The confidence mixes all classes: errors of a class that is predicted too often and of one that is "
        "predicted too rarely cancel out.",
        "One temperature cannot correct a class that is predicted too often: it sharpens or flattens every row in "
        "the same way.",
        "The probability of the favoured class is too high and that of another class too low. In the "
        "confidence these errors cancel out.",
    ),
    turn={"tilt": 1.0},
    ghosts=(
        {"lines": [[[0, "temperature scaling"], [1, "temperature scaling"]]]},
        {"lines": [[[2, "temperature scaling"], [4, "temperature scaling"]]]},
        {"lines": [[[5, "temperature scaling"], [9.5, "temperature scaling"]]]},
    ),
    parameters=(
        Parameter(
            "tilt",
            "Weight of the favoured class",
            "number",
            3.0,
            1.0,
            5.0,
            help="The model multiplies the probability of the favoured class by this weight, and divides "
            "that of another class by it. A weight of 1 favours no class.",
            extra={"step": 0.5},
        ),
        Parameter(
            "sharpness",
            "Sharpness",
            "number",
            1.0,
            0.5,
            3.0,
            help="Exponent of the true probabilities: above 1 the model is overconfident, below 1 "
            "underconfident.",
            extra={"step": 0.5},
        ),
        Parameter(
            "distance",
            "Distance of the centres",
            "number",
            1.5,
            0.5,
            3.0,
            help="Distance from the middle to the centre of each Gaussian, in standard deviations.",
            extra={"step": 0.5},
        ),
        Parameter(
            "rows",
            "Calibration rows",
            "integer",
            10_000,
            1000,
            50_000,
            help="Number of rows used to fit the calibrators.",
        ),
        Parameter(
            "shown",
            "Methods shown",
            "choice",
            "all",
            choices=tuple(SHOWN_METHODS),
            help="Calibrators that the picture compares with the uncalibrated model.",
            extra=view_of("three_classes"),
        ),
    ),
    simulation=three_classes,
    notice=(
        "Temperature scaling makes the confidence right within 1 point. The individual classes stay as "
        "wrong as before.",
        "One against the rest makes each class right within 1.5 points, but its rows do not sum to 1. "
        "Dividing each row by its sum makes the individual classes worse again.",
        "Vector scaling has a weight for each class, so it corrects both.",
        "With weight 1 and sharpness 2 the model is only overconfident, and temperature scaling is enough.",
    ),
    formulas=(
        r"P_k = \frac{w_k\, q_k^s}{\sum_j w_j\, q_j^s}, \quad w = (t,\, 1,\, 1/t)",
        r"\text{confidence: } P(Y = \hat{y} \mid P_{\hat{y}} = c) = c",
        r"\text{classes: } P(Y = k \mid P_k = c) = c \text{ for each } k",
    ),
    source="Guo et al. (2017), Kull et al. (2019), Gupta and Ramdas (2022).",
)


FIGURES = (FigureEntry("three_classes", "Confidence and classes", prepare, draw),)
