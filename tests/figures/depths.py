"""A small sweep that the tests of the depth figures share."""

from __future__ import annotations

from functools import cache

import pandas as pd

from calib import Recipe
from calib.analysis.depth import depth_scores, sweep_depths
from calib.synthetic import GaussianPair

DATA = GaussianPair([0, 0], [1, 1], [1.5, 0], [1, 2]).sample(240, random_state=3)
RECIPE = Recipe(params={"n_estimators": 4}, calibrators=("none", "platt", "isotonic", "venn_abers"))


@cache
def scores() -> list[pd.DataFrame]:
    """Return the scores of every growth, leaf and depth, as the sweep gives them."""
    return [depth_scores(RECIPE, point) for point in sweep_depths(RECIPE, DATA)]


def values(growth: str, leaf: str, calibrator: str, column: str) -> dict[int, float]:
    """Return depth → value, straight from the scores."""
    rows = [line for table in scores() for _, line in table.iterrows()]
    found = {
        int(row["depth"]): float(row[column])
        for row in rows
        if (row["growth"], row["leaf"], row["calibrator"]) == (growth, leaf, calibrator)
    }
    return dict(sorted(found.items()))
