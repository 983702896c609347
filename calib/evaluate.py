"""The chain, written once: ``fit`` costs a model fit, ``calibrate`` milliseconds, and ``evaluate`` is the two in one.

fit(recipe, dataset) → Fitted (models, splits, scores) · calibrate(recipe, fitted) → Evaluation (frozen
arrays and tables). One placement is fitted once and serves any number of calibrators.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from calib.calibrators import CALIBRATORS, count_outside, label_of, name_of
from calib.data import ROLES, preprocessor
from calib.kernel.base_rate import BaseRate, class_weights
from calib.kernel.checks import InputError, binary_labels, not_empty, probability_vector, same_length
from calib.kernel.memo import once, share
from calib.kernel.memory import give_back
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.records import Dataset, Predictions
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole, effective_weights, or_ones, rows_behind, told
from calib.kernel.wording import capital, listed, number, outside_range, percent, rows_told
from calib.metrics import METRICS, metric_value, takes_weights
from calib.models import MODELS
from calib.models.given import may_be_probabilities
from calib.placements import PLACEMENTS, Outcome, Placement
from calib.placements.moved import Moved
from calib.recipe import Recipe
from calib.splits import SPLITS, Cut, RowInfo, Splitter

UPSTAIRS: dict[str, Callable[..., Any]] = {}
"""What an Evaluation is asked for and upper floors answer; ``calib/__init__.py`` fills it."""


class Counted(NamedTuple):
    """Lines of the table, the rows that they stand for, and those of class 1 among these."""

    lines: int
    rows: float
    events: float


@dataclass(frozen=True, eq=False)
class Part:
    """One training part with its placement, and the test rows it scores, by their positions in the Dataset.

    Attributes
    ----------
    weight : float array (m,)
        How much each test row counts, or None.
    flow
        How many rows train, calibrate or are unused.
    """

    train: np.ndarray
    test: np.ndarray
    placed: Any
    tests: Any
    weight: np.ndarray | None = None
    flow: Mapping[str, Counted] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a model fit leaves: one Part for a holdout, one for each fold otherwise.

    Attributes
    ----------
    seconds
        What fitting and scoring took.
    notes
        Sentences on what was left out.
    """

    recipe: Recipe
    dataset: Dataset
    parts: tuple[Part, ...]
    seconds: float
    notes: tuple[str, ...]

    @property
    def probability(self) -> bool:
        """Whether the model's scores are probabilities (else margins)."""
        return self.parts[0].placed.probability


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Frozen results on the test rows, pooled over the folds.

    Attributes
    ----------
    rows
        Int array (m,), positions of the test rows in the dataset.
    y
        Their labels.
    scores
        The model's own.
    predictions
        Calibrator → Predictions.
    refused
        Calibrator → why it cannot answer here.
    calibrators
        Calibrator → the fitted ones, one a fold.
    posterior
        P(Y = 1 | x) of the test rows, or None.
    calibration_scores, calibration_y
        What the calibrators were fitted on, pooled.
    weight, calibration_weight
        Float arrays, how much each test row and each calibration row counts, or None. Whole numbers are rows.
    flow
        Of each fold, how many rows "train", "calibrate", "test" and are "unused", as in a gap of time.
    before
        The same at the table's base rate, where the Recipe states another; all above is then at the stated
        one, the test rows by their weights.
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
    flow: tuple[Mapping[str, Counted], ...] = ()
    before: Evaluation | None = None

    @property
    def verdict(self) -> Any:
        """Whether the first (uncalibrated) predictions are calibrated: ``.finding`` and ``.sentence`` (``Verdict``)."""
        return UPSTAIRS["verdict"](self)

    def recommendation(self, **options: Any) -> Any:
        """Which calibrator to use: ``.choice``, ``.answer``, ``.reasons``, ``.fit()`` (``Recommendation``)."""
        return UPSTAIRS["recommendation"](self, **options)

    def figure(self, key: str = "reliability", **view: Any) -> Any:
        """A Plotly figure of ``FIGURES`` of this Evaluation; ``view`` is what its ``prepare`` takes, as ``bins``."""
        return UPSTAIRS["figure"](self, key, **view)

    def _repr_html_(self) -> str:
        """Verdict, table and diagram, for notebooks."""
        return UPSTAIRS["html"](self)

    @property
    def size(self) -> int:
        """How many rows the test rows stand for."""
        return rows_behind(self.weight, len(self.y))

    @property
    def cluster(self) -> np.ndarray | None:
        """Int array (m,), who each test row belongs to, where that is known."""
        held = self.dataset.cluster
        return None if held is None else held[self.rows]

    @property
    def tested(self) -> int:
        """The number of test rows: where their weights are counts, of all that they stand for."""
        held = self.weight if self.before is None else self.counts
        return rows_behind(held if held is not None and are_whole(held) else None, len(self.y))

    @property
    def judged_by(self) -> str:
        """The number of test rows in words: in how many lines, and what weights or a base rate leave of them."""
        return rows_told(self.tested, len(self.y), self.size, "test row")

    @property
    def counts(self) -> np.ndarray | None:
        """Float array (m,), how many rows each test row is, where its weight also says what each of them is worth.

        Of a table of counts at a deployment base rate; else None.
        """
        held = None if self.before is None else self.before.weight
        return held if held is not None and are_whole(held) else None

    @property
    def sample(self) -> Rows:
        """The test rows as a sample: labels, weights, counts and clusters, from which all intervals are made."""
        return Rows(self.y, weight=self.weight, counts=self.counts, cluster=self.cluster)

    @property
    def calibration_size(self) -> int:
        """How many rows the calibration rows stand for."""
        return rows_behind(self.calibration_weight, len(self.calibration_y))

    @property
    def calibrated_by(self) -> str:
        """The number of calibration rows in words, as ``judged_by``."""
        return told(self.calibration_weight, len(self.calibration_y), "calibration row")

    @property
    def share(self) -> float:
        """The frequency of class 1 among the test rows."""
        return float(np.average(self.y, weights=self.weight))

    @property
    def metrics(self) -> pd.DataFrame:
        """One row a calibrator, one column an everyday metric; binned metrics use the Recipe's bins and binning."""
        hidden = () if self.posterior is not None else ("posterior",)
        return self.measured(key for key, m in METRICS.items() if m.everyday and m.needs not in hidden)

    def measured(self, metrics: Iterable[str]) -> pd.DataFrame:
        """The table of these metrics only, each computed once for all views that agree on its bins."""
        columns = {key: [self._measure(key, one) for one in self.predictions.values()] for key in metrics}
        return pd.DataFrame(columns, index=list(self.predictions), dtype=np.float64)

    def _measure(self, key: str, predictions: Predictions) -> float:
        metric, bins, binning = METRICS[key], self.recipe.bins, self.recipe.binning
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
        if metric.needs == "posterior":  # of which the predictions know nothing
            return call()
        return once(predictions, (metric, bins, binning) if metric.binned else metric, call)

    def fitted(self, key: str) -> tuple[Any, ...]:
        """The fitted calibrators of a method, one a fold; refused, with the reason, where it has none."""
        if key not in self.calibrators:
            raise InputError(self.refused.get(key, f"{label_of(key)} is not among the calibrators."))
        return self.calibrators[key]

    def only_fitted(self, key: str, use: str) -> Any:
        """The one fitted calibrator of a method; refused where folds have one each, of which none is the one for a use.

        Parameters
        ----------
        use
            What the calibrator is needed for, as in "no single calibrator is the one to keep".
        """
        fitted = self.fitted(key)
        if len(fitted) > 1:
            raise InputError(
                f"This evaluation fitted {len(fitted)} models and as many {label_of(key)} calibrators, one per fold, "
                f"so no single calibrator is the one {use}. Choose one test set instead of folds."
            )
        return fitted[0]

    def with_view(self, recipe: Recipe) -> Evaluation:
        """Show the numbers under another Recipe's view fields: nothing is fitted again."""
        before = self.before and self.before.with_view(recipe)
        viewed = replace(self, recipe=self.recipe.replace(**recipe.fields_of("view")), before=before)
        share(self, viewed)  # what is worked out for a whole Evaluation is the same in every view
        return viewed

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        p: ArrayLike | Mapping[str, ArrayLike],
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        features: Any = None,
    ) -> Evaluation:
        """Evaluate probabilities that exist already, on all rows: nothing is fitted.

        Parameters
        ----------
        y : (n,)
            Labels of 0 and 1.
        p : (n,) or (n, 2), or a mapping name → such an array
            Probability of class 1; of two columns, as ``predict_proba`` gives them, the second one.
        sample_weight : (n,)
            How much each row counts; whole numbers are repeated rows.
        cluster : (n,)
            Equal for rows that belong together.
        features : DataFrame (n, d)
            Other columns, by which rows can be grouped.

        Returns
        -------
        Evaluation
            A row for each name, or one for "none", the uncalibrated model.

        Raises
        ------
        InputError
            For labels other than 0 and 1, values outside [0, 1], or arrays of different lengths.

        Examples
        --------
        >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
        >>> Evaluation.from_predictions(y, {"forest": p, "boosting": [0.0, 0.2, 0.8, 1.0]}).metrics["brier"]
        forest      0.085
        boosting    0.020
        Name: brier, dtype: float64
        """
        given = p if isinstance(p, Mapping) else {"none": p}
        if not given:
            raise InputError("p holds no predictions: give one array, or a mapping name → array.")
        columns = {str(name): _class_one(values, str(name)) for name, values in given.items()}
        labels = binary_labels(y)
        same_length(y=labels, **columns)
        not_empty(labels, "y")
        beside = {} if features is None else dict(pd.DataFrame(features).items())
        same_length(y=labels, **{f"features[{name!r}]": each for name, each in beside.items()})
        data = Dataset(
            "predictions",
            pd.DataFrame(columns),
            labels,
            predictions=True,
            weight=None if sample_weight is None else np.asarray(sample_weight),
            cluster=None if cluster is None else np.asarray(cluster),
            beside={str(name): each.reset_index(drop=True) for name, each in beside.items()},
        )
        return _on_every_row(Recipe(content="predictions", calibrators=()), data, columns)

    def on_every_row(self) -> Evaluation:
        """Judge predictions that were made elsewhere on all rows; any other Evaluation stays as it is.

        Rows are held out for calibrators alone, so that the predictions as they are need no test set. A split in time
        or by file stays: it says which rows the model had not seen.
        """
        data = self.dataset
        if not (data.predictions and self.probability and SPLITS[self.recipe.split].drawn):
            return self
        if len(self.rows) == data.n or "none" not in self.predictions:
            return self
        return once(self, "on_every_row", self._on_every_row)

    def _on_every_row(self) -> Evaluation:
        score = self.dataset.X[score_column(self.recipe, self.dataset)].to_numpy()
        kept = (
            "calibrators",
            "calibration_scores",
            "calibration_y",
            "calibration_weight",
            "notes",
            "seconds",
        )
        found = _on_every_row(self.recipe, self.dataset, {"none": score})
        return replace(found, **{name: getattr(self, name) for name in kept})

    def frame(self) -> pd.DataFrame:
        """One line a test row: its number (row 1 is the first below the header), label, score, p and intervals."""
        table = pd.DataFrame({"row": self.dataset.row_numbers[self.rows], "y": self.y, "score": self.scores})
        if self.weight is not None:
            table["weight"] = self.weight
        if self.posterior is not None:
            table["posterior"] = self.posterior
        for key, predictions in self.predictions.items():
            table[key] = predictions.p
            if predictions.lower is not None:
                table[f"{key}_lower"], table[f"{key}_upper"] = predictions.lower, predictions.upper
        return table


