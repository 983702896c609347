"""Scikit-learn classifier with calibrated probabilities: one placement and one calibrator around any classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from calib.calibrators import CALIBRATORS, JointCalibrator, ScoreCalibrator
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate, BaseRates
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.models.base import class_columns
from calib.placements import PLACEMENTS, Outcome
from calib.placements.adjusted import Adjusted, unadjusted
from calib.placements.out_of_bag import OutOfBag
from calib.splits import SPLITS, RowInfo


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier with calibrated probabilities, and with intervals if the calibrator is Venn or Venn–Abers.

    Any two labels are allowed; class 1 is the later in sorted order. After ``fit``: ``classes_``, ``placed_`` (the
    fitted placement, with the calibration scores and notes) and ``calibrator_``.

    With more than two labels, the calibrator is one of K classes ("vector", "structured_matrix" …, ``OneVsRest``,
    ``Pairwise``); any other key means one against the rest. Placements are then "none", "split", "cv", "oob_whole" and
    "train".

    Parameters
    ----------
    estimator
        Scikit-learn classifier or pipeline; clones of it are trained.
    calibrator
        Key of CALIBRATORS or an instance. "platt" and ``Platt()`` are fitted on the log-odds of probabilities and on
        unchanged margins; ``Platt(on="score")`` is fitted on unchanged scores of either kind.
    placement
        Which scores calibrate: "none", "split", "cv", "oob", "oob_whole", "train" or "full".
    calibration_size
        Share of the rows held out (split).
    cv
        Number of folds (cv).
    random_state
        Seed of the split, the folds and the out-of-bag draws; the estimator has its own.
    base_rate
        Frequency of class 1 in deployment, in (0, 1): all odds are multiplied by its ratio to the base rate of the
        calibration. None changes nothing. For K classes, shares (K,) in the order of ``classes_``, which sum to 1.

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
    """

    placed_: Any

    def __init__(
        self,
        estimator: BaseEstimator,
        calibrator: str | BaseEstimator = "venn_abers",
        placement: str = "split",
        *,
        calibration_size: float = 1 / 3,
        cv: int = 5,
        random_state: Any = None,
        base_rate: Any = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.placement = placement
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state
        self.base_rate = base_rate

    def fit(self, X: Any, y: Any, watch: Watch | None = None, *, groups: Any = None) -> CalibratedClassifier:
        """Train and calibrate.

        Parameters
        ----------
        X
            Rows (n), as the estimator accepts them.
        y
            Labels (n) of at least two classes.
        watch
            Reports progress and can cancel the fit.
        groups
            Cluster of each row (n); no cluster is divided between training and calibration rows.

        Raises
        ------
        InputError
            If the data, the estimator or an option does not allow it; with the remedy.
        """
        checks.one_of(self.placement, PLACEMENTS, "placement")
        if self.base_rate is not None and np.ndim(self.base_rate) == 0:
            checks.in_range(self.base_rate, "base_rate", 0, 1, open_ends=True)
        calibrator = self._calibrator()
        self.placed_ = PLACEMENTS[self.placement]().fit(
            self.estimator,
            X,
            y,
            calibration_size=self.calibration_size,
            cv=self.cv,
            random_state=self.random_state,
            watch=watch,
            **self._by_cluster(y, groups),
        )
        made = self.placed_.calibrate(calibrator, X)
        self.calibrator_ = made if self.base_rate is None else Adjusted(made, self._rate(made))
        return self._fitted()

    def _rate(self, made: Any) -> BaseRate | BaseRates:
        """Return the change from the base rate of the calibration to the deployment base rate."""
        fitted, joint = self.placed_.base_rate(made), self.placed_.joint
        if joint != (np.ndim(self.base_rate) == 1):
            needed = (
                f"one share for each of the {len(fitted)} classes" if joint else "one number for two classes"
            )
            raise InputError(f"base_rate must be {needed}, but is {checks.short_repr(self.base_rate)}.")
        return BaseRates(fitted, self.base_rate) if joint else BaseRate(fitted, self.base_rate)

    def _fitted(self) -> CalibratedClassifier:
        self.classes_ = self.placed_.classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.placed_.model, name):
                setattr(self, name, getattr(self.placed_.model, name))
        return self

    @staticmethod
    def _by_cluster(y: Any, groups: Any) -> dict[str, Any]:
        """Return the arguments of the placement for clusters, if there are any."""
        if groups is None:
            return {}
        cluster = np.unique(np.asarray(groups), return_inverse=True)[1]
        checks.same_length(y=y, groups=cluster)
        return {"rows": RowInfo(np.asarray(y), cluster=cluster), "split": SPLITS["cluster"]()}

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
        tags.classifier_tags.multi_class = PLACEMENTS[self.placement].for_k
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags
