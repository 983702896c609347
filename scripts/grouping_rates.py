"""Measure bound, interval and test of the grouping loss on Gaussians whose true probabilities are known.

``python -m scripts.grouping_rates [--tables 500] [--jobs 2] [--markdown FILE]``. A logistic regression predicts two
classes of Gaussians with different covariances, so rows of one prediction have different true probabilities. The true
grouping loss and the loss that the partition explains are those of 100,000 further rows. In tables without grouping
loss the predictions are the true probabilities, or these with their log-odds halved.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calib.analysis.grouping import PARTITIONS, _regions, grouping_loss
from calib.kernel.binning import bin_index, group_sums
from calib.synthetic import GaussianPair

BINS, POPULATION = 15, 100_000
LEVELS = 500  # groups of equal prediction in the population


def pair(seed: int) -> GaussianPair:
    """Draw two classes whose covariances differ in scale and direction."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi)
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return GaussianPair(
        np.zeros(2),
        turned @ np.diag([2.0, 0.5]) @ turned.T,
        rng.uniform(0.3, 1.2, 2),
        np.diag([0.5, rng.uniform(1, 2)]),
    )


def explained(posterior: np.ndarray, region: np.ndarray, place: np.ndarray) -> float:
    """Return the mean square of the true mean of each row's region minus that of its bin."""
    means = []
    for index in (region, place):
        count = group_sums(index, int(index.max()) + 1)
        sums = group_sums(index, len(count), posterior)
        means.append(np.divide(sums, count, out=np.zeros(len(count)), where=count > 0)[index])
    return float(((means[0] - means[1]) ** 2).mean())


def one(
    seed: int, rows: int, loss: bool = True, which: str = "tree", population: int = POPULATION
) -> tuple[float, ...]:
    """Return (true grouping loss, loss of the partition, bound, low, high, p-value) of a table."""
    data = pair(seed)
    sample, rest = data.sample(rows, seed), data.sample(population, seed + 10_000_000)
    X = pd.concat([sample.X, rest.X], ignore_index=True)
    posterior = np.concatenate([data.posterior(each.X.to_numpy()) for each in (sample, rest)])
    if loss:
        other = data.sample(2000, seed + 20_000_000)
        p = LogisticRegression().fit(other.X, other.y).predict_proba(X)[:, 1]
    else:
        p = posterior if seed % 2 else expit(logit(posterior) / 2)
    found = grouping_loss(sample.y, p[:rows], sample.X, BINS, seed, partition=which)
    # The same partition of further rows
    first = np.split(np.random.default_rng(seed).permutation(rows), [rows // 2])[0]
    further = np.arange(rows, len(X))
    place = bin_index(p, BINS)
    assign = PARTITIONS[which](X, np.append(sample.y, rest.y), first, seed)
    region = _regions(assign, place, first, further, BINS)
    order = np.argsort(p[further], kind="stable")
    level = np.empty(population, dtype=np.intp)
    level[order] = np.arange(population) * LEVELS // population
    true = posterior[further]
    whole = float(((true - (group_sums(level, LEVELS, true) / group_sums(level, LEVELS))[level]) ** 2).mean())
    return (whole, explained(true, region, place[further]), found.lower, *found.interval, found.p_value)


STEPS = np.array([0.1, 0.7, 0.2, 0.9, 0.4, 0.6, 0.3])
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda p: p,
    "wavy": lambda p: 0.5 + 0.35 * np.sin(8 * np.pi * p),
    "falling": lambda p: 1 - p,
    "stepped": lambda p: STEPS[np.minimum((p * 7).astype(int), 6)],
    "tied, wavy": lambda p: 0.5 + 0.35 * np.sin(8 * np.pi * p),
}


def curved(seed: int, rows: int, shape: str, which: str) -> tuple[float, float]:
    """Return (low end, p-value) of a table whose features know the prediction, on which alone the labels depend."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    p = expit(1.5 * X[:, 0]) if seed % 2 else expit(X @ [1.0, 0.7, 0.5])
    if shape.startswith("tied"):
        p = np.clip(np.round(40 * p) / 40, 0.01, 0.99)
    y = (rng.random(rows) < SHAPES[shape](p)).astype(int)
    found = grouping_loss(y, p, X, BINS, seed, partition=which)
    return found.interval[0], found.p_value


def curved_line(rows: int, shape: str, which: str, runs: Sequence[tuple[float, float]]) -> str:
    low, p_value = np.array(runs).T
    shares = " | ".join(f"{100 * float(np.mean(each)):.1f} %" for each in (low > 0, p_value <= 0.05))
    return f"| {shape} | {which} | {rows:,} | {len(runs)} | {shares} |"


SHAPES_HEAD = "| frequency | partition | rows | tables | low end above 0 | p ≤ 5 % |\n" + "| --- " * 6 + "|"


def line(name: str, rows: int, runs: Sequence[tuple[float, ...]]) -> str:
    """Write a row of the table."""
    whole, own, bound, low, high, p_value = np.array(runs).T
    shares = [
        f"{100 * float(np.mean(each)):.1f} %"
        for each in (low <= whole, (low <= own) & (own <= high), low > 0, p_value <= 0.05)
    ]
    told = f"{100 * np.median(bound / whole):.0f} %" if np.median(whole) > 0.002 else ""
    return f"| {name} | {rows:,} | {len(runs)} | {np.median(whole):.4f} | {told} | {' | '.join(shares)} |"


HEAD = (
    "| partition | rows | tables | true loss | found | lower end below the true loss | interval includes "
    "the partition's "
    "loss | low end above 0 | p ≤ 5 % |\n" + "| --- " * 9 + "|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--only", nargs="+", help="partitions")
    parser.add_argument(
        "--shapes", nargs="+", type=int, metavar="ROWS", help="measure SHAPES of so many rows"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.tables)
    lines = [SHAPES_HEAD if args.shapes else HEAD]
    print(lines[0])
    cases = [
        (which, rows, loss)
        for which in args.only or PARTITIONS
        for rows, loss in ((4000, True), (4000, False), (20_000, True))
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        for rows, shape, which in product(args.shapes or (), SHAPES, args.only or PARTITIONS):
            some = list(pool.map(partial(curved, rows=rows, shape=shape, which=which), seeds, chunksize=4))
            lines.append(curved_line(rows, shape, which, some))
            print(lines[-1], flush=True)
        for which, rows, loss in () if args.shapes else cases:
            runs = list(pool.map(partial(one, rows=rows, loss=loss, which=which), seeds, chunksize=4))
            lines.append(line(which if loss else f"{which}, no loss", rows, runs))
            print(lines[-1], flush=True)
    if args.markdown:
        args.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