def _class_one(values: Any, name: str) -> np.ndarray:
    """Probabilities of class 1 (n,), of two columns the second."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 2:
        array = array[:, 1]
    return probability_vector(array, "p" if name == "none" else f"p[{name!r}]")


def _on_every_row(recipe: Recipe, data: Dataset, predicted: Mapping[str, np.ndarray]) -> Evaluation:
    """The Evaluation of predictions (n,) that nothing was fitted for, on all rows of a Dataset."""
    weight = None if data.weight is None else effective_weights(data.weight)
    nothing, first = np.empty(0), next(iter(predicted.values()))
    return Evaluation(
        recipe=recipe,
        dataset=data,
        rows=np.arange(data.n),
        y=data.y,
        scores=first,
        predictions=MappingProxyType(
            {key: Predictions(data.y, p, weight=weight, cluster=data.cluster) for key, p in predicted.items()}
        ),
        refused=MappingProxyType({}),
        calibrators=MappingProxyType({}),
        calibration_scores=nothing,
        calibration_y=nothing.astype(np.intp),
        posterior=data.posterior,
        probability=True,
        notes=(*data.notes, *_unweighted_notes(weight)),
        seconds=0.0,
        weight=weight,
        flow=({"test": _counted(data.y, data.weight)},),
    )


def make_estimator(recipe: Recipe, dataset: Dataset) -> Any:
    """The unfitted pipeline of a Recipe: typed columns → matrix → model."""
    if dataset.predictions:
        column = score_column(recipe, dataset)
        # Of all rows: what a column holds must not depend on the rows that a fold happens to see.
        settings = {"score": column, "probability": may_be_probabilities(dataset.X[column].to_numpy())}
        return MODELS["given"].build(settings, recipe.seed)
    model = MODELS[recipe.model].build(dict(recipe.params), recipe.seed)
    return Pipeline([("prepare", preprocessor(dataset.X)), ("model", model)])


def score_column(recipe: Recipe, dataset: Dataset) -> str:
    """The score column a Recipe names, or the first one; refused by name where there is no such column."""
    columns = list(dataset.X.columns)
    if recipe.score is None:
        return columns[0]
    if recipe.score not in columns:
        raise InputError(f"score must name one of the columns {', '.join(columns)}, but is {recipe.score!r}.")
    return recipe.score


def splitter_of(recipe: Recipe) -> Splitter:
    """The split that a Recipe asks for, with its options."""
    chosen, given = SPLITS[recipe.split], dict(recipe.data_params)
    return chosen(**{option.name: given[option.name] for option in chosen.parameters if option.name in given})


def known_of(dataset: Dataset) -> RowInfo:
    """What a split may know of the rows.

    Whole weights of predictions are counts of rows, such as GROUP BY leaves them: a random draw parts them.
    With features a row stays whole, since a model that saw one copy knows the others. Other weights are put
    on the scale of ``effective_weights`` of the whole table, so that no part of them is mistaken for counts.
    """
    weight = dataset.weight
    return RowInfo(
        dataset.y,
        dataset.time,
        dataset.part,
        weight=None if weight is None else effective_weights(weight),
        cluster=dataset.cluster,
        counted=weight is not None and dataset.predictions and are_whole(weight),
    )


def split(recipe: Recipe, dataset: Dataset) -> Iterator[tuple[Any, ...]]:
    """(training rows, test rows) as the Recipe's split holds them out: one pair for a holdout, one a fold otherwise.

    Where counted rows are parted, so that a row may be on both sides, their weights on either side follow.
    """
    for cut in _cuts(recipe, known_of(dataset)):
        yield cut[:2] if cut.train_weight is None else cut


def _cuts(recipe: Recipe, rows: RowInfo) -> Sequence[Cut]:
    """Cut the rows as the Recipe's split does, with their weights."""
    rarest = rows.rarest
    needed = recipe.folds if recipe.evaluation == "folds" else 2
    if rarest < needed:
        raise InputError(
            f"The minority class has {rarest} {'row' if rarest == 1 else 'rows'}, but this evaluation needs at least "
            f"{needed}. Use more rows or fewer folds, or choose another positive class."
        )
    splitter = splitter_of(recipe)
    if recipe.evaluation == "folds":
        cuts = splitter.folds(rows, recipe.folds, recipe.seed)
    else:
        cuts = [_one_part(recipe, splitter, rows)]
    for cut in cuts:
        if len(cut.test) == 0:  # counted rows go to a part one by one
            raise InputError(
                f"split={recipe.split!r} leaves a test set without rows. Use more rows, a larger test share or "
                "fewer folds."
            )
        if len(cut.train) == 0 or rows.y[cut.train].min() == rows.y[cut.train].max():
            raise InputError(
                f"split={recipe.split!r} leaves training rows of one class only. Use more rows, another test share or "
                "fewer folds, or choose split='random'."
            )
    return cuts


