"""Differences of calibrators from the uncalibrated model, with their sampling variability.

A difference is always "calibrator − uncalibrated". It varies with the test rows while the fitted model stays the same:
its interval comes from ``calib.metrics.confidence_intervals`` on these rows. It also varies with the split, if
everything is fitted again with another seed. Splits of one data set share most of their rows, so their spread alone
is too small: the interval of their mean is the corrected resampled t (Nadeau & Bengio 2003), with the variance
(1/J + test rows/training rows) s² for J splits.

A single wrong prediction of exactly 0 or 1 makes the log loss infinite, whatever the other rows show. Probabilities
clipped to 2.2e-16 … 1 − 2.2e-16 (``log_loss_clipped``, scikit-learn's ``log_loss``) give a comparable number.

Several models on the same rows are compared twice, uncalibrated and calibrated. Calibration corrects levels, not the
order of rows: a model that is worse uncalibrated may be better once calibrated, so the two questions are answered
separately. Differences in Brier score have the interval of a paired difference, if the test rows are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from calib.calibrators import name_of
from calib.evaluate import Evaluation, evaluate
from calib.evaluate.estimate import PER_NAT, Difference
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import change, number, some_of
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import LEVEL, View
from calib.metrics.losses import hits, log_losses, squared_errors
from calib.metrics.paired_intervals import METRIC_DIFFERENCES, difference_interval
from calib.recipe import Recipe
from calib.splits import SPLITS


def clipped(evaluation: Evaluation, table: pd.DataFrame) -> pd.DataFrame:
    """Return the clipped value wherever ``table`` is infinite, and NaN elsewhere.

    Parameters
    ----------
    table
        Calibrators by metrics, as ``evaluation.measured`` returns.

    Examples
    --------
    >>> from calib import Recipe, evaluate, sources
    >>> recipe = Recipe(data="sample:breast_cancer", model="decision_tree", calibrators=("none", "platt"))
    >>> made = evaluate(recipe, sources.load(recipe))
    >>> made.measured(["log_loss"]).round(2)
           log_loss
    none        inf
    platt      0.18
    >>> clipped(made, made.measured(["log_loss"])).round(2)
           log_loss
    none       0.88
    platt       NaN
    """
    found = pd.DataFrame(np.nan, table.index, table.columns)
    for name, per_nat in PER_NAT.items():
        if name in table and np.isinf(table[name]).any():
            values = evaluation.measured(["log_loss_clipped"])["log_loss_clipped"]
            found[name] = (values * per_nat).where(np.isinf(table[name]))
    return found


CLIPPED = (
    "∞: at least one prediction of exactly 0 or 1 was wrong. “Clipped” values use predictions limited "
    "to the range from 2.2e−16 to 1 − 2.2e−16."
)


def clipped_sentence(table: pd.DataFrame) -> str:
    """Explain the infinite and clipped values of a table of metrics; empty if all are finite."""
    return CLIPPED if any(np.isinf(table[name]).any() for name in PER_NAT if name in table) else ""


def clipped_change(evaluation: Evaluation, metric: str, key: str, reference: str) -> float:
    """Return the change of a clipped log loss from ``reference`` to ``key``; NaN if both values are finite.

    Examples
    --------
    >>> from calib import Recipe, evaluate, sources
    >>> recipe = Recipe(data="sample:breast_cancer", model="decision_tree", calibrators=("none", "platt"))
    >>> made = evaluate(recipe, sources.load(recipe))
    >>> round(clipped_change(made, "log_loss", "platt", "none"), 2), clipped_change(made, "brier", "platt", "none")
    (-0.7, nan)
    """
    if metric not in PER_NAT or np.isfinite(evaluation.measured([metric])[metric][[key, reference]]).all():
        return math.nan
    values = evaluation.measured(["log_loss_clipped"])["log_loss_clipped"] * PER_NAT[metric]
    return float(values[key] - values[reference])


DIFFERENCE_METRICS = tuple(METRIC_DIFFERENCES)
REPEATED_SPLITS = 20  # default number of splits
# Metrics that are means over the rows
PER_ROW = {"brier": squared_errors, "log_loss": log_losses, "accuracy": hits}


@dataclass(frozen=True, eq=False)
class Differences:
    """Metric of a calibrator minus that of the reference, with 95 % intervals.

    Attributes
    ----------
    found
        One per metric and calibrator.
    reference
        The calibrator from which the others differ.
    basis
        A description of the rows or splits.
    runs
        Columns seed, metric, calibrator, value, one line per split and difference; None on one test set.
    """

    found: tuple[Difference, ...]
    reference: str
    basis: str
    runs: pd.DataFrame | None = None

    @property
    def table(self) -> pd.DataFrame:
        """Columns metric, calibrator, value, lower, upper, unknown; one line per difference."""
        lines = [(e.metric, e.calibrator, e.value, e.low, e.high, e.unknown) for e in self.found]
        return pd.DataFrame(lines, columns=["metric", "calibrator", "value", "lower", "upper", "unknown"])

    def line(self, metric: str, calibrator: str) -> Difference | None:
        """Return the difference of one metric and calibrator, if there is one."""
        return next((each for each in self.found if each.is_of(metric, calibrator)), None)

    def joined(self, other: Differences) -> Differences:
        """Join the differences of both, with metrics in the order of ``DIFFERENCE_METRICS``."""
        both = sorted((*self.found, *other.found), key=lambda each: DIFFERENCE_METRICS.index(each.metric))
        return Differences(tuple(both), self.reference, self.basis)


def reference_of(calibrators: Iterable[str]) -> str:
    """Return the uncalibrated model, or the first calibrator if it is missing.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> reference_of(["platt", "none"]), reference_of(["platt", "beta"])
    ('none', 'platt')
    """
    keys = list(calibrators)
    if not keys:
        raise InputError(
            "None of the chosen calibrators can be fitted to these data, so there is nothing to compare. "
            "Choose “Uncalibrated” or another calibrator."
        )
    return "none" if "none" in keys else keys[0]


def differences(
    evaluation: Evaluation,
    metrics: Iterable[str] = DIFFERENCE_METRICS,
    *,
    random_state: int = 0,
    watch: Watch | None = None,
) -> Differences:
    """Compute every calibrator's difference from the uncalibrated model on the same test rows, with 95 % intervals.

    Parameters
    ----------
    evaluation
        An Evaluation of at least two calibrators.
    metrics
        Keys of ``DIFFERENCE_METRICS``.
    random_state
        Seed of the noise drawn for the ECE.
    watch
        Can cancel the computation.
    """
    watch = watch or Watch()
    metrics, reference = evaluation.applicable(metrics), reference_of(evaluation.predictions)
    others = [key for key in evaluation.predictions if key != reference]
    found = [
        _difference(evaluation, metric, key, reference, random_state)
        for metric in watch.loop(metrics, "Comparing on the test rows")
        for key in others
    ]
    whole = "" if evaluation.cluster is None else ", resampling whole clusters"
    return Differences(tuple(found), reference, f"{evaluation.size_text}{whole}")


def differences_of_classes(whole: Evaluation) -> tuple[Difference, ...]:
    """Return ``Evaluation.differences`` of the losses of all classes, one per calibrator and loss."""
    reference = next(iter(whole.predictions))
    about = whole.size_text, whole.recipe.base_rate
    return tuple(
        Difference(
            line.metric, line.calibrator, *about, line.value, line.lower, line.upper, against=reference
        )
        for line in whole.differences().itertuples()
    )


def _difference(evaluation: Evaluation, metric: str, key: str, reference: str, seed: int) -> Difference:
    """Return the difference of one metric and method."""
    rows, p, base = evaluation.sample, evaluation.predictions[key].p, evaluation.predictions[reference].p
    losses = (
        [PER_ROW[metric](rows.y, each) for each in (p, base)] if metric in PER_ROW else [np.zeros(rows.n)] * 2
    )
    unknown = round(float(rows.weights @ np.isinf(losses[0] + losses[1])))
    return Difference(
        metric,
        key,
        evaluation.size_text,
        evaluation.recipe.base_rate,
        *paired_difference(evaluation, metric, key, reference, seed),
        clipped=clipped_change(evaluation, metric, key, reference),
        against=reference,
        unknown=unknown,
    )


def paired_difference(
    evaluation: Evaluation, metric: str, key: str, reference: str, seed: int = 0
) -> tuple[float, float, float]:
    """Return a metric of one method minus that of another, with its ends.

    It is computed once for all views that agree on the bins.
    """
    one, other = evaluation.predictions[key], evaluation.predictions[reference]
    view = View(bins=evaluation.recipe.bins, strategy=evaluation.recipe.binning, seed=seed)
    return cached_result(
        one,
        ("difference", metric, other, view if METRICS[metric].binned else seed),
        lambda: difference_interval(metric, evaluation.sample, one.p, other.p, view),
    )


@dataclass(frozen=True, eq=False)
class OtherSplits:
    """Results of one Recipe on other splits.

    Attributes
    ----------
    values
        Columns seed, calibrator, then one per metric; one line per split and calibrator.
    test_to_training
        Test rows per training row.
    bins
        A description of the bins of binned metrics.
    base_rate
        Deployment base rate of the Recipe, or None.
    """

    values: pd.DataFrame
    test_to_training: float
    bins: str = ""
    base_rate: float | None = None

    @property
    def splits(self) -> int:
        return int(self.values["seed"].nunique())

    def by_split(self, metric: str) -> pd.DataFrame:
        """Return one row per split and one column per calibrator that has a result in every split."""
        lines = self.values.groupby("calibrator", sort=False)
        answers = {str(key): group.set_index("seed")[metric] for key, group in lines}
        return pd.DataFrame({key: values for key, values in answers.items() if len(values) == self.splits})

    def differences(self) -> Differences:
        """Return the mean difference from the uncalibrated model over the splits, its interval, and the difference of
        each split.
        """
        bins = self.bins and f" (ECE: {self.bins})"
        basis = f"{self.splits} random splits, with all steps refitted for each split{bins}"
        found, runs = [], []
        for metric in self.values.columns[2:]:
            table = self.by_split(metric)
            reference = reference_of(table)
            for key in table:
                if key == reference:
                    continue
                with np.errstate(invalid="ignore"):  # ∞ − ∞ has no value
                    # Rounding errors of sums do not count as differences
                    each = (table[key] - table[reference]).round(12)
                unknown = int((~np.isfinite(each)).sum())
                mean, half = resampled_t(each.to_numpy(), self.test_to_training)
                ends = mean - half, mean + half
                known = metric, key, basis, self.base_rate, mean, *ends
                found.append(Difference(*known, against=reference, unknown=unknown))
                runs.append(
                    pd.DataFrame({"seed": each.index, "metric": metric, "calibrator": key, "value": each})
                )
        return Differences(
            tuple(found), reference, basis, pd.concat(runs, ignore_index=True) if runs else None
        )


def resampled_t(values: np.ndarray, test_to_training: float, level: float = LEVEL) -> tuple[float, float]:
    """Compute the corrected resampled t interval for differences from random splits.

    half-width = t_{J−1} √((1/J + test_to_training) s²)

    Parameters
    ----------
    values : (J,)
        One difference per split.
    test_to_training
        Test rows per training row.

    Returns
    -------
    tuple
        (mean, half-width); the half-width is NaN for fewer than two values and if one of them is infinite.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> mean, half = resampled_t(np.array([1.0, 2.0, 3.0]), 1 / 3)
    >>> mean, round(half, 3)                              # 4.303 √(2/3 · 1)
    (2.0, 3.513)
    """
    j, mean = len(values), float(np.mean(values))
    if j <= 1 or not np.isfinite(mean):
        return mean, np.nan
    spread = np.sqrt((1 / j + test_to_training) * values.var(ddof=1))
    return mean, float(student.ppf((1 + level) / 2, j - 1) * spread)


def repeat_splits(
    recipe: Recipe,
    dataset: Dataset,
    metrics: Iterable[str] = DIFFERENCE_METRICS,
    watch: Watch | None = None,
    *,
    repeats: int = REPEATED_SPLITS,
) -> OtherSplits:
    """Evaluate the Recipe on ``repeats`` random holdouts, with the seeds that follow its own.

    Raises
    ------
    InputError
        If no split can be made, or if the split has no randomness.
    Cancelled
        If ``watch`` was cancelled.
    """
    watch = watch or Watch()
    if not SPLITS[recipe.split].seeded:
        raise InputError(
            f"split={recipe.split!r} gives the same split for every seed, so there is nothing to repeat. "
            f"For a split by time, use evaluation='folds' (an expanding window); otherwise use "
            f"split='random' or split='cluster'."
        )
    metrics, tables = list(metrics), []
    for i in range(repeats):
        seed = (recipe.seed + i) % 2**31
        part = watch.within(i / repeats, (i + 1) / repeats)
        part.step(0.0, f"Split {i + 1} of {repeats}")
        found = evaluate(recipe.replace(seed=seed, evaluation="holdout"), dataset, part)
        metrics = found.applicable(metrics)
        table = found.measured(metrics)
        tables.append(table.rename_axis("calibrator").reset_index().assign(seed=seed))
    values = pd.concat(tables, ignore_index=True)[["seed", "calibrator", *metrics]]
    width = "equal width" if recipe.binning == "uniform" else "equal count"
    ratio = recipe.test_size / (1 - recipe.test_size)
    return OtherSplits(values, ratio, f"{recipe.bins} bins of {width}", recipe.base_rate)


Place = tuple[str, str]  # name of an evaluation, and calibrator


def answer(evaluations: Mapping[str, Evaluation]) -> str:
    """Name the best of several evaluations, uncalibrated first; empty for fewer than two uncalibrated models.

    >>> from calib import Recipe, evaluate, load_sample
    >>> data = load_sample("digits")
    >>> both = {key: evaluate(Recipe(model=key, calibrators=("none",)), data) for key in ("naive_bayes", "svm")}
    >>> answer(both)                                                 # margins are not probabilities
    ''
    """
    scores = {
        (name, key): float(value)
        for name, one in evaluations.items()
        for key, value in one.measured(["brier"])["brier"].items()
    }
    raw = {name: score for (name, key), score in scores.items() if key == "none"}
    if len(raw) < 2:
        return ""
    best = min(raw, key=lambda name: raw[name])
    gaps = [f"{other} {_gap(evaluations, best, other, raw)}" for other in raw if other != best]
    first = (
        f"Without calibration, {best} has the lowest Brier score, {number(raw[best])}. Differences from this Recipe: "
        f"{'; '.join(gaps)}."
    )
    calibrated = {place: score for place, score in scores.items() if place[1] != "none"}
    if not calibrated:
        return first
    lowest = name, key = min(calibrated, key=lambda place: calibrated[place])
    others = [place for place in calibrated if place != lowest]
    then = (
        f"After calibration, {name} with {name_of(key)} has the lowest Brier score: "
        f"{number(calibrated[lowest])}"
    )
    return f"{first} {then}{how_sure(evaluations, lowest, others, 'brier')}."


def _gap(evaluations: Mapping[str, Evaluation], best: str, other: str, raw: Mapping[str, float]) -> str:
    """Describe by how much another model's score is higher, with its interval if the rows are the same."""
    one, two = evaluations[best], evaluations[other]
    if not same_rows((one, two)):
        return f"{change(raw[other] - raw[best], np.nan, np.nan)} on other test rows"
    higher, lowest = (each.predictions["none"].p for each in (two, one))
    value, lower, upper = difference_interval("brier", one.sample, higher, lowest, view_of_all(len(raw)))
    apart = "" if lower > 0 else ", no clear difference"
    return f"{change(value, lower, upper)}{apart}"


