"""Theorem 1 by simulation: the selected probability is right on average, p0 and p1 are not.

Vovk and Petej (2014), theorem 1 with the selector S = Y of its proof; the constant Venn predictor of section
2 and the non-invariant predictor of the remark after theorem 2 are among the predictors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import merge_pair
from calib.experiments.shared.one_feature import NormalClasses, WindowScorer, venn_abers_pairs
from calib.kernel.checks import Array
from calib.kernel.progress import Watch

PREDICTORS = {
    "full": "Venn–Abers, full",
    "inductive": "Venn–Abers, inductive",
    "simplified": "Venn–Abers, simplified",
    "venn": "Venn, two categories",
    "constant": "The constant Venn predictor",
    "non_invariant": "The non-invariant predictor",
}
STREAM = 1  # experiments with the same seed use different random streams
AT_ONCE = 500  # draws between two checks of the clock and of Cancel


@dataclass(frozen=True, eq=False)
class Draws:
    """One prediction per draw, each from its own training rows. Arrays (D,).

    Attributes
    ----------
    y
        Label of the test row.
    posterior
        True probability of class 1 for the test row.
    p0, p1
        Predicted pair.
    """

    predictor: str
    objects: int
    y: Array
    posterior: Array
    p0: Array
    p1: Array

    @property
    def selected(self) -> Array:
        """P_Y, the probability for the true label."""
        return np.where(self.y == 1, self.p1, self.p0)

    @property
    def merged(self) -> Array:
        """Merged probability by the log-loss rule."""
        return merge_pair(self.p0, self.p1)

    @property
    def width(self) -> Array:
        return np.abs(self.p1 - self.p0)


def draw_pairs(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Draws:
    """Draw training rows and a test row many times, and predict one pair each time.

    Parameters
    ----------
    settings
        predictor, objects (l), window, gap, draws.

    Examples
    --------
    >>> settings = {"predictor": "constant", "objects": 5, "window": 0.5, "gap": 1.5, "draws": 500}
    >>> draws = draw_pairs(settings, 0, Watch())
    >>> sorted(set((draws.p1 - draws.p0).round(4).tolist()))       # k/6 and (k + 1)/6
    [0.1667]
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    parts = []
    for start in watch.loop(range(0, settings["draws"], AT_ONCE), "draws"):
        x, y = classes.draw((min(AT_ONCE, settings["draws"] - start), settings["objects"] + 1), rng)
        p0, p1 = PAIRS[settings["predictor"]](x, y[:, :-1], settings)
        parts.append((y[:, -1], classes.posterior(x[:, -1]), p0, p1))
    return Draws(settings["predictor"], settings["objects"], *map(np.concatenate, zip(*parts, strict=True)))


def _full(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    scorer = WindowScorer.fit(x[:, :-1], y, settings["window"])
    return venn_abers_pairs(scorer.with_object(x[:, -1], 0), scorer.with_object(x[:, -1], 1), y)


def _simplified(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    scorer = WindowScorer.fit(x[:, :-1], y, settings["window"])
    scores = np.column_stack([scorer.training, scorer.new(x[:, -1:])])
    return venn_abers_pairs(scores, scores, y)


def _inductive(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    """Use x itself as the score, which does not depend on the calibration rows."""
    return venn_abers_pairs(x, x, y)


def _venn(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    """Assign two categories: the side of the middle between the classes on which x lies."""
    side = x > settings["gap"] / 2
    same = side[:, :-1] == side[:, -1:]
    ones, size = (same * y).sum(axis=1), same.sum(axis=1) + 1
    return ones / size, (ones + 1) / size


def _constant(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    k, size = y.sum(axis=1), y.shape[1] + 1
    return k / size, (k + 1) / size


def _non_invariant(x: Array, y: Array, settings: Mapping[str, Any]) -> tuple[Array, Array]:
    k, size = y.sum(axis=1) - y[:, 0], y.shape[1]
    return k / size, (k + 1) / size


PAIRS = {
    "full": _full,
    "inductive": _inductive,
    "simplified": _simplified,
    "venn": _venn,
    "constant": _constant,
    "non_invariant": _non_invariant,
}
