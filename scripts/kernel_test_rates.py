"""Measure how often the kernel test rejects calibrated predictions of K classes, and how often overconfident ones.

``python -m scripts.kernel_test_rates [--sets 1000]``. The probabilities of a row are drawn from a Dirichlet
distribution, and its label from these probabilities. "Flat" has all parameters 1; with "peaked", 1/K, most rows have
one likely class. Overconfident predictions are the same probabilities with all log-odds times 1.5, in a fifth of the
sets. Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np

from calib.metrics.calibration_test import kernel_test

CLASSES, SIZES = (3, 10), (100, 300, 1000)
SHAPES = {"flat": lambda classes: 1.0, "peaked": lambda classes: 1.0 / classes}
OVERCONFIDENT = 1.5
TINY = 1e-12  # least probability, for the logarithm


def drawn(classes: int, rows: int, alpha: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw probabilities (rows, classes), and labels with these probabilities."""
    rng = np.random.default_rng(seed)
    P = np.maximum(rng.dirichlet(np.full(classes, alpha), rows), TINY)
    P /= P.sum(axis=1, keepdims=True)
    y = (rng.random((rows, 1)) >= P.cumsum(axis=1)).sum(axis=1)
    return np.minimum(y, classes - 1), P


def rejections(classes: int, rows: int, alpha: float, sets: int, power: float = 1.0) -> float:
    """Return the share of test sets with p ≤ 5 %, for predictions proportional to the true probabilities ** power."""
    found = 0
    for seed in range(sets):
        y, P = drawn(classes, rows, alpha, seed)
        Q = P**power
        found += kernel_test(y, Q / Q.sum(axis=1, keepdims=True), random_state=seed).rejects
    return found / sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    sets = parser.parse_args().sets
    print("| classes | probabilities | rows | rejected if calibrated | rejected if overconfident |")
    print("| --- | --- | --- | --- | --- |")
    for classes in CLASSES:
        for shape, alpha in SHAPES.items():
            for rows in SIZES:
                rates = [
                    rejections(classes, rows, alpha(classes), each, power)
                    for each, power in ((sets, 1.0), (sets // 5, OVERCONFIDENT))
                ]
                cells = " | ".join(f"{rate:.1%}".replace("%", " %") for rate in rates)
                print(f"| {classes} | {shape} | {rows:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
