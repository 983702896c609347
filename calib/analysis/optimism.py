"""Internal validation: how optimistic is the performance of a model on the rows it was trained on?

Harrell's bootstrap (Harrell, Lee & Mark 1996): a resample of the rows plays the sample, all rows play the population.
Every step of the estimator is repeated in each resample. The optimism of one resample is the measure of its model on
the resample minus that on all rows; the corrected measure is the apparent one minus the mean optimism. The interval
is the corrected measure ± 1.96 standard deviations of its error, by a double bootstrap (Noma et al. 2021): the model of
each resample is corrected by resamples of this resample, and its true measure is that on all rows. A single bootstrap
would miss that chance moves the corrected slope and the true one in opposite directions.

Beside it are .632+ (Efron & Tibshirani 1997), repeated cross-validation, and what single splits would have said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from calib.analysis.centres import UNSEEN_CENTRE, Centres, centres
from calib.calibrated import CalibratedClassifier
from calib.evaluate import check, make_estimator
from calib.evaluate.arrays import present, read_arrays
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.records import Dataset
from calib.kernel.rows import Rows
from calib.kernel.wording import two_decimals
from calib.metrics.auc import auc
from calib.metrics.brier import brier_score
from calib.metrics.distances import smooth_cells
from calib.metrics.slope import calibration_line, observed_expected
from calib.recipe import Recipe

Array = np.ndarray

VALIDATED_MEASURES = ("slope", "intercept", "in_the_large", "observed_expected", "brier", "auc", "ici")
FEWEST_FOR_VALIDATION = 10  # fewest rows of either class
FEWEST_RESAMPLES = 20
INNER = 2  # resamples of each resample
POINTS_OF_CORRECTED_CURVE = 41  # points of the curve
TEST_SHARE = 0.3  # share of the rows that a single split tests
DRAWS_UNTIL_BOTH_CLASSES = 100  # draws of a resample with both classes
VALUE_RANGES = {"observed_expected": (0, np.inf), "brier": (0, 1), "auc": (0, 1), "ici": (0, 1)}
_RANGES = np.array([VALUE_RANGES.get(key, (-np.inf, np.inf)) for key in VALIDATED_MEASURES]).T
NO_INFORMATION = {"auc": 0.5}  # value if labels and predictions are independent; Brier's depends on both


def measures(y: Array, p: Array, weight: Array | None = None) -> Array:
    """Return the values of ``VALIDATED_MEASURES``; NaN where one is undefined. The ICI is computed in cells.

    >>> measures(np.array([0, 1] * 10), np.full(20, 0.5))[3:6]                     # O/E, Brier score and AUC
    array([1.  , 0.25, 0.5 ])
    """
    if y.min() == y.max():
        return np.full(len(VALIDATED_MEASURES), np.nan)
    line, cells = calibration_line(y, p, weight), smooth_cells(Rows(y, weight=weight), p)
    return np.array(
        [
            line.slope,
            line.intercept,
            line.in_the_large,
            observed_expected(y, p, weight),
            brier_score(y, p, weight),
            auc(y, p, weight),
            np.average(np.abs(cells.observed - cells.points), weights=cells.count),
        ]
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """An estimator, and all rows on which its steps are repeated."""

    estimator: Any
    X: Any
    y: Array
    weight: Array | None
    cluster: Array | None
    seed: int
    folds: int
    names: Array | None = None

    @property
    def n(self) -> int:
        return len(self.y)

    def _weight_of(self, rows: Array) -> Array | None:
        return None if self.weight is None else self.weight[rows]

    def predict(self, rows: Array, what: str) -> Array:
        """Fit all steps on these rows, and return the probabilities of class 1 of all rows, (n,)."""
        given = {} if self.weight is None else {"sample_weight": self._weight_of(rows)}
        try:
            fitted = clone(self.estimator).fit(_safe_indexing(self.X, rows), self.y[rows], **given)
            p = fitted.predict_proba(self.X)[:, list(fitted.classes_).index(1)]
        except Exception as error:  # of any estimator
            raise InputError(
                f"The estimator fails on {what} ({type(error).__name__}: {error}). Every step is repeated there, "
                "so each must accept repeated rows and missing categories, and give predict_proba."
            ) from error
        return checks.probability_vector(p, "predict_proba")

    def measured(self, rows: Array, p: Array) -> Array:
        return measures(self.y[rows], p[rows], self._weight_of(rows))

    def curve(self, rows: Array, p: Array, grid: Array) -> Array:
        """Return the loess curve at the points of the grid; NaN outside the range of the predictions."""
        cells = smooth_cells(Rows(self.y[rows], weight=self._weight_of(rows)), p[rows])
        return np.interp(grid, cells.points, cells.observed, left=np.nan, right=np.nan)

    @cached_property
    def _of_cluster(self) -> list[Array]:
        """Rows of each cluster."""
        whose = np.arange(self.n) if self.cluster is None else self.cluster
        order = np.argsort(whose, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(whose[order])) + 1)

    def drawn(self, rng: np.random.Generator, clusters: Array | None = None) -> tuple[Array, Array]:
        """Draw from the clusters (all by default) with replacement until both classes are there.

        Returns
        -------
        The clusters drawn, and their rows.
        """
        among = np.arange(len(self._of_cluster)) if clusters is None else clusters
        for _ in range(DRAWS_UNTIL_BOTH_CLASSES):
            picked = among[rng.integers(0, len(among), len(among))]
            rows = np.concatenate([self._of_cluster[each] for each in picked])
            if self.y[rows].min() < self.y[rows].max():
                return picked, rows
        raise InputError(
            "Resamples contain only one class, because almost all events are in one cluster. Omit cluster "
            "to resample rows instead."
        )

    def bootstrap(self, i: int, grid: Array) -> dict[str, Any]:
        rng, every = np.random.default_rng([self.seed, 0, i]), np.arange(self.n)
        picked, rows = self.drawn(rng)
        p = self.predict(rows, f"resample {i + 1}")
        out = np.setdiff1d(every, rows)
        left_out = self.measured(out, p) if len(out) else np.full(len(VALIDATED_MEASURES), np.nan)
        return {
            "train": self.measured(rows, p),
            "test": self.measured(every, p),
            "out": left_out,
            "inner": np.array([self._optimism_within(rng, picked, rows, i) for _ in range(INNER)]),
            "bend": self.curve(rows, p, grid) - self.curve(every, p, grid),
        }

    def _optimism_within(self, rng: np.random.Generator, clusters: Array, rows: Array, i: int) -> Array:
        """Return the optimism (7,) of a resample of a resample, whose rows play the population."""
        again = self.drawn(rng, clusters)[1]
        p = self.predict(again, f"a resample of resample {i + 1}")
        return self.measured(again, p) - self.measured(rows, p)

    def cross_validation(self, i: int, grid: Array) -> dict[str, Any]:
        kind = StratifiedKFold if self.cluster is None else StratifiedGroupKFold
        splits = kind(self.folds, shuffle=True, random_state=self.seed + i)
        p = np.empty(self.n)
        for k, (train, test) in enumerate(splits.split(self.y, self.y, self.cluster)):
            p[test] = self.predict(train, f"fold {k + 1} of repetition {i + 1}")[test]
        return {"test": self.measured(np.arange(self.n), p)}

    def single_split(self, i: int, grid: Array) -> dict[str, Any]:
        kind = StratifiedShuffleSplit if self.cluster is None else GroupShuffleSplit
        train, test = next(
            kind(1, test_size=TEST_SHARE, random_state=self.seed + i).split(self.y, self.y, self.cluster)
        )
        return {"test": self.measured(test, self.predict(train, f"split {i + 1}"))}


@dataclass(frozen=True, eq=False)
class Validation:
    """Apparent and corrected performance of a model.

    Attributes
    ----------
    apparent : (7,)
        ``VALIDATED_MEASURES`` on all rows of the model that is trained on all rows.
    predictions : (n,)
        Its predictions.
    y : (n,)
        Labels, 1 for the positive class.
    train, test, out : (B, 7)
        Measures of the model of each resample: on the resample, on all rows, and on the rows that it left out.
    inner : (B, INNER, 7)
        Optimism of resamples of each resample.
    cross_validated : (repeats, 7)
        Measures of the predictions of each repetition of cross-validation.
    split : (splits, 7)
        Measures on the test rows of each single split.
    curve
        Columns p, apparent and corrected: the loess curve, and the curve less its mean optimism.
    """

    apparent: Array
    predictions: Array
    y: Array
    train: Array
    test: Array
    out: Array
    inner: Array
    cross_validated: Array
    split: Array
    curve: pd.DataFrame
    model: Any

    @property
    def optimism(self) -> Array:
        """Mean optimism of each measure, (7,)."""
        return _mean(self.train - self.test)

    @property
    def corrected(self) -> Array:
        """Apparent measures less their optimism, (7,), within the range of each measure."""
        return np.clip(self.apparent - self.optimism, *_RANGES)

    @property
    def standard_error(self) -> Array:
        """Standard deviation of the errors of the corrected measures, (7,); at least that of the optimism.

        The few resamples within a resample add noise, whose variance is known and subtracted.
        """
        optimism = self.train - self.test
        variance = _over(optimism - self.inner.mean(axis=1), np.nanvar, ddof=1)
        noise = _mean(self.inner.var(axis=1, ddof=1)) / self.inner.shape[1]
        return np.sqrt(np.fmax(variance - noise, _over(optimism, np.nanvar, ddof=1)))

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row per measure.

        Columns: apparent, optimism, corrected, low and high (its interval), ``plus_632`` (.632+, of Brier score and
        AUC only), ``cross_validated`` (mean over the repetitions), ``split_low`` and ``split_high`` (between which 95 %
        of single splits lie), and ``undefined`` (number of resamples in which the measure does not exist).
        """
        tails = (1 - level) / 2, (1 + level) / 2
        half = float(ndtri(tails[1])) * self.standard_error
        split_low, split_high = _over(self.split, np.nanquantile, tails)
        columns = {
            "apparent": self.apparent,
            "optimism": self.optimism,
            "corrected": self.corrected,
            "low": np.clip(self.corrected - half, *_RANGES),
            "high": np.clip(self.corrected + half, *_RANGES),
            "plus_632": [self._plus_632(key) for key in VALIDATED_MEASURES],
            "cross_validated": _mean(self.cross_validated),
            "split_low": split_low,
            "split_high": split_high,
            "undefined": (~np.isfinite(self.train - self.test)).sum(axis=0),
        }
        return pd.DataFrame(columns, index=list(VALIDATED_MEASURES))

    def _plus_632(self, key: str) -> float:
        """Return .632 of the error on rows left out, and more of it the closer this error is to no information."""
        if key not in ("brier", "auc"):
            return np.nan
        at = VALIDATED_MEASURES.index(key)
        apparent, out = float(self.apparent[at]), float(_mean(self.out)[at])
        none = NO_INFORMATION.get(key, self._brier_without_information)
        out = max(out, none) if key == "auc" else min(out, none)
        overfitting = np.clip((out - apparent) / (none - apparent), 0, 1) if none != apparent else 0.0
        share = 0.632 / (1 - 0.368 * overfitting)
        return float((1 - share) * apparent + share * out)

    @property
    def _brier_without_information(self) -> float:
        weight = self.model.weight
        events = np.average(self.y, weights=weight)
        zero, one = (np.average((label - self.predictions) ** 2, weights=weight) for label in (0, 1))
        return float(events * one + (1 - events) * zero)

    @property
    def sentence(self) -> str:
        """State the corrected slope and AUC, and what single splits would have said of the slope."""
        found = self.table().loc
        slope, area = found["slope"], found["auc"]
        said = ", ".join(
            f"{name} {two_decimals(each.corrected, each.low, each.high)} instead of {two_decimals(each.apparent)}"
            for name, each in (("calibration slope", slope), ("AUC", area))
        )
        return (
            f"Corrected for optimism: {said}. Of single splits, 95 % would have given a slope between "
            f"{two_decimals(slope.split_low)} and {two_decimals(slope.split_high)}."
        )


