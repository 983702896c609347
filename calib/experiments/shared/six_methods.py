"""Six methods for a probability on the same draws: the score, three calibrators, simplified and full Venn–Abers.

Vovk and Petej (2014), algorithms 1 and 2, and direct isotonic regression (DIR) of section 3. The scorer is
the window scorer of ``one_feature``. All methods except the held-out third train and calibrate on the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calib.calibrators import Isotonic, Platt, merge_pair
from calib.experiments.shared.one_feature import NormalClasses, WindowScorer, venn_abers_pairs
from calib.figures.theme import Mark, Theme
from calib.kernel.checks import Array, InputError
from calib.kernel.progress import Watch
from calib.metrics.losses import log_losses

SIX_METHODS = {
    "none": "Score, uncalibrated",
    "dir": "Isotonic on the training scores (DIR)",
    "isotonic": "Isotonic on a held-out third",
    "platt": "Platt scaling on the training scores",
    "simplified": "Venn–Abers, simplified",
    "full": "Venn–Abers, full",
}
STREAM = 3
DRAWS_PER_CHECK = 20  # draws between two checks of Cancel


@dataclass(frozen=True, eq=False)
class SixMethods:
    """D draws of training rows, each with m test rows. Arrays (D, m).

    Attributes
    ----------
    p
        Method → probability of class 1 (log-loss rule for pairs).
    pairs
        Method → (p0, p1).
    """

    objects: int
    y: Array
    posterior: Array
    p: dict[str, Array]
    pairs: dict[str, tuple[Array, Array]]

    def log_loss(self, method: str) -> Array:
        """Return the log losses of a method, (D, m), ∞ for certain and wrong predictions."""
        return log_losses(self.y, self.p[method])

    def mean_and_error(self, values: Array) -> tuple[float, float]:
        """Return mean and standard error of (D, m) values; draws are independent, the rows of one draw are not."""
        means = values.mean(axis=1)
        if not np.isfinite(means).all():
            return float("inf"), float("nan")
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def compare_methods(settings: Mapping[str, Any], random_state: int, watch: Watch) -> SixMethods:
    """Evaluate all methods of SIX_METHODS on the same training and test rows.

    Parameters
    ----------
    settings
        objects (l), window, gap, tests (m), draws (D).
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    draws, size, m, window = (settings[name] for name in ("draws", "objects", "tests", "window"))
    x, y = classes.draw((draws, size + m), rng)
    found: dict[str, list[Array]] = {method: [] for method in SIX_METHODS}
    both: dict[str, list[tuple[Array, Array]]] = {method: [] for method in ("simplified", "full")}
    for start in watch.loop(range(0, draws, DRAWS_PER_CHECK), "draws"):
        some = slice(start, start + DRAWS_PER_CHECK)
        train, labels, test = x[some, :size], y[some, :size], x[some, size:]
        scorer = WindowScorer.fit(train, labels, window)
        scores = scorer.new(test)
        found["none"].append(scores)
        found["dir"].append(_calibrated(Isotonic(between="nearest"), scorer.training, labels, scores))
        found["platt"].append(_calibrated(Platt(), scorer.training, labels, scores))
        found["isotonic"].append(_held_out(train, labels, test, window))
        both["simplified"].append(_simplified(scorer, scores))
        both["full"].append(_full(scorer, test))
    pairs_of = {
        method: (np.concatenate([p0 for p0, _ in parts]), np.concatenate([p1 for _, p1 in parts]))
        for method, parts in both.items()
    }
    p = {method: np.concatenate(parts) for method, parts in found.items() if parts}
    p |= {method: merge_pair(p0, p1) for method, (p0, p1) in pairs_of.items()}
    return SixMethods(
        size,
        y[:, size:],
        classes.posterior(x[:, size:]),
        {method: p[method] for method in SIX_METHODS},
        pairs_of,
    )


def _calibrated(calibrator: Isotonic | Platt, scores: Array, y: Array, new: Array) -> Array:
    """Fit one calibrator per draw; if it needs both classes and has one, predict the frequency of class 1."""
    p = np.empty_like(new)
    for row in range(len(new)):
        try:
            p[row] = calibrator.fit(scores[row], y[row]).predict(new[row])
        except InputError:
            p[row] = y[row].mean()
    return p


def _held_out(x: Array, y: Array, test: Array, window: float) -> Array:
    """Train the scorer on two thirds, and isotonic regression on the rest."""
    kept = 2 * x.shape[1] // 3
    scorer = WindowScorer.fit(x[:, :kept], y[:, :kept], window)
    return _calibrated(Isotonic(), scorer.new(x[:, kept:]), y[:, kept:], scorer.new(test))


def _simplified(scorer: WindowScorer, scores: Array) -> tuple[Array, Array]:
    m = scores.shape[1]
    extended = np.column_stack([np.repeat(scorer.training, m, axis=0), scores.ravel()])
    p0, p1 = venn_abers_pairs(extended, extended, np.repeat(scorer.y, m, axis=0))
    return p0.reshape(scores.shape), p1.reshape(scores.shape)


def _full(scorer: WindowScorer, test: Array) -> tuple[Array, Array]:
    many = scorer.repeated(test.shape[1])
    p0, p1 = venn_abers_pairs(many.with_object(test.ravel(), 0), many.with_object(test.ravel(), 1), many.y)
    return p0.reshape(test.shape), p1.reshape(test.shape)


CALIBRATOR_OF_METHOD = {"dir": "isotonic", "simplified": "venn_abers", "full": "venn_abers"}
OPEN = {"dir": ("diamond-open", "dot"), "simplified": ("star-open", "dash")}


def method_mark(method: str, theme: Theme) -> Mark:
    """Return the mark of one of SIX_METHODS: the calibrator's own, open if it reuses the training scores."""
    mark = theme.mark(CALIBRATOR_OF_METHOD.get(method, method))
    if method not in OPEN:
        return mark
    symbol, dash = OPEN[method]
    return replace(mark, symbol=symbol, dash=dash)
