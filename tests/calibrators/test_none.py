import numpy as np

from calib.calibrators import CALIBRATORS


def test_probabilities_come_back_as_they_are():
    p = np.random.default_rng(0).random(50)
    calibrator = CALIBRATORS["none"]().fit(p, (p > 0.3).astype(int))
    assert calibrator.predict(p).tolist() == p.tolist()
    assert calibrator.predict(p) is not p
