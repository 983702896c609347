"""Evaluate predictions of K classes, one class at a time or through their confidence.

Each view is an Evaluation of two classes, so every diagram, table and interval works unchanged: class k against the
rest, or the predicted class (its probability is the confidence; the label is whether it was right).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.calibrators import one_class
from calib.evaluate.arrays import read_arrays
from calib.evaluate.record import Evaluation
from calib.evaluate.rows import RowCount
from calib.kernel.cache import once, share
from calib.kernel.checks import InputError, one_name, one_of, weight_vector
from calib.kernel.hooks import HOOKS
from calib.kernel.markup import html_table
from calib.kernel.read_as import ReadAs
from calib.kernel.records import Predictions
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import listed
from calib.metrics import (
    Metric,
    accuracy,
    auc,
    brier_score,
    classwise_calibration_error,
    confidence_calibration_error,
    confidence_interval,
    expected_calibration_error,
    log_loss,
    top_label_calibration_error,
)
from calib.metrics.confidence import mean_interval
from calib.metrics.joint_decomposition import decompose_joint_log_loss
from calib.metrics.joint_intervals import CALIBRATION_ERRORS, corrected_interval, joint_interval
from calib.metrics.kernel_test import KernelTest, kernel_test
from calib.metrics.losses import joint_log_losses, joint_squared_errors
from calib.placements import Scored
from calib.recipe import Recipe

TOP = "top"
MOST_NAMED = 20  # most classes that a message lists


JOINT_SCORES = {
    score.key: score
    for score in (
        Metric(
            "log_loss",
            "Log loss, all classes",
            log_loss,
            False,
            "Mean of −ln of the probability of the true class.",
        ),
        Metric(
            "brier",
            "Brier score, all classes",
            brier_score,
            False,
            "Summed over the classes; for two classes, twice the usual Brier score.",
        ),
        Metric(
            "accuracy",
            "Accuracy, all classes",
            accuracy,
            True,
            "Share of rows whose most probable class is true.",
        ),
        Metric(
            "auc",
            "AUC, mean of classes",
            auc,
            True,
            "Mean over the classes of the AUC of each against the rest.",
        ),
        Metric(
            "confidence_ece",
            "Confidence ECE",
            confidence_calibration_error,
            False,
            "Calibration error of the highest probability of each row, in the bins of the diagram.",
        ),
        Metric(
            "top_label_ece",
            "Top-label ECE",
            top_label_calibration_error,
            False,
            "Confidence ECE within each predicted class, averaged over rows.",
        ),
        Metric(
            "classwise_ece",
            "Class-wise ECE",
            classwise_calibration_error,
            False,
            "Mean over the classes of the calibration error of each against the rest.",
        ),
    )
}
"""Score of all classes together by key."""


LOSS_DECOMPOSITION = {
    "mcb": (
        "Miscalibration of the log loss",
        "What the best temperature would take off the log loss (MCB): at most the whole calibration error.",
    ),
    "dsc": (
        "Discrimination of the log loss",
        "By how much the log loss after this temperature is below that of the class shares (DSC).",
    ),
    "unc": (
        "Uncertainty of the log loss",
        "Log loss of the class shares, given to every row (UNC). Log loss = MCB − DSC + UNC.",
    ),
}
"""Part of the log loss of all classes → its name for people and what it is."""

LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "brier": joint_squared_errors,
    "log_loss": joint_log_losses,
}
"""Key of a score that is a mean over rows → function of the loss of each row, (n,)."""


@dataclass(frozen=True, eq=False)
class JointEvaluation:
    """Frozen predictions of K classes and the observed labels.

    Attributes
    ----------
    y : int (n,)
        Column of each row's class, 0 … K − 1.
    predictions
        Name → P, (n, K).
    sample_weight, cluster : (n,) or None
        Weight and cluster of each row.
    features
        DataFrame (n, d) of other columns, or None.
    names
        Names of the classes, (K,); empty if only their numbers are known.
    whole
        Evaluation of a Recipe with arrays of all classes (y in 0 … K − 1, scores and each p (m, K)), from which views
        are made; None for existing predictions.
    chosen : int (n,) or None
        Class that a Recipe's model predicts, at the stated shares of the classes if there are any.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 2000)
    >>> y = [rng.choice(3, p=row) for row in P]
    >>> found = JointEvaluation.from_predictions(y, P)
    >>> found.of("top").verdict.finding, found.of(2).verdict.finding
    ('no sign', 'no sign')
    >>> list(found.metrics.columns)
    ['log_loss', 'brier', 'accuracy', 'auc', 'confidence_ece', 'top_label_ece', 'classwise_ece']
    >>> found.by_class()[["observed", "predicted"]].round(2).loc[1].tolist()
    [0.34, 0.33]
    """

    y: np.ndarray
    predictions: Mapping[str, np.ndarray]
    sample_weight: np.ndarray | None = None
    cluster: np.ndarray | None = None
    features: Any = None
    names: tuple[str, ...] = ()
    whole: Evaluation | None = None
    chosen: np.ndarray | None = None
    arrays_read_as: ReadAs | None = None

    @classmethod
    def of_recipe(cls, whole: Evaluation, chosen: np.ndarray | None = None) -> JointEvaluation:
        """Make a JointEvaluation from a Recipe's Evaluation with arrays of all classes."""
        return cls(
            whole.y,
            {key: one.p for key, one in whole.predictions.items()},
            whole.weight,
            whole.cluster,
            names=whole.dataset.names,
            whole=whole,
            chosen=whole.scores.argmax(axis=1) if chosen is None else chosen,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        p: ArrayLike | Mapping[str, ArrayLike],
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        features: Any = None,
        *,
        groups: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> JointEvaluation:
        """Evaluate existing probabilities of K classes on all rows.

        Parameters
        ----------
        y : (n,)
            Column of each row's class, 0 … K − 1; or its name, if p has named columns.
        p : (n, K), or a mapping name → such an array or DataFrame
            Probabilities of the classes; rows sum to 1.
        sample_weight, cluster, features, groups
            See ``Evaluation.from_predictions``.
        pos_label
            Must be None: all classes are evaluated together.

        Raises
        ------
        InputError
            For labels other than 0 … K − 1, rows that do not sum to 1, or arrays of different shapes.
        """
        if pos_label is not None:
            raise InputError("pos_label is for two classes. Use .of(k) for class k against the rest.")
        found = read_arrays(y, p, sample_weight, one_name(cluster, groups), features, joint=True)
        weights = None if found.weight is None else weight_vector(found.weight, len(found.y))
        return cls(
            found.y,
            found.columns,
            weights,
            found.cluster,
            found.features,
            found.names,
            arrays_read_as=found.read_as,
        )

    @property
    def read_as(self) -> ReadAs | None:
        """How the table or the arrays were read: label, classes, and what each score is."""
        return self.arrays_read_as if self.whole is None else self.whole.dataset.read_as

    @property
    def before(self) -> JointEvaluation | None:
        """JointEvaluation at the table's own shares of the classes, if others are stated, else None."""
        whole = self.whole
        if whole is None or whole.before is None:
            return None
        before = whole.before
        return once(self, "before", lambda: self.of_recipe(before, self.chosen)).with_view(whole.recipe)

    @property
    def counts(self) -> np.ndarray | None:
        """Number of rows that each test row represents, if its weight means something else (``Evaluation.counts``)."""
        return None if self.whole is None else self.whole.counts

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        # predictions is empty if all were refused
        return len(self.names) or next(iter(self.predictions.values())).shape[1]

    @property
    def shares(self) -> np.ndarray:
        """Share of each class among the rows, (K,)."""
        counts = np.bincount(self.y, self.sample_weight, minlength=self.classes)
        return counts / counts.sum()

    def of(self, k: int | str, name: str | None = None) -> Evaluation:
        """Return the two-class Evaluation of class k against the rest, or of the confidence.

        Parameters
        ----------
        k
            Number of a class, or "top": each row's most probable class, and whether it was right.
        name
            Predictions whose confidence is shown; the first if None. Views of a class show all predictions, since their
            labels are equal. For a Recipe without ``name``, the confidence is each calibrator's probability of the
            class that the model predicts, so that all calibrators are evaluated on the same outcomes.

        Raises
        ------
        InputError
            If there is no such class or no such name.
        """
        one_of(k, (*range(self.classes), TOP), "k")
        if self.whole is not None and (k != TOP or name is None):
            found = once(self, (k, None), lambda: view(self, k))
        else:
            name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
            found = once(self, (k, name if k == TOP else None), lambda: self._of(k, name))
        return found if self.whole is None else found.with_view(self.whole.recipe)

    def with_view(self, recipe: Recipe) -> JointEvaluation:
        """Return the JointEvaluation with another Recipe's view fields, as ``Evaluation.with_view`` does."""
        if self.whole is None or (whole := self.whole.with_view(recipe)) is self.whole:
            return self
        viewed = replace(self, whole=whole)
        share(self, viewed)
        return viewed

    def column(self, name: str | None) -> int | str:
        """Return the number of a class by its name, or "top" for None.

        Raises
        ------
        InputError
            If there is no such class.
        """
        if name is None:
            return TOP
        if name not in self.names:
            shown = listed([repr(each) for each in self.names[:MOST_NAMED]])
            more = "" if len(self.names) <= MOST_NAMED else f" and {len(self.names) - MOST_NAMED} others"
            raise InputError(f"view_class must be one of the classes {shown}{more}, but is {name!r}.")
        return self.names.index(name)

    def frame(self) -> pd.DataFrame:
        """Return one line per row: its class, and probabilities of all classes in columns "name: class"."""
        names = np.asarray(self.names or range(self.classes))
        columns = {
            f"{name}: {each}": P[:, k] for name, P in self.predictions.items() for k, each in enumerate(names)
        }
        return pd.DataFrame({"class": names[self.y], **columns})

    def at(self, places: np.ndarray) -> JointEvaluation:
        """Evaluate only the test rows at these positions."""
        assert self.whole is not None
        assert self.chosen is not None
        return self.of_recipe(self.whole.at(places), self.chosen[places])

    def _of(self, k: int | str, name: str) -> Evaluation:
        y, p = self._confidence(name) if k == TOP else (self.y == k, self._columns(k))
        found = Evaluation.from_predictions(y, p, self.sample_weight, self.cluster, self.features)
        data = replace(found.dataset, read_as=self.read_as)  # that of all classes
        return replace(found, dataset=data, of_confidence=k == TOP)

    def _confidence(self, name: str) -> tuple[np.ndarray, Any]:
        P = self.predictions[name]
        confidence = P.max(axis=1)
        return P.argmax(axis=1) == self.y, confidence if name == "none" else {name: confidence}

    def _columns(self, k: Any) -> Any:
        columns = {name: P[:, k] for name, P in self.predictions.items()}
        return columns["none"] if list(columns) == ["none"] else columns

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per name, one column per score of all classes together.

        Calibration errors use the Recipe's bins and binning, as the diagram and the confidence do. The Brier score is
        summed over the classes, which for two classes is twice the usual one.
        """
        return once(self, ("metrics", *self._bins.values()), lambda: self._scored(JOINT_SCORES))

    @property
    def _bins(self) -> dict[str, Any]:
        """The options of binned errors: those of the Recipe, or the default ones."""
        recipe = Recipe() if self.whole is None else self.whole.recipe
        return {"bins": recipe.bins, "strategy": recipe.binning}

    def _scored(self, scores: Iterable[str]) -> pd.DataFrame:
        def scored(key: str, P: np.ndarray) -> float:
            options = self._bins if JOINT_SCORES[key].binned else {}
            return JOINT_SCORES[key].function(self.y, P, sample_weight=self.sample_weight, **options)

        rows = {name: {key: scored(key, P) for key in scores} for name, P in self.predictions.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def intervals(self, name: str | None = None) -> pd.DataFrame:
        """Return the scores of one of the predictions with their 95 % intervals, one row per score of ``JOINT_SCORES``.

        Columns: ``value``, ``low`` and ``high`` of ``joint_interval``, and ``corrected``, the bias-corrected form of
        calibration errors, the root of the mean squared gap that is more than chance, with ``corrected_low`` and
        ``corrected_high``. They are missing for other scores, and with weights that are not counts.
        """
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        return once(self, ("intervals", name, *self._bins.values()), lambda: self._intervals(name))

    def _intervals(self, name: str) -> pd.DataFrame:
        P, weights, bins = self.predictions[name], self.sample_weight, self._bins
        whole = weights is None or are_whole(weights)
        lines = {}
        for key, score in JOINT_SCORES.items():
            ends = joint_interval(key, self.y, P, weights, self.cluster, counts=self.counts, **bins)
            binned = key in CALIBRATION_ERRORS and whole
            corrected = (np.nan,) * 3
            if binned:
                around = corrected_interval(key, self.y, P, weights, self.cluster, counts=self.counts, **bins)
                corrected = (score.function(self.y, P, sample_weight=weights, debiased=True, **bins), *around)
            lines[key] = (self.metrics.loc[name, key], *ends, *corrected)
        columns = ["value", "low", "high", "corrected", "corrected_low", "corrected_high"]
        return pd.DataFrame.from_dict(lines, orient="index", columns=columns)

    def parts(self, name: str | None = None) -> pd.DataFrame:
        """Return MCB, DSC and UNC of the log loss of one of the predictions, the rows of ``LOSS_DECOMPOSITION``.

        Columns: ``value``, ``low`` and ``high`` of ``decompose_joint_log_loss``.
        """
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        return once(self, ("parts", name), lambda: self._parts(name))

    def _parts(self, name: str) -> pd.DataFrame:
        P = self.predictions[name]
        found = decompose_joint_log_loss(self.y, P, self.sample_weight, self.cluster, counts=self.counts)
        lines = {key: (getattr(found, key), *found.intervals[key]) for key in LOSS_DECOMPOSITION}
        return pd.DataFrame.from_dict(lines, orient="index", columns=["value", "low", "high"])

    def kernel_test(self, name: str | None = None) -> KernelTest | None:
        """Test whether all K probabilities of one of the predictions are right together (``kernel_test``).

        None for rows in clusters or with weights, whose labels cannot be redrawn one by one, and for a single row.
        """
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        if self.sample_weight is not None or self.cluster is not None or len(self.y) < 2:
            return None
        return once(self, ("kernel_test", name), lambda: kernel_test(self.y, self.predictions[name]))

    @property
    def rows(self) -> Rows:
        """Rows for intervals of mean losses; their y tells whether the first predictions' class was right."""
        right = self._confidence(next(iter(self.predictions)))[0].astype(np.intp)
        return Rows(right, weight=self.sample_weight, counts=self.counts, cluster=self.cluster)

    def differences(self) -> pd.DataFrame:
        """Return the change of the losses of all classes from the first predictions to each of the others.

        One row per name and score ("brier", "log_loss"), with columns calibrator, metric, value, lower, upper: the
        mean difference of the rows' losses, with the 95 % interval of ``mean_interval``. The change of an infinite
        loss has no interval.
        """
        return once(self, "differences", self._differences)

    def _differences(self) -> pd.DataFrame:
        reference, *others = self.predictions
        rows = self.rows
        first = {metric: loss(self.y, self.predictions[reference]) for metric, loss in LOSSES.items()}
        lines = []
        for name in others:
            for metric, loss in LOSSES.items():
                with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN
                    change = loss(self.y, self.predictions[name]) - first[metric]
                lines.append((name, metric, *mean_interval(rows, change)))
        return pd.DataFrame(lines, columns=["calibrator", "metric", "value", "lower", "upper"])

    def by_class(self, name: str | None = None) -> pd.DataFrame:
        """Return one row per class, the largest gap first.

        Columns: ``rows`` of the class, ``observed`` and mean ``predicted`` share, ``gap`` (predicted − observed) with
        its 95 % interval ``low`` to ``high`` (Wilson's, of the observed share), and ``ece`` against the rest.
        """
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        key = ("by_class", name, *self._bins.values())
        return once(self, key, lambda: self._by_class(self.predictions[name]))

    def _by_class(self, P: np.ndarray) -> pd.DataFrame:
        weights = self.sample_weight
        rows = []
        for k in range(P.shape[1]):
            y, p = self.y == k, P[:, k]
            observed, predicted = (float(np.average(values, weights=weights)) for values in (y, p))
            low, high = confidence_interval(
                "observed_expected", y, p, weights, self.cluster, counts=self.counts
            )
            ends = predicted * (1 - high), predicted * (1 - low)
            ece = expected_calibration_error(y, p, sample_weight=weights, **self._bins)
            rows.append((int(y.sum()), observed, predicted, predicted - observed, *ends, ece))
        columns = ["rows", "observed", "predicted", "gap", "low", "high", "ece"]
        index = pd.Index(self.names or range(P.shape[1]), name="class")
        table = pd.DataFrame(rows, columns=columns, index=index)
        return table.sort_values("gap", key=np.abs, ascending=False, kind="stable")

    @property
    def verdict(self) -> Any:
        """Verdict on the confidence of the first predictions; for a class, use ``of(k).verdict``."""
        return self.of(TOP).verdict

    def figure(self, key: str = "reliability", k: int | str = TOP, **view: Any) -> Any:
        """Draw a figure of the confidence, or of class k against the rest; see ``Evaluation.figure``."""
        return self.of(k).figure(key, **view)

    def plot(self, ax: Any = None, k: int | str = TOP, **view: Any) -> Any:
        """Draw the reliability diagram of the confidence, or of class k, in an axis; see ``Evaluation.plot``."""
        return self.of(k).plot(ax, **view)

    def _repr_html_(self) -> str:
        """Return verdict, scores and diagram of the confidence, and the table of classes, for notebooks."""
        metrics = html_table(self.metrics, float_format="%.4f")
        return f"{self.of(TOP)._repr_html_()}{metrics}{html_table(self.by_class(), float_format='%.3f')}"


def view(joint: JointEvaluation, k: int | str) -> Evaluation:
    """Return the Evaluation of class k against the rest, or of the confidence, from that of all classes."""
    whole = joint.whole
    assert whole is not None
    # The predicted class is the model's own, so that all calibrators are evaluated on the same outcomes
    chosen = joint.chosen if k == TOP else np.full(len(whole.y), k)
    assert chosen is not None
    each = np.arange(len(chosen))
    y = (whole.y == chosen).astype(np.intp)
    names = ("wrong", "right") if k == TOP else (f"not {joint.names[int(k)]}", joint.names[int(k)])
    data = whole.dataset
    if k == TOP:
        calibrated_on = whole.calibration_scores.max(axis=1, initial=0.0)
        came = whole.calibration_scores.argmax(axis=1) == whole.calibration_y
    else:
        calibrated_on, came = whole.calibration_scores[:, int(k)], whole.calibration_y == k
    found = replace(
        whole,
        recipe=whole.recipe.replace(view_class=None if k == TOP else names[1]),
        dataset=replace(data, classes=names, **({} if k == TOP else {"y": data.coded == k})),
        y=y,
        scores=whole.scores[each, chosen],
        predictions=MappingProxyType(
            {key: _of_class(one, y, each, chosen) for key, one in whole.predictions.items()}
        ),
        calibrators=MappingProxyType({} if k == TOP else _calibrators_of(whole.calibrators, int(k))),
        calibration_scores=calibrated_on,
        calibration_y=came.astype(np.intp),
        flow=tuple({part: _counts_of(one, k) for part, one in fold.items()} for fold in whole.flow),
        before=None if joint.before is None else joint.before.of(k),
        joint=joint,
        of_confidence=k == TOP,
    )
    return found if k != TOP else replace(found, flow=_with_right_rows(found))


def _with_right_rows(found: Evaluation) -> tuple[Mapping[str, RowCount], ...]:
    """Return the counts of each fold with its right test predictions; unknown if only some test rows are used."""
    ends = np.cumsum([fold["test"].lines for fold in found.flow])
    if len(found.y) != ends[-1]:
        return found.flow
    right = np.split(or_ones(found.weight, len(found.y)) * found.y, ends[:-1])
    return tuple(
        {**fold, "test": fold["test"]._replace(events=float(correct.sum()))}
        for fold, correct in zip(found.flow, right, strict=True)
    )


def scored_class(evaluation: Evaluation, tests: Scored) -> Scored:
    """Return scored rows for the view of an Evaluation: with K classes, the scores of the class shown."""
    if evaluation.joint is None:
        return tests
    k = evaluation.joint.column(evaluation.recipe.view_class)
    by_fold = None if tests.by_fold is None else tests.by_fold[:, :, k]
    return replace(tests, scores=tests.scores[:, k], by_fold=by_fold)


def _of_class(one: Predictions, y: np.ndarray, each: np.ndarray, chosen: np.ndarray) -> Predictions:
    """Return the predictions of one class per row; rows of p sum to 1, and pairs of intervals are unchanged."""
    ends = {name: getattr(one, name) for name in ("p", "lower", "upper", "p0", "p1")}
    return replace(one, y=y, **{name: end[each, chosen] for name, end in ends.items() if end is not None})


def _calibrators_of(calibrators: Mapping[str, tuple[Any, ...]], k: int) -> dict[str, tuple[Any, ...]]:
    """Return the two-class calibrators of class k, if one was fitted for it in every fold."""
    found = {key: tuple(one_class(made, k) for made in each) for key, each in calibrators.items()}
    return {key: each for key, each in found.items() if all(made is not None for made in each)}


def _counts_of(one: RowCount, k: int | str) -> RowCount:
    return one._replace(events=np.nan if k == TOP else float(one.events[k]))


def of_two(evaluation: Evaluation, k: int | str, name: str | None) -> Evaluation:
    """Return the two-class Evaluation of class 0, or of the confidence, for a two-class Evaluation."""
    found = once(evaluation, ("of", k, name), lambda: _of_two(evaluation, k, name))
    return found.with_view(evaluation.recipe)


def _of_two(evaluation: Evaluation, k: int | str, name: str | None) -> Evaluation:
    found = once(evaluation, "joint", lambda: _joined(evaluation)).of(k, name)
    before = evaluation.before
    # It knows how many rows each row represents, which weights at a base rate do not say
    return found if before is None else replace(found, before=before.of(k, name))


def _joined(evaluation: Evaluation) -> JointEvaluation:
    """Return the test rows with one column per class, for two classes."""
    pairs = {key: np.column_stack([1 - one.p, one.p]) for key, one in evaluation.predictions.items()}
    return JointEvaluation.from_predictions(
        evaluation.y, pairs, evaluation.weight, evaluation.cluster, evaluation.dataset.X.iloc[evaluation.rows]
    )


HOOKS["of"] = of_two
