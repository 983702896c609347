"""Data and estimators shared by the tests of placements."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

X, Y = make_classification(150, 5, n_informative=3, flip_y=0.25, random_state=0)
NEW = make_classification(30, 5, n_informative=3, flip_y=0.25, random_state=1)[0]


class CountingForest(RandomForestClassifier):
    """A forest that counts how often any of its kind was fitted."""

    fits: ClassVar[int] = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


class Margins(GaussianNB):
    """Naive Bayes that shows log-odds only."""

    @property
    def predict_proba(self):
        raise AttributeError("margins only")

    def decision_function(self, X):
        joint = self._joint_log_likelihood(np.asarray(X))
        return joint[:, 1] - joint[:, 0]


def same_outcome(a, b):
    for name in ("p", "p0", "p1", "lower", "upper"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)
