"""What the arena says before any test row is seen: how much each method's Brier score differs from the reference's.

``arena.csv`` is written by ``python -m scripts.arena_sizes`` (docs/results.md): means over data sets, per number of
calibration rows of the minority class and kind of scores. Differences are shares of the uncertainty f (1 − f).
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
        "difference" from the reference in Brier score and its "deviation" between cases, as shares of f (1 − f). The
        lowest difference is first.

    Examples
    --------
    >>> bool(prior(10, tied=False).difference["isotonic"] > prior(5000, tied=False).difference["isotonic"] > 0)
    True
    """
    table = arena() if table is None else table
    of_kind = table[table["tied"] == tied]
    far = np.abs(np.log(of_kind["minority"] / max(minority, 1.0)))
    lines = of_kind[far == far.min()].set_index("method")
    return lines[["difference", "deviation"]].sort_values("difference", kind="stable")


@cache
def arena() -> pd.DataFrame:
    """Return the shipped grid: minority, tied, method, sets, difference, deviation, infinite."""
    with files("calib.analysis.recommendation").joinpath("arena.csv").open("rb") as file:
        return pd.read_csv(file)