def _over(values: Array, statistic: Callable[..., Array], *args: Any, **more: Any) -> Array:
    """Return a statistic over the finite values of each measure; NaN if half of them or fewer are finite."""
    finite = np.isfinite(values)
    known = finite.mean(axis=0) > 0.5
    usable = np.where(known, np.where(finite, values, np.nan), 0.0)
    return np.where(known, statistic(usable, *args, axis=0, **more), np.nan)


def _mean(values: Array) -> Array:
    return _over(values, np.nanmean)


def validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    B: int = 200,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    folds: int = 10,
    repeats: int = 5,
    splits: int = 50,
    random_state: int = 0,
    n_jobs: int | None = None,
    resume: str | Path | dict[Any, Any] | None = None,
    watch: Watch | None = None,
) -> Validation:
    """Correct the performance of a model for optimism; all its steps are repeated in each resample.

    Parameters
    ----------
    estimator
        Classifier with ``predict_proba``, such as a pipeline with imputation, tuning and a calibrator. It is cloned.
    X : (n, d)
        Features.
    y : (n,)
        Labels of two classes; see ``check``. The estimator is fitted to 0 and 1.
    B
        Number of resamples, at least 20.
    sample_weight : (n,)
        Positive weight of each row, given to ``fit`` and to every measure.
    cluster, groups : (n,)
        Cluster of each row, under either name: rows of one cluster are resampled, and held out, together.
    pos_label
        Positive class; see ``check``.
    folds, repeats
        Folds and repetitions of the cross-validation beside it.
    splits
        Number of single splits beside it.
    random_state
        Seed; resample i is the same whatever B and ``n_jobs`` are.
    n_jobs
        Number of processes, as in joblib.
    resume
        File, or a dictionary, in which each finished fit is kept. A run that was interrupted, or one with more
        resamples, continues from it.
    watch
        Reports progress, and cancels.

    Returns
    -------
    Validation
        ``table()``, ``curve`` and ``sentence``.

    Raises
    ------
    InputError
        If an argument is invalid, a class has fewer than 10 rows, the estimator fails, or ``resume`` is the file of
        another run.
    Cancelled
        If ``watch`` cancels.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = rng.random(200) < 1 / (1 + np.exp(-X[:, 0]))
    >>> found = validate(LogisticRegression(C=np.inf), X, y, B=50, repeats=1, splits=10)
    >>> found.table().loc["slope", ["apparent", "corrected"]].round(2).tolist()
    [1.0, 0.74]
    """
    checks.in_range(B, "B", low=FEWEST_RESAMPLES, integer=True)
    checks.in_range(folds, "folds", low=2, integer=True)
    for name, value in (("repeats", repeats), ("splits", splits)):
        checks.in_range(value, name, low=1, integer=True)
    model = _model(
        estimator, X, y, sample_weight, checks.one_name(cluster, groups), pos_label, random_state, folds
    )
    what, most = "rows of the minority class", int(min(model.y.sum(), (1 - model.y).sum()))
    if model.names is not None:
        what, most = "clusters", len(model.names)
    if folds > most:
        raise InputError(f"folds must be at most {most}, the number of {what}, but is {folds}.")
    every = np.arange(model.n)
    p = model.predict(every, "all rows")
    grid = np.unique(np.quantile(p, np.linspace(0.01, 0.99, POINTS_OF_CORRECTED_CURVE)))
    tasks = [
        *(("bootstrap", i) for i in range(B)),
        *(("cross_validation", i) for i in range(repeats)),
        *(("single_split", i) for i in range(splits)),
    ]
    found = _finish(tasks, model, grid, resume, n_jobs, watch or Watch())
    of = {kind: [found[task] for task in tasks if task[0] == kind] for kind, _ in tasks}
    parts = ("train", "test", "out", "inner", "bend")
    train, test, out, inner, bend = (np.array([each[part] for each in of["bootstrap"]]) for part in parts)
    apparent = model.curve(every, p, grid)
    curve = pd.DataFrame({"p": grid, "apparent": apparent, "corrected": apparent - _mean(bend)})
    repeated, split = (
        np.array([each["test"] for each in of[kind]]) for kind in ("cross_validation", "single_split")
    )
    return Validation(
        model.measured(every, p), p, model.y, train, test, out, inner, repeated, split, curve, model
    )


