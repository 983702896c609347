"""Proposition 2 of Vovk and Petej: the simplified interval of a new object is about [2/3, 1] though P(Y = 1) = 1/2."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calib.synthetic import SignExample
from tests.synthetic.memorising import MemorisingClassifier


def simplified_interval(model, X, y, x):
    """Algorithm 2 by refitting: isotonic fits on the training scores and (s(x), 0), then (s(x), 1)."""
    scores, s = model.decision_function(X), model.decision_function([x])
    return [
        IsotonicRegression().fit(np.append(scores, s), np.append(y, label)).predict(s)[0] for label in (0, 1)
    ]


def test_the_simplified_interval_misses_the_truth():
    data, new = SignExample().sample(20_000, 0), SignExample().sample(20_000, 1)
    X = data.X.to_numpy()
    model = MemorisingClassifier().fit(X, data.y)
    assert set(model.decision_function(new.X.to_numpy())) == {2.0}
    low, high = simplified_interval(model, X, data.y, new.X.to_numpy()[0])
    assert low == pytest.approx(2 / 3, abs=0.02)
    assert high == 1
    assert new.y.mean() == pytest.approx(0.5, abs=0.015)


def test_labels_agree_with_the_sign_twice_in_three_times():
    data = SignExample().sample(60_000, 0)
    x = data.X["x1"].to_numpy()
    for sign, share in ((x < 0, 1 / 3), (x > 0, 2 / 3)):
        assert sign.mean() == pytest.approx(0.5, abs=0.01)
        assert (data.posterior[sign] == share).all()
        assert data.y[sign].mean() == pytest.approx(share, abs=0.012)
