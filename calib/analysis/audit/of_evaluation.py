"""Audit of an Evaluation's test rows, with the findings in sentences and overlapping segments grouped by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from calib.analysis.audit.redraws import moments, skewed
from calib.analysis.audit.search import MIN_EVENTS, MIN_ROWS, Audit, audit
from calib.analysis.audit.segments import OUT
from calib.analysis.recommendation.advice import recommend
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.binomial import NORMAL_QUANTILE
from calib.kernel.cache import cached_result
from calib.kernel.checks import Array, InputError
from calib.kernel.progress import Watch
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole
from calib.kernel.wording import brief, counted, number
from calib.metrics.calibration_test import POWER
from calib.metrics.slope import calibration_line

SEARCH = ("columns", "depth", "resamples", "min_rows", "min_events", "unweighted")
"""Options of ``audit_evaluation`` that a Recipe can set."""

ONLY_COUNTED = (
    "Groups need the other columns of the test rows, but these rows were only counted by score and label. "
    "Use a table that fits into memory, and do not set learn_rows."
)
NEARLY_ALL = 0.9
LINE_CLIP = 1e-12  # distance from 0 and 1 to which probabilities are clipped for a line in log-odds
TESTED_PER_SECOND = 5e8  # rows times redraws of one partition that are tested per second
A_PARTITION = 0.004  # further seconds per partition
LOOK_LABELS = {"level": "level", "slope": "slope", "shape": "opposite errors"}


def columns_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the columns that define segments by default: features, or for predictions the table's other columns.

    Columns that the model did not see are left out, because an excluded column may contain the label.
    """
    data, recipe = evaluation.dataset, evaluation.recipe
    if data.predictions:
        return tuple(name for name in data.beside if name not in (recipe.target, recipe.weight))
    return tuple(map(str, data.X.columns))


def audit_evaluation(
    evaluation: Evaluation,
    calibrator: str,
    columns: Sequence[str] = (),
    depth: int = 2,
    resamples: int = 999,
    min_rows: int = MIN_ROWS,
    min_events: float = MIN_EVENTS,
    unweighted: bool = False,
    watch: Watch | None = None,
) -> Audit:
    """Audit a calibrator's predictions on the test rows, and cache the result.

    Parameters
    ----------
    columns
        Columns that define segments; by default all of ``columns_of``.
    unweighted
        Whether every row counts once, whatever its weight. Counts of repeated rows stay.

    Raises
    ------
    InputError
        As ``audit`` does, naming the calibrator; for an unknown calibrator or column; and at a deployment
        base rate, whose weights depend on the labels.
    """
    checks.one_of(calibrator, evaluation.predictions, "calibrator")
    if evaluation.dataset.lines_of is not None:
        raise InputError(ONLY_COUNTED)
    if evaluation.recipe.base_rate is not None:
        raise InputError(
            "The search draws new labels from the probabilities as they were predicted, so it cannot use "
            "adjusted probabilities. Remove the deployment base rate."
        )

    def search() -> Audit:
        return audit(
            evaluation.y,
            evaluation.predictions[calibrator].p,
            table,
            depth,
            resamples,
            min_rows,
            None if unweighted and has_weights(evaluation) else evaluation.weight,
            evaluation.cluster,
            evaluation.recipe.seed,
            min_events=min_events,
            counts=evaluation.counts,
            watch=watch,
        )

    table = table_of(evaluation, columns)
    key = ("audit", calibrator, tuple(columns), depth, resamples, min_rows, min_events, unweighted)
    try:
        return cached_result(evaluation, key, search)
    except InputError as error:
        raise InputError(f"{label_of(calibrator)}: {error}") from None


def has_weights(evaluation: Evaluation) -> bool:
    """Tell whether the test rows have weights that are not counts of repeated rows."""
    return evaluation.weight is not None and not are_whole(evaluation.weight)


