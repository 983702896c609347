"""Estimate how long a fit takes: of many rows from fits of few, and in another placement from this one."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from calib.evaluate.fitting import fit_rows, split
from calib.evaluate.record import Evaluation
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.kernel.wording import duration
from calib.placements import PLACEMENTS
from calib.recipe import Recipe

FEWEST_ESTIMATED = 50_000  # with fewer rows, the estimate would take as long as most fits
FIRST_FIT_ROWS, GROWTH = 2_000, 4  # rows of the first fit; growth from one to the next
LONGEST_SMALL_FIT = 2.0  # expected seconds of a small fit, after the first two; a longer one is not begun
LARGEST_POWER = 3.0  # no model's time grows faster
LEAST_WORK = 0.02  # share of the time of a fit; a thread that works less waits for others


def expected_seconds(
    recipe: Recipe, dataset: Dataset, watch: Watch | None = None, short: float = 0.0
) -> float:
    """Estimate the seconds of ``fit`` from fits of growing random subsets.

    Parameters
    ----------
    short
        An estimate up to this is not refined.

    Returns
    -------
    float
        At most that of a fit that is about to begin; 0 if no subset can be fitted, which the fit itself explains.

    Raises
    ------
    Cancelled
        If ``watch`` was cancelled.
    """
    watch, rng = watch or Watch(), np.random.default_rng(0)
    rest = dataset.rest
    cuts = [(np.arange(dataset.n), np.arange(1))] if rest is not None else list(split(recipe, dataset))
    train, test = (rng.permutation(rows) for rows in cuts[0][:2])
    fits: list[tuple[int, float, float]] = []
    size, fitted = FIRST_FIT_ROWS, None
    while size <= len(train):
        share = size / len(train)
        watch.step(0.0, f"{size:,} rows")
        began, worked = time.perf_counter(), time.thread_time()
        try:
            fitted = fit_rows(
                recipe, dataset, [(train[:size], test[: max(1, round(share * len(test)))])], watch
            )
        except InputError:  # too few rows of a class
            pass
        else:
            fits.append((size, time.perf_counter() - began, time.thread_time() - worked))
        size *= GROWTH
        if len(fits) > 1 and (
            _expected(fits, size) > LONGEST_SMALL_FIT or len(cuts) * _expected(fits, len(train)) <= short
        ):
            break
    if fitted is None:
        return 0.0
    whole = len(cuts) * _expected(fits, len(train))
    if rest is None:
        return whole
    begin, placed = time.perf_counter(), fitted.parts[0].placed
    for X, _ in rest.scored(dataset.X, dataset.classes[1], watch):
        placed.scores_of(placed.model, X)
        return whole + (time.perf_counter() - begin) / len(X) * (rest.total - rest.sampled)
    return whole


def expected_cost(evaluation: Evaluation, placement: str) -> tuple[int, float]:
    """Estimate (model fits, seconds) of another placement for the same rows and model, from this fit.

    >>> from calib import evaluate, load_sample
    >>> expected_cost(evaluate(Recipe(model="naive_bayes"), load_sample("digits")), "cv")[0]
    6
    """
    recipe = evaluation.recipe
    folds = recipe.folds if recipe.evaluation == "folds" else 1

    def fits(key: str) -> int:
        return folds * PLACEMENTS[key].fits(recipe.cv, -(-len(evaluation.rows) // folds))

    return fits(placement), evaluation.seconds / fits(recipe.placement) * fits(placement)


def announcement(rows: int, seconds: float) -> str:
    """Say how long a fit takes.

    >>> announcement(100_000, 200)
    'Fitting 100,000 rows takes about 3 minutes.'
    """
    return f"Fitting {rows:,} rows takes about {duration(seconds)}."


def _expected(fits: Sequence[tuple[int, float, float]], rows: int) -> float:
    """Return the seconds that the fit of so many rows takes.

    ``fits`` are small fits as (rows, seconds that passed, seconds of the processor in the thread that fits). The
    processor's seconds grow with the rows alone. Other work on the machine only changes the pace, the seconds that
    pass per second of the processor; taken from single fits, it would multiply with the rows.
    """
    passed = [(size, seconds) for size, seconds, _ in fits]
    worked = [(size, seconds) for size, _, seconds in fits]
    all_passed, all_worked = (sum(seconds for _, seconds in each) for each in (passed, worked))
    if all_worked < LEAST_WORK * all_passed:  # other threads or processes fit
        return _extrapolated(passed, rows)
    return all_passed / all_worked * _extrapolated(worked, rows)


def _extrapolated(times: Sequence[tuple[int, float]], rows: int) -> float:
    """Return the seconds for ``rows`` rows: by a power, or by a line if they grow more slowly."""
    many, seconds = times[-1]
    few, least = times[-2] if len(times) > 1 else (0, 0.0)
    if len(times) > 1 and seconds > least * many / few:
        power = min(math.log(seconds / least) / math.log(many / few), LARGEST_POWER)
        return seconds * (rows / many) ** power
    return seconds + max(seconds - least, 0.0) / (many - few) * (rows - many)
