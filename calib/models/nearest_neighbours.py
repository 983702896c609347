"""Nearest neighbours on standardised features: the share of class 1 among the k nearest training rows."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from calib.models.base import ModelEntry
from calib.records import Parameter


def _make(n_neighbors: int, weights: str, random_state: int | None):
    return Pipeline(
        [("scale", StandardScaler()), ("model", KNeighborsClassifier(n_neighbors=n_neighbors, weights=weights))]
    )


ENTRY = ModelEntry(
    key="nearest_neighbours",
    label="Nearest neighbours",
    make=_make,
    parameters=(
        Parameter("n_neighbors", "Neighbours", "integer", 15, 1, 500, help="Probabilities are steps of one over this."),
        Parameter(
            "weights", "Weights", "choice", "uniform", choices=("uniform", "distance"), help="Nearer rows count more."
        ),
    ),
    help="No assumption on the shape of the boundary; few distinct probabilities.",
)