def table_of(evaluation: Evaluation, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return these columns (by default ``columns_of``) on the test rows, numbered from 0."""
    names = tuple(columns) or columns_of(evaluation)
    if not names:
        raise InputError(
            "The table has no other columns, so no groups can be formed. Add columns to the file."
        )
    return pd.DataFrame({name: evaluation.column(name).reset_index(drop=True) for name in names})


@dataclass(frozen=True, eq=False)
class Audited:
    """An audit with its Evaluation.

    Attributes
    ----------
    options
        The options of ``audit_evaluation`` that were given.
    """

    evaluation: Evaluation
    calibrator: str
    options: Mapping[str, Any]
    found: Audit

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that define segments."""
        return tuple(self.found.groupings)

    @property
    def unweighted(self) -> bool:
        """Whether the search ignored weights of the rows."""
        return bool(self.options.get("unweighted")) and has_weights(self.evaluation)

    @property
    def predicted(self) -> float:
        """Mean probability of all audited rows."""
        return float(np.average(self.found.p, weights=self.found.rows.weights))

    @property
    def observed(self) -> float:
        """Frequency of class 1 in all audited rows."""
        return float(np.average(self.found.rows.y, weights=self.found.rows.weights))

    @property
    def off_on_average(self) -> bool:
        """Whether the level of all rows is off: by more than 1.96 standard deviations of independent rows."""
        gap, variance = _by_row(self.found)
        return bool(abs(gap.sum()) > NORMAL_QUANTILE * np.sqrt(variance.sum()))

    @property
    def nearly_all_rows(self) -> bool:
        """Whether the clearest segment has at least 90 % of all rows, so that it is not a group."""
        found = self.found
        return found.found > 0 and found.segments["rows"].iloc[0] >= NEARLY_ALL * found.rows.draws.sum()

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        return causes(self.found)

    @cached_property
    def fit_explains(self) -> bool:
        """Whether an error of the fitted calibrator itself can explain all that was found (``line_explains``)."""
        return self.calibrator != "none" and self.found.found > 0 and line_explains(self.found)

    @property
    def fitted(self) -> str:
        """The calibrator's fit in words, with the number of its rows if that is known."""
        rows = self.evaluation.calibration_size
        return f"the fit of {name_of(self.calibrator)}" + (f" on {counted(rows, 'row')}" if rows else "")

    @property
    def fit_sentence(self) -> str:
        """Say that the calibrator's own fit can be at fault instead of the segments, if it can; else ""."""
        if not self.fit_explains:
            return ""
        return (
            f"After a logistic recalibration of all rows, no segment is clearly miscalibrated. The "
            f"cause may therefore be {self.fitted}. More calibration rows or another calibrator can reduce "
            f"these deviations."
        )

    def line_of(self, segment: str | None) -> int:
        """Return the line of a segment given in words; the first line if no segment matches."""
        lines = np.flatnonzero((self.found.segments["segment"] == segment).to_numpy())
        return int(lines[0]) if len(lines) else 0

    def conditions(self, line: int) -> tuple[str, ...]:
        """Write a segment as a Recipe's ``segment`` stores it."""
        return tuple(
            each
            for column, name in self.found.conditions[line]
            for each in self.found.groupings[column].segment(name, column)
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """All segments; significant ones with their cause and the statistic that deviates (``look``)."""
        segments = self.found.segments
        cause = pd.Series(pd.NA, segments.index, dtype="Int64")
        for place, each in enumerate(self.causes, 1):
            cause[[each.line, *each.others]] = place
        looks = [look_of(self.found, line) for line in range(self.found.found)]
        return segments.assign(cause=cause, look=pd.Series(looks, dtype="str").reindex(segments.index))

    def to_frame(self) -> pd.DataFrame:
        """Return ``table``."""
        return self.table


def audited(
    evaluation: Evaluation, calibrator: str | None = None, watch: Watch | None = None, **options: Any
) -> Audited:
    """Audit a calibrator's predictions on the test rows; by default, those of the recommended calibrator.

    Uncalibrated predictions made elsewhere need no test set, so all rows are audited.

    Parameters
    ----------
    options
        Options of ``audit_evaluation``.

    Raises
    ------
    InputError
        As ``audit_evaluation`` does.
    """
    key = calibrator or audited_by_default(evaluation)
    evaluation = evaluation.on_every_row() if key == "none" else evaluation
    return Audited(evaluation, key, options, audit_evaluation(evaluation, key, **options, watch=watch))


def search_seconds(rows: int, columns: int, depth: int, resamples: int) -> float:
    """Estimate how long a search takes: each combination of columns redraws the labels of all rows.

    >>> round(search_seconds(100_000, 10, 2, 999))
    11
    """
    combinations = sum(comb(columns, size) for size in range(1, depth + 1))
    return combinations * (rows * resamples / TESTED_PER_SECOND + A_PARTITION)


def audited_by_default(evaluation: Evaluation) -> str:
    """Return the recommended calibrator, or the first one if none is recommended.

    Raises
    ------
    InputError
        If none of the chosen calibrators can be fitted to these scores.
    """
    if not evaluation.predictions:
        raise InputError(
            "None of the chosen calibrators can be fitted to these scores. Choose another calibrator."
        )
    return recommend(evaluation).choice or next(iter(evaluation.predictions))


@dataclass(frozen=True)
class Cause:
    """A significant segment, by its line, and the later lines whose rows it explains."""

    line: int
    others: tuple[int, ...]


def causes(found: Audit) -> tuple[Cause, ...]:
    """Group overlapping significant segments, worst first, so that each cause is reported once.

    A segment belongs to an earlier line if its rows outside earlier lines deviate in their level by less than the
    threshold, and are either fewer than half of its rows or have a mean gap of less than half of the segment's. It
    joins the line with which it shares most rows.
    """
    gap, variance = _by_row(found)
    leads: list[tuple[int, Array]] = []
    others: dict[int, list[int]] = {}
    taken = np.zeros(len(gap), dtype=bool)
    for line in range(found.found):
        mine = found.members(line)[found.places]
        rest = mine & ~taken
        significant = abs(gap[rest].sum()) > found.threshold * np.sqrt(variance[rest].sum())
        few = rest.sum() <= mine.sum() / 2
        small = abs(gap[rest].sum()) * mine.sum() <= abs(gap[mine].sum()) * rest.sum() / 2
        if leads and not significant and (few or small):
            shared = [int((mine & lead).sum()) for _, lead in leads]
            others[leads[int(np.argmax(shared))][0]].append(line)
        else:
            leads.append((line, mine))
            others[line] = []
            taken |= mine
    return tuple(Cause(line, tuple(others[line])) for line, _ in leads)


def line_explains(found: Audit) -> bool:
    """Tell whether one line in log-odds for all rows explains every significant segment.

    The calibration line of all rows (Cox 1958) corrects them. The level and the slope of the first segment of each
    cause are then below the threshold of the search.
    """
    rows, p = found.rows, found.p
    line = calibration_line(rows.y, p, rows.weights)
    if not np.isfinite([line.intercept, line.slope]).all():
        return False
    x = _clipped_log_odds(p)
    corrected = expit(line.intercept + line.slope * x)
    segments = (found.members(each.line)[found.places] for each in causes(found))
    return all(_level_or_slope(rows.of(at), corrected[at], x[at]) < found.threshold for at in segments)


def _level_or_slope(rows: Rows, p: Array, x: Array) -> float:
    """Return the larger of the standardised level and slope of the residuals y − p; x are log-odds."""
    variance, gap, across = _tilted(rows, p, x)
    if not variance.any():
        return 0.0
    level, slope = abs(gap.sum()) / np.sqrt(variance.sum()), abs(gap @ across)
    return float(max(level, slope / max(np.sqrt(variance @ across**2), 1e-300)))


def _tilted(rows: Rows, p: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return the variance by chance, the weighted y − p, and x − x̄ of each row; x are log-odds."""
    gap, variance = rows.weights * (rows.y - p), rows.weights**2 / rows.draws * p * (1 - p)
    return variance, gap, x - (np.average(x, weights=variance) if variance.any() else 0.0)


def _clipped_log_odds(p: Array) -> Array:
    return logit(np.clip(p, LINE_CLIP, 1 - LINE_CLIP))


def _by_row(found: Audit) -> tuple[Array, Array]:
    """Return (weighted y − p, its variance by chance) of each audited row."""
    rows, p = found.rows, found.p
    return rows.weights * (rows.y - p), rows.weights**2 / rows.draws * p * (1 - p)


def detectable_gap(found: Audit, size: float) -> float:
    """Return the gap between frequency and mean probability that is found in 80 of 100 segments of ``size`` rows.

    The gap exceeds the threshold by its level. The variance per row is the average over all audited rows.

    >>> rng = np.random.default_rng(0)
    >>> p = np.full(2000, 0.5)
    >>> found = audit(rng.random(2000) < p, p, pd.DataFrame({"a": rng.choice(["x", "y"], 2000)}), resamples=99)
    >>> round(detectable_gap(found, 400) / detectable_gap(found, 1600), 6)
    2.0
    """
    return float(found.threshold + ndtri(POWER)) * _deviation(found, size)


def detectable(found: Audit, size: int) -> str:
    """Format the detectable gap of ``size`` rows."""
    return f"{number(100 * detectable_gap(found, size), 2)} points in {size:,} rows"


def threshold_gap(found: Audit, size: float) -> float:
    """Return the gap between frequency and mean probability at which the level of ``size`` average rows is significant.

    >>> rng = np.random.default_rng(0)
    >>> p = np.full(2000, 0.5)
    >>> found = audit(rng.random(2000) < p, p, pd.DataFrame({"a": rng.choice(["x", "y"], 2000)}), resamples=99)
    >>> round(threshold_gap(found, 400) / (found.threshold * 0.5 / 20), 6)
    1.0
    """
    return found.threshold * _deviation(found, size)


def _deviation(found: Audit, size: float) -> float:
    """Return the standard deviation by chance of the mean gap of ``size`` rows with the average variance."""
    gap_variance = _by_row(found)[1].sum() / found.rows.weights.sum() ** 2  # of the mean of all rows
    return float(np.sqrt(gap_variance * float(found.rows.draws.sum()) / size))


def level_limits(found: Audit, line: int) -> tuple[float, float]:
    """Return the lowest and the highest gap between frequency and mean probability that is attributed to chance.

    Beyond them, the level alone gives this segment an adjusted p-value of at most 5 %.

    >>> rng = np.random.default_rng(0)
    >>> p = np.full(2000, 0.5)
    >>> found = audit(rng.random(2000) < p, p, pd.DataFrame({"a": rng.choice(["x", "y"], 2000)}), resamples=99)
    >>> low, high = level_limits(found, 0)
    >>> float(round(high / (found.threshold * 0.5 / found.segments["rows"][0] ** 0.5), 6)), low == -high
    (1.0, True)
    """
    mine = found.members(line)[found.places]
    known, _ = moments(found.rows, found.p, np.where(mine, 0, OUT), 1)
    weight = found.rows.weights[mine].sum()
    scale, skewness = float(known.level[0] / weight), float(known.level_skewness[0])
    low, high = (float(skewed(np.array(sign * found.threshold), skewness)) * scale for sign in (-1, 1))
    return low, high


def audit_sentences(found: Audit) -> list[str]:
    """Describe the result in plain words: the search, each cause, and the smallest deviation that it detects."""
    lines = [
        f"Searched: {counted(len(found.segments), 'segment')} of "
        f"{counted(round(float(found.rows.draws.sum())), 'row')}, with labels redrawn {found.resamples:,} "
        f"times. Adjusted p-value of the largest deviation: {number(found.p_value)}."
    ]
    together = causes(found)
    if not together:
        lines.append(
            f"No segment is clearly miscalibrated (significance level: 5 % for all "
            f"{len(found.segments):,} segments together)."
        )
    for cause in together:
        many = len(cause.others)
        also = f" (and {counted(many, 'overlapping segment')} with the same cause)" if many else ""
        lines.append(segment_sentence(found, cause.line) + also)
    sizes = sorted({int(found.segments["rows"].min()), int(found.segments["rows"].median())})
    gaps = " and ".join(detectable(found, size) for size in sizes)
    lines.append(f"In 80 of 100 cases, the search finds a deviation of {gaps}.")
    return lines


def segment_sentence(found: Audit, line: int) -> str:
    """Describe a segment in words: rows, mean prediction, frequency and adjusted p-value."""
    return f"{found.segments['segment'].iloc[line]}: {segment_numbers(found, line)}"


def segment_numbers(found: Audit, line: int) -> str:
    """Describe the numbers of a segment in words, without its name."""
    s = found.segments.iloc[line]
    how = how_off(found, line) if line < found.found else ""
    return (
        f"{counted(int(s['rows']), 'row')}, predicted {100 * s['predicted']:.1f} %, observed "
        f"{100 * s['observed']:.1f} %, adjusted p = {number(s['p_value'])}{f' ({how})' if how else ''}"
    )


def how_off(found: Audit, line: int) -> str:
    """Describe in words how a segment deviates, if its mean prediction and its frequency do not show it; else ""."""
    look = look_of(found, line)
    if look != "slope":
        return "errors in opposite directions" if look == "shape" else ""
    mine = found.members(line)[found.places]
    rows, p = found.rows.of(mine), found.p[mine]
    slope = calibration_line(rows.y, p, rows.weights).slope
    if not np.isfinite(slope):  # the search has standardised the sum below, whose sign is that of slope − 1
        _, gap, across = _tilted(rows, p, _clipped_log_odds(p))
        return f"{'over' if gap @ across < 0 else 'under'}confident"
    return f"{'over' if slope < 1 else 'under'}confident, slope {brief(slope)}"


def mean_ends(evaluation: Evaluation, calibrator: str) -> tuple[float, float] | None:
    """Return the means of the lower and the upper ends, or None for a calibrator without intervals."""
    predictions = evaluation.predictions[calibrator]
    if predictions.lower is None or predictions.upper is None:
        return None
    ends = (predictions.lower, predictions.upper)
    low, high = (float(np.average(end, weights=evaluation.weight)) for end in ends)
    return low, high


def look_of(found: Audit, line: int) -> str:
    """Return the statistic that deviates in a segment: its level, unless that is within two standard deviations."""
    gap, variance = _by_row(found)
    mine = found.members(line)[found.places]
    within = abs(gap[mine].sum()) < 2 * np.sqrt(variance[mine].sum())
    return found.looks[line] if within else "level"