def leave_one_centre_out(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    centre: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    watch: Watch | None = None,
) -> Centres:
    """Internal–external validation: predict each centre by a model of all others, and pool over centres.

    All steps of the estimator are fitted once per centre (Steyerberg & Harrell 2016).

    Parameters
    ----------
    centre : (n,)
        Centre of each row.
    estimator, X, y, sample_weight, pos_label, watch
        See ``validate``.

    Raises
    ------
    InputError
        If the estimator fails without one of the centres, and as ``validate`` and ``centres``.
    """
    model = _model(estimator, X, y, sample_weight, centre, pos_label)
    assert model.names is not None
    if len(model.names) < 2:
        raise InputError(
            "There is only one centre, so there is no other centre on which to train a model. Use at least "
            "two centres."
        )
    p = np.empty(model.n)
    for i in (watch or Watch()).loop(range(len(model.names)), "centres"):
        held = model.cluster == i
        p[held] = model.predict(np.flatnonzero(~held), f"all centres but {model.names[i]}")[held]
    whose = model.names[model.cluster]
    return replace(centres(check(model.y, p, model.weight, whose), whose), where=UNSEEN_CENTRE)


def _model(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    cluster: ArrayLike | None,
    pos_label: Any,
    seed: int = 0,
    folds: int = 0,
) -> _Model:
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{type(estimator).__name__} has no predict_proba, so there are no probabilities to validate. "
            f"Choose a classifier with predict_proba, or wrap this classifier in CalibratedClassifier."
        )
    labels = read_arrays(y, np.full(_num_samples(X), 0.5), pos_label=pos_label)[0].y
    weight = None if sample_weight is None else checks.weight_vector(sample_weight, len(labels))
    if weight is not None and not weight.all():
        raise InputError("sample_weight must be positive. Remove the rows with weight 0 from X and y.")
    whose, names = (None, None) if cluster is None else pd.factorize(present(cluster, "cluster"))
    checks.same_length(y=labels, cluster=whose)
    fewest = int(min(labels.sum(), len(labels) - labels.sum()))
    if fewest < FEWEST_FOR_VALIDATION:
        raise InputError(
            f"The minority class has {fewest} rows, too few to resample: at least {FEWEST_FOR_VALIDATION} are needed. "
            "Collect more rows of this class."
        )
    checks.in_range(seed, "random_state", low=0, integer=True)
    return _Model(estimator, X, labels, weight, whose, seed, folds, names)


