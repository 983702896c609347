"""Evaluation record: frozen results of one Recipe on one Dataset, from which all figures and tables are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.calibrators import label_of
from calib.evaluate.arrays import read_arrays
from calib.evaluate.classes import OfAllClasses
from calib.evaluate.estimate import PER_NAT, Estimate
from calib.evaluate.rows import RowCount, needs_test_set, score_column, sum_rows, unweighted_notes
from calib.evaluate.views import TOP, two_class_view
from calib.kernel.cache import cached_result, share
from calib.kernel.checks import InputError, one_name
from calib.kernel.read_as import ReadAs
from calib.kernel.records import Dataset, Predictions
from calib.kernel.rows import Rows
from calib.kernel.segment import in_period, met, period_in_words, segment_in_words
from calib.kernel.weights import are_whole, describe_lines, effective_weights, represented_rows
from calib.kernel.wording import counted as count_of
from calib.kernel.wording import describe_rows
from calib.metrics import METRICS, Metric, metric_value
from calib.metrics.registry import OF_CLASSES, class_metrics
from calib.recipe import OF_ARRAYS, Recipe

if TYPE_CHECKING:
    from calib.analysis.recommendation.advice import Recommendation
    from calib.analysis.recommendation.verdict import Verdict

SQUARED = {"brier": 1, "rmse": 2}  # mean squared differences → the power that makes them one
NOT_OF_SHARES = frozenset(
    (
        *(
            "accuracy",
            "auc",
            "average_precision",
            "accuracy_gap",
            "label_lower",
            "label_upper",
            "brier_skill",
        ),
        *("resolution", "uncertainty", "discrimination"),
    )
)
"""Metrics that need one class per row, or add up to the Brier score of single labels."""


@dataclass(frozen=True, eq=False)
class Evaluation(OfAllClasses):
    """Frozen results on the test rows, pooled over the folds: of two classes, or of K together, with a view of each.

    Attributes
    ----------
    rows
        Int array (m,), positions of the test rows in the dataset.
    y
        Labels of the test rows: 0 and 1, or 0 … K − 1.
    scores
        The model's scores of the test rows, (m,) or (m, K).
    predictions
        Calibrator → Predictions, with p (m,) of class 1 or (m, K).
    refused
        Calibrator → why it does not apply.
    calibrators
        Calibrator → fitted calibrators, one per fold.
    posterior
        P(Y = 1 | x) of the test rows, or None.
    calibration_scores, calibration_y
        Scores and labels of the calibration rows, pooled over the folds.
    weight, calibration_weight
        Float arrays, weight of each test row and of each calibration row, or None. Whole numbers are counts of rows.
    flow
        Number of rows of each fold that "train", "calibrate", "test" or are "unused", as in a gap in time.
    unadjusted
        Evaluation at the table's base rate, if the Recipe states another. All fields above are then at the stated
        base rate, and the test rows are weighted accordingly.
    whole
        Evaluation of K > 2 classes together of which this is a view, or None.
    chosen
        Class that the model of a Recipe predicts, int (m,), at the stated shares of the classes if there are any; None
        for two classes, and for predictions made elsewhere.
    of_confidence
        Whether this is the view of the confidence of K classes: was the model's predicted class right?
    selected
        Whether these are only some test rows, selected by their positions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 2000)
    >>> found = Evaluation.from_predictions([rng.choice(3, p=row) for row in P], P)
    >>> found.view("top").verdict.finding, found.view(2).verdict.finding
    ('no sign', 'no sign')
    >>> list(found.metrics.columns)
    ['log_loss', 'brier', 'accuracy', 'auc', 'confidence_ece', 'top_label_ece', 'classwise_ece']
    >>> found.by_class()[["observed", "predicted"]].round(2).loc[1].tolist()
    [0.34, 0.33]
    """

    recipe: Recipe
    dataset: Dataset
    rows: np.ndarray
    y: np.ndarray
    scores: np.ndarray
    predictions: Mapping[str, Predictions]
    refused: Mapping[str, str]
    calibrators: Mapping[str, tuple[Any, ...]]
    calibration_scores: np.ndarray
    calibration_y: np.ndarray
    posterior: np.ndarray | None
    probability: bool
    notes: tuple[str, ...]
    seconds: float
    weight: np.ndarray | None = None
    calibration_weight: np.ndarray | None = None
    flow: tuple[Mapping[str, RowCount], ...] = ()
    unadjusted: Evaluation | None = None
    whole: Evaluation | None = None
    chosen: np.ndarray | None = None
    of_confidence: bool = False
    selected: bool = False

    def view(self, k: int | str, name: str | None = None) -> Evaluation:
        """Return the Evaluation of two classes that figures and tables show; for two classes, view 1 is this one.

        Parameters
        ----------
        k
            Number of a class, which is evaluated against the others; or "top": each row's most probable class, and
            whether it was right.
        name
            Predictions whose confidence is shown; the first if None. Views of a class show all predictions, since
            their labels are equal. For a Recipe without ``name``, the confidence is each calibrator's probability of
            the class that the model predicts, so that all calibrators are evaluated on the same outcomes.

        Raises
        ------
        InputError
            If there is no such class or no such name.
        """
        owner = self.all_classes
        if k == 1 and owner.classes == 2:
            return owner
        name = name if k == TOP else None
        found = cached_result(owner, ("view", k, name), lambda: two_class_view(owner, k, name))
        return found.with_view(owner.recipe)

    @property
    def all_classes(self) -> Evaluation:
        """Evaluation of all classes of which this is a view; that of two classes is this one."""
        return self.whole or self

    def of(self, k: int | str, name: str | None = None) -> Evaluation:
        """Return ``view(k, name)``."""
        return self.view(k, name)

    def _shown(self, k: int | str | None = None) -> Evaluation:
        """Return the view of class k; by default, the confidence of K classes, or these two classes."""
        return self.view(TOP if k is None else k) if k is not None or self.classes > 2 else self

    @property
    def verdict(self) -> Verdict:
        """Verdict on the first (uncalibrated) predictions, or on their confidence: ``.finding`` and ``.sentence``."""
        from calib.analysis.recommendation.verdict import verdict_of

        return verdict_of(self._shown())

    def recommendation(self, seed: int = 0) -> Recommendation:
        """Recommend a calibrator: ``.choice``, ``.answer``, ``.reasons``, ``.fit()``."""
        from calib.analysis.recommendation.advice import recommendation

        return recommendation(self._shown(), seed)

    def figure(self, key: str = "reliability", k: int | str | None = None, **view: Any) -> Any:
        """Draw a Plotly figure of ``FIGURES``.

        Parameters
        ----------
        k
            View of the figure; by default, the confidence of K classes.
        view
            Options of the figure's ``prepare``, such as ``bins``.
        """
        from calib.export.notebook import figure

        return figure(self._shown(k), key, **view)

    def plot(self, ax: Any = None, k: int | str | None = None, **view: Any) -> Any:
        """Draw the reliability diagram in a matplotlib axis and return the axis; without ``ax``, in a new figure.

        The other arguments are those of ``figure``. matplotlib must be installed.
        """
        from calib.export.notebook import plot

        return plot(self._shown(k), ax, **view)

    def _repr_html_(self) -> str:
        """Return verdict, tables and diagram, for notebooks."""
        from calib.export.notebook import html

        return html(self)

    @property
    def size(self) -> int:
        """Number of rows that the test rows represent, by their weights."""
        return represented_rows(self.weight, len(self.y))

    @property
    def cluster(self) -> np.ndarray | None:
        """Cluster of each test row, int (m,), or None."""
        held = self.dataset.cluster
        return None if held is None else held[self.rows]

    @property
    def tested(self) -> int:
        """Number of test rows, including repeats if their weights are counts."""
        held = self.weight if self.unadjusted is None else self.counts
        return represented_rows(held if held is not None and are_whole(held) else None, len(self.y))

    @property
    def size_text(self) -> str:
        """Number of test rows in words, with the number of lines and the effect of weights or a base rate."""
        return describe_rows(self.tested, len(self.y), self.size, self.noun)

    @property
    def noun(self) -> str:
        """Name of one evaluated row: "test row" if other rows were held out of the evaluation, else "row"."""
        return "test row" if any("train" in fold for fold in self.flow) else "row"

    @property
    def counts(self) -> np.ndarray | None:
        """Number of rows that each test row represents, float (m,), if its weight also reflects something else.

        This is so for a table of counts at a deployment base rate; otherwise None.
        """
        held = None if self.unadjusted is None else self.unadjusted.weight
        return held if held is not None and are_whole(held) else None

    @property
    def stated_weight(self) -> np.ndarray | None:
        """Weight of each test row on the scale of the table or the caller, float (m,), or None."""
        data, name = self.dataset, self.recipe.weight
        if data.weight is None or are_whole(data.weight):  # counts, which a split may divide
            return self.weight if self.unadjusted is None else self.counts
        if name is None or name not in data.beside:
            return data.weight[self.rows]
        return self.column(name).to_numpy(dtype=np.float64)

    @property
    def sample(self) -> Rows:
        """Test rows as a sample (labels, weights, counts and clusters), from which all intervals are computed.

        Of K classes, the labels tell whether the first predictions' class was right.
        """
        y = self.y
        if self.classes > 2:
            y = (next(iter(self.predictions.values())).p.argmax(axis=1) == y).astype(np.intp)
        return Rows(y, weight=self.weight, counts=self.counts, cluster=self.cluster)

    @property
    def calibration_size(self) -> int:
        """Number of rows that the calibration rows represent, by their weights."""
        return represented_rows(self.calibration_weight, len(self.calibration_y))

    @property
    def calibration_size_text(self) -> str:
        """Number of calibration rows in words, as ``size_text`` states it."""
        return describe_lines(self.calibration_weight, len(self.calibration_y), "calibration row")

    @property
    def share(self) -> float:
        """Frequency of class 1 among the test rows; of K classes, see ``shares``."""
        if self.classes > 2:
            raise InputError("share is defined for a single class. Use .shares, or .view(k).share.")
        return float(np.average(self.y, weights=self.weight))

    @property
    def predicts(self) -> str:
        """Name of the predictions, as the title of an axis."""
        return "Confidence" if self.of_confidence else "Predicted probability"

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per calibrator, one column per everyday metric; binned metrics use the Recipe's bins and binning.

        Of K classes, the metrics are those of all classes together.
        """
        hidden = () if self.posterior is not None else ("posterior",)
        everyday = (key for key, m in self._metrics.items() if m.everyday and m.needs not in hidden)
        return self.measured(self.applicable(everyday))

    @property
    def _metrics(self) -> Mapping[str, Metric]:
        return METRICS if self.classes == 2 else class_metrics()

    def applicable(self, metrics: Iterable[str]) -> list[str]:
        """Return these metrics without those of another number of classes.

        In the view of a confidence, those of the predicted label are left out, too; for labels that are shares, those
        that need one class per row.
        """
        if self.classes > 2:
            return [key for key in metrics if key in OF_CLASSES]
        hidden = {*METRICS.unlisted, *(NOT_OF_SHARES if self.dataset.shares is not None else ())}
        return [
            key for key in metrics if key not in hidden and not (self.of_confidence and METRICS[key].of_label)
        ]

    @property
    def disagreement(self) -> float:
        """Mean of s(1 − s) over the test rows, for shares s of annotators; 0 for classes.

        The Brier score of one annotator's label exceeds the mean of (p − s)² by it.
        """
        if self.dataset.shares is None:
            return 0.0
        share = self.dataset.shares[self.rows]
        return float(np.average(share * (1 - share), weights=self.weight))

    def measured(self, metrics: Iterable[str]) -> pd.DataFrame:
        """Return a table of these metrics only; each is computed once for all views that agree on its bins.

        Metrics that do not apply are NaN.
        """
        columns = {key: [self._measure(key, one) for one in self.predictions.values()] for key in metrics}
        return pd.DataFrame(columns, index=list(self.predictions), dtype=np.float64)

    def _measure(self, key: str, predictions: Predictions) -> float:
        if not self.applicable([key]):
            return np.nan
        metric, bins, binning = self._metrics[key], self.recipe.bins, self.recipe.binning
        call = partial(
            metric_value,
            metric,
            predictions,
            bins=bins,
            strategy=binning,
            posterior=self.posterior,
            cluster=self.cluster if metric.clustered else None,
            counts=self.counts if metric.clustered else None,
        )
        if metric.needs == "posterior":  # not cached with the predictions, which lack the posterior
            return call()
        value = cached_result(predictions, (metric, bins, binning) if metric.binned else metric, call)
        return self._of_shares(key, value) if key in SQUARED else value

    def _of_shares(self, key: str, value: float) -> float:
        """Return a Brier score, or its root, against the shares of annotators instead of single labels."""
        power = SQUARED[key]
        return (
            float(max(value**power - self.disagreement, 0.0) ** (1 / power)) if self.disagreement else value
        )

    def estimate(self, metric: str, key: str, interval: bool = True) -> Estimate:
        """Return a metric of one calibrator's predictions, with its rows and, if wanted, its 95 % interval."""
        from calib.metrics.confidence_intervals import NO_ENDS

        value = self._measure(metric, self.predictions[key])
        ends = self.interval(metric, key) if interval and self.has_interval(metric) else NO_ENDS
        clipped = np.nan
        if metric in PER_NAT and np.isinf(value):
            clipped = self._measure("log_loss_clipped", self.predictions[key]) * PER_NAT[metric]
        return Estimate(metric, key, self.size_text, self.recipe.base_rate, value, *ends, clipped)

    def has_interval(self, metric: str) -> bool:
        """Tell whether ``interval`` knows this metric."""
        from calib.metrics.class_metric_intervals import CLASS_METRIC_INTERVALS
        from calib.metrics.confidence_intervals import INTERVALS

        return metric in (CLASS_METRIC_INTERVALS if self.classes > 2 else INTERVALS)

    def interval(self, metric: str, key: str) -> tuple[float, float]:
        """Return the ends of the 95 % interval of a metric, for one calibrator's predictions.

        It is computed once for all views that agree on its bins.

        Parameters
        ----------
        metric
            Key of ``calib.metrics.confidence_intervals.INTERVALS``, or of ``CLASS_METRIC_INTERVALS`` for K classes.
        """
        one = self.predictions[key]
        bins = tuple(self._bins.values()) if METRICS[metric].binned else ()
        low, high = cached_result(one, ("interval", metric, *bins), lambda: self._ends(metric, one.p))
        return (
            (self._of_shares(metric, low), self._of_shares(metric, high))
            if metric in SQUARED
            else (low, high)
        )

    def _ends(self, metric: str, p: np.ndarray) -> tuple[float, float]:
        from calib.metrics.class_metric_intervals import class_metric_interval
        from calib.metrics.confidence_intervals import INTERVALS, View

        if self.classes == 2:
            return INTERVALS[metric].ends(self.sample, p, View(**self._bins))
        weight, cluster = self.weight, self.cluster
        return class_metric_interval(metric, self.y, p, weight, cluster, counts=self.counts, **self._bins)

    def fitted(self, key: str) -> tuple[Any, ...]:
        """Return the fitted calibrators of a method, one per fold; if there are none, refuse with the reason."""
        if key in self.predictions and key not in self.calibrators and self.whole is not None:
            if self.recipe.base_rates:
                raise InputError(
                    f"At deployment class shares, {label_of(key)} for one class depends on the "
                    f"probabilities of all classes, so no calibrator of a single class can be shown. "
                    f"Remove base_rates to show such a calibrator."
                )
            raise InputError(
                f"{label_of(key)} calibrates all classes together here, so no calibrator of a single class "
                f"can be shown. Select one class, and choose a calibrator such as isotonic regression or "
                f"Venn–Abers."
            )
        if key not in self.calibrators:
            raise InputError(
                self.refused.get(key, f"{label_of(key)} is not among the calibrators of this evaluation.")
            )
        return self.calibrators[key]

    def only_fitted(self, key: str, use: str) -> Any:
        """Return the fitted calibrator of a method; refuse if there is one per fold.

        Parameters
        ----------
        use
            Use of the calibrator in the message, as in "there is no single calibrator to keep".
        """
        fitted = self.fitted(key)
        if len(fitted) > 1:
            raise InputError(
                f"{label_of(key)}: this evaluation has {len(fitted)} calibrators, one per fold, so there is no single "
                f"calibrator {use}. Choose one test set instead of folds."
            )
        return fitted[0]

    def with_view(self, recipe: Recipe) -> Evaluation:
        """Return the Evaluation with another Recipe's view fields, without fitting again."""
        view = recipe.fields_of("view")
        if self.recipe.fields_of("view") == view:
            return self
        before, whole = (each and each.with_view(recipe) for each in (self.unadjusted, self.whole))
        viewed = replace(self, recipe=self.recipe.replace(**view), unadjusted=before, whole=whole)
        share(self, viewed)  # cached results of a whole Evaluation hold in every view
        return viewed

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
    ) -> Evaluation:
        """Evaluate existing probabilities on all rows, without fitting anything.

        Parameters
        ----------
        y : (n,)
            Labels of two classes. Of K classes, the column of each row's class, 0 … K − 1, or the name of this column.
        p : (n,), (n, 2) or (n, K), or a mapping name → such an array or DataFrame
            Probability of the positive class; or of all classes, as ``predict_proba`` returns them, with rows that sum
            to 1.
        sample_weight : (n,)
            Weight of each row; whole numbers are counts of repeated rows. Rows of weight 0 are left out.
        cluster : (n,)
            Cluster of each row, equal for rows that belong together.
        features : DataFrame (n, d)
            Other columns, by which rows can be grouped.
        groups : (n,)
            Another name of ``cluster``, as in scikit-learn.
        pos_label
            Positive class. None takes the one that is positive by convention: 1 of 0 and 1, yes of no and yes, dead of
            alive and dead … If there is no convention, the labels are refused. Of K classes it must be None.

        Returns
        -------
        Evaluation
            Results with one row per name, or one for "none", the uncalibrated model.

        Raises
        ------
        InputError
            If the positive class is not known, values are outside [0, 1] or missing, rows do not sum to 1, or lengths
            differ.

        Examples
        --------
        >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
        >>> Evaluation.from_predictions(y, {"forest": p, "boosting": [0.0, 0.2, 0.8, 1.0]}).metrics["brier"]
        forest      0.085
        boosting    0.020
        Name: brier, dtype: float64
        """
        if groups is not None:
            cluster = one_name(cluster, groups)
        return evaluated_on_all_rows(
            OF_ARRAYS, *read_arrays(y, p, sample_weight, cluster, features, pos_label)
        )

    @property
    def read_as(self) -> ReadAs | None:
        """How the table or the arrays were read: label, positive class and why, what each score is."""
        return self.dataset.read_as

    def on_every_row(self) -> Evaluation:
        """Evaluate existing predictions on all rows; return any other Evaluation unchanged (``needs_test_set``)."""
        data = self.dataset
        if data.joint or self.selected or not self.probability or needs_test_set(self.recipe, data):
            return self
        if len(self.rows) == data.n or "none" not in self.predictions:
            return self
        return cached_result(self, "on_every_row", self._on_every_row).with_view(self.recipe)

    def _on_every_row(self) -> Evaluation:
        score = self.dataset.X[score_column(self.recipe, self.dataset)].to_numpy()
        found = replace(
            evaluated_on_all_rows(self.recipe, self.dataset, {"none": score}),
            calibrators=self.calibrators,
            calibration_scores=self.calibration_scores,
            calibration_y=self.calibration_y,
            calibration_weight=self.calibration_weight,
            seconds=self.seconds,
        )
        return found.narrowed()

    @property
    def when(self) -> np.ndarray:
        """Time of each test row, (m,); without a time column, its number in the table."""
        data = self.dataset
        return (data.row_numbers if data.time is None else data.time)[self.rows]

    def at(self, places: np.ndarray) -> Evaluation:
        """Evaluate only the test rows at these positions."""
        return replace(
            self,
            rows=self.rows[places],
            y=self.y[places],
            scores=self.scores[places],
            predictions=MappingProxyType({key: one.of(places) for key, one in self.predictions.items()}),
            posterior=None if self.posterior is None else self.posterior[places],
            weight=None if self.weight is None else self.weight[places],
            unadjusted=self.unadjusted and self.unadjusted.at(places),
            whole=self.whole and self.whole.at(places),
            chosen=None if self.chosen is None else self.chosen[places],
            selected=True,
        )

    def in_period(self, period: str) -> Evaluation:
        """Evaluate only the test rows between two times, FIRST..LAST, both included.

        Raises
        ------
        InputError
            If there are no such rows.
        """
        return self._only(in_period(self.when, period), "period", f"from {period_in_words(period)}")

    def in_segment(self, segment: Sequence[str]) -> Evaluation:
        """Evaluate only the test rows that meet conditions on columns, as in a Recipe's ``segment``.

        Raises
        ------
        InputError
            If there are no such rows, or no such column.
        """
        named = (*map(str, self.dataset.X), *self.dataset.beside)
        return self._only(met(segment, self.column, named), "segment", f"with {segment_in_words(segment)}")

    def narrowed_to(self, recipe: Recipe) -> Evaluation:
        """Evaluate only the test rows of another Recipe's period and segment."""
        return replace(
            self, recipe=self.recipe.replace(period=recipe.period, segment=recipe.segment)
        ).narrowed()

    def narrowed(self) -> Evaluation:
        """Evaluate only the test rows of the Recipe's period and segment."""
        found = self if self.recipe.period is None else self.in_period(self.recipe.period)
        return found.in_segment(self.recipe.segment) if self.recipe.segment else found

    def _only(self, kept: np.ndarray, field: str, which: str) -> Evaluation:
        """Evaluate only the test rows with ``kept`` (m,); ``which`` describes them, as in "from Monday"."""
        places = np.flatnonzero(kept)
        if not len(places):
            raise InputError(f"{field}: no test row is {which}. Remove the {field}.")
        if len(places) == len(self.rows):
            return self
        only = f"Only the {count_of(len(places), self.noun)} {which} of {len(self.rows):,}."
        return replace(
            self.at(places),
            selected=self.selected,
            notes=tuple(dict.fromkeys((only, *self.notes))),
            unadjusted=self.unadjusted and self.unadjusted._only(kept, field, which),
        )

    def column(self, name: str) -> pd.Series:
        """Return a column of the table on the test rows, (m,), even if the model does not use it.

        Raises
        ------
        InputError
            If there is no such column.
        """
        data = self.dataset
        if name in data.X:
            return data.X[name].iloc[self.rows]
        if name not in data.beside:
            raise InputError(f"There is no column {name!r} to group by.")
        from calib.data.column_types import typed_frame

        beside = cached_result(
            data, ("beside", name), lambda: typed_frame(data.beside[name].to_frame(name))[name]
        )
        return beside.iloc[data.row_numbers[self.rows] - 1]

    def frame(self) -> pd.DataFrame:
        """Return one line per test row: number (row 1 is the first below the header), label, score, p and intervals.

        ``weight`` is as stated. If it is not a count, or at a deployment base rate, ``effective_weight`` is the weight
        with which the row counts: those of all rows sum to the effective number of rows. With K classes, also the
        ``class``, and the probability of each calibrator and class.
        """
        if self.classes > 2:
            return self.class_frame()
        table = pd.DataFrame({"row": self.dataset.row_numbers[self.rows], "y": self.y, "score": self.scores})
        stated = self.stated_weight
        if stated is not None:
            table["weight"] = stated
        if self.weight is not None and (stated is None or not np.array_equal(self.weight, stated)):
            table["effective_weight"] = self.weight
        if self.posterior is not None:
            table["posterior"] = self.posterior
        for key, predictions in self.predictions.items():
            table[key] = predictions.p
            if predictions.lower is not None:
                table[f"{key}_lower"], table[f"{key}_upper"] = predictions.lower, predictions.upper
        return table if self.whole is None else pd.concat([table, self.whole.class_frame()], axis=1)


def evaluated_on_all_rows(recipe: Recipe, data: Dataset, predicted: Mapping[str, np.ndarray]) -> Evaluation:
    """Evaluate predictions (n,) or (n, K), for which nothing was fitted, on all rows of a Dataset."""
    weight = None if data.weight is None else effective_weights(data.weight)
    first, y = next(iter(predicted.values())), data.coded
    classes = 2 if first.ndim == 1 else first.shape[1]
    nothing = np.empty((0, *first.shape[1:]))
    return Evaluation(
        recipe=recipe,
        dataset=data,
        rows=np.arange(len(y)),
        y=y,
        scores=first,
        predictions=MappingProxyType(
            {key: Predictions(y, p, weight=weight, cluster=data.cluster) for key, p in predicted.items()}
        ),
        refused=MappingProxyType({}),
        calibrators=MappingProxyType({}),
        calibration_scores=nothing,
        calibration_y=np.empty(0, dtype=np.intp),
        posterior=data.posterior,
        probability=True,
        notes=data.notes if weight is None else (*data.notes, *unweighted_notes(weight)),
        seconds=0.0,
        weight=weight,
        flow=({"test": sum_rows(y, weight, classes)},),
    )
