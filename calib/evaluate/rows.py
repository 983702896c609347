"""Rows of an Evaluation: how many they are, and on which a Recipe evaluates a score column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.weights import effective_weights
from calib.kernel.wording import listed
from calib.metrics import METRICS, takes_weights
from calib.recipe import Recipe
from calib.splits import SPLITS


class RowCount(NamedTuple):
    """Number of lines in the table, of rows that they represent, and of rows of class 1 (NaN if unknown).

    With K > 2 classes, ``events`` is an array (K,) with the rows of every class.
    """

    lines: int
    rows: float
    events: Any


def score_column(recipe: Recipe, dataset: Dataset) -> str:
    """Return the score column that a Recipe names, or the first one; refuse unknown names."""
    columns = dataset.scores
    if recipe.score is None:
        return columns[0]
    if recipe.score not in columns:
        raise InputError(f"score must name one of the columns {', '.join(columns)}, but is {recipe.score!r}.")
    return recipe.score


def needs_test_set(recipe: Recipe, dataset: Dataset) -> bool:
    """Tell whether an uncalibrated model is evaluated on the test set only, not on all rows.

    Existing predictions are not trained here, so rows are held out only for their calibrators. A split in time or by
    file is kept, because it states which rows the model had not seen.
    """
    return not (dataset.predictions and SPLITS[recipe.split].seeded)


def count_rows(y: np.ndarray, weight: np.ndarray | None, classes: int = 2) -> RowCount:
    """Count rows, and sum their effective weights, overall and in class 1, or in each of K > 2 classes."""
    return sum_rows(y, None if weight is None else effective_weights(weight), classes)


def sum_rows(y: np.ndarray, weights: np.ndarray | None, classes: int = 2) -> RowCount:
    """Count rows, and sum weights that are effective already; without weights, each row counts once."""
    weights = np.ones(len(y)) if weights is None else weights
    events = float(weights @ y) if classes == 2 else np.bincount(y, weights, minlength=classes)
    return RowCount(len(y), float(weights.sum()), events)


def unweighted_notes(weight: np.ndarray | None) -> Iterator[str]:
    """Name the everyday metrics that do not accept these weights."""
    if weight is None:
        return
    names = [
        metric.label for metric in METRICS.values() if metric.everyday and not takes_weights(metric, weight)
    ]
    if names:
        yield f"Some metrics are not shown, because they do not accept these weights: {listed(names)}."
