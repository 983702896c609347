"""What a calibrator changes against the uncalibrated model, and how far that varies by sampling.

A difference is always "calibrator − uncalibrated". It varies with the test rows, while the fitted model
stays: of a mean over rows (Brier score, log loss, accuracy) the interval is that of the paired t test; ECE
and AUC are drawn again by bootstrap (Efron 1979). And it varies with the whole split, drawn again with
another seed and everything fitted anew. Splits of one data set share most of their rows, so their spread
alone is too small a measure: the interval of their mean is the corrected resampled t (Nadeau & Bengio 2003),
its variance (1/J + test rows/training rows) s² for J splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from calib.evaluate import Evaluation, evaluate
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.weights import effective_weights, or_ones
from calib.kernel.wording import listed
from calib.metrics import METRICS, bootstrap_differences
from calib.metrics.confidence import clustered_mean
from calib.metrics.scoring import hits, log_losses, squared_errors
from calib.recipe import Recipe
from calib.splits import SPLITS

COMPARED = ("brier", "log_loss", "ece", "auc", "accuracy")
RESAMPLES = 1000
MANY_ROWS, RESAMPLES_OF_MANY = 20_000, 200  # whose noise is then far below the interval's width
LEVEL = 0.95
REPEATED = 20  # splits, where nothing else is asked for
Line = tuple[str, str, float, float, float, int]  # a line of Differences.table
# Metrics that are means over the rows
PER_ROW = {"brier": squared_errors, "log_loss": log_losses, "accuracy": hits}


@dataclass(frozen=True, eq=False)
class Differences:
    """Metric of a calibrator minus that of the reference, with 95% intervals.

    Attributes
    ----------
    table
        Columns metric, calibrator, value, lower, upper, unknown – the rows, resamples or splits where the
        difference is infinite or undefined.
    reference
        The calibrator that the others are set against.
    basis
        In words.
    runs
        Columns seed, metric, calibrator, value, one line a split and difference; None for a bootstrap.
    """

    table: pd.DataFrame
    reference: str
    basis: str
    runs: pd.DataFrame | None = None

    def line(self, metric: str, calibrator: str) -> pd.Series | None:
        """The line of one metric and calibrator, if there is one."""
        chosen = self.table[(self.table["metric"] == metric) & (self.table["calibrator"] == calibrator)]
        return None if chosen.empty else chosen.iloc[0]

    def joined(self, other: Differences) -> Differences:
        """The differences of both in one table, metrics in the order of COMPARED."""
        table = pd.concat([self.table, other.table])
        table = table.sort_values("metric", key=lambda names: names.map(COMPARED.index), kind="stable")
        return Differences(table.reset_index(drop=True), self.reference, self.basis)


def reference_of(calibrators: Iterable[str]) -> str:
    """The uncalibrated model, or where that is not there the first calibrator.

    >>> reference_of(["platt", "none"]), reference_of(["platt", "beta"])
    ('none', 'platt')
    """
    keys = list(calibrators)
    return "none" if "none" in keys else keys[0]


def differences(
    evaluation: Evaluation,
    metrics: Iterable[str] = COMPARED,
    *,
    random_state: int = 0,
    watch: Watch | None = None,
) -> Differences:
    """Every calibrator's difference to the uncalibrated model on the same test rows, with 95% intervals.

    Means over rows by the paired t test, the others by 1000 resamples, 200 where there are more than 20 000
    rows.
    """
    metrics, n = list(metrics), evaluation.size
    whole = "" if evaluation.cluster is None else ", rows of one cluster together"
    reference = reference_of(evaluation.predictions)
    repeats = RESAMPLES if n <= MANY_ROWS else RESAMPLES_OF_MANY
    drawn = [metric for metric in metrics if metric not in PER_ROW]
    resampled = _resampled(evaluation, drawn, reference, repeats, random_state, watch or Watch())
    paired = {metric: _paired(evaluation, metric, reference) for metric in metrics if metric in PER_ROW}
    lines = [line for metric in metrics for line in (paired | resampled).get(metric, [])]
    by_bootstrap = listed([METRICS[metric].label for metric in COMPARED if metric not in PER_ROW])
    basis = f"{evaluation.judged_by}, {by_bootstrap} by {repeats} bootstrap resamples of them{whole}"
    return Differences(_table(lines), reference, basis)


def _paired(evaluation: Evaluation, metric: str, reference: str) -> list[Line]:
    """The lines of a metric that is a mean over rows."""
    losses = {key: PER_ROW[metric](evaluation.y, each.p) for key, each in evaluation.predictions.items()}
    weight, cluster = evaluation.weight, evaluation.cluster
    lines = []
    for key, loss in losses.items():
        if key != reference:
            infinite = np.isinf(loss + losses[reference])
            unknown = round(float(or_ones(weight, len(loss)) @ infinite))
            lines.append((metric, key, *paired_interval(loss, losses[reference], weight, cluster), unknown))
    return lines


def _resampled(
    evaluation: Evaluation, metrics: list[str], reference: str, repeats: int, random_state: int, watch: Watch
) -> dict[str, list[Line]]:
    """By metric the lines of those that are no means."""
    if not metrics:
        return {}
    bins = {"bins": evaluation.recipe.bins, "strategy": evaluation.recipe.binning}
    found = bootstrap_differences(
        {key: bins if METRICS[key].binned else {} for key in metrics},
        evaluation.y,
        {key: each.p for key, each in evaluation.predictions.items()},
        reference,
        repeats=repeats,
        level=LEVEL,
        random_state=random_state,
        watch=watch,
        sample_weight=evaluation.weight,
        counts=evaluation.counts,
        cluster=evaluation.cluster,
    )
    rows = effective_weights(or_ones(evaluation.weight, evaluation.size))
    alone = round(min(rows @ evaluation.y, rows @ (1 - evaluation.y))) < 2
    lines: dict[str, list[Line]] = {}
    for (metric, key), interval in found.items():
        value, lower, upper = map(_without_rounding, (interval.value, interval.lower, interval.upper))
        if alone and value and metric == "auc":  # no resample tells how another row of that class would rank
            lower = upper = np.nan
        lines.setdefault(metric, []).append((metric, key, value, lower, upper, repeats - interval.repeats))
    return lines


def paired_interval(
    first: np.ndarray,
    second: np.ndarray,
    weight: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
) -> tuple[float, float, float]:
    """(mean, lower, upper) of first − second, losses (n,) of the same rows: the interval of the paired t test.

    Rows of one cluster are one draw, of as many as there are clusters. A difference below 1e-12 is rounding,
    and 0. NaN ends for a single row and where a loss is infinite.

    >>> paired_interval(np.array([1.0, 2.0, 3.0]), np.zeros(3))           # 2 ± 4.303 √(1/3)
    (2.0, -0.484..., 4.484...)
    """
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is no difference
        if cluster is None:
            mean, half = resampled_t(first - second, 0.0, weight=weight)
        else:
            mean, error, k = clustered_mean(first - second, cluster, weight)
            half = float(student.ppf((1 + LEVEL) / 2, k - 1) * error) if k > 1 else np.nan
    return _without_rounding(mean), _without_rounding(mean - half), _without_rounding(mean + half)


def _without_rounding(value: float) -> float:
    """Free of the rounding of sums, which is no difference."""
    return 0.0 if abs(value) < 1e-12 else float(value)


def _table(lines: list[Line]) -> pd.DataFrame:
    return pd.DataFrame(lines, columns=["metric", "calibrator", "value", "lower", "upper", "unknown"])


@dataclass(frozen=True, eq=False)
class Repeats:
    """The same Recipe on other splits.

    Attributes
    ----------
    values
        Columns seed, calibrator, then one a metric; a line a split and calibrator.
    test_to_training
        Test rows for each training row.
    bins
        In words, those of the binned metrics.
    """

    values: pd.DataFrame
    test_to_training: float
    bins: str = ""

    @property
    def splits(self) -> int:
        return int(self.values["seed"].nunique())

    def by_split(self, metric: str) -> pd.DataFrame:
        """One line a split, one column a calibrator that could answer in every split."""
        lines = self.values.groupby("calibrator", sort=False)
        answers = {str(key): group.set_index("seed")[metric] for key, group in lines}
        return pd.DataFrame({key: values for key, values in answers.items() if len(values) == self.splits})

    def differences(self) -> Differences:
        """Mean difference to the uncalibrated model over the splits, its interval, and every split's difference."""
        lines, runs = [], []
        for metric in self.values.columns[2:]:
            table = self.by_split(metric)
            reference = reference_of(table)
            for key in table:
                if key == reference:
                    continue
                with np.errstate(invalid="ignore"):  # ∞ − ∞ is no difference
                    # Rounding of sums is no difference either
                    each = (table[key] - table[reference]).round(12)
                unknown = int((~np.isfinite(each)).sum())
                mean, half = resampled_t(each.to_numpy(), self.test_to_training)
                lines.append((metric, key, mean, mean - half, mean + half, unknown))
                runs.append(
                    pd.DataFrame({"seed": each.index, "metric": metric, "calibrator": key, "value": each})
                )
        basis = f"{self.splits} random splits, everything fitted anew on each{self.bins and f' (ECE: {self.bins})'}"
        return Differences(
            _table(lines), reference, basis, pd.concat(runs, ignore_index=True) if runs else None
        )


