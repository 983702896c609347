"""What lies beside the project, in ../shared: papers' tables, reference vectors, real data sets.

Where it is missing, the tests that use it are skipped by name; where CI is set, they fail.
"""

import csv
import os
from pathlib import Path

import pytest

from tests.sweep import sweep

FOLDER = Path(__file__).parents[2] / "shared"


def path(name: str) -> Path:
    """The first file of the folder by this name, which may be a pattern; without one a skip, or in CI a failure."""
    found = next(iter(sorted(FOLDER.glob(name))), None)
    if found is None:
        message = f"{name} is not in ../shared"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return found


def data_sets() -> dict[str, dict[str, str]]:
    """Name of each real set → what its source states of it; without the folder one nameless set, which ``path`` misses.

    Called while tests are collected, so that each set is a test of its own.
    """
    sources = FOLDER / "datasets" / "sources.csv"
    if not sources.exists():
        return {"sources": {}}
    with sources.open(encoding="utf-8") as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}


# Names alone, numbers alone, gaps, many columns, many rows, few rows, and one whose columns give its label
# away.
VARIED = ("haberman", "german_credit", "house_votes_84", "tic-tac-toe", "hillvalley", "jm1", "SPF")


def swept() -> list:
    """The names of the real sets as parameters of a test: a few of every kind, the others by make soak."""
    names = data_sets()
    few = [name for name in VARIED if name in names] or list(names)
    return sweep(names, *few)