def _one_part(recipe: Recipe, splitter: Splitter, rows: RowInfo) -> Cut:
    try:
        cut = splitter.holdout(rows, recipe.test_size, recipe.seed)
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{rows.n} rows are too few for a test share of {percent(recipe.test_size)}: "
            "use more rows, or a test share closer to one half."
        ) from None
    if cut.train_weight is not None:
        return cut
    return Cut(np.sort(cut.train), np.sort(cut.test))


def fit(recipe: Recipe, dataset: Dataset, watch: Watch | None = None) -> Fitted:
    """Split, fit the model in its placement and score the test rows: the expensive part, done once.

    Parameters
    ----------
    recipe
        Of which the fields of the fit count.
    dataset
        Of two classes.
    watch
        Reports progress and can call the fit off.

    Raises
    ------
    InputError
        With what is wrong and the remedy.
    Cancelled
        When ``watch`` was called off.
    """
    return fit_rows(recipe, dataset, list(split(recipe, dataset)), watch)


def check_dataset(recipe: Recipe, dataset: Dataset) -> None:
    """Refuse a Dataset that is not as the Recipe says: a role it lacks, another class, a column to be left out.

    Parameters
    ----------
    recipe
        Of which the fields of the data count.
    dataset
        As ``calib.sources.load`` makes it of the Recipe, or made otherwise.

    Raises
    ------
    InputError
        With the field's name: it would have no effect.
    """
    how = "Load the Dataset with calib.sources.load(recipe, …), or remove the field from the Recipe."
    for role in ROLES:
        column = getattr(recipe, role)
        if column is not None and getattr(dataset, role) is None:
            raise InputError(
                f"{role}: the Recipe names the column {column!r}, but the Dataset has no {role}. {how}"
            )
    if recipe.positive is not None and recipe.positive != dataset.classes[1]:
        raise InputError(
            f"positive: the Recipe names {recipe.positive!r}, but the Dataset's positive class is "
            f"{dataset.classes[1]!r}. {how}"
        )
    kept = [name for name in recipe.exclude if name in dataset.X.columns]
    if kept and not dataset.predictions:
        raise InputError(f"exclude: the Dataset still has the column {kept[0]!r}. {how}")


def fit_rows(
    recipe: Recipe,
    dataset: Dataset,
    splits: Sequence[tuple[Any, ...]],
    watch: Watch | None = None,
    *,
    estimator: Any = None,
    placement: Placement | None = None,
) -> Fitted:
    """``fit`` on rows that are chosen elsewhere, as a study of a published paper needs it.

    Parameters
    ----------
    recipe, dataset, watch
        As for ``fit``; the Recipe's own evaluation, folds and test_size do not count.
    splits
        (training rows, test rows) as positions, one pair a fold; as ``split`` gives them.
    estimator
        An unfitted classifier on the Dataset's columns instead of the Recipe's model.
    placement
        Instead of the Recipe's.
    """
    check_dataset(recipe, dataset)
    watch = watch or Watch()
    begin = time.perf_counter()
    rows, splitter, cuts = known_of(dataset), splitter_of(recipe), [Cut(*cut) for cut in splits]
    parts = []
    for i, cut in enumerate(cuts):
        chosen, learners = placement or PLACEMENTS[recipe.placement](), rows.take(cut.train, cut.train_weight)
        begin_share, end_share = i / len(cuts), (i + 1) / len(cuts)
        fitted_share = begin_share + chosen.fit_share * (end_share - begin_share)
        placed = copy(chosen).fit(
            make_estimator(recipe, dataset) if estimator is None else estimator,
            dataset.X.iloc[cut.train],
            dataset.y[cut.train],
            calibration_size=recipe.calibration_size,
            cv=recipe.cv,
            random_state=recipe.seed,
            watch=watch.within(begin_share, fitted_share),
            rows=learners,
            split=splitter,
        )
        tests = placed.score(dataset.X.iloc[cut.test], watch.within(fitted_share, end_share))
        tested = rows.take(cut.test, cut.test_weight).weight
        flow = {
            "train": _counted(learners.y[placed.trained], learners.weights[placed.trained]),
            "calibrate": _counted(placed.y, placed.weight),
        }
        parts.append(Part(cut.train, cut.test, placed, tests, tested, flow | _unused(rows, cut, placed)))
    give_back(dataset.n)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.placed.notes))
    return Fitted(recipe, dataset, tuple(parts), time.perf_counter() - begin, dataset.notes + notes)


