"""Calibrate on training scores: DIR with the isotonic calibrator, SVA with Venn–Abers (Vovk, Petej 2014).

This is simple but not valid: the model has seen the labels of its calibration rows (their proposition 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel.progress import Watch
from calib.placements.base import Placement


class TrainingScores(Placement):
    """Placement in which all n rows train and calibrate the model; ``scores`` (n,) are those of its training rows.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    >>> TrainingScores().fit(DecisionTreeClassifier(), X, y).scores    # a fully grown tree knows them by heart
    array([0., 1., 0., 1.])
    """

    key = "train"
    label = "Training scores"
    help = (
        "The training rows of the model are also used for calibration, so the result is often overconfident. "
        "Use it only for comparison."
    )

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        self.model, _ = self._train_on_all(X, y, watch)
        self.scores, self.index = self._model_scores(self.model, X), np.arange(len(y))
