"""Which probabilities of K classes calibrate: those of held-out rows, of folds, out of bag, or of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from calib.kernel.checks import Array, InputError
from calib.kernel.progress import Watch
from calib.models.base import fit_model, last_step, model_name
from calib.placements.base import rows, trained_elsewhere
from calib.splits import SPLITS, RowInfo, Splitter

PLACED = ("none", "split", "cv", "oob_whole", "train")


@dataclass(frozen=True, eq=False)
class JointPlaced:
    """A model of K classes and the probabilities on which a calibrator of K classes is fitted.

    Attributes
    ----------
    classes : (K,)
    model
        Scores new rows.
    P : (n, K)
        Probabilities of the calibration rows; no row if nothing calibrates.
    y : int (n,)
        Their classes, as positions in ``classes``.
    """

    classes: Array
    model: BaseEstimator
    P: Array
    y: Array

    def score(self, X: Any) -> Array:
        """Return the model's probabilities of new rows, (m, K)."""
        return probabilities(self.model, X, self.classes)


def more_than_two(y: Any) -> bool:
    """Tell whether labels are of three or more classes; what cannot be labels is left to later checks."""
    try:
        return type_of_target(y) == "multiclass"
    except ValueError:
        return False


def place_joint(
    placement: str,
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    calibration_size: float = 1 / 3,
    cv: int = 5,
    random_state: Any = None,
    groups: RowInfo | None = None,
    split: Splitter | None = None,
    watch: Watch | None = None,
) -> JointPlaced:
    """Train a classifier of K classes and score its calibration rows.

    Parameters
    ----------
    placement
        "none", "split", "cv", "oob_whole" or "train".
    estimator
        A scikit-learn classifier with ``predict_proba``; clones of it are trained.
    X, y
        n rows and n labels of at least two classes.
    calibration_size, cv, random_state, groups, split, watch
        See ``CalibratedClassifier``.

    Raises
    ------
    InputError
        If the data, the estimator or the placement does not allow it, with the remedy.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(30.0)[:, None], np.repeat(["a", "b", "c"], 10)
    >>> placed = place_joint("split", GaussianNB(), X, y, random_state=0)
    >>> placed.P.shape, np.bincount(placed.y), placed.score([[0.0]]).round(1)
    ((10, 3), array([4, 3, 3]), array([[1., 0., 0.]]))
    """
    if placement not in PLACED:
        raise InputError(
            f"Only binary classification is supported. placement={placement!r} is for two classes; with more, choose "
            f"{', '.join(map(repr, PLACED))}."
        )
    classes, coded = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    X, coded = indexable(X, coded)
    watch, given = watch or Watch(), groups or RowInfo(coded)
    split = split or SPLITS["random"]()

    def train(index: Array) -> BaseEstimator:
        return fit_model(estimator, rows(X, index), classes[coded[index]], watch)[0]

    def held_out(cut: Any) -> tuple[Array, BaseEstimator]:
        model = train(cut.train)
        return probabilities(model, rows(X, cut.test), classes), model

    every = np.arange(len(coded))
    try:
        if placement == "split" and not trained_elsewhere(estimator):
            cut = split.calibration(given, calibration_size, random_state)
            P, model = held_out(cut)
            return JointPlaced(classes, model, P, coded[cut.test])
        if placement == "cv":
            cuts = split.folds(given, cv, random_state)
            parts = [held_out(cut)[0] for cut in cuts]
            tested = np.concatenate([cut.test for cut in cuts])
            return JointPlaced(classes, train(every), np.concatenate(parts), coded[tested])
    except InputError:
        raise
    except ValueError as error:
        raise InputError(
            f"The smallest class has {np.bincount(coded).min()} rows, too few for placement={placement!r} ({error}). "
            "Use more rows, fewer folds, or merge small classes."
        ) from None
    if placement == "oob_whole":
        return _out_of_bag(estimator, X, coded, classes, watch)
    model = train(every)
    if placement == "none":
        return JointPlaced(classes, model, np.empty((0, len(classes))), coded[:0])
    return JointPlaced(classes, model, probabilities(model, X, classes), coded)


def _out_of_bag(estimator: BaseEstimator, X: Any, coded: Array, classes: Array, watch: Watch) -> JointPlaced:
    """Return a bagged ensemble with its out-of-bag probabilities, as scikit-learn computes them."""
    own = clone(estimator)
    if "oob_score" not in last_step(own).get_params():
        raise InputError(
            f"placement='oob_whole' needs a bagged ensemble such as a random forest, but the model is "
            f"{model_name(estimator)}. Choose placement='split' or 'cv'."
        )
    drawn = {"bootstrap": True} if "bootstrap" in last_step(own).get_params() else {}
    last_step(own).set_params(oob_score=True, **drawn)
    model = fit_model(own, X, classes[coded], watch)[0]
    found = np.asarray(last_step(model).oob_decision_function_, dtype=float)
    total = found.sum(axis=1)
    known = np.isfinite(total) & (total > 0)  # a row that every tree has seen cannot calibrate
    return JointPlaced(classes, model, found[known], coded[known])


def probabilities(model: BaseEstimator, X: Any, classes: Array) -> Array:
    """Return a fitted model's probabilities in the order of ``classes``, (m, K); 0 for a class that it never saw."""
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{model_name(model)} gives no probabilities. With more than two classes, choose a classifier with "
            "predict_proba."
        )
    given = np.asarray(model.predict_proba(X), dtype=float)
    found = np.zeros((len(given), len(classes)))
    found[:, np.searchsorted(classes, model.classes_)] = given
    return found