def _unused(rows: RowInfo, cut: Cut, placed: Placement) -> dict[str, Counted]:
    """The rows that neither learn nor are judged."""
    idle = np.ones(rows.n, dtype=bool)
    for used in (cut.test, cut.train[placed.trained], cut.train[placed.index]):
        idle[used] = False
    return {"unused": _counted(rows.y[idle], rows.weights[idle])}


def _counted(y: np.ndarray, weight: np.ndarray | None) -> Counted:
    """What rows of these weights are worth by themselves."""
    return _summed(y, effective_weights(or_ones(weight, len(y))))


def _summed(y: np.ndarray, weights: np.ndarray) -> Counted:
    return Counted(len(y), float(weights.sum()), float(weights @ y))


def make_calibrator(recipe: Recipe, key: str) -> Any:
    """The unfitted calibrator of a Recipe, with its options and the merge rule where it takes one."""
    method = CALIBRATORS[key]
    options = {name.split(".", 1)[1]: value for name, value in recipe.options if name.split(".", 1)[0] == key}
    if "merge" in method().get_params():
        options["merge"] = recipe.merge
    return method(**options)


def fit_calibrator(recipe: Recipe, key: str, placed: Placement) -> Any:
    """A calibrator of the Recipe, fitted in a placement, at the Recipe's base rate."""
    made = placed.calibrate(make_calibrator(recipe, key))
    return made if recipe.base_rate is None else Moved(made, _moving(placed, made, recipe.base_rate))


