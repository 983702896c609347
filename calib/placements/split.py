"""Split: a held-out share of the rows calibrates, the others train the model (the -cal setups of P0 and P1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.placements.base import Placement, take_rows, trained_elsewhere, tree_scores


class Split(Placement):
    """Placement in which a stratified share ``calibration_size`` of the rows gives the calibration scores.

    An existing model (given scores, a FrozenEstimator) needs no training rows, so all rows calibrate.

    Raises
    ------
    InputError
        If a part would have no row of a class.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    >>> placed = Split().fit(GaussianNB(), X, y, calibration_size=1 / 3, random_state=0)
    >>> len(placed.scores), int(placed.y.sum())    # 4 of 12 rows, half of them of class 1
    (4, 2)
    """

    key = "split"
    asks = "calibration"
    scores_trees = True
    label = "Held-out set"
    help = "Part of the training data is held out to fit the calibrator."

    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        train, self.index = self._parts(y)
        self.model = self._train_on(X, y, train, watch)
        self._trained = np.empty(0, dtype=np.intp) if trained_elsewhere(self.estimator) else train
        self._held_out = X if len(self.index) == len(y) else take_rows(X, self.index)
        self.scores = self._own_scores()
        self._held_out = self._rows_to_keep(self._held_out)

    def _own_scores(self) -> np.ndarray:
        return self._model_scores(self.model, self._held_out)

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if trained_elsewhere(self.estimator):
            calibrating = self.split.scores_of(self.rows)
            which = (
                "all rows outside the test set"
                if len(calibrating) == len(y)
                else "the rows that the part column assigns to calibration"
            )
            self._note(f"The model needs no training. Calibrators are fitted on {which}.")
            return np.arange(len(y)), calibrating
        try:
            cut = self.split.calibration(self.rows, self.calibration_size, self.random_state)
        except InputError:
            raise
        except ValueError:
            raise InputError(
                f"{len(y)} rows, {np.bincount(y).min()} of them in the minority class, are too few for a "
                f"stratified split with calibration_size={self.calibration_size:.3g}. Training and "
                "calibration rows must include both classes. Use more rows, a calibration_size closer to "
                "0.5, or placement='cv' or 'oob'."
            ) from None
        return cut.train, cut.test

    @property
    def trained(self) -> np.ndarray:
        return self._trained

    @property
    def tree_scores(self) -> np.ndarray:
        return tree_scores(self.model, self._held_out)
