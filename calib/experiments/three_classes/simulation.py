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
from scipy.special import softmax

from calib.calibrators import JOINT, Isotonic
from calib.calibrators.joint import normalised
from calib.kernel.checks import Array
from calib.kernel.progress import Watch

STREAM = 20  # experiments with the same seed use different random streams
TEST, BINS = 40_000, 15
ANGLES = np.pi / 2 + 2 * np.pi * np.arange(3) / 3  # angles of the classes' centres, seen from the middle
JOINT_METHODS = {
    "none": "uncalibrated",
    "temperature": "temperature scaling",
    "vector": "vector scaling",
    "rest": "one against the rest",
    "divided": "… divided by the sum",
}
SHOWN = {
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
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return round(float(np.abs(np.bincount(bins, q - p, minlength=BINS)).sum() / len(p)), 12)


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