def _moving(placed: Placement, made: Any, stated: float) -> BaseRate:
    """From where the calibrator was fitted to the stated rate."""
    fitted = placed.base_rate(made)
    if not 0 < fitted < 1:
        raise InputError(
            "base_rate: all calibration rows with a positive weight are of one class, so there is no base rate to "
            "adjust. Use more rows or other weights, or leave base_rate unset."
        )
    return BaseRate(fitted, stated)


def calibrate(recipe: Recipe, fitted: Fitted, watch: Watch | None = None) -> Evaluation:
    """Fit every calibrator of the Recipe on the placement's scores and apply it to the test rows: cheap.

    A calibrator that cannot answer here (a probability method on margins, say) is listed under ``refused``.

    Predictions made elsewhere that no calibrator is compared with are judged on all rows: nothing is fitted.

    With a stated ``base_rate`` every answer is moved to it, and the test rows are weighted by class to stand
    for it.

    Parameters
    ----------
    recipe
        Its calibrators, their options and ``merge``; what it says of data and fit is not asked.
    fitted
        What ``fit`` returned; it stays as it is.
    watch
        Hears how far it is, and can call it off.

    Raises
    ------
    Cancelled
        When ``watch`` was called off.
    """
    found = _calibrated(recipe, fitted, watch)
    if recipe.base_rate is not None:
        return _at_base_rate(found, fitted, recipe.base_rate)
    return found.on_every_row() if recipe.calibrators == ("none",) else found


