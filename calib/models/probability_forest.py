"""Forest of probability estimation trees: scikit-learn's trees, a choice of leaves and votes, out-of-bag scores.

Votes average the leaves' probabilities or the trees' decisions (Boström 2008). A row's out-of-bag score is the mean
vote of the trees whose bootstrap sample does not contain it (Johansson et al. 2019, §3.2).
"""

from __future__ import annotations

import contextlib
import time
import warnings
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from calib.kernel import checks
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.models.base import ModelEntry, class_columns
from calib.models.leaves import check_leaf, node_probabilities
from calib.models.out_of_bag import (
    in_bag,
    mean_out_of_bag,
    refuse_without_bagging,
    tree_voters,
    vote_table,
    voting_matrix,
)
from calib.models.probability_tree import (
    LEAF_PARAMETERS,
    depth_parameters,
    one_label,
    refuse_one_class,
)

VOTES = ("probability", "class")


class ProbabilityForest(RandomForestClassifier):
    """Random forest of scikit-learn with a choice of leaf estimates and votes.

    The other parameters are scikit-learn's; the same parameters and random_state grow the same trees. ``node_votes_``
    holds for each tree the vote of every node for class 1, (nodes,); for K > 2 classes (nodes, K).

    Parameters
    ----------
    leaf, curtail, m, prior
        Leaf estimate, as in ProbabilityTree.
    vote
        "probability" averages the leaves' probabilities (as scikit-learn does), "class" the trees' decisions; a tied
        leaf decides for the first class, as in scikit-learn's trees.

    Examples
    --------
    >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> forest = ProbabilityForest(5, random_state=0).fit(X, y)
    >>> forest.tree_scores([[0.0], [7.0]])
    array([[0., 0., 0., 0., 0.],
           [1., 1., 1., 1., 1.]])
    >>> forest.oob_scores()    # every one of the five trees saw the fourth row
    array([ 0.,  0.,  0., nan,  0.,  1.,  1.,  1.])
    """

    def __init__(
        self,
        n_estimators=100,
        leaf: str = "frequency",
        curtail: int = 0,
        vote: str = "probability",
        *,
        m: float = 2.0,
        prior: float | None = None,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
    ):
        self.n_estimators: int
        self.warm_start: bool
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
        )
        self.leaf = leaf
        self.curtail = curtail
        self.m = m
        self.prior = prior
        self.vote = vote

    def fit(self, X, y, sample_weight=None, watch: Watch | None = None, groups=None):
        """Grow the trees.

        Parameters
        ----------
        X : (n, d)
        y : (n,)
        watch
            Reports progress and can cancel the fit between (groups of) trees.
        groups : (n,)
            Group of each row. Bags draw whole groups with replacement, as many as there are, so a tree that did not
            see a row has seen no row of its group.
        """
        check_leaf(self.leaf, self.curtail, self.m, self.prior)
        checks.one_of(self.vote, VOTES, "vote")
        if y is not None:
            y = column_or_1d(y, warn=True)
        self.bag_: np.ndarray | None = None
        if groups is not None:
            self._fit_groups(X, y, sample_weight, watch or Watch(), np.asarray(groups))
        elif watch is None or self.warm_start or self.oob_score:
            super().fit(X, y, sample_weight=sample_weight)
        else:
            self._fit_watched(X, y, sample_weight, watch)
        refuse_one_class(self)
        self.node_votes_ = [self._node_votes(tree.tree_) for tree in self.estimators_]
        if self.bootstrap:
            self.training_matrix_ = self._validate_X_predict(X).copy()
        return self

    def _fit_watched(self, X, y, sample_weight, watch: Watch) -> None:
        """Grow by warm starts, which draw the same seeds as one fit; a group of trees takes about 0.1 s.

        With one job these are seconds of this thread: on a busy machine groups by the clock become single trees, and
        each group costs as much as a tree.
        """
        self._validate_params()
        clock = time.thread_time if self.n_jobs in (None, 1) else time.perf_counter
        trees = int(self.n_estimators)
        seeds = self.random_state
        state = seeds.get_state() if isinstance(seeds, np.random.RandomState) else None
        done, group = 0, 1
        try:
            while done < trees:
                watch.step(done / trees, "trees")
                begin = clock()
                self.n_estimators = min(done + group, trees)
                self.warm_start = done > 0
                if state is not None:
                    seeds.set_state(state)
                with _without_warning(self.class_weight):
                    super().fit(X, y, sample_weight=sample_weight)
                done = self.n_estimators
                group = max(1, int(group * 0.1 / max(clock() - begin, 1e-3)))
        finally:
            self.set_params(n_estimators=trees, warm_start=False)
        watch.step(1.0, "trees")

    def _fit_groups(self, X, y, sample_weight, watch: Watch, groups: np.ndarray) -> None:
        """Grow every tree on resampled whole groups, by warm starts, with the draws as weights."""
        names, group = np.unique(groups, return_inverse=True)
        checks.same_length(y=y, groups=group)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        settings = {name: getattr(self, name) for name in ("n_estimators", "bootstrap", "warm_start")}
        trees, bags = int(self.n_estimators), []
        try:
            for t in range(trees):
                watch.step(t / trees, "trees")
                drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)))[group]
                self.set_params(n_estimators=t + 1, warm_start=t > 0, bootstrap=False)
                with _without_warning(self.class_weight):
                    super().fit(X, y, sample_weight=drawn if sample_weight is None else drawn * sample_weight)
                bags.append(drawn > 0)
        finally:
            self.set_params(**settings)
        self.bag_ = np.array(bags).T  # each tree's column contiguous
        watch.step(1.0, "trees")

    def _node_votes(self, tree: Any) -> np.ndarray:
        p = node_probabilities(tree, self.leaf, self.curtail, self.m, self.prior)
        if self.vote != "class":
            return p
        return (p > 0.5).astype(float) if p.ndim == 1 else np.eye(p.shape[1])[p.argmax(axis=1)]

    def with_leaf(self, leaf: str) -> Self:
        """Return the fitted forest with another leaf estimate, without growing its trees again."""
        check_is_fitted(self)
        check_leaf(leaf, self.curtail, self.m, self.prior)
        other = copy(self)
        other.leaf = leaf
        other.node_votes_ = [other._node_votes(tree.tree_) for tree in self.estimators_]
        return other

    def tree_scores(self, X) -> np.ndarray:
        """Return every tree's vote for class 1, (n, n_trees); the mean over trees is ``predict_proba(X)[:, 1]``.

        For K > 2 classes (n, n_trees, K).
        """
        check_is_fitted(self)
        return vote_table(self, X)

    def predict_proba(self, X) -> np.ndarray:
        check_is_fitted(self)
        Z = voting_matrix(self, X)
        votes = sum(vote(Z) for vote in tree_voters(self))
        return class_columns(np.asarray(votes) / len(self.estimators_))

    def in_bag(self) -> np.ndarray:
        """Return whether each training row is in each tree's bootstrap sample, bool (n, n_trees)."""
        check_is_fitted(self)
        return in_bag(self)

    def oob_scores(self) -> np.ndarray:
        """Return the mean vote of the trees that did not see each row, (n,) or (n, K); NaN if every tree saw it.

        The votes are summed tree by tree, without an array (n, n_trees). InputError if bootstrap=False.
        """
        check_is_fitted(self)
        refuse_without_bagging(self)
        n = self.training_matrix_.shape[0]
        return mean_out_of_bag(self, self.training_matrix_, in_bag(self), np.arange(n))

    def __sklearn_tags__(self):
        return one_label(super().__sklearn_tags__())