def validate_recipe(
    recipe: Recipe,
    dataset: Dataset,
    calibrator: str,
    B: int,
    watch: Watch | None = None,
    resume: dict[Any, Any] | None = None,
) -> Validation:
    """Correct the performance of a Recipe's model with one calibrator; see ``validate``.

    Raises
    ------
    InputError
        If nothing is trained, or there are more than two classes, and as ``validate``.
    """
    return validate(
        _calibrated(recipe, dataset, calibrator, "Optimism"),
        dataset.X,
        dataset.y,
        B,
        sample_weight=dataset.weight,
        cluster=dataset.cluster,
        random_state=recipe.seed,
        resume=resume,
        watch=watch,
    )


def leave_out_recipe(
    recipe: Recipe, dataset: Dataset, calibrator: str, column: str, watch: Watch | None = None
) -> Centres:
    """Predict each centre by a Recipe's model of all others, which does not use the column of centres.

    Raises
    ------
    InputError
        As ``validate_recipe`` and ``leave_one_centre_out``.
    """
    centre = dataset.X[column] if column in dataset.X else dataset.beside[column]
    without = replace(dataset, X=dataset.X.drop(columns=column, errors="ignore"))
    if not without.X.shape[1]:
        raise InputError(
            f"The only column of the model is {column!r}, the centre. Choose another centre column."
        )
    return leave_one_centre_out(
        _calibrated(recipe, without, calibrator, "Leaving out one centre"),
        without.X,
        dataset.y,
        centre.astype(str).to_numpy(),
        sample_weight=dataset.weight,
        watch=watch,
    )


