"""Full (transductive) prediction: the model is refitted with (x, 0) and with (x, 1) for every new row x.

Vovk, Petej, *Venn–Abers predictors* (2014), Algorithm 1: with s_y the scoring function trained on z_1, …, z_l, (x, y)
and g_y the isotonic calibrator of their scores under s_y, ``p_y = g_y(s_y(x))``. With the calibrator ``venn`` this is
the transductive Venn predictor. In both cases, p_y is end y of the inductive pair after the refit with label y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from calib.calibrators import INPUT_TABLES, merge_pair
from calib.calibrators.venn_abers import Explanation
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.models import class_one_score
from calib.models.base import last_step
from calib.placements.base import Outcome, Placement, Scored, addressable, take_rows


class Full(Placement):
    """Placement with two refits for every new row; the pair may cross (p0 > p1) and is not sorted.

    ``model`` and ``scores`` belong to one model trained on all rows, for uncalibrated predictions. A model that
    memorises its training rows (a fully grown tree) gives the interval [0, 1] everywhere. Calibrators without a pair
    are refused.

    >>> from sklearn.dummy import DummyClassifier
    >>> from calib.calibrators import VennAbers
    >>> placed = Full().fit(DummyClassifier(), [[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> outcome = placed.predict(placed.calibrate(VennAbers()), placed.score([[9.0]]))
    >>> outcome.p0, outcome.p1    # a score that knows nothing: one of four, or two of four, are of class 1
    (array([0.25]), array([0.5]))
    """

    key = "full"
    label = "Full (refit per row)"
    help = (
        "This method gives valid intervals without a calibration set, but needs two model fits per new row."
    )
    fit_share = 0.02
    for_k = False

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        if extra := sorted(set(self.params or {}) - {"sample_weight"}):
            raise InputError(
                f"placement='full' trains on rows that are not known yet, so it cannot pass {', '.join(extra)} to the "
                "estimator. Choose another placement."
            )
        if self.params is not None and "sample_weight" in self.params:
            self.params = None  # the weight of a new row, 1, is on the scale of those of the rows
        self.model, _ = self._train_on_all(X, y, watch)
        self.scores, self.index = class_one_score(self.model, X), np.arange(len(y))
        self._X = X
        if self.scores[y == 1].min() > self.scores[y == 0].max():
            self.notes = (
                f"{type(last_step(self.model)).__name__} separates the classes of its own training rows completely. "
                "With placement='full', such a model gives intervals near [0, 1]. Choose a simpler model.",
            )

    def score(self, X: Any, watch: Watch | None = None) -> Scored:
        """Refit twice for each of the m rows; progress is reported, and cancellation checked, between the fits."""
        watch, X = watch or Watch(), addressable(X)
        scores = class_one_score(self.model, X)
        refits = np.empty((len(scores), 2, len(self.y) + 1))
        for j in watch.loop(range(len(scores)), "rows"):
            extended = _append(self._X, take_rows(X, [j]))
            for label in (0, 1):
                watch.step(j / len(scores), "rows")
                weight = None if self.weight is None else np.append(self.weight, 1.0)
                given = self._arguments(weight=weight)
                model, _ = self._train(
                    extended, np.append(self.y, label), Watch(cancel=watch.cancel), **given
                )
                refits[j, label] = class_one_score(model, extended)
        return Scored(scores, X, refits=refits)

    @classmethod
    def check_takes(cls, calibrator: Any) -> None:
        if calibrator.input in INPUT_TABLES or not (calibrator.gives_interval or calibrator.key == "none"):
            raise InputError(
                f"{calibrator.label} gives no interval for a single score, but placement='full' needs "
                "intervals. Choose Venn or Venn–Abers, or another placement."
            )

    def predict(self, fitted: Any, tests: Scored) -> Outcome:
        if not fitted.gives_interval:
            return super().predict(fitted, tests)
        assert tests.refits is not None
        pair = np.empty((len(tests.scores), 2))
        for j, refits in enumerate(tests.refits):
            for label, scores in enumerate(refits):
                calibrated = self._fitted(fitted, scores[:-1], self.y, self.weight)
                pair[j, label] = calibrated.predict_interval(scores[-1:])[0, label]
        return Outcome.of_pair(pair, merge_pair(pair[:, 0], pair[:, 1], fitted.merge))

    def explain(self, fitted: Any, tests: Scored, j: int) -> tuple[Explanation, ...]:
        assert tests.refits is not None
        zero, one = (
            self._fitted(fitted, scores[:-1], self.y, self.weight).added_fit(scores[-1], label)
            for label, scores in enumerate(tests.refits[j])
        )
        p = float(merge_pair(zero.value, one.value, fitted.merge))
        return (Explanation(float(tests.scores[j]), zero, one, p),)

    @staticmethod
    def fits(cv: int, n: int) -> int:
        return 1 + 2 * n


def _append(X: Any, row: Any) -> Any:
    if isinstance(X, pd.DataFrame):
        return pd.concat([X, row], ignore_index=True)
    if sp.issparse(X):
        return sp.vstack([X, row], format="csr")
    return np.concatenate([X, row])
