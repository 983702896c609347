"""Registry of models by key, and the probability trees and forests of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy
from calib.kernel.registry import Registry

if TYPE_CHECKING:
    from calib.models.base import (
        ModelEntry,
        class_one_score,
        class_scores,
        gives_probability,
    )
    from calib.models.calibrated_tree import TreeNode, tree_nodes
    from calib.models.existing_scores import GivenProbabilities, GivenScores
    from calib.models.probability_forest import ProbabilityForest
    from calib.models.probability_tree import ProbabilityTree
    from calib.models.tuned import CurtailedForest, TunedForest

lazy.attach(__name__)

MODELS: Registry[ModelEntry] = Registry(
    "calib.models",
    lazy.Entries(
        "calib.models",
        {
            "decision_tree": "probability_tree:ENTRY",
            "random_forest": "probability_forest:RANDOM_FOREST",
            "bagged_trees": "probability_forest:BAGGED_TREES",
            "gradient_boosting": "gradient_boosting:ENTRY",
            "logistic_regression": "logistic_regression:ENTRY",
            "naive_bayes": "naive_bayes:ENTRY",
            "svm": "svm:ENTRY",
            "neural_network": "neural_network:ENTRY",
            "nearest_neighbours": "nearest_neighbours:ENTRY",
            "tuned_forest": "tuned:TUNED",
            "large_forest": "probability_forest:LARGE_FOREST",
            "curtailed_forest": "tuned:CURTAILED",
            "given": "existing_scores:ENTRY",
        },
    ),
    check=lazy.first_use("calib.models.base", "check_model"),
    origin=lambda entry: entry.make,
)

register = MODELS.register


__all__ = [
    "MODELS",
    "CurtailedForest",
    "GivenProbabilities",
    "GivenScores",
    "ModelEntry",
    "ProbabilityForest",
    "ProbabilityTree",
    "TreeNode",
    "TunedForest",
    "class_one_score",
    "class_scores",
    "gives_probability",
    "register",
    "tree_nodes",
]
