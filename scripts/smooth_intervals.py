"""Compare Venn–Abers with Venn's construction from smooth calibrators: is there a smooth interval that is valid?

    python -m scripts.smooth_intervals [--tables 400] [FOLDER/phoneme.csv …]

For each label that the test row may have, a logistic regression on the logit of its score is fitted with the row
included, and predicts it: (p0, p1) as in Venn–Abers, which fits isotonic regression. Its terms are those of Platt (1,
z), of the quadratic calibrator (1, z, z²) or of a natural cubic spline with five knots. Such a fit is not a partition
into categories, so Venn's theorem does not apply. Its score equations give less: the mean of (Y − P_Y) times any of
its terms is exactly 0, where P_Y is the prediction for the true label. "Averaged" is the mean of ten Venn–Abers
pairs, each from a random half of the calibration rows.

A world is a distribution of the scores k/100 with the frequency of class 1 at each, so everything except the draw of
the calibration rows is summed exactly. There are three simulated worlds, a forest's scores on two Gaussians, and for
each file a forest's scores on the rows that did not grow it. Printed for each method are, times 100: the mean of Y −
P_Y ("in the large"); the root mean square of its mean over the values of P_Y, in bins of 0.01, without its noise
("valid", 0 in theory for Venn–Abers); the mean width; how often the true frequency lies within; and the root mean
square error of the merged probability. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from calib.calibrators import CALIBRATORS
from calib.calibrators.merge import merge_pair
from calib.data import prepare, preprocessor, read_table
from calib.models import ProbabilityForest
from calib.synthetic import GaussianPair

Array = np.ndarray
GRID = np.arange(101) / 100
Z = logit((GRID * 100 + 0.5) / 101)
KNOTS = np.array([-3.0, -1.5, 0.0, 1.5, 3.0])
RIDGE, SPLINE_RIDGE, STEPS, HALVES = 1e-6, 1.0, 40, 10
SIZES = (50, 200, 1000)


def natural_spline(z: Array, knots: Array) -> Array:
    """Return the terms of a natural cubic spline besides 1 and z (Hastie, Tibshirani, Friedman, eq. 5.4–5.5)."""
    cubes = np.maximum(z[:, None] - knots, 0) ** 3
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return (d[:, :-1] - d[:, -1:]) / (knots[-1] - knots[0])


def terms(kind: str) -> tuple[Array, Array]:
    """Return (101, q) terms at every score, and each penalty; knots are fixed, or the equations would not hold."""
    more = {"platt": np.empty((101, 0)), "quadratic": Z[:, None] ** 2, "spline": natural_spline(Z, KNOTS)}[
        kind
    ]
    ridge = SPLINE_RIDGE if kind == "spline" else RIDGE
    return np.column_stack([np.ones(101), Z, more]), np.array([0.0, RIDGE, *[ridge] * more.shape[1]])


def logistic(B: Array, penalty: Array, counts: Array, ones: Array) -> Array:
    """Return (fits, 101) probabilities of penalised logistic regressions; ``counts`` and ``ones`` are (fits, 101)."""
    beta = np.zeros((len(counts), B.shape[1]))
    for _ in range(STEPS):
        p = expit(np.clip(beta @ B.T, -30, 30))
        slope = (ones - counts * p) @ B - penalty * beta
        weight = counts * p * (1 - p)
        curve = np.einsum("fg,gi,gj->fij", weight, B, B) + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        beta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return expit(np.clip(beta @ B.T, -30, 30))


def smooth(kind: str) -> Callable[[Array, Array, np.random.Generator], Array]:
    """Return Venn's construction: at every score the predictions of two fits that include the test row, (101, 2)."""

    def pairs(scores: Array, y: Array, rng: np.random.Generator) -> Array:
        counts = np.bincount(scores, minlength=101)
        ones = np.bincount(scores, weights=y, minlength=101)
        B, penalty = terms(kind)
        own = np.eye(101)
        found = [logistic(B, penalty, counts + own, ones + label * own) for label in (0, 1)]
        return np.stack([np.diag(p) for p in found], axis=1)

    return pairs


def venn_abers(scores: Array, y: Array, rng: np.random.Generator) -> Array:
    return CALIBRATORS["venn_abers"]().fit(GRID[scores], y).predict_interval(GRID)


