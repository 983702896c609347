"""The score of proposition 2 of Vovk and Petej as a model, refitted and asked as any other."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels


class MemorisingClassifier(ClassifierMixin, BaseEstimator):
    """0 or 1 on training objects, by the sign of the first feature, and 2 on all others."""

    def fit(self, X, y):
        self.classes_, self.known_ = unique_labels(y), np.unique(np.asarray(X)[:, 0])
        return self

    def decision_function(self, X):
        first = np.asarray(X)[:, 0]
        return np.where(np.isin(first, self.known_), (first > 0).astype(float), 2.0)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0.5).astype(np.intp)]
