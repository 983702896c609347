"""An audit of an Evaluation's test rows, its findings in sentences, and the lines that have one cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from calib.analysis.audit.search import MIN_ROWS, Audit, audit
from calib.analysis.grouping import FEWEST, grouping_loss
from calib.analysis.subgroups import column_of
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import counted, number

POWER = 0.8


def columns_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Names of the columns that make segments by default: features, or for predictions the other columns of the table.

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
    watch: Watch | None = None,
) -> Audit:
    """Audit a calibrator's predictions on the test rows.

    Parameters
    ----------
    columns
        Columns that make segments; by default all of ``columns_of``.

    Raises
    ------
    InputError
        As ``audit`` does, naming the calibrator; for a calibrator or column that is not there.
    """
    checks.one_of(calibrator, evaluation.predictions, "calibrator")
    names = tuple(columns) or columns_of(evaluation)
    table = pd.DataFrame({name: column_of(evaluation, name).reset_index(drop=True) for name in names})
    try:
        return audit(
            evaluation.y,
            evaluation.predictions[calibrator].p,
            table,
            depth,
            resamples,
            min_rows,
            evaluation.weight,
            evaluation.cluster,
            evaluation.recipe.seed,
            counts=evaluation.counts,
            watch=watch,
        )
    except InputError as error:
        raise InputError(f"{label_of(calibrator)}: {error}") from None


def gain_sentence(evaluation: Evaluation, calibrator: str, columns: Sequence[str] = ()) -> str:
    """Say how much a better model could gain, which no calibrator can; "" for weights or clusters, or too few rows."""
    if evaluation.weight is not None or evaluation.cluster is not None or len(evaluation.y) < FEWEST:
        return ""
    names = tuple(columns) or columns_of(evaluation)
    table = pd.DataFrame({name: column_of(evaluation, name).reset_index(drop=True) for name in names})
    found = grouping_loss(
        evaluation.y, evaluation.predictions[calibrator].p, table, random_state=evaluation.recipe.seed
    )
    low, high = (number(end) for end in found.interval)
    if not found.interval[0]:
        return f"Grouping loss: none was found. These regions explain at most {high} of the Brier score."
    return (
        f"Grouping loss: a better model could lower the Brier score by at least {number(found.lower)} [{low}, {high}], "
        "which no calibrator can."
    )


@dataclass(frozen=True)
class Cause:
    """A significant segment, by its line, and the later lines whose rows it explains."""

    line: int
    others: tuple[int, ...]


def causes(found: Audit) -> tuple[Cause, ...]:
    """Group significant segments that overlap, worst first, so that one cause is one line.

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


def _by_row(found: Audit) -> tuple[Array, Array]:
    """(weighted y − p, its variance by chance) of each audited row."""
    rows, p = found.rows, found.p
    return rows.weights * (rows.y - p), rows.weights**2 / rows.draws * p * (1 - p)


def detectable_gap(found: Audit, size: float) -> float:
    """Return the gap between frequency and mean probability that is found in 80 of 100 segments of ``size`` rows.

    The level must exceed the threshold. The variance of a row is the average of all audited rows.

    >>> rng = np.random.default_rng(0)
    >>> p = np.full(2000, 0.5)
    >>> found = audit(rng.random(2000) < p, p, pd.DataFrame({"a": rng.choice(["x", "y"], 2000)}), resamples=99)
    >>> round(detectable_gap(found, 400) / detectable_gap(found, 1600), 6)
    2.0
    """
    gap_variance = _by_row(found)[1].sum() / found.rows.weights.sum() ** 2  # of the mean of all rows
    total = float(found.rows.draws.sum())
    return float((found.threshold + ndtri(POWER)) * np.sqrt(gap_variance * total / size))


def sentences(found: Audit) -> list[str]:
    """Describe the result in plain words: what was searched, each cause, and what could have been missed."""
    lines = [
        f"{counted(len(found.segments), 'segment')} of {counted(round(float(found.rows.draws.sum())), 'row')}, labels "
        f"redrawn {found.resamples:,} times. Adjusted p-value of the largest deviation: {number(found.p_value)}."
    ]
    together = causes(found)
    if not together:
        lines.append(
            f"No segment deviates by more than chance (5 % for all {len(found.segments):,} segments together)."
        )
    for cause in together:
        lines.append(segment_sentence(found, cause.line) + _also(cause))
    sizes = sorted({int(found.segments["rows"].min()), int(found.segments["rows"].median())})
    told = " and ".join(
        f"{100 * detectable_gap(found, size):.0f} points with {size:,} rows" for size in sizes
    )
    lines.append(f"A deviation is found in 80 of 100 cases if it is at least {told}.")
    return lines


def segment_sentence(found: Audit, line: int) -> str:
    """A segment as people read it: rows, mean prediction, frequency and adjusted p-value."""
    s = found.segments.iloc[line]
    how = {"slope": " (its slope deviates)", "shape": " (errors in opposite directions)"}
    opposite = how.get(found.looks[line], "")
    return (
        f"{s['segment']}: {counted(int(s['rows']), 'row')}, predicted {100 * s['predicted']:.1f} %, observed "
        f"{100 * s['observed']:.1f} %, adjusted p = {number(s['p_value'])}{opposite if _small(found, line) else ''}"
    )


def _small(found: Audit, line: int) -> bool:
    """Whether the level of a segment says little of what was found there."""
    gap, variance = _by_row(found)
    mine = found.members(line)[found.places]
    return bool(abs(gap[mine].sum()) < 2 * np.sqrt(variance[mine].sum()))


def _also(cause: Cause) -> str:
    many = len(cause.others)
    return f" ({counted(many, 'more segment')} with the same rows)" if many else ""
