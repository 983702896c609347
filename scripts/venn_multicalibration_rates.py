"""Measure whether Venn multicalibration is valid, and what it costs.

``python -m scripts.venn_multicalibration_rates [--sets 4000] [--tables 60] [--first 0]``. Validity: many calibrations
with 60 or 300 rows, and one further row each. The error of the prediction for its true label, in each of eight groups
and levels, is divided by its standard error; the largest of eight standard normal numbers exceeds 3 in 2 of 100
cases. The cells are fixed beforehand, or learnt from the calibration rows without labels, by population quantiles.
Cost: tables of ``scripts.audit_rates`` whose planted group is a value of a column; changes are relative to logistic
recalibration, on 20,000 further rows with their true probabilities.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from calib.calibrators import Logistic, Multicalibration, VennMulticalibration
from scripts.multicalibration_rates import ANOTHER, FURTHER, table


def promise(sets: int, rows: int, learnt: bool, first: int = 0) -> tuple[float, float]:
    """Return the largest error of the prediction for the true label, in standard errors, and that of f alone."""
    rng = np.random.default_rng([first, rows, learnt])
    errors, before = np.zeros((sets, 8)), np.zeros((sets, 8))
    for i in range(sets):
        a, b = rng.integers(0, 2, (2, rows + 1))
        p = rng.uniform(0.1, 0.8, rows + 1) if learnt else rng.choice([0.3, 0.6], rows + 1)
        y = (rng.random(rows + 1) < np.clip(p + 0.15 * a - 0.2 * b * (p > 0.45), 0, 1)).astype(int)
        if y[:-1].min() == y[:-1].max():
            continue
        frame = pd.DataFrame({"p": p, "a": a, "b": b})
        fitted = VennMulticalibration(bins=2).fit(frame[:-1], y[:-1])
        cells = np.array([a[-1], 1 - a[-1], b[-1], 1 - b[-1]])
        g = np.concatenate([cells * (p[-1] <= 0.45), cells * (p[-1] > 0.45)])
        errors[i] = g * (y[-1] - fitted.raw_pairs(frame[-1:])[0, y[-1]])
        before[i] = g * (y[-1] - p[-1])
    largest = [
        float(np.abs(each.sum(axis=0) / np.sqrt((each**2).sum(axis=0))).max()) for each in (errors, before)
    ]
    return largest[0], largest[1]


def cost(seed: int, rows: int) -> tuple[float, ...]:
    """Return (mean width, change of the Brier score; gap of the group before, after, and after multicalibration)."""
    p, _, y, frame, _ = table(seed, rows, True)
    new, truth, _, further, group = table(seed + ANOTHER, FURTHER, True)
    inside, outside = (pd.concat([pd.Series(q), each], axis=1) for q, each in ((p, frame), (new, further)))
    fitted = VennMulticalibration().fit(inside, y)
    before, after = Logistic().fit(p, y).predict(new), fitted.predict(outside)
    other = Multicalibration().fit(inside, y).predict(outside)
    width = float(np.diff(fitted.predict_interval(outside))[:, 0].mean())
    change = float(((truth - after) ** 2 - (truth - before) ** 2).mean())
    return width, change, *(abs(float((truth - q)[group].mean())) for q in (before, after, other))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=4000)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    print("| groups and levels | rows | sets | largest error | before |\n" + "| --- " * 5 + "|")
    for learnt, rows in ((False, 60), (True, 60), (True, 300)):
        own, before = promise(args.sets, rows, learnt, args.first)
        print(
            f"| {'learnt' if learnt else 'known'} | {rows} | {args.sets:,} | {own:.1f} | {before:.1f} |",
            flush=True,
        )
    print(
        "\n| rows | mean width | Brier score | gap before | gap after | multicalibration |\n"
        + "| --- " * 6
        + "|"
    )
    for rows in (1000, 3000, 10_000):
        # Multiples of 3: the group is a value of a column
        seeds = range(3 * args.first, 3 * (args.first + args.tables), 3)
        width, change, *gaps = np.mean([cost(seed, rows) for seed in seeds], axis=0)
        told = " | ".join(f"{gap:.3f}" for gap in gaps)
        print(f"| {rows:,} | {width:.3f} | {change:+.5f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
