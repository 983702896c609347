"""Base of the placements: which scores a calibrator is fitted on, and which model scores a new row.

``fit`` trains the base model (expensive, once); ``score`` scores new rows (once for all calibrators); ``calibrate``
fits a calibrator on the calibration scores and ``predict`` applies it (both cheap).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from calib.calibrators import JointCalibrator, joint_calibrator
from calib.calibrators.venn_abers import Explanation
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate, BaseRates, multiply_odds
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import capital
from calib.models import class_one_score, class_scores, gives_probability
from calib.models.base import before_last_step, fit_model, fit_takes, last_step, model_name
from calib.splits import SPLITS, RowInfo, Splitter


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of new rows, float array (m,), and the rows themselves, which some calibrators need in addition.

    For K > 2 classes, scores are (m, K).

    Parameters
    ----------
    reference
        For out-of-bag, int array (m,): position in the calibration set of each row's excluded row z_r.
    by_fold
        For cross-calibration, float array (folds, m): scores of each fold's model.
    refits
        For the full placement, array (m, 2, n + 1): all scores after refitting with (x, 0) and with (x, 1).
    """

    scores: np.ndarray
    X: Any = None
    reference: np.ndarray | None = None
    by_fold: np.ndarray | None = None
    refits: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """Probability of class 1, (m,); for calibrators with intervals also the pair and the ends of the interval.

    For K > 2 classes each array is (m, K), and rows of p sum to 1, so p may be outside its interval.
    """

    p: np.ndarray
    p0: np.ndarray | None = None
    p1: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    @classmethod
    def of_pair(cls, pair: np.ndarray, p: np.ndarray) -> Self:
        p0, p1 = pair[..., 0], pair[..., 1]
        in_order = bool((p0 <= p1).all())  # the interval is then the pair
        return cls(p, p0, p1, *((p0, p1) if in_order else (np.minimum(p0, p1), np.maximum(p0, p1))))

    def adjusted(self, rate: BaseRate | BaseRates) -> Self:
        """Return this outcome at another base rate."""
        ratio = rate.odds_ratio(self.p)
        return replace(
            self,
            **{name: multiply_odds(each, ratio) for name, each in vars(self).items() if each is not None},
        )


LIGHT_FIELDS = (
    *("estimator", "classes", "probability", "decides", "notes", "random_state"),
    *("scores", "y", "index", "weight", "model_rate", "margin_scale"),
)
LARGEST_MARGIN = 30.0  # beyond it, the softmax of margins would be 0 or 1 for too many rows