def _calibrated(recipe: Recipe, dataset: Dataset, calibrator: str, what: str) -> CalibratedClassifier:
    """Return the Recipe's model with one calibrator, to be fitted to all rows; ``what`` needs it."""
    if dataset.predictions or dataset.joint or dataset.rest is not None:
        raise InputError(
            f"{what} needs a two-class model that is trained here, on all rows of a table. Choose “Train a "
            f"model” on Data, and choose one class."
        )
    return CalibratedClassifier(
        make_estimator(recipe, dataset),
        calibrator,
        "none" if calibrator == "none" else recipe.placement,
        calibration_size=recipe.calibration_size,
        cv=recipe.cv,
        random_state=recipe.seed,
    )


def _kept(resume: str | Path | dict[Any, Any] | None, model: _Model, grid: Array) -> dict[Any, Any]:
    """Return the fits of an interrupted run, (kind, number) → arrays; refuse those of another one."""
    if resume is None:
        return {}
    digest = joblib.hash((vars(model), grid))  # only now: not every estimator can be pickled
    if isinstance(resume, dict):
        if resume.setdefault("run", digest) != digest:
            raise InputError("resume contains the fits of another run. Pass an empty dictionary.")
        return resume
    path = Path(resume)
    lines = path.read_text().splitlines() if path.exists() else []
    if not lines:
        path.write_text(json.dumps({"run": digest}) + "\n")
    elif _parsed(lines[0]).get("run") != digest:
        raise InputError(
            f"{path} belongs to another run: other rows, another estimator or other settings. Name "
            f"another file, or delete this file."
        )
    found = filter(None, map(_parsed, lines[1:]))  # a line that was cut is ignored
    return {(each.pop("kind"), each.pop("number")): each for each in found}


