"""Out-of-bag scores of any bagged ensemble: votes of the trees that did not see a row.

Johansson, Löfström, Linusson, Boström, *Efficient Venn predictors using random forests* (2019), §3.2. This works for
scikit-learn's forests and BaggingClassifier as well as for the forests of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import _safe_indexing

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.models.leaves import node_probabilities

FOREST_CLASSES = (RandomForestClassifier, ExtraTreesClassifier)
BAGGED = (*FOREST_CLASSES, BaggingClassifier)


def ensemble_of(model: Any) -> Any:
    """Return the ensemble inside a fitted model: the result of a search, or the model itself."""
    return getattr(model, "best_estimator_", model)


def no_bagging(name: str) -> InputError:
    """Return the error for a model without out-of-bag scores."""
    return InputError(
        f"Out-of-bag scores need a bagged ensemble, but {name} is not bagged. Choose a random forest or "
        "bagged trees, or placement='split' or 'cv'."
    )


def refuse_without_bagging(model: Any) -> None:
    """Refuse a model, fitted or not, that is not a bagged ensemble, and state the remedy."""
    ensemble = ensemble_of(model)
    if getattr(ensemble, "chooses_a_forest", False):
        return
    if not isinstance(ensemble, BAGGED):
        raise no_bagging(type(model).__name__)
    if not ensemble.bootstrap and getattr(ensemble, "max_samples", None) in (None, 1.0):
        raise InputError(
            f"Out-of-bag scores need bootstrap samples, but this {type(model).__name__} has "
            f"bootstrap=False, so every tree is trained on every row. Set bootstrap=True, or choose "
            f"placement='split' or 'cv'."
        )


def in_bag(ensemble: Any) -> np.ndarray:
    """Return whether each training row is in each tree's sample, bool (n, n_trees), each tree's column contiguous."""
    if getattr(ensemble, "bag_", None) is not None:
        return ensemble.bag_
    samples = ensemble.estimators_samples_
    bag = np.zeros((len(samples), ensemble._n_samples), dtype=bool)
    for row, drawn in zip(bag, samples, strict=True):
        row[drawn] = True
    return bag.T


def tree_voters(ensemble: Any) -> Iterator[Callable[[Any], np.ndarray]]:
    """Yield for each tree a function from rows of ``voting_matrix`` to its votes for class 1, or for K classes."""
    if isinstance(ensemble, BaggingClassifier):
        for member, features in zip(ensemble.estimators_, ensemble.estimators_features_, strict=True):
            yield partial(_member_vote, member, features, ensemble.n_classes_)
    elif hasattr(ensemble, "node_votes_"):
        for tree, votes in zip(ensemble.estimators_, ensemble.node_votes_, strict=True):
            yield partial(_tree_vote, tree.tree_, votes)
    else:
        for tree in ensemble.estimators_:
            votes = node_probabilities(tree.tree_)
            yield partial(_tree_vote, tree.tree_, votes)


def _tree_vote(tree: Any, votes: np.ndarray, Z: Any) -> np.ndarray:
    return votes.take(tree.apply(Z), axis=0)


def _member_vote(member: Any, features: np.ndarray, classes: int, Z: Any) -> np.ndarray:
    # A BaggingClassifier passes classes to its members as 0, 1 …, and a member may not have seen all of them.
    Z = _safe_indexing(Z, features, axis=1)
    votes = np.zeros((Z.shape[0], classes))
    if hasattr(member, "predict_proba"):
        votes[:, member.classes_.astype(np.intp)] = member.predict_proba(Z)
    else:
        votes[np.arange(len(votes)), member.predict(Z).astype(np.intp)] = 1.0
    return votes[:, 1] if classes == 2 else votes


def vote_table(ensemble: Any, X: Any) -> np.ndarray:
    """Return every tree's vote for class 1 on the rows X, (n, n_trees); their mean is the ensemble's probability.

    For K > 2 classes (n, n_trees, K).
    """
    Z = voting_matrix(ensemble, X)
    return np.stack([vote(Z) for vote in tree_voters(ensemble)], axis=1)


def voting_matrix(ensemble: Any, X: Any) -> Any:
    """Return X as the trees need it: float32 rows for forests, converted once and not once per tree."""
    if isinstance(ensemble, FOREST_CLASSES):
        return ensemble._validate_X_predict(X)
    return X.tocsr() if sp.issparse(X) else np.asarray(X)


def mean_out_of_bag(
    ensemble: Any, X: Any, bag: np.ndarray, reference: np.ndarray, watch: Watch | None = None
) -> np.ndarray:
    """Return each row's mean vote over the trees that did not see its reference row, (m,) or (m, K) for K > 2.

    It is NaN if there is no such tree.

    The mean is accumulated tree by tree, only for the rows that a tree votes on.

    Parameters
    ----------
    X : (m, d)
    bag : bool (n, trees)
        Whether each tree has seen each training row.
    reference : int (m,)
        Training row that must be out of bag, for each row of X.
    """
    Z = voting_matrix(ensemble, X)
    shape = (len(reference),) if len(ensemble.classes_) == 2 else (len(reference), len(ensemble.classes_))
    total, count = np.zeros(shape), np.zeros(len(reference), dtype=np.intp)
    watch, trees = watch or Watch(), bag.shape[1]
    for t, vote in enumerate(tree_voters(ensemble)):
        watch.step(t / trees, "votes of the trees")
        rows = np.flatnonzero(~bag[:, t][reference])
        if rows.size:
            total[rows] += vote(Z[rows])
            count[rows] += 1
    with np.errstate(invalid="ignore"):
        return total / (count if total.ndim == 1 else count[:, None])
