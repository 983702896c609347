"""Write the people of the story, ``calib/export/story/people.json``: ``python -m scripts.write_story``.

The 900 customers are the test rows of the sample *loans*. The file has what calib computes for them, to the last digit,
so that the story shows the same numbers on every machine: predictions, true probabilities, the rows that calibrate, and
decision trees of every depth. Run the script when the sample, the model or its library changes.

The labels are a typical draw from the true probabilities (``typical_labels``): the sample's own lie 2.6 standard
deviations below their expectation in the story's fourth column, and readers would take that for the rule.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from calib.evaluate import Evaluation, evaluate
from calib.export.story import PEOPLE
from calib.recipe import Recipe
from calib.sources import load
from sample_data import make

BANK = Recipe(data="sample:loans", model="gradient_boosting", calibrators=("none", "platt", "isotonic"))
HISTORIES = ("good", "short", "late once", "late often")
DEPTHS = range(1, 9)
COLUMNS = 5
MIDDLE_HALF = 0.6744897501960817  # the 75 % quantile of the normal distribution


def people() -> dict[str, Any]:
    """Return the content of the file."""
    bank = evaluated(BANK)
    p, known = bank.predictions["none"].p, columns(bank)
    hidden = np.array([income is None for income in known["income"]])
    return {
        "p": p.tolist(),
        "y": typical_labels(p, np.array(known["truth"]), hidden).tolist(),
        **known,
        "calibration": {"p": bank.calibration_scores.tolist(), "y": bank.calibration_y.tolist()},
        "trees": [_leaves(constant(bank)), *(_leaves(tree(depth)) for depth in DEPTHS)],
    }


def columns(bank: Evaluation) -> dict[str, list]:
    """Return what the sample says of the test rows: true probabilities, incomes (None if missing) and histories."""
    frame = make.loans().iloc[bank.rows]
    return {
        "truth": make.loans_truth()[bank.rows].tolist(),
        "income": [None if pd.isna(one) else int(one) for one in frame["income"]],
        "history": [HISTORIES.index(one) for one in frame["history"]],
    }


def typical_labels(p: np.ndarray, truth: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return the first draw of labels, with the seeds 0, 1, 2, …, that is typical in every group.

    The groups are the story's five columns and the hidden group. A draw is typical if each group's number of defaults
    lies in the middle half of what chance gives (normal approximation). Of 64 draws about one is.
    """
    bins = np.minimum(np.floor(p * COLUMNS + 1e-9), COLUMNS - 1)
    groups = [*(bins == k for k in range(COLUMNS)), hidden]
    half = [MIDDLE_HALF * np.sqrt((truth * (1 - truth))[group].sum()) for group in groups]
    for seed in count():
        y = (np.random.default_rng(seed).random(len(truth)) < truth).astype(int)
        gaps = [abs((y - truth)[group].sum()) for group in groups]
        if all(gap <= most for gap, most in zip(gaps, half, strict=True)):
            return y
    raise AssertionError("count() does not end")


def evaluated(recipe: Recipe) -> Evaluation:
    """Return the Recipe's evaluation on the sample."""
    return evaluate(recipe, load(recipe))


def tree(depth: int) -> np.ndarray:
    """Return what a decision tree of this depth predicts for the people."""
    recipe = BANK.replace(model="decision_tree", calibrators=("none",), params={"max_depth": depth})
    return evaluated(recipe).predictions["none"].p


def constant(bank: Evaluation) -> np.ndarray:
    """Return what a tree with no splits predicts: the share of defaults among the rows that train."""
    others = np.concatenate([bank.y, bank.calibration_y])
    defaults = int(bank.dataset.y.sum() - others.sum())
    return np.full(len(bank.y), defaults / (bank.dataset.n - len(others)))


def _leaves(p: np.ndarray) -> dict[str, Any]:
    """Return the predictions as the distinct values and the place of each row's value among them."""
    values, places = np.unique(p, return_inverse=True)
    return {"values": values.tolist(), "leaf": places.tolist()}


if __name__ == "__main__":
    PEOPLE.write_text(json.dumps(people(), separators=(",", ":")) + "\n", encoding="utf-8")