def averaged(scores: Array, y: Array, rng: np.random.Generator) -> Array:
    halves = (rng.permutation(len(y))[: len(y) // 2] for _ in range(HALVES))
    return np.mean([venn_abers(scores[half], y[half], rng) for half in halves], axis=0)


METHODS = {
    "Venn–Abers": venn_abers,
    "averaged Venn–Abers": averaged,
    "Venn, Platt": smooth("platt"),
    "Venn, quadratic": smooth("quadratic"),
    "Venn, spline": smooth("spline"),
}


def measures(pairs: Array, mass: Array, f: Array) -> dict[str, float]:
    """Return measures of (tables, 101, 2) pairs: expectations over the test row in this world, means over tables."""
    tables = len(pairs)
    # Weights of (score, label), the same in each table
    weight = mass[:, None] * np.stack([1 - f, f], axis=1) / tables
    gap = np.array([0.0, 1.0]) - pairs
    at = np.minimum((pairs * 100).astype(int), 99) + 100 * np.arange(tables)[:, None, None]
    by_table = [
        np.bincount(at.ravel(), np.broadcast_to(each, at.shape).ravel(), 100 * tables).reshape(tables, 100)
        for each in (weight * gap, weight)
    ]
    sums, masses = (each.sum(axis=0) for each in by_table)
    there = masses > 0
    # Products of different tables only, so that noise cancels
    across = (sums**2 - (by_table[0] ** 2).sum(axis=0)) * tables / (tables - 1)
    valid = (across[there] / masses[there]).sum()
    p = merge_pair(pairs[..., 0], pairs[..., 1], "log")
    low, high = np.sort(pairs, axis=2).transpose(2, 0, 1)
    inside = (low <= f + 1e-9) & (f <= high + 1e-9)
    return {
        "in the large": float((weight * gap).sum()),
        "valid": float(np.sqrt(max(valid, 0.0))),
        "width": float((mass * (high - low)).sum() / tables),
        "within": float((mass * inside).sum() / tables),
        "distance": float(np.sqrt((mass * (p - f) ** 2).sum() / tables)),
    }


def made_worlds() -> dict[str, tuple[Array, Array]]:
    """Name → (mass, frequency of class 1) at each of the 101 scores."""
    even, middle = np.full(101, 1 / 101), np.exp(-8 * (GRID - 0.4) ** 2)
    jump = np.where(GRID < 0.3, 0.05, np.where(GRID < 0.7, 0.5, 0.95))
    return {
        "sigmoid": (even, expit(2 * Z)),
        "bent": (middle / middle.sum(), np.clip(0.02 + 0.9 * GRID**3, 0, 1)),
        "steps": (even, jump),
    }


def world_of(X: Array, y: Array, fresh: Array, truth: Array) -> tuple[Array, Array]:
    """Return the distribution of a forest's scores on ``fresh`` rows, and the truth at each; it has 100 votes."""
    forest = ProbabilityForest(100, vote="class", random_state=0).fit(X, y)
    k = np.rint(100 * forest.predict_proba(fresh)[:, 1]).astype(int)
    counts = np.bincount(k, minlength=101)
    f = np.bincount(k, weights=truth, minlength=101) / np.maximum(counts, 1)
    return counts / counts.sum(), f


def forest_worlds(files: list[Path]) -> dict[str, tuple[Array, Array]]:
    pair = GaussianPair.random(5, random_state=1, equal_covariance=False)
    grown, fresh = pair.sample(300, 0), pair.sample(20_000, 1)
    assert fresh.posterior is not None
    found = {
        "forest, Gaussians": world_of(
            grown.X.to_numpy(), grown.y, fresh.X.to_numpy(), np.asarray(fresh.posterior)
        )
    }
    for file in files:
        data = prepare(read_table(str(file)), "target")
        X = np.asarray(preprocessor(data.X).fit_transform(data.X))
        order = np.random.default_rng(0).permutation(data.n)
        grown_on, other = order[: min(1000, data.n // 2)], order[min(1000, data.n // 2) :]
        found[f"forest, {file.stem}"] = world_of(X[grown_on], data.y[grown_on], X[other], data.y[other])
    return found


def drawn(world: tuple[Array, Array], n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw calibration rows: scores as numbers 0…100, and labels."""
    scores = rng.choice(101, size=n, p=world[0])
    return scores, (rng.random(n) < world[1][scores]).astype(int)


def table(worlds: Mapping[str, tuple[Array, Array]], tables: int) -> list[str]:
    lines = ["| world | rows | method | in the large | valid | width | within | distance |"]
    lines.append("| --- |" + " --- |" * 7)
    print(*lines, sep="\n")
    for name, world in worlds.items():
        for n in SIZES:
            rng = np.random.default_rng(n)
            rows = [drawn(world, n, rng) for _ in range(tables)]
            for method, pairs_of in METHODS.items():
                found = measures(np.stack([pairs_of(*one, rng) for one in rows]), *world)
                cells = " | ".join(f"{100 * value:.2f}" for value in found.values())
                lines.append(f"| {name} | {n} | {method} | {cells} |")
                print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--tables", type=int, default=400)
    asked = parser.parse_args()
    table(made_worlds() | forest_worlds(asked.files), asked.tables)
