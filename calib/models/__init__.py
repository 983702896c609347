"""Registry of models by key, and the probability trees and forests of the papers."""

from calib.kernel.registry import Registry
from calib.models import (
    existing_scores,
    gradient_boosting,
    logistic_regression,
    naive_bayes,
    nearest_neighbours,
    neural_network,
    probability_forest,
    probability_tree,
    svm,
    tuned,
)
from calib.models.base import (
    ModelEntry,
    check_model,
    class_one_score,
    class_scores,
    gives_probability,
)
from calib.models.calibrated_tree import TreeNode, tree_nodes
from calib.models.existing_scores import GivenProbabilities, GivenScores
from calib.models.probability_forest import ProbabilityForest
from calib.models.probability_tree import ProbabilityTree
from calib.models.tuned import CurtailedForest, TunedForest

MODELS: Registry[ModelEntry] = Registry(
    "calib.models",
    (
        probability_tree.ENTRY,
        probability_forest.RANDOM_FOREST,
        probability_forest.BAGGED_TREES,
        gradient_boosting.ENTRY,
        logistic_regression.ENTRY,
        naive_bayes.ENTRY,
        svm.ENTRY,
        neural_network.ENTRY,
        nearest_neighbours.ENTRY,
        tuned.TUNED,
        probability_forest.LARGE_FOREST,
        tuned.CURTAILED,
        existing_scores.ENTRY,
    ),
    check=check_model,
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