def _calibrated(recipe: Recipe, fitted: Fitted, watch: Watch | None) -> Evaluation:
    """At the table's own base rate."""
    predictions, refused, calibrators = {}, {}, {}
    y = _end_to_end([fitted.dataset.y[part.test] for part in fitted.parts])
    weight = _joined([part.weight for part in fitted.parts])
    rows = _end_to_end([part.test for part in fitted.parts])
    cluster = None if fitted.dataset.cluster is None else fitted.dataset.cluster[rows]
    tested = np.split(or_ones(weight, len(y)), np.cumsum([len(part.test) for part in fitted.parts])[:-1])
    watch, count = watch or Watch(), len(recipe.calibrators)
    for i, key in enumerate(recipe.calibrators):
        fits, outcomes = [], []
        try:
            for part in watch.within(i / count, (i + 1) / count).loop(fitted.parts, CALIBRATORS[key].label):
                fits.append(part.placed.calibrate(make_calibrator(recipe, key)))
                outcomes.append(part.placed.predict(fits[-1], part.tests))
        except InputError as error:
            refused[key] = str(error)
            continue
        # A method from outside may fail in its own way, and the others still answer
        except Exception as error:
            if key in CALIBRATORS.shipped or isinstance(error, Cancelled):
                raise
            refused[key] = f"{CALIBRATORS[key].label} fails here: {type(error).__name__}: {error}."
            continue
        predictions[key] = _pooled(y, outcomes, weight, cluster)
        calibrators[key] = tuple(fits)
    give_back(fitted.dataset.n)
    posterior = fitted.dataset.posterior
    return Evaluation(
        recipe=fitted.recipe.replace(
            **recipe.fields_of("calibrate") | {"base_rate": None}, **recipe.fields_of("view")
        ),
        dataset=fitted.dataset,
        rows=rows,
        y=y,
        scores=_end_to_end([part.tests.scores for part in fitted.parts]),
        predictions=MappingProxyType(predictions),
        refused=MappingProxyType(refused),
        calibrators=MappingProxyType(calibrators),
        calibration_scores=_end_to_end([part.placed.scores for part in fitted.parts]),
        calibration_y=_end_to_end([part.placed.y for part in fitted.parts]),
        posterior=None if posterior is None else posterior[rows],
        probability=fitted.probability,
        notes=(
            *fitted.notes,
            *_fit_notes(calibrators),
            *_outside_notes(fitted, calibrators),
            *_unweighted_notes(weight),
        ),
        seconds=fitted.seconds,
        weight=weight,
        calibration_weight=_joined([part.placed.weight for part in fitted.parts]),
        flow=tuple(
            {**part.flow, "test": _summed(fitted.dataset.y[part.test], each)}
            for part, each in zip(fitted.parts, tested, strict=True)
        ),
    )


def _at_base_rate(found: Evaluation, fitted: Fitted, stated: float) -> Evaluation:
    """Move an Evaluation to a deployment base rate, each fold's answers from the rate that they are right for.

    The true probabilities move from their own mean over the whole table.
    """
    sizes = [len(part.test) for part in fitted.parts]
    weight = class_weights(found.y, stated, found.weight)
    predictions, calibrators, ratios = {}, {}, set()
    for key, made in found.calibrators.items():
        rates = [_moving(part.placed, one, stated) for part, one in zip(fitted.parts, made, strict=True)]
        ratio = np.repeat([rate.ratio for rate in rates], sizes)
        ratios |= set(ratio)
        predictions[key] = found.predictions[key].moved(ratio, weight)
        calibrators[key] = tuple(Moved(one, rate) for one, rate in zip(made, rates, strict=True))
    posterior, truth = found.posterior, fitted.dataset.posterior
    if posterior is not None and truth is not None:
        posterior = BaseRate(float(np.average(truth, weights=fitted.dataset.weight)), stated).move(posterior)
    return replace(
        found,
        recipe=found.recipe.replace(base_rate=stated),
        predictions=MappingProxyType(predictions),
        calibrators=MappingProxyType(calibrators),
        posterior=posterior,
        weight=weight,
        notes=tuple(
            dict.fromkeys(
                (_moved_note(found, stated, weight, ratios), *found.notes, *_unweighted_notes(weight))
            )
        ),
        before=found,
    )


def _moved_note(found: Evaluation, stated: float, weight: np.ndarray, ratios: set[float]) -> str:
    ends = dict.fromkeys(number(end) for end in (min(ratios, default=1.0), max(ratios, default=1.0)))
    return (
        f"At a deployment base rate of {stated:.3g} instead of the {found.share:.3g} of the test rows, all odds are "
        f"multiplied by {' to '.join(ends)}. The {found.judged_by} are weighted by class; their means are as "
        f"precise as those of {round(float(weight.sum())):,} rows. This is right only if "
        f"the classes' shares are all that "
        "differs from the table."
    )


