"""Interval width of an inductive Venn or Venn–Abers predictor by the number of calibration rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import CALIBRATORS
from calib.experiments.shared.one_feature import NormalClasses
from calib.kernel.checks import Array
from calib.kernel.progress import Watch

STREAM = 5
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
TESTS = 400


@dataclass(frozen=True, eq=False)
class Narrowing:
    """Widths p1 − p0 by the number of calibration rows, arrays (k,).

    Attributes
    ----------
    mean, error
        Mean over rows and draws, and its standard error.
    low, high
        Range of the middle 80 % of the rows.
    slope
        Slope of ln mean width on ln n, over sizes from 100 on.
    """

    method: str
    sizes: Array
    mean: Array
    error: Array
    low: Array
    high: Array
    slope: float


def narrow(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Narrowing:
    """Simulate ``draws`` calibration sets of every size, each with TESTS new rows; the score is x itself.

    Parameters
    ----------
    settings
        method, gap, draws.
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    rows = []
    for size in watch.loop(SIZES, "calibration sets"):
        widths = np.array([_widths(settings["method"], classes, size, rng) for _ in range(settings["draws"])])
        means = widths.mean(axis=1)
        rows.append((means.mean(), means.std(ddof=1) / np.sqrt(len(means)), *np.quantile(widths, (0.1, 0.9))))
    sizes, (mean, error, low, high) = np.array(SIZES), np.array(rows).T
    large = sizes >= 100
    slope = float(np.polyfit(np.log(sizes[large]), np.log(mean[large]), 1)[0])
    return Narrowing(settings["method"], sizes, mean, error, low, high, slope)


def _widths(method: str, classes: NormalClasses, size: int, rng: np.random.Generator) -> Array:
    (x, y), (new, _) = classes.draw((size,), rng), classes.draw((TESTS,), rng)
    options = {"threshold": classes.gap / 2} if method == "venn" else {}
    p0, p1 = CALIBRATORS[method](**options).fit(x, y).predict_interval(new).T
    return p1 - p0
