"""Without a calibration set the model answers for itself."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from calib.calibrators import Uncalibrated, VennAbers
from calib.kernel.checks import InputError
from calib.placements import PLACEMENTS

from .helpers import NEW, X, Y


def test_the_models_own_probabilities_from_all_rows():
    placed = PLACEMENTS["none"]().fit(LogisticRegression(), X, Y)
    outcome = placed.predict(placed.calibrate(Uncalibrated()), placed.score(NEW))
    assert np.array_equal(outcome.p, LogisticRegression().fit(X, Y).predict_proba(NEW)[:, 1])
    assert outcome.lower is None
    assert len(placed.scores) == len(placed.y) == len(placed.index) == 0


def test_a_calibrator_is_refused_with_the_remedy():
    placed = PLACEMENTS["none"]().fit(LogisticRegression(), X, Y)
    with pytest.raises(InputError, match="Venn–Abers .*'split', 'cv', 'oob' or 'train'"):
        placed.calibrate(VennAbers())
