"""Measure bias and intervals of the correction for optimism in ``calib.validate``, for logistic regression.

``python -m scripts.optimism_rates [--draws 400] [--only 500x20]``. All resamples of a sample are fitted together, by
Newton's method on weights that count their rows, with the formulas of ``calib.analysis.optimism``. The truth
is the measure of the model that was fitted to the sample, on 20,000 further rows. Run by hand: ten minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calib.analysis.optimism import INNER

SHOWN = ("slope", "intercept", "observed_expected", "brier", "auc")
CASES = ((200, 8), (500, 8), (500, 20), (1000, 8))  # rows and features, half of which matter
RESAMPLES, NEW_ROWS = 200, 20_000
STEPS = 25  # of Newton's method
SMALL = 1e-9  # ridge that keeps separable resamples finite


def fitted(design: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the maximum likelihood coefficients (m, d) for design (n, d) or (m, n, d) and counts (m, n)."""
    many = design if design.ndim == 3 else np.broadcast_to(design, (len(counts), *design.shape))
    beta = np.zeros((len(counts), many.shape[2]))
    for _ in range(STEPS):
        p = expit(np.einsum("mnd,md->mn", many, beta))
        weighted = many * (counts * p * (1 - p))[:, :, None]
        hessian = many.transpose(0, 2, 1) @ weighted + SMALL * np.eye(many.shape[2])
        gradient = np.einsum("mnd,mn->md", many, counts * (y - p))
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        beta = beta + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-8:
            break
    return beta


def measured(y: np.ndarray, p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the measures ``SHOWN`` (m, 5) of predictions (m, n) on rows with counts (m, n)."""
    x = logit(np.clip(p, 1e-12, 1 - 1e-12))
    line = fitted(np.stack([np.ones_like(x), x], axis=2), y, counts)
    total = counts.sum(axis=1)
    ratio, brier = counts @ y / (counts * p).sum(axis=1), (counts * (p - y) ** 2).sum(axis=1) / total
    order = np.argsort(p, axis=1)
    sorted_counts, events = np.take_along_axis(counts, order, 1), y[order]
    zeros, ones = sorted_counts * (1 - events), sorted_counts * events
    area = (ones * (np.cumsum(zeros, axis=1) - zeros / 2)).sum(axis=1) / zeros.sum(axis=1) / ones.sum(axis=1)
    return np.column_stack([line[:, 1], line[:, 0], ratio, brier, area])


def one(n: int, d: int, seed: int) -> Iterator[np.ndarray]:
    """Yield apparent, corrected and true measures, and whether each kind of interval includes the true ones."""
    rng = np.random.default_rng(seed)
    beta = np.r_[-1.0, np.full(d // 2, 0.5 * (4 / (d // 2)) ** 0.5), np.zeros(d - d // 2)]
    design = np.column_stack([np.ones(n + NEW_ROWS), rng.normal(size=(n + NEW_ROWS, d))])
    y = (rng.random(n + NEW_ROWS) < expit(design @ beta)).astype(float)
    new, new_y, design, y = design[n:], y[n:], design[:n], y[:n]
    ones = np.ones((1, n))
    model = fitted(design, y, ones)
    apparent = measured(y, expit(model @ design.T), ones)[0]
    true = measured(new_y, expit(model @ new.T), np.ones((1, NEW_ROWS)))[0]
    counts = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(float)
    train, optimism = resampled(design, y, counts, np.broadcast_to(ones, counts.shape))
    again = (np.array([rng.multinomial(n, each / n) for each in counts], dtype=float) for _ in range(INNER))
    inner = np.stack([resampled(design, y, each, counts)[1] for each in again], axis=1)
    double = (
        np.var(optimism - inner.mean(axis=1), axis=0, ddof=1) - inner.var(axis=1, ddof=1).mean(axis=0) / INNER
    )
    single = np.var(optimism, axis=0, ddof=1)
    corrected = apparent - optimism.mean(axis=0)
    low, high = np.quantile(train, [0.025, 0.975], axis=0) - optimism.mean(axis=0)
    yield from (apparent, corrected, true)
    yield from (
        np.abs(corrected - true) <= 1.96 * np.sqrt(each) for each in (np.maximum(double, single), single)
    )
    yield (low <= true) & (true <= high)


def resampled(
    design: np.ndarray, y: np.ndarray, counts: np.ndarray, among: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return apparent measures and optimism (m, 5) of resamples with counts (m, n), drawn from rows with counts."""
    p = expit(fitted(design, y, counts) @ design.T)
    train = measured(y, p, counts)
    return train, train - measured(y, p, among)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--only", default="", help="part of the name of a case, rows x features")
    args = parser.parse_args(arguments)
    for n, d in (each for each in CASES if args.only in "{}x{}".format(*each)):
        apparent, corrected, true, covers, single, shifted = np.array(
            [list(one(n, d, seed)) for seed in range(args.draws)], dtype=float
        ).transpose(1, 0, 2)
        lines = []
        for j, key in enumerate(SHOWN):
            lines.append(
                {
                    "rows": n,
                    "features": d,
                    "measure": key,
                    "true": true[:, j].mean().round(3),
                    "apparent": apparent[:, j].mean().round(3),
                    "corrected": corrected[:, j].mean().round(3),
                    "covers, %": (100 * covers[:, j].mean()).round(1),
                    "single bootstrap covers, %": (100 * single[:, j].mean()).round(1),
                    "location-shifted covers, %": (100 * shifted[:, j].mean()).round(1),
                }
            )
        print(pd.DataFrame(lines).to_string(), flush=True)


if __name__ == "__main__":
    main()