@contextlib.contextmanager
def _without_warning(class_weight: Any):
    """Suppress scikit-learn's warning that presets of class weights need unchanged data in warm starts."""
    with warnings.catch_warnings():
        if isinstance(class_weight, str):
            warnings.filterwarnings("ignore", message="class_weight presets")
        yield


def _trees(default: int, help: str) -> Parameter:
    return Parameter("n_estimators", "Trees", "integer", default, 1, 2000, help=help)


_SHAPE = (
    *depth_parameters(1),
    Parameter(
        "criterion",
        "Criterion",
        "choice",
        "gini",
        choices=("gini", "entropy"),
        help="Measure of impurity that each split should reduce.",
    ),
    *LEAF_PARAMETERS,
    Parameter(
        "vote",
        "Votes",
        "choice",
        "probability",
        choices=VOTES,
        help="The forest averages the probabilities of its trees, or counts their votes.",
    ),
)
_FEATURES = Parameter(
    "max_features",
    "Features per split",
    "choice",
    "sqrt",
    choices={"sqrt": "sqrt", "log2": "log2", None: "all columns"},
    help="With fewer features per split, the trees differ more.",
)

RANDOM_FOREST = ModelEntry(
    key="random_forest",
    label="Random forest",
    make=ProbabilityForest,
    parameters=(_trees(100, "More trees give finer and steadier probabilities."), _FEATURES, *_SHAPE),
    bagged=True,
    help="A good default model for tables. Averages over many trees rarely reach 0 or 1.",
)
LARGE_FOREST = ModelEntry(
    key="large_forest",
    label="Large random forest",
    make=ProbabilityForest,
    parameters=(
        _trees(500, "Number of trees; by default, five times as many as in the ordinary forest."),
        _FEATURES,
        *_SHAPE,
    ),
    bagged=True,
    help="A forest with five times as many trees, to see whether more trees alone improve calibration.",
)
BAGGED_TREES = ModelEntry(
    key="bagged_trees",
    label="Bagged trees",
    make=partial(ProbabilityForest, max_features=None),
    parameters=(_trees(100, "More trees give finer and steadier probabilities."), *_SHAPE),
    bagged=True,
    help="A forest in which every split can use every feature, so the trees are more alike and the "
    "probabilities more extreme.",
)
