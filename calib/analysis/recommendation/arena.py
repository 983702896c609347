"""What the arena says before any test row is seen: how much each method's Brier score differs from the reference's.

``arena.csv`` and ``arena_classes.csv`` are written by ``python -m scripts.arena_sizes`` (docs/results.md). They hold
means over data sets: for two classes per number of calibration rows of the minority class and kind of scores, for more
classes per number of calibration rows. Differences are shares of the uncertainty: f (1 − f), or 1 − Σ f² if the Brier
score is summed over classes of shares f.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from calib.kernel.checks import Array

REFERENCE = "auto"  # its own difference is 0


def is_tied(scores: Array) -> bool:
    """Tell whether scores (n,) have few distinct values, such as shares of votes: at most 20, or a tenth of the rows.

    >>> is_tied(np.repeat(np.arange(11) / 10, 9)), is_tied(np.linspace(0, 1, 15)), is_tied(np.linspace(0, 1, 99))
    (True, False, False)
    """
    n = len(scores)
    return bool(len(np.unique(scores)) <= max(n / 10, min(20.0, n / 2)))


def prior(minority: float, tied: bool, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return what to expect of each method, one line per key.

    Parameters
    ----------
    minority
        Calibration rows of the minority class; the nearest size of the arena counts.
    tied
        Whether scores have few distinct values.
    table
        Another arena than the shipped one.

    Returns
    -------
    DataFrame
        "difference" from the reference in Brier score and its "deviation" between cases, as shares of the uncertainty.
        The lowest difference is first.

    Examples
    --------
    >>> bool(prior(10, tied=False).difference["isotonic"] > prior(5000, tied=False).difference["isotonic"] > 0)
    True
    """
    table = arena() if table is None else table
    return _nearest(table[table["tied"] == tied], "minority", minority)


def prior_of_classes(rows: float, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return what to expect of each method for three or more classes, as ``prior`` does, from the calibration rows.

    Examples
    --------
    >>> bool(prior_of_classes(50).difference["matrix"] > prior_of_classes(1500).difference["matrix"] > 0)
    True
    """
    return _nearest(arena("arena_classes") if table is None else table, "rows", rows)


def _nearest(table: pd.DataFrame, column: str, size: float) -> pd.DataFrame:
    far = np.abs(np.log(table[column] / max(size, 1.0)))
    lines = table[far == far.min()].set_index("method")
    return lines[["difference", "deviation"]].sort_values("difference", kind="stable")


@cache
def arena(name: str = "arena") -> pd.DataFrame:
    """Return a shipped grid: minority and tied, or rows; method, sets, difference, deviation, infinite."""
    with files("calib.analysis.recommendation").joinpath(f"{name}.csv").open("rb") as file:
        return pd.read_csv(file)
