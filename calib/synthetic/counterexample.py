"""Simplified Venn–Abers prediction is not always valid: a score that only recognises its training objects shows it.

Vovk and Petej (2014), proposition 2: X is symmetric about 0, P(Y = 1 | X < 0) = 1/3, P(Y = 1 | X > 0) = 2/3,
hence P(Y = 1) = 1/2. The score is 0 or 1 on training objects, by their sign, and 2 on every other object. A
new object then scores above every calibration score, and its interval is about [2/3, 1].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from calib.kernel import checks
from calib.kernel.records import Dataset
from calib.synthetic.base import Array, SyntheticEntry, as_dataset, rows


class SignExample:
    """X ~ N(0, 1), and the label agrees with the sign of X with probability 2/3.

    >>> SignExample().posterior([[-1.0], [0.5]]).round(4)
    array([0.3333, 0.6667])
    """

    def posterior(self, X: Any) -> Array:
        """1/3 where x < 0, else 2/3, shape (n,)."""
        return np.where(checks.matrix(X, "X", columns=1)[:, 0] < 0, 1 / 3, 2 / 3)

    def sample(self, n: int, random_state: Any) -> Dataset:
        """n independent rows with their posterior; unlike in the other sets the labels are drawn, not counted out."""
        checks.in_range(n, "n", low=1, integer=True)
        rng = np.random.default_rng(random_state)
        X = rng.standard_normal((n, 1))
        posterior = self.posterior(X)
        return as_dataset("Sign example", X, (rng.random(n) < posterior).astype(np.intp), posterior)


class MemorisingClassifier(ClassifierMixin, BaseEstimator):
    """The score of proposition 2: 0 or 1 on training objects, by the sign of the first feature, and 2 on all others.

    >>> model = MemorisingClassifier().fit([[-1.0], [3.0]], [0, 1])
    >>> model.decision_function([[-1.0], [3.0], [0.5]])
    array([0., 1., 2.])
    """

    def fit(self, X: Any, y: Any) -> MemorisingClassifier:
        X, y = validate_data(self, X, y)
        self.classes_ = unique_labels(y)
        self.known_ = np.unique(X[:, 0])
        return self

    def decision_function(self, X: Any) -> Array:
        check_is_fitted(self)
        first = validate_data(self, X, reset=False)[:, 0]
        return np.where(np.isin(first, self.known_), (first > 0).astype(float), 2.0)

    def predict(self, X: Any) -> Array:
        return self.classes_[(self.decision_function(X) > 0.5).astype(np.intp)]


ENTRY = SyntheticEntry(
    key="sign",
    label="Sign example",
    build=lambda rng: SignExample(),
    parameters=(rows(1000),),
    help="One feature whose sign agrees with the label twice in three times: where simplified Venn–Abers fails.",
)
