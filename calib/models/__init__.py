"""Models by key, as a Recipe names them, and the probability trees and forests of the papers."""

from calib.kernel.registry import Registry
from calib.models import (
    given,
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
from calib.models.base import ModelEntry, check_model, class_one_score, gives_probability
from calib.models.calibrated_tree import TreeNode, tree_nodes
from calib.models.given import GivenScores
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
        given.ENTRY,
    ),
    check=check_model,
    origin=lambda entry: entry.make,
)


def register(entry: ModelEntry) -> ModelEntry:
    """Register a model from outside under its key, and return it.

    Parameters
    ----------
    entry
        Its ``make`` returns an unfitted classifier of two classes.

    Raises
    ------
    InputError
        For one that describes itself wrongly or builds no classifier from its defaults, or takes a key.

    Notes
    -----
    An installed package does the same by an entry point in the group ``calib.models``, in its
    pyproject.toml::

        [project.entry-points."calib.models"]
        mine = "its_package:ENTRY"

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> register(ModelEntry("flat", "Flat", lambda random_state: LinearSVC(), ()))
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: flat: make must return a classifier that gives a probability, as the ...
    """
    return MODELS.register(entry)


__all__ = [
    "MODELS",
    "CurtailedForest",
    "GivenScores",
    "ModelEntry",
    "ProbabilityForest",
    "ProbabilityTree",
    "TreeNode",
    "TunedForest",
    "class_one_score",
    "gives_probability",
    "register",
    "tree_nodes",
]
