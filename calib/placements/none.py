"""No calibration: all rows train the model, and its own probabilities are the predictions (RF-d, Tree, W)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.placements.base import Placement


class NoPlacement(Placement):
    """Placement in which all n rows train the model; ``scores`` is empty, so only the calibrator ``none`` works.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calib.calibrators import Uncalibrated
    >>> placed = NoPlacement().fit(GaussianNB(), [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> placed.predict(placed.calibrate(Uncalibrated()), placed.score([[2.0]])).p
    array([0.5])
    """

    key = "none"
    label = "No calibration set"
    help = "All training rows are used to train the model, so only uncalibrated probabilities are available."

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        self.model, _ = self._train_on_all(X, y, watch)
        self.scores = self._no_scores(0)
        self.index = np.empty(0, dtype=np.intp)

    @classmethod
    def check_takes(cls, calibrator: Any) -> None:
        if getattr(calibrator, "key", None) != "none":  # Pairwise has a key only once it is made
            raise InputError(
                f"{calibrator.label} needs calibration scores, but with placement='none' all training rows "
                "are used to train the model. Choose placement='split', 'cv', 'oob' or 'train'."
            )

    def calibrate(self, calibrator: BaseEstimator, X: Any = None) -> Any:
        self.check_takes(calibrator)
        # It learns nothing, so any calibration set will do
        k = len(self.classes)
        scores, y = (np.eye(k), np.arange(k)) if self.joint else (np.full(1, 0.5), np.zeros(1))
        return self._fitted(self._for_classes(calibrator), scores, y, None)