class Placement(ABC):
    """Base of the placements. A placement defines ``_fit`` and, if they differ, ``score``, ``calibrate``, ``predict``.

    Attributes
    ----------
    model
        Fitted estimator that scores new rows.
    scores, y, index, weight
        Calibration scores (n,), their labels 0/1, their positions in X, and their weights or None. For K > 2 classes,
        scores are (n, K), and labels 0 … K − 1.
    classes
        Labels in sorted order; of two, class 1 is the later.
    probability
        Whether scores are probabilities.
    decides
        Whether the model has a decision function.
    model_rate
        Frequency of class 1 among the rows that trained the model; for K > 2 classes, of each class, (K,).
    margin_scale
        Number that divides the margins of K > 2 classes before the softmax; at least 1.
    notes
        Sentences on excluded rows and unused weights.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    fit_share: ClassVar[float] = 0.95  # share of fitting in the work of fitting and scoring, for progress
    # whether it has scores of single trees for rows that they did not see
    asks: ClassVar[str] = ""  # method of the split by which it gets calibration rows
    scores_trees: ClassVar[bool] = False
    for_k: ClassVar[bool] = True  # whether it supports more than two classes

    model: BaseEstimator
    scores: np.ndarray
    y: np.ndarray
    index: np.ndarray
    weight: np.ndarray | None
    model_rate: Any
    notes: tuple[str, ...]
    margin_scale: float = 1.0
    params: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def fit(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Any,
        *,
        calibration_size: float = 1 / 3,
        cv: int = 5,
        random_state: Any = None,
        watch: Watch | None = None,
        rows: RowInfo | None = None,
        split: Splitter | None = None,
        classes: np.ndarray | None = None,
        params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Train clones of ``estimator`` on X (n rows) and y (n labels), as the placement requires.

        Parameters
        ----------
        calibration_size
            Share of the rows held out (split).
        cv
            Number of folds (cv).
        random_state
            Seed of all draws.
        rows
            Weight, time, cluster and part of the n rows, if known.
        split
            Split that holds out the calibration rows; random by default.
        classes
            All labels that may occur, in sorted order; by default those of y.
        params
            Arguments of the model's ``fit``, instead of the weights of ``rows``; those with one value per row are
            divided like the rows.
        n_jobs
            Number of folds that are fitted in parallel (cv), as in scikit-learn.

        Raises
        ------
        InputError
            If the data or the estimator do not allow it; with the remedy. Cancelled if cancelled.
        """
        self.classes, coded = coded_classes(y) if classes is None else (classes, np.searchsorted(classes, y))
        if self.joint:
            self.check_for_k()
        X, coded = indexable(X, coded)
        checks.in_range(calibration_size, "calibration_size", 0, 1, open_ends=True)
        checks.in_range(cv, "cv", 2, integer=True)
        self.estimator, self.cv, self.calibration_size = estimator, cv, float(calibration_size)
        self.params, self.n_jobs = params, n_jobs
        self.random_state = (
            check_random_state(random_state).randint(2**31 - 1) if random_state is None else random_state
        )
        self.probability, self.decides, self.notes, self.weight = False, False, (), None
        self.rows = RowInfo(coded) if rows is None else replace(rows, y=coded)
        self.split = split or SPLITS["random"]()
        self._fit(X, coded, watch or Watch())
        if self.joint and not self.probability and self.scores.size:
            self.margin_scale = max(1.0, float(np.abs(self.scores).max()) / LARGEST_MARGIN)
            self.scores = self._as_probabilities(self.scores)
        everything = len(self.index) == len(coded) and bool((self.index == np.arange(len(coded))).all())
        # no copy if possible, because there may be millions of rows
        calibrating = slice(None) if everything else self.index
        self.y = coded[calibrating]
        self.model_rate = self._rate_of_training(coded)
        if self.weight is None and self.rows.weight is not None:
            self.weight = self.rows.weight[calibrating]
        if self.rows.weight is not None and not self._weighs:
            self._note(unweighted(self.estimator))
        self.params = self.params and {}  # evaluation sets and callbacks do not belong into a saved model
        return self

    @abstractmethod
    def _fit(self, X: Any, y: np.ndarray, watch: Watch) -> None:
        """Set ``model``, ``scores`` and ``index``; y is coded 0/1, or 0 … K − 1."""

    @property
    def joint(self) -> bool:
        """Tell whether three or more classes are predicted together."""
        return len(self.classes) > 2

    def scores_of(self, model: BaseEstimator, X: Any) -> np.ndarray:
        """Return a model's scores of class 1, (n,); for K > 2 classes, probabilities (n, K).

        Margins of K classes become probabilities by the softmax; ``margin_scale`` keeps large ones apart.
        """
        return self._as_probabilities(self._model_scores(model, X))

    def _model_scores(self, model: BaseEstimator, X: Any) -> np.ndarray:
        """Return a model's scores; margins of K classes are still margins."""
        return class_scores(model, X, self.classes) if self.joint else class_one_score(model, X)

    def _as_probabilities(self, scores: np.ndarray) -> np.ndarray:
        if not self.joint or self.probability:
            return scores
        return softmax(scores / self.margin_scale, axis=1)

    def score(self, X: Any, watch: Watch | None = None) -> Scored:
        """Score new rows: the expensive part of predicting, once for all calibrators."""
        return Scored(self.scores_of(self.model, X), self._rows_to_keep(X))

    def _rows_to_keep(self, X: Any) -> Any:
        """Return the rows if the model may need them later; existing scores do not."""
        return None if getattr(last_step(self.estimator), "trained_elsewhere", False) else X

    def with_model(self, model: BaseEstimator) -> Self:
        """Return this placement with another model fitted on the same rows, such as the same trees with other leaves.

        Nothing is fitted; only the calibration rows are scored again. This needs a placement whose model scores them
        itself.
        """
        other = copy(self)
        other.model = model
        other.scores = other._as_probabilities(other._own_scores())
        return other

    def _own_scores(self) -> np.ndarray:
        raise InputError(
            f"With placement={self.key!r}, the calibration scores come from several models. Use another placement."
        )

    def light(self, *more: str) -> Self:
        """Return a copy with only what calibration and prediction need, without model and rows, to save memory.

        Parameters
        ----------
        more
            Names of further attributes to keep, such as "model". The rank calibrator does not work with the copy.
        """
        other = copy(self)
        other.__dict__ = {name: value for name, value in vars(self).items() if name in (*LIGHT_FIELDS, *more)}
        return other

    def calibrate(self, calibrator: BaseEstimator, X: Any = None) -> Any:
        """Return a clone of the calibrator, fitted on the calibration scores.

        Parameters
        ----------
        X
            The n rows given to ``fit``, for a calibrator that uses the features.

        Raises
        ------
        InputError
            If the placement does not support the calibrator.
        """
        self.check_takes(calibrator)
        calibrator = self._for_classes(calibrator)
        return self._fitted(calibrator, self._input(calibrator, X), self.y, self.weight)

    @classmethod
    def check_takes(cls, calibrator: Any) -> None:
        """Refuse a calibrator (instance or class) that this placement does not support, whatever the model.

        >>> from calib.calibrators import CALIBRATORS
        >>> from calib.placements import PLACEMENTS
        >>> PLACEMENTS["split"].check_takes(CALIBRATORS["rank"])
        """
        if calibrator.input == "tree_scores" and not cls.scores_trees:
            raise InputError(
                "Rank calibration needs the scores of individual trees for rows on which the trees were not "
                f"trained, but placement={cls.key!r} does not provide these scores. Choose placement='split' "
                "or 'oob'."
            )

    @classmethod
    def check_for_k(cls) -> None:
        """Refuse more than two classes, if this placement cannot serve them.

        >>> from calib.placements import PLACEMENTS
        >>> PLACEMENTS["oob_whole"].check_for_k()
        """
        if not cls.for_k:
            raise InputError(
                f"Only binary classification is supported by placement={cls.key!r}. With more than two classes, "
                "choose 'split', 'cv' or 'oob_whole'."
            )

    def base_rate(self, calibrator: Any) -> Any:
        """Return the base rate at which a calibrator's probabilities are right; for K > 2 classes, of each, (K,).

        It is the frequency of class 1 among the calibration rows. For the uncalibrated model, which has not seen them,
        it is that among the rows that trained it.
        """
        if getattr(calibrator, "key", None) == "none":
            return self.model_rate
        return self._rate(self.y, self.weight)

    def _rate(self, y: np.ndarray, weight: np.ndarray | None) -> Any:
        """Return the frequency of class 1 among labels; for K > 2 classes that of each, (K,)."""
        if not self.joint:
            return float(np.average(y, weights=weight))
        counts = np.bincount(y, weight, minlength=len(self.classes))
        return counts / counts.sum()

    def _fitted(
        self, calibrator: BaseEstimator, scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> Any:
        """Return a fitted clone; weights are passed only if there are any."""
        given = {} if weight is None else {"sample_weight": weight}
        return self._clone(calibrator).fit(scores, y, **given)

    def _note(self, note: str) -> None:
        self.notes = (*self.notes, note)

    def predict(self, fitted: Any, tests: Scored) -> Outcome:
        """Return the predictions of a calibrator from ``calibrate`` for scored rows."""
        if self.joint and fitted.gives_interval:
            return Outcome.of_pair(fitted.predict_interval(tests.scores), fitted.predict(tests.scores))
        if not fitted.gives_interval:
            return Outcome(fitted.predict(self._test_input(fitted, tests)))
        pair = fitted.predict_interval(self._test_input(fitted, tests))
        return Outcome.of_pair(pair, fitted.merged(pair))

    def explain(self, fitted: Any, tests: Scored, j: int) -> tuple[Explanation, ...]:
        """Explain the pair that a fitted calibrator gives to scored row ``j``, once per calibration set."""
        left_out = None if tests.reference is None else int(tests.reference[j])
        return (fitted.explain(tests.scores[j], left_out),)

    @property
    def trained(self) -> np.ndarray:
        """Positions of the rows that trained the model: all of them, or none for an existing model."""
        return np.arange(0 if trained_elsewhere(self.estimator) else self.rows.n)

    def _rate_of_training(self, y: np.ndarray) -> Any:
        """Return the frequency of class 1 in the model's training data; for an existing model, that of y."""
        learned = self.trained if len(self.trained) else slice(None)
        weight = self.rows.weight if self._weighs else None
        return self._rate(y[learned], None if weight is None else weight[learned])

    @staticmethod
    def fits(cv: int, n: int) -> int:
        """Return the number of model fits, with ``cv`` folds and for ``n`` new rows."""
        return 1

    @property
    def _weighs(self) -> bool:
        """Tell whether the model is trained with the weights, or learns nothing that could use them."""
        takes = (
            fit_takes(self.estimator, "sample_weight")
            if self.params is None
            else "sample_weight" in self.params
        )
        return trained_elsewhere(self.estimator) or takes

    def _arguments(self, index: np.ndarray | None = None, weight: np.ndarray | None = None) -> dict[str, Any]:
        """Return the arguments of the model's ``fit`` beside X and y, for all rows or for some."""
        if self.params is not None:
            return {name: rows_of_argument(value, index, self.rows.n) for name, value in self.params.items()}
        if weight is None and self.rows.weight is not None:
            weight = self.rows.weight if index is None else self.rows.weight[index]
        return (
            {}
            if weight is None or not fit_takes(self.estimator, "sample_weight")
            else {"sample_weight": weight}
        )

    def _no_scores(self, n: int) -> np.ndarray:
        """Return an array for the scores of n rows: (n,), or (n, K)."""
        return np.empty((n, len(self.classes)) if self.joint else n)

    def _train(self, X: Any, y: np.ndarray, watch: Watch, **given: Any) -> tuple[BaseEstimator, Any]:
        """Return (fitted clone, the matrix of its last step), trained on the original labels."""
        model, matrix = fit_model(self.estimator, X, self.classes[y], watch, **given)
        self.probability, self.decides = gives_probability(model), hasattr(model, "decision_function")
        return model, matrix

    def _train_on(
        self, X: Any, y: np.ndarray, index: np.ndarray, watch: Watch, weight: Any = None
    ) -> BaseEstimator:
        """Return the model trained on these rows; refuse rows of a single class."""
        if not trained_elsewhere(self.estimator) and y[index].min() == y[index].max():
            raise InputError(
                f"With {self.split.said}, all training rows are in one class. {self.split.remedy}"
            )
        return self._train(take_rows(X, index), y[index], watch, **self._arguments(index, weight))[0]

    def _train_on_all(self, X: Any, y: np.ndarray, watch: Watch) -> tuple[BaseEstimator, Any]:
        self.split.check_all_train(self.rows, self.key)
        return self._train(X, y, watch, **self._arguments())

    def _for_classes(self, calibrator: BaseEstimator) -> BaseEstimator:
        """Return the calibrator of K classes for a two-class one; itself with two classes."""
        if not self.joint:
            return calibrator
        made = clone(calibrator)
        if not isinstance(made, JointCalibrator):
            made.adapt(self.scores, True, False)
        return joint_calibrator(made)

    def _clone(self, calibrator: BaseEstimator) -> BaseEstimator:
        """Return an unfitted clone for this kind of score; refuse margins if probabilities are needed."""
        copy = clone(calibrator)
        if isinstance(copy, JointCalibrator):
            if not self.joint:
                raise InputError(
                    f"{copy.label} applies only to three or more classes. Choose another calibrator, or "
                    "predict all classes."
                )
            return copy
        copy.adapt(self.scores, self.probability, self.decides)
        if copy.input in ("probability", "features") and not self.probability:
            raise only_margins(copy, model_name(self.estimator))
        return copy

    def _input(self, calibrator: BaseEstimator, X: Any) -> Any:
        if calibrator.input == "features":
            return with_features(calibrator, self.scores, None if X is None else take_rows(X, self.index))
        return self.scores if calibrator.input != "tree_scores" else self.tree_scores

    def _test_input(self, calibrator: BaseEstimator, tests: Scored) -> Any:
        if calibrator.input == "features":
            return with_features(calibrator, tests.scores, tests.X)
        return tests.scores if calibrator.input != "tree_scores" else tree_scores(self.model, tests.X)

    @property
    def tree_scores(self) -> np.ndarray:
        """Votes of every tree for the calibration rows, (n, n_trees), for the rank calibrator."""
        raise NotImplementedError


def with_features(method: Any, scores: np.ndarray, X: Any) -> pd.DataFrame:
    """Return the table (n, 1 + d) of scores (n,) and features X (n, d) for a method that uses the features."""
    if X is None:
        raise InputError(
            f"{method.label} needs the features of each row, but only scores are known. Supply the "
            "features, or choose another calibrator."
        )
    table = pd.DataFrame(X.toarray() if sp.issparse(X) else addressable(X)).reset_index(drop=True)
    return pd.concat([pd.Series(scores, name="score"), table], axis=1)


def only_margins(method: Any, name: str) -> InputError:
    """Return the error for a method that needs probabilities, with a model that gives margins."""
    return InputError(
        f"{capital(method.name or method.label)} needs probabilities, but {name} gives margins, which can be any "
        "number. Choose Platt scaling, isotonic regression, Venn or Venn–Abers, or another model."
    )


def no_trees(name: str) -> InputError:
    """Return the error for rank calibration with a model that is not a forest."""
    return InputError(
        f"Rank calibration needs the scores of individual trees, but {name} has no trees. Choose a random "
        "forest or bagged trees."
    )


def tree_scores(model: BaseEstimator, X: Any) -> np.ndarray:
    """Return the votes of every tree of a fitted forest (at the end of a pipeline) for the rows X, (n, n_trees)."""
    from calib.models.out_of_bag import BAGGED, ensemble_of, vote_table

    ensemble = ensemble_of(last_step(model))
    if not isinstance(ensemble, BAGGED):
        raise no_trees(model_name(model))
    return vote_table(ensemble, before_last_step(model, X))


def coded_classes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (the labels in sorted order, y coded as 0 … K − 1); refuse a single class."""
    y = plain_labels(y)
    if y.dtype.kind in "iu" and y.size and y.min() == 0 and y.max() == 1:
        return np.arange(2, dtype=y.dtype), y.astype(np.intp, copy=False)  # already coded
    check_classification_targets(y)
    classes, coded = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"y must contain labels of at least two classes, but contains 1 class ({classes[0]!r})."
            if len(classes)
            else "y contains no labels."
        )
    return classes, coded


def plain_labels(y: Any) -> np.ndarray:
    """Return labels as a NumPy array, those of a nullable type too; refuse missing ones.

    >>> plain_labels(pd.Series([True, False], dtype="boolean"))
    array([ True, False])
    """
    if y is None:
        raise InputError("Calibration requires y to be passed, but the target y is None.")
    labels = column_or_1d(np.asarray(y), warn=True)
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise InputError(
            f"y must not have missing labels, but {len(missing):,} of {len(labels):,} are missing (the first at "
            f"position {missing[0]}). Remove these rows."
        )
    nullable = labels.dtype == object and pd.api.types.is_extension_array_dtype(getattr(y, "dtype", None))
    return np.array(labels.tolist()) if nullable else labels


def trained_elsewhere(estimator: BaseEstimator) -> bool:
    """Tell whether ``fit`` learns nothing from the given rows, so that all of them may calibrate."""
    model = last_step(estimator)
    return isinstance(model, FrozenEstimator) or getattr(model, "trained_elsewhere", False)


def unweighted(estimator: BaseEstimator) -> str:
    """State that a model is trained without the weights, and why."""
    why = "did not request" if fit_takes(estimator, "sample_weight") else "does not support"
    return f"{model_name(estimator)} {why} weights, so it is trained on unweighted rows."


def rows_of_argument(value: Any, index: Sequence[int] | np.ndarray | None, n: int) -> Any:
    """Return an argument of ``fit`` for some of n rows; one that has no value per row is unchanged.

    >>> rows_of_argument([1, 2, 3], [0, 2], 3), rows_of_argument([("X", "y")], [0, 2], 3)
    ([1, 3], [('X', 'y')])
    """
    listed = isinstance(value, list | tuple) and len(value) == n
    per_row = listed or getattr(value, "shape", ())[:1] == (n,)
    return take_rows(value, index) if per_row and index is not None else value


def addressable(X: Any) -> Any:
    """Return rows as a data frame, a sparse matrix in CSR format or an array, whose rows can be taken."""
    if sp.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "columns") else np.asarray(X)


def take_rows(X: Any, index: Sequence[int] | np.ndarray) -> Any:
    """Return rows of an array, a data frame or a sparse matrix."""
    return _safe_indexing(X, index)
