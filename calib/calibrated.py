"""Scikit-learn classifier with calibrated probabilities: one placement and one calibrator around any classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from calib.calibrators import CALIBRATORS, INPUT_TABLES, JointCalibrator, ScoreCalibrator
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate, BaseRates, change_between
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.weights import effective_weights
from calib.kernel.wording import listed
from calib.models.base import class_columns, fit_takes, model_name
from calib.placements import PLACEMENTS, Outcome
from calib.placements.adjusted import Adjusted, unadjusted
from calib.placements.base import (
    plain_labels,
    rows_of_argument,
    take_rows,
    trained_elsewhere,
    unweighted,
)
from calib.placements.out_of_bag import OutOfBag
from calib.splits import SPLITS, RowInfo, TrainTestRows
from calib.splits.base import GivenSplit

FOLDS = 5  # if cv is None, as in scikit-learn
FITTED = "fitted"
"""Placement of a fitted estimator: all rows calibrate, and the estimator is never fitted again."""


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier with calibrated probabilities, and with intervals if the calibrator is Venn or Venn–Abers.

    Any two labels are allowed; class 1 is the later in sorted order. After ``fit``: ``classes_``, ``placed_`` (the
    fitted placement, with the calibration scores), ``calibrator_`` and ``notes_`` (what a person should know, one
    sentence each).

    With more than two labels, the calibrator is one of K classes ("vector", "structured_matrix" …, ``OneVsRest``,
    ``Pairwise``); any other key means one against the rest. Placements are then "none", "split", "cv", "oob_whole",
    "train" and "fitted". Margins of K classes become probabilities by the softmax.

    With scikit-learn's metadata routing, ``set_fit_request`` of the estimator, of the calibrator and of this class says
    who gets ``sample_weight``; a calibrator gets it by default.

    Parameters
    ----------
    estimator
        Scikit-learn classifier or pipeline. Clones of it are trained, except with the placement "fitted" and for a
        ``FrozenEstimator``.
    calibrator
        Key of CALIBRATORS or an instance. "platt" and ``Platt()`` are fitted on the log-odds of probabilities and on
        unchanged margins; ``Platt(on="score")`` is fitted on unchanged scores of either kind.
    placement
        Which scores calibrate: "none", "split", "cv", "oob", "oob_whole", "train", "full", or "fitted" for those of a
        fitted estimator.
    calibration_size
        Share of the rows held out (split).
    cv
        Number of folds (cv), None for five, a splitter of scikit-learn, or pairs of index arrays (train, calibration).
        For the placement "split", the last pair of a splitter counts.
    random_state
        Seed of the split, the folds and the out-of-bag draws; the estimator has its own.
    base_rate
        Frequency of class 1 in deployment, in (0, 1): all odds are multiplied by its ratio to the base rate of the
        calibration. None changes nothing. For K classes, shares (K,) in the order of ``classes_``, which sum to 1.
    n_jobs
        Number of folds that are fitted in parallel (cv), as in scikit-learn.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.arange(12.0)[:, None]
    >>> y = np.array(["no", "no", "no", "no", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes"])
    >>> model = CalibratedClassifier(GaussianNB(), "venn_abers", random_state=0).fit(X, y)
    >>> model.predict([[0.0], [11.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> three = CalibratedClassifier(GaussianNB(), "temperature", random_state=0).fit(X, np.repeat(["a", "b", "c"], 4))
    >>> three.predict_proba(X).shape
    (12, 3)

    Platt scaling here is the class ``Platt`` on the log-odds of the model's probabilities:

    >>> from calib.calibrators import Platt
    >>> model = CalibratedClassifier(GaussianNB(), "platt", random_state=0).fit(X, y)
    >>> held_out, p = model.placed_, model.placed_.model.predict_proba(X)[:, 1]
    >>> platt = Platt(on="log-odds", clip=model.calibrator_.clip_).fit(held_out.scores, held_out.y)
    >>> bool((platt.predict(p) == model.predict_proba(X)[:, 1]).all()), model.calibrator_.notes_[0]
    (True, 'fitted on the log-odds of the scores.')

    A fitted model is not changed:

    >>> fitted = GaussianNB().fit(X[::2], y[::2])
    >>> model = CalibratedClassifier(fitted, "isotonic", "fitted").fit(X[1::2], y[1::2])
    >>> bool((model.placed_.model.predict_proba(X) == fitted.predict_proba(X)).all())
    True
    """

    __metadata_request__fit = {"groups": True, "watch": UNUSED}  # noqa: RUF012 – scikit-learn reads this name

    placed_: Any

    def __init__(
        self,
        estimator: BaseEstimator,
        calibrator: str | BaseEstimator = "venn_abers",
        placement: str = "split",
        *,
        calibration_size: float = 1 / 3,
        cv: Any = 5,
        random_state: Any = None,
        base_rate: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.placement = placement
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state
        self.base_rate = base_rate
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        watch: Watch | None = None,
        **fit_params: Any,
    ) -> CalibratedClassifier:
        """Train and calibrate.

        Parameters
        ----------
        X
            Rows (n), as the estimator accepts them.
        y
            Labels (n) of at least two classes.
        sample_weight
            Weight of each row (n), for the estimator and the calibrator. Whole numbers have the effect of repeating
            rows, and 0 of leaving them out; the scale of others has no effect on the calibrator.
        groups
            Cluster of each row (n); no cluster is divided between training and calibration rows. A splitter in ``cv``
            gets them.
        watch
            Reports progress and can cancel the fit.
        fit_params
            Further arguments of the estimator's ``fit``; those with one value per row are divided like the rows.

        Raises
        ------
        InputError
            If the data, the estimator or an option does not allow it; with the remedy.

        Warns
        -----
        UserWarning
            If a fitted estimator is fitted again, or if the estimator does not support weights.
        """
        self._check_options()
        estimator, calibrator = self._given_estimator(), self._calibrator()
        X, y = indexable(X, plain_labels(y))
        classes = self._known_classes(estimator, y)
        weight = None if sample_weight is None else checks.weight_vector(sample_weight, len(y))
        given, split_groups, calibrator_weighs = self._routed(
            estimator, calibrator, weight, groups, fit_params
        )
        # Rows of weight 0 are left out before anything else can see them
        kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        cuts = self._cuts(X, y, split_groups, kept)
        if len(kept) < len(y):
            given = {name: rows_of_argument(value, kept, len(y)) for name, value in given.items()}
            X, y, weight, groups = (
                None if each is None else take_rows(each, kept) for each in (X, y, weight, groups)
            )
        self.placed_ = PLACEMENTS["split" if self.placement == FITTED else self.placement]().fit(
            estimator,
            X,
            y,
            calibration_size=self.calibration_size,
            cv=cast(int, self.cv) if np.isscalar(self.cv) else FOLDS,
            random_state=self.random_state,
            watch=watch,
            rows=self._rows(y, weight if calibrator_weighs else None, groups),
            split=self._split(cuts, groups),
            classes=classes,
            params=given,
            n_jobs=self.n_jobs,
        )
        made = self.placed_.calibrate(calibrator, X)
        self.calibrator_ = made if self.base_rate is None else Adjusted(made, self._rate(made))
        return self._fitted()

    def _check_options(self) -> None:
        checks.one_of(self.placement, (*PLACEMENTS, FITTED), "placement")
        if self.base_rate is not None and np.ndim(self.base_rate) == 0:
            checks.in_range(self.base_rate, "base_rate", 0, 1, open_ends=True)

    def _rate(self, made: Any) -> BaseRate | BaseRates:
        """Return the change from the base rate of the calibration to the deployment base rate."""
        fitted, joint = self.placed_.base_rate(made), self.placed_.joint
        if joint != (np.ndim(self.base_rate) == 1):
            needed = (
                f"one share for each of the {len(fitted)} classes" if joint else "one number for two classes"
            )
            raise InputError(f"base_rate must be {needed}, but is {checks.short_repr(self.base_rate)}.")
        return change_between(fitted, self.base_rate)

    def _fitted(self) -> CalibratedClassifier:
        self.classes_ = self.placed_.classes
        self.notes_ = (*self.placed_.notes, *self._absent(), *getattr(self.calibrator_, "notes_", ()))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.placed_.model, name):
                setattr(self, name, getattr(self.placed_.model, name))
        return self

    def _absent(self) -> tuple[str, ...]:
        """Name the classes without a calibration row."""
        placed = self.placed_
        absent = [repr(label) for k, label in enumerate(placed.classes.tolist()) if not (placed.y == k).any()]
        return (f"No calibration row has the label {listed(absent)}.",) if absent and len(placed.y) else ()

    def _given_estimator(self) -> Any:
        """Return the estimator, frozen for the placement "fitted"; warn if a fitted one is fitted again."""
        if trained_elsewhere(self.estimator):
            return self.estimator
        name, fitted = model_name(self.estimator), _is_fitted(self.estimator)
        if self.placement == FITTED and not fitted:
            raise InputError(
                f"placement='fitted' needs a fitted estimator, but {name} is not fitted. Fit it first. A clone, as "
                "in a grid search, is not fitted; FrozenEstimator(estimator) stays fitted."
            )
        if fitted and self.placement != FITTED:
            warnings.warn(
                f"{name} is already fitted, but placement={self.placement!r} fits a clone of it on these rows. To keep "
                "the fitted model and only calibrate it, choose placement='fitted'.",
                stacklevel=3,
            )
        return FrozenEstimator(self.estimator) if self.placement == FITTED else self.estimator

    @staticmethod
    def _known_classes(estimator: Any, y: np.ndarray) -> np.ndarray | None:
        """Return all classes of a fitted estimator; None if the labels say which there are."""
        if not trained_elsewhere(estimator) or not hasattr(estimator, "classes_"):
            return None
        classes = np.asarray(estimator.classes_)
        if unknown := sorted(set(y.tolist()) - set(classes.tolist()), key=str):
            raise InputError(
                f"y has the labels {listed([repr(each) for each in unknown])}, but the fitted estimator knows only "
                f"{listed([repr(each) for each in classes.tolist()])}. Use the labels with which the "
                f"estimator was fitted."
            )
        return classes

    def _routed(
        self, estimator: Any, calibrator: Any, weight: Any, groups: Any, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Any, bool]:
        """Return the arguments of the estimator's fit, the groups for the splitter, and who else gets the weights."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight, groups=groups, **params)
            said = routed.get("calibrator")
            return (
                dict(routed.estimator.fit),
                routed.splitter.split.get("groups"),
                said is None or "sample_weight" in said.fit,
            )
        takes = fit_takes(estimator, "sample_weight")
        if weight is not None and not takes and not trained_elsewhere(estimator):
            warnings.warn(f"{unweighted(estimator)} Only the calibrator uses the weights.", stacklevel=3)
        return (
            dict(params) | ({"sample_weight": weight} if takes and weight is not None else {}),
            groups,
            True,
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who receives the arguments of ``fit``, for scikit-learn's metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=to_fit)
        )
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router.add(calibrator=self._calibrator(), method_mapping=to_fit)

    def _cuts(self, X: Any, y: Any, groups: Any, kept: np.ndarray) -> list[TrainTestRows] | None:
        """Return the cuts that ``cv`` states, as positions among the kept rows; None if it is a number of folds.

        A splitter divides the kept rows. Index pairs and ``PredefinedSplit`` name rows by their position among all.
        """
        if self.cv is None or np.isscalar(self.cv) or self.placement not in ("split", "cv"):
            return None
        splitter = check_cv(self.cv, y, classifier=True)
        if hasattr(self.cv, "split") and not isinstance(self.cv, PredefinedSplit):
            whole = len(kept) == len(y)  # no copy if possible
            some = (each if each is None or whole else take_rows(each, kept) for each in (X, y, groups))
            return [TrainTestRows(*cut) for cut in splitter.split(*some)]
        place = np.full(len(y), -1)
        place[kept] = np.arange(len(kept))
        return [
            TrainTestRows(*(part[part >= 0] for part in map(place.__getitem__, cut)))
            for cut in splitter.split(X, y, groups)
        ]

    @staticmethod
    def _rows(y: Any, weight: np.ndarray | None, groups: Any) -> RowInfo:
        cluster = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        checks.same_length(y=y, groups=cluster)
        return RowInfo(y, weight=None if weight is None else effective_weights(weight), cluster=cluster)

    @staticmethod
    def _split(cuts: list[TrainTestRows] | None, groups: Any) -> Any:
        if cuts is not None:
            return GivenSplit(cuts)
        return SPLITS["random" if groups is None else "cluster"]()

    def _calibrator(self) -> BaseEstimator:
        if isinstance(self.calibrator, ScoreCalibrator | JointCalibrator):
            return self.calibrator
        return CALIBRATORS[checks.one_of(self.calibrator, CALIBRATORS.everything(), "calibrator")]()

    def outcome(self, X: Any, watch: Watch | None = None) -> Outcome:
        """Return probabilities and intervals of rows in one call.

        Parameters
        ----------
        X : (n, d)
        watch
            Reports progress and can cancel; with the placement full, every row costs two fits.

        Returns
        -------
        Outcome
            Arrays .p .p0 .p1 .lower .upper, each (n,), or (n, K) for K > 2 classes; the last four are None if the
            calibrator gives no intervals. With the placement full, p0 and p1 may cross.
        """
        check_is_fitted(self)
        outcome = self.placed_.predict(unadjusted(self.calibrator_), self.placed_.score(X, watch))
        return outcome.adjusted(self.calibrator_.rate) if isinstance(self.calibrator_, Adjusted) else outcome

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return calibrated probabilities of the classes, (n, K), in the order of ``classes_``."""
        return class_columns(self.outcome(X).p)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable label of each row, (n,); the first class if tied."""
        p = self.outcome(X).p
        return self.classes_[p.argmax(axis=1) if p.ndim == 2 else (p > 0.5).astype(np.intp)]

    def predict_interval(self, X: Any) -> np.ndarray:
        """Return (p0, p1) of class 1 for each row, (n, 2); for K classes, a pair per class and row, (n, K, 2).

        Raises
        ------
        InputError
            If the calibrator gives no intervals.
        """
        outcome = self.outcome(X)
        if outcome.p0 is None or outcome.p1 is None:
            raise InputError(
                f"The calibrator {self._calibrator().key!r} gives one probability and no interval. "
                "Choose 'venn' or 'venn_abers'."
            )
        return np.stack([outcome.p0, outcome.p1], axis=-1)

    def oob_reference(self, X: Any) -> np.ndarray:
        """Return the position in the training set of the row whose out-of-bag trees score each row, int (n,).

        It is a hash of the row and the seed, so equal rows have equal results. Only for the placement oob.
        """
        check_is_fitted(self)
        if type(self.placed_) is not OutOfBag:
            raise InputError(
                f"Reference rows exist only with placement='oob', but placement is {self.placement!r}."
            )
        return self.placed_.index[self.placed_.reference(X)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        for_k = self.placement == FITTED or PLACEMENTS[self.placement].for_k
        tags.classifier_tags.multi_class = for_k and self._calibrator().input not in INPUT_TABLES
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return False
    return True
