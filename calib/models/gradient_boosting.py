"""Gradient boosting: each tree corrects the sum of the previous ones (histogram-based, scikit-learn's)."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingClassifier

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(
    max_iter: int, learning_rate: float, max_leaf_nodes: int, min_samples_leaf: int, random_state: int | None
):
    return HistGradientBoostingClassifier(
        max_iter=max_iter,
        learning_rate=learning_rate,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=min_samples_leaf,
        early_stopping=False,
        random_state=random_state,
    )


ENTRY = ModelEntry(
    key="gradient_boosting",
    label="Gradient boosting",
    make=_make,
    parameters=(
        Parameter(
            "max_iter",
            "Trees",
            "integer",
            100,
            1,
            1000,
            help="With more trees, the model fits more closely and becomes overconfident.",
        ),
        Parameter(
            "learning_rate", "Learning rate", "number", 0.1, 0.001, 1, help="Smaller steps need more trees."
        ),
        Parameter(
            "max_leaf_nodes",
            "Leaves per tree",
            "integer",
            31,
            2,
            255,
            help="With more leaves, the model can represent more complex interactions.",
        ),
        Parameter(
            "min_samples_leaf",
            "Rows per leaf",
            "integer",
            20,
            1,
            200,
            help="More rows per leaf give smoother probabilities.",
        ),
    ),
    help="This model often ranks rows better than other models do. With more trees, its probabilities move "
    "towards 0 and 1.",
)
