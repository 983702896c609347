"""Probability estimation tree: scikit-learn's decision tree with a choice of the leaf estimate.

Johansson, Löfström, Boström, *Calibrating probability estimation trees using Venn–Abers predictors* (2019), §2.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.models.base import ModelEntry, class_columns
from calib.models.leaves import LEAVES, check_leaf, node_probabilities


def one_label(tags: Tags) -> Tags:
    """Set scikit-learn's tags of an estimator for one label, and return them."""
    tags.classifier_tags.multi_label = False
    tags.target_tags.multi_output = False
    return tags


def refuse_one_class(model: Any) -> None:
    """Refuse a tree or forest that was fitted on rows of one class."""
    if model.n_classes_ < 2:
        raise InputError(f"{type(model).__name__} got 1 class, but needs rows of at least two classes.")


class ProbabilityTree(DecisionTreeClassifier):
    """Decision tree of scikit-learn with a choice of leaf estimates.

    The other parameters are scikit-learn's; the same parameters and random_state grow the same tree.
    ``node_probability_`` (nodes,) is the probability of class 1 for rows that end in each node; for K > 2 classes
    (nodes, K).

    Parameters
    ----------
    leaf
        "frequency" n_1/n (as in scikit-learn), "laplace" (n_1 + 1)/(n + 2), for K classes (n_k + 1)/(n + K), or "m"
        (n_1 + m·prior)/(n + m).
    curtail
        Use the first ancestor with at least this many training rows; 0 or 1 uses the leaf itself.
    m, prior
        Settings of the m-estimate; prior None is the share of class 1 in the training set.

    Examples
    --------
    >>> X, y = [[0], [0], [0], [1]], [0, 0, 1, 1]
    >>> ProbabilityTree(leaf="laplace").fit(X, y).predict_proba([[0], [1]])[:, 1]    # (1 + 1)/(3 + 2), (1 + 1)/(1 + 2)
    array([0.4       , 0.66666667])
    >>> ProbabilityTree(curtail=2).fit(X, y).predict_proba([[1]])[:, 1]              # one row: back to the root, 2/4
    array([0.5])
    """

    def __init__(
        self,
        leaf: str = "frequency",
        curtail: int = 0,
        max_depth=None,
        random_state=None,
        *,
        m: float = 2.0,
        prior: float | None = None,
        criterion="gini",
        splitter="best",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
    ):
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
        )
        self.leaf = leaf
        self.curtail = curtail
        self.m = m
        self.prior = prior

    def fit(self, X, y, sample_weight=None, check_input=True):
        check_leaf(self.leaf, self.curtail, self.m, self.prior)
        if y is not None:
            y = column_or_1d(y, warn=True)
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        refuse_one_class(self)
        self.node_probability_ = node_probabilities(self.tree_, self.leaf, self.curtail, self.m, self.prior)
        return self

    def with_leaf(self, leaf: str) -> Self:
        """Return the fitted tree with another leaf estimate, without growing it again."""
        check_is_fitted(self)
        check_leaf(leaf, self.curtail, self.m, self.prior)
        other = copy(self)
        other.leaf = leaf
        other.node_probability_ = node_probabilities(self.tree_, leaf, self.curtail, self.m, self.prior)
        return other

    def predict_proba(self, X, check_input=True) -> np.ndarray:
        check_is_fitted(self)
        return class_columns(self.node_probability_.take(self.apply(X, check_input=check_input), axis=0))

    def predict(self, X, check_input=True) -> np.ndarray:
        p = self.predict_proba(X, check_input=check_input)
        return self.classes_.take(np.argmax(p, axis=1))

    def __sklearn_tags__(self):
        return one_label(super().__sklearn_tags__())


LEAF_PARAMETERS = (
    Parameter(
        "leaf",
        "Leaf estimate",
        "choice",
        "frequency",
        choices=LEAVES,
        help="The Laplace and m-estimates pull the probabilities of small leaves away from 0 and 1.",
    ),
    Parameter(
        "curtail",
        "Curtail below",
        "integer",
        0,
        0,
        500,
        help="A leaf with fewer training rows than this number uses the estimate of an ancestor.",
    ),
    Parameter(
        "m",
        "m",
        "number",
        2.0,
        0,
        100,
        help="Weight of the class shares in the m-estimate.",
        only_with=("leaf", ("m",)),
    ),
)


def depth_parameters(min_samples_leaf: int) -> tuple[Parameter, ...]:
    """Return the settings of depth and leaf size, whose default differs between a single tree and a forest."""
    return (
        Parameter(
            "max_depth",
            "Depth",
            "integer",
            None,
            1,
            100,
            optional=True,
            help="Shallow trees form large groups; deep trees memorise rows.",
        ),
        Parameter(
            "min_samples_leaf",
            "Rows per leaf",
            "integer",
            min_samples_leaf,
            1,
            500,
            help="More rows per leaf give smoother probabilities.",
        ),
    )


ENTRY = ModelEntry(
    key="decision_tree",
    label="Decision tree",
    make=ProbabilityTree,
    parameters=(
        *depth_parameters(5),
        Parameter(
            "min_samples_split",
            "Minimum rows to split a node",
            "integer",
            2,
            2,
            500,
            help="Nodes with fewer rows than this number are not split.",
        ),
        Parameter(
            "criterion",
            "Criterion",
            "choice",
            "gini",
            choices=("gini", "entropy"),
            help="Each split is chosen to reduce this measure of impurity.",
        ),
        *LEAF_PARAMETERS,
    ),
    help="One readable tree: each leaf gives one probability, or one interval after calibration.",
    single_tree=True,
)
