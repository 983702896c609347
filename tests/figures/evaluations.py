"""Small evaluations that the tests of figures share: a model's, on margins, of given scores, and in every placement."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from calib import Recipe
from calib.evaluate import Evaluation, Fitted, calibrate, fit
from calib.kernel.records import Dataset

METHODS = ("none", "venn", "venn_abers")


@cache
def dataset(n: int = 300, predictions: bool = False) -> Dataset:
    """Draw two features, or one given score with ties (in hundredths); row numbers differ from positions."""
    rng = np.random.default_rng(n)
    score = rng.integers(0, 101, n) / 100
    y = (rng.random(n) < 0.1 + 0.8 * score**1.5).astype(int)
    columns = {"theirs": score} if predictions else {"a": score, "b": rng.normal(size=n).round(1)}
    return Dataset(
        "small", pd.DataFrame(columns, index=2 * np.arange(n) + 1), y, ("no", "yes"), predictions=predictions
    )


@cache
def fitted(**changes) -> Fitted:
    settings = {"model": "logistic_regression", "calibrators": METHODS, "bins": 10} | changes
    given = settings.pop("given", False)
    n = settings.pop("n", 300)
    recipe = Recipe(content="predictions" if given else "features", **settings)
    return fit(recipe, dataset(n, given))


@cache
def evaluation(**changes) -> Evaluation:
    """Return the Evaluation of a Recipe with these fields; ``given=True`` for scores made elsewhere, ``n`` rows."""
    one = fitted(**changes)
    return calibrate(one.recipe, one)