def how_sure(evaluations: Mapping[str, Evaluation], best: Place, others: Sequence[Place], metric: str) -> str:
    """State how many others are clearly different from the best value.

    This is known for a mean over rows if the rows are the same.
    """
    if not others:
        return ""
    if metric not in PER_ROW or not same_rows(evaluations.values()):
        return "; differences may be due to chance"
    one = evaluations[best[0]]
    p = {place: evaluations[place[0]].predictions[place[1]].p for place in (best, *others)}
    view = view_of_all(len(p))
    found = [difference_interval(metric, one.sample, p[place], p[best], view) for place in others]
    sure = sum(lower > 0 or upper < 0 or math.isinf(value) for value, lower, upper in found)
    return f"; {some_of(sure, len(others), 'other')} {'is' if sure < 2 else 'are'} clearly different"


def view_of_all(methods: int) -> View:
    """Return the level at which all differences between these methods hold together in 95 % of test sets.

    This is the Bonferroni correction for all pairs, which include the differences from whichever method is the best.

    >>> round(view_of_all(4).level, 5)                                                # six pairs
    0.99167
    """
    return View(level=1 - (1 - LEVEL) / max(methods * (methods - 1) / 2, 1))


def same_rows(evaluations: Iterable[Evaluation]) -> bool:
    """Tell whether the numbers of these evaluations are comparable."""
    first, *others = evaluations
    return all(
        e.dataset.digest == first.dataset.digest and np.array_equal(e.rows, first.rows) for e in others
    )
