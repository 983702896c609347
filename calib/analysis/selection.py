"""Rows selected on a diagram: ranges of predictions → test rows with their predictions and features.

A range calibrator:low:high selects the test rows whose prediction by that calibrator lies in [low, high),
or up to and including 1; several ranges select the rows in any of them. A bin of the diagram is such a
range.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.kernel import checks

EDGE_TOLERANCE = 1e-11  # the same tolerance as in calib.kernel.binning, for decimals just below an edge


def write_ranges(ranges: Iterable[tuple[str, float, float]]) -> tuple[str, ...]:
    """Write ranges (calibrator, low, high) as a selection; ranges that touch or overlap are joined.

    >>> write_ranges([("platt", 0.5, 0.75), ("none", 0.0, 0.1), ("platt", 0.25, 0.5)])
    ('none:0.0:0.1', 'platt:0.25:0.75')
    """
    merged: list[list] = []
    for key, low, high in sorted(ranges):
        if merged and merged[-1][0] == key and low <= merged[-1][2]:
            merged[-1][2] = max(high, merged[-1][2])
        else:
            merged.append([key, low, high])
    return tuple(f"{key}:{float(low)!r}:{float(high)!r}" for key, low, high in merged)


def read_ranges(selection: Iterable[str]) -> list[tuple[str, float, float]]:
    """Read ranges that ``write_ranges`` wrote.

    >>> read_ranges(["platt:0.25:0.75"])
    [('platt', 0.25, 0.75)]
    """
    parts = [check_range(item, "selection").split(":") for item in selection]
    return [(key, float(low), float(high)) for key, low, high in parts]


def check_range(item: str, name: str) -> str:
    """Refuse a text that is not a range calibrator:low:high."""
    key, *ends = item.split(":")
    checks.one_of(key, CALIBRATORS, name)
    try:
        low, high = map(float, ends)
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low < high <= 1:
        raise checks.InputError(
            f"{name} must be calibrator:low:high with 0 <= low < high <= 1, but is {item!r}."
        )
    return item


def selected_rows(evaluation: Evaluation, selection: Iterable[str]) -> np.ndarray:
    """Return the positions of the selected test rows; ranges of absent calibrators select none."""
    picked = np.zeros(len(evaluation.y), dtype=bool)
    for key, low, high in read_ranges(selection):
        if key in evaluation.predictions:
            p = evaluation.predictions[key].p
            picked |= (p >= low - EDGE_TOLERANCE) & ((p < high - EDGE_TOLERANCE) | (high == 1))
    return np.flatnonzero(picked)


def selected_frame(evaluation: Evaluation, selection: Iterable[str], most: int | None = None) -> pd.DataFrame:
    """Return the selected rows (the first ``most`` of them) as ``rows_frame`` lists them."""
    return rows_frame(evaluation, selected_rows(evaluation, selection)[:most])


def rows_frame(evaluation: Evaluation, rows: np.ndarray) -> pd.DataFrame:
    """Return the test rows at these positions: number, class, predictions, then features."""
    predicted = {key: predicted.p[rows] for key, predicted in evaluation.predictions.items()}
    names = np.asarray(evaluation.dataset.classes, dtype=object)[evaluation.y[rows]]
    features = evaluation.dataset.X.iloc[evaluation.rows[rows]]
    known = pd.DataFrame(
        {"row": evaluation.dataset.row_numbers[evaluation.rows[rows]], "class": names, **predicted},
        index=features.index,
    )
    # A feature called like one of these columns gets a suffix
    named = features.rename(columns=lambda name: f"{name} (feature)" if str(name) in known else str(name))
    return pd.concat([known, named], axis=1)