def _joined(weights: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """The weights of all folds on the scale on which they add up to what these rows are worth, or None."""
    if weights[0] is None:
        return None
    return effective_weights(_end_to_end([each for each in weights if each is not None]))


def _end_to_end(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays of all folds in one; that of a holdout as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _unweighted_notes(weight: np.ndarray | None) -> Iterator[str]:
    """The everyday metrics that cannot be told these weights."""
    if weight is None:
        return
    names = [
        metric.label for metric in METRICS.values() if metric.everyday and not takes_weights(metric, weight)
    ]
    if names:
        yield f"Not shown, because these metrics do not accept such weights: {listed(names)}."


def _fit_notes(calibrators: Mapping[str, tuple[Any, ...]]) -> Iterator[str]:
    """What the fitted calibrators say of themselves, where those of all folds say the same."""
    for key, (first, *others) in calibrators.items():
        for note in getattr(first, "notes_", ()):
            if all(note in other.notes_ for other in others):
                yield f"{CALIBRATORS[key].label}: {note}"


def _outside_notes(fitted: Fitted, calibrators: Iterable[str]) -> Iterator[str]:
    """How many test scores lie outside those that calibrated in their fold, and what each calibrator makes of them."""
    ways: dict[str, list[str]] = {}
    for method in (CALIBRATORS[key] for key in calibrators):
        if method.beyond:
            ways.setdefault(method.beyond, []).append(name_of(method.key))
    scored = [(part.placed.scores, part.tests.scores) for part in fitted.parts if len(part.placed.scores)]
    if not ways or not scored or fitted.recipe.placement == "full":
        return  # full: the calibrators of a row have seen its score
    ends = [(float(old.min()), float(old.max())) for old, _ in scored]
    outside = sum(count_outside(new, *end) for (_, new), end in zip(scored, ends, strict=True))
    if outside:
        then = capital("; ".join(f"{listed(names)}: {way}" for way, names in ways.items()))
        total, one = sum(len(new) for _, new in scored), ends[0] if len(ends) == 1 else None
        yield f"{outside_range(outside, total, 'test score', one)} {then}."


def _pooled(
    y: np.ndarray, outcomes: list[Outcome], weight: np.ndarray | None, cluster: np.ndarray | None
) -> Predictions:
    """The folds' answers one after the other; a calibrator gives intervals in all of them or in none."""
    ends = ("lower", "upper", "p0", "p1") if outcomes[0].p0 is not None else ()
    joined = {name: _end_to_end([getattr(outcome, name) for outcome in outcomes]) for name in ends}
    p = _end_to_end([outcome.p for outcome in outcomes])
    return Predictions(y, p, **joined, weight=weight, cluster=cluster)


def fits_every_row(recipe: Recipe) -> bool:
    """Whether its placement needs a model fit for every row, so that the price is said first."""
    rows = 100
    return PLACEMENTS[recipe.placement].fits(recipe.cv, rows) >= rows


def expected_cost(evaluation: Evaluation, placement: str) -> tuple[int, float]:
    """(model fits, seconds) that the same rows and model would cost in another placement, estimated from this fit.

    >>> from calib import load_sample
    >>> expected_cost(evaluate(Recipe(model="naive_bayes"), load_sample("digits")), "cv")[0]
    6
    """
    recipe = evaluation.recipe
    folds = recipe.folds if recipe.evaluation == "folds" else 1

    def fits(key: str) -> int:
        return folds * PLACEMENTS[key].fits(recipe.cv, -(-len(evaluation.rows) // folds))

    return fits(placement), evaluation.seconds / fits(recipe.placement) * fits(placement)


def evaluate(recipe: Recipe, dataset: Dataset, watch: Watch | None = None) -> Evaluation:
    """``fit`` and ``calibrate`` in one call, with their errors.

    Parameters
    ----------
    recipe
        What to do.
    dataset
        Of two classes.
    watch
        Reports progress and can call the fit off.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "venn_abers")), load_sample("digits"))
    >>> bool(evaluation.metrics.loc["venn_abers", "brier"] < evaluation.metrics.loc["none", "brier"])
    True
    """
    return calibrate(recipe, fit(recipe, dataset, watch))


def check(
    y: ArrayLike,
    p: ArrayLike | Mapping[str, ArrayLike],
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    features: Any = None,
) -> Evaluation:
    """Check whether probabilities are calibrated: two lines from arrays to a verdict and a diagram.

    The short name of ``Evaluation.from_predictions``, which explains the arguments.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> result = check(rng.random(1000) < p, p)
    >>> result.verdict.finding, result.figure("reliability", bins=15).layout.xaxis.range
    ('no sign', (-0.02, 1.02))
    """
    return Evaluation.from_predictions(y, p, sample_weight, cluster, features)