def resampled_t(
    values: np.ndarray, test_to_training: float, level: float = LEVEL, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """The corrected resampled t interval of differences from random splits.

    half-width = t_{J−1} √((1/J + test_to_training) s²)

    Parameters
    ----------
    values : (J,)
        A difference a split.
    test_to_training
        Test rows for each training row.
    weight : (J,)
        How many values each stands for.

    Returns
    -------
    tuple
        (mean, half-width); the latter is NaN for fewer than two values and where one of them is infinite.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> mean, half = resampled_t(np.array([1.0, 2.0, 3.0]), 1 / 3)
    >>> mean, round(half, 3)                              # 4.303 √(2/3 · 1)
    (2.0, 3.513)
    """
    j = float(or_ones(weight, len(values)).sum())
    mean = float(np.average(values, weights=weight))
    if j <= 1 or not np.isfinite(mean):
        return mean, np.nan
    variance = values.var(ddof=1) if weight is None else float(weight @ (values - mean) ** 2) / (j - 1)
    spread = np.sqrt((1 / j + test_to_training) * variance)
    return mean, float(student.ppf((1 + level) / 2, j - 1) * spread)


def repeat_splits(
    recipe: Recipe,
    dataset: Dataset,
    metrics: Iterable[str] = COMPARED,
    watch: Watch | None = None,
    *,
    repeats: int = REPEATED,
) -> Repeats:
    """Evaluate the Recipe on ``repeats`` random holdouts, with the seeds that follow its own.

    Raises
    ------
    InputError
        Where no split can be made or there is but one.
    Cancelled
        When ``watch`` was called off.
    """
    watch = watch or Watch()
    if not SPLITS[recipe.split].drawn:
        raise InputError(
            f"split={recipe.split!r} is one and the same for every seed: there are no others to repeat. For a split in "
            "time choose evaluation='folds', an expanding window; else split='random' or 'cluster'."
        )
    metrics, tables = list(metrics), []
    for i in range(repeats):
        seed = (recipe.seed + i) % 2**31
        part = watch.within(i / repeats, (i + 1) / repeats)
        part.step(0.0, f"Split {i + 1} of {repeats}")
        table = evaluate(recipe.replace(seed=seed, evaluation="holdout"), dataset, part).measured(metrics)
        tables.append(table.rename_axis("calibrator").reset_index().assign(seed=seed))
    values = pd.concat(tables, ignore_index=True)[["seed", "calibrator", *metrics]]
    width = "equal width" if recipe.binning == "uniform" else "equal count"
    return Repeats(values, recipe.test_size / (1 - recipe.test_size), f"{recipe.bins} bins of {width}")
