"""Measure the effect of multicalibration on calibrated tables and on planted groups, beside boosted trees.

``python -m scripts.multicalibration_rates [--tables 200] [--rows 3000 10000] [--first 0] [--jobs 2]``. Tables and
groups are those of ``scripts.audit_rates``: ten columns; the planted group has 5 % of the rows, and its true
probabilities are 0.15 higher than predicted. Changes are against logistic recalibration, on 20,000 further rows with
their true probabilities, so that they have almost no noise. The gap is the group's mean error.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.tree import DecisionTreeRegressor

from calib.calibrators import Logistic, Multicalibration
from scripts.audit_rates import SHIFT, columns

FURTHER = 20_000
ANOTHER = 999_999  # offset of further seeds, a multiple of 3, so that the group is of the same kind


def table(
    seed: int, rows: int, planted: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, pd.DataFrame, np.ndarray]:
    """Draw (p, true probabilities, y, columns, rows of the group)."""
    rng = np.random.default_rng([seed, rows, 5])
    frame, x = columns(rng, rows)
    p = np.minimum(expit(x), 0.84)
    high = [(frame[f"number {i}"] > z).to_numpy() for i, z in ((3, 0.8416), (4, 0.6745))]
    group = [
        (frame["kind 2"] == "e").to_numpy(),
        ((frame["kind 2"] == "c") & (frame["kind 3"] == "b")).to_numpy(),
        high[0] & high[1],
    ][seed % 3]
    truth = p + SHIFT * group * planted
    return p, truth, (rng.random(rows) < truth).astype(int), frame, group


def boosted_trees(
    p: np.ndarray, frame: pd.DataFrame, y: np.ndarray, new: np.ndarray, further: pd.DataFrame
) -> np.ndarray:
    """Fit a short version of MCGrad: boosted trees on features and prediction, starting from its log-odds.

    Early stopping uses a third of the rows.
    """

    def matrix(q: np.ndarray, table: pd.DataFrame) -> np.ndarray:
        return np.column_stack([q, pd.get_dummies(table, dtype=float).to_numpy()])

    held = np.random.default_rng(1).random(len(y)) < 1 / 3
    inside, outside = matrix(p, frame), matrix(new, further)
    x, far = logit(p), logit(new)
    lowest, answer, waited = np.logaddexp(0, np.where(y == 1, -x, x))[held].mean(), far, 0
    for seed in range(150):
        q = expit(x)
        tree = DecisionTreeRegressor(max_depth=3, min_samples_leaf=50, random_state=seed)
        tree.fit(inside[~held], ((y - q) / (q * (1 - q)))[~held], sample_weight=(q * (1 - q))[~held])
        x, far = x + 0.1 * tree.predict(inside), far + 0.1 * tree.predict(outside)
        loss = np.logaddexp(0, np.where(y == 1, -x, x))[held].mean()
        lowest, answer, waited = (loss, far, 0) if loss < lowest else (lowest, answer, waited + 1)
        if waited == 10:
            break
    return expit(answer)


def one(seed: int, rows: int, planted: bool, weighted: bool = False) -> tuple[float, ...]:
    """Return (corrections; changes of Brier score and log loss; gap before and after) of a table, the last also for
    trees.
    """
    p, _, y, frame, _ = table(seed, rows, planted)
    new, truth, _, further, group = table(seed + ANOTHER, FURTHER, planted)
    weight = np.random.default_rng(seed).gamma(1, size=rows) if weighted else None
    fitted = Multicalibration().fit(pd.concat([pd.Series(p), frame], axis=1), y, sample_weight=weight)
    answers = [
        Logistic().fit(p, y, sample_weight=weight).predict(new),
        fitted.predict(pd.concat([pd.Series(new), further], axis=1)),
        boosted_trees(p, frame, y, new, further),
    ]
    brier = [float(((truth - q) ** 2).mean()) for q in answers]
    log = [float(-(truth * np.log(q) + (1 - truth) * np.log1p(-q)).mean()) for q in answers]
    gap = [abs(float((truth - q)[group].mean())) for q in answers]
    return len(fitted.corrections_), brier[1] - brier[0], log[1] - log[0], *gap, brier[2] - brier[0]


HEAD = (  # words: right, heads of a table
    "| tables | rows | corrected | corrections | Brier score | log loss | largest rise of the Brier score | "
    "gap before | gap after | gap after, boosted trees | Brier score, boosted trees |\n" + "| --- " * 11 + "|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[3000, 10_000])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.tables)
    print(HEAD)
    with ProcessPoolExecutor(args.jobs) as pool:
        for rows in args.rows:
            for planted, weighted in ((False, False), (True, False), (False, True), (True, True)):
                runs = pool.map(partial(one, rows=rows, planted=planted, weighted=weighted), seeds)
                count, brier, log, before, after, trees, tree_brier = np.array(list(runs)).T
                name = ("planted group" if planted else "calibrated") + (", weights" if weighted else "")
                some = f"{np.median(count[count > 0]):g}" if count.any() else ""
                gaps = (
                    " | ".join(f"{each.mean():.3f}" for each in (before, after, trees))
                    if planted
                    else " | | "
                )
                print(
                    f"| {name} | {rows:,} | {100 * (count > 0).mean():.0f} % | {some} | {brier.mean():+.5f} | "
                    f"{log.mean():+.5f} | {brier.max():+.5f} | {gaps} | {tree_brier.mean():+.5f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
