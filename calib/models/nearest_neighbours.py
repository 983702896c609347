"""Nearest neighbours on standardised features: the share of class 1 among the k nearest training rows."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


class NearestNeighbours(KNeighborsClassifier):
    """Nearest neighbours of scikit-learn; fitting fails if there are fewer training rows than neighbours."""

    def fit(self, X, y):
        super().fit(X, y)
        if self.n_samples_fit_ < self.n_neighbors:
            raise InputError(
                f"n_neighbors={self.n_neighbors} needs at least {self.n_neighbors} training rows, but there are "
                f"{self.n_samples_fit_}. Use fewer neighbours or more training rows."
            )
        return self


def _make(n_neighbors: int, weights: str, random_state: int | None):
    return Pipeline(
        [("scale", StandardScaler()), ("model", NearestNeighbours(n_neighbors=n_neighbors, weights=weights))]
    )


ENTRY = ModelEntry(
    key="nearest_neighbours",
    label="Nearest neighbours",
    make=_make,
    parameters=(
        Parameter(
            "n_neighbors",
            "Neighbours",
            "integer",
            15,
            1,
            500,
            help="Number of neighbours k; if all neighbours have the same weight, every probability is a "
            "multiple of 1/k.",
        ),
        Parameter(
            "weights",
            "Weights",
            "choice",
            "uniform",
            choices=("uniform", "distance"),
            help="All neighbours have the same weight, or nearer neighbours have more weight.",
        ),
    ),
    help="This model makes no assumption about the boundary, but gives only a few distinct probabilities.",
)
