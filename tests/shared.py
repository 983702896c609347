"""Find files in ../shared, beside the project: papers' tables, reference vectors, real data sets.

Without the folder, the tests that use it are skipped by name; in CI they fail.
"""

import csv
import os
from pathlib import Path

import pytest

from tests.sweep import sweep

FOLDER = Path(__file__).parents[2] / "shared"


def path(name: str) -> Path:
    """Return the first file whose name matches the pattern; without one skip the test, or fail in CI."""
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


# Only categories, only numbers, gaps, many columns, many rows, few rows, and columns that reveal the label
VARIED = ("haberman", "german_credit", "house_votes_84", "tic-tac-toe", "hillvalley", "jm1", "SPF")


def swept() -> list:
    """Return the names of the real sets as parameters of a test: a few of each kind, the others for make soak."""
    names = data_sets()
    few = [name for name in VARIED if name in names] or list(names)
    return sweep(names, *few)