def _finish(
    tasks: list[tuple[str, int]],
    model: _Model,
    grid: Array,
    resume: str | Path | dict[Any, Any] | None,
    n_jobs: int | None,
    watch: Watch,
) -> Mapping[tuple[str, int], dict[str, Any]]:
    """Do the tasks that are not done, and keep each as soon as it is."""
    done = _kept(resume, model, grid)
    left = [task for task in tasks if task not in done]
    calls = (joblib.delayed(_one)(getattr(model, kind), number, grid) for kind, number in left)
    results: Iterator[Any] = iter(joblib.Parallel(n_jobs=n_jobs, return_as="generator")(calls))
    try:
        for task in watch.loop(left, "fits"):
            found = done[task] = next(results)
            if isinstance(resume, str | Path):
                with Path(resume).open("a") as file:
                    file.write(json.dumps({"kind": task[0], "number": task[1], **found}) + "\n")
    except (Cancelled, KeyboardInterrupt) as stop:
        again = (
            "with the same resume, which keeps them, to continue"
            if resume is not None
            else "with resume=, to keep them"
        )
        fits = sum(task in done for task in tasks)
        stop.add_note(f"{fits:,} of {len(tasks):,} fits were finished. Call validate again {again}.")
        raise
    return done


def _one(do: Callable[[int, Array], dict[str, Any]], number: int, grid: Array) -> dict[str, Any]:
    return {key: values.tolist() for key, values in do(number, grid).items()}


def _parsed(line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError:  # the run ended within this line
        return {}
