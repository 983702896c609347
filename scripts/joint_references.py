"""Store predictions of probmetrics and venn-abers on simulated rows of K classes, for the tests of our calibrators.

The packages need torch, so the predictions are computed once and stored: ``pip install probmetrics venn-abers`` in an
environment of its own, then ``python -m scripts.joint_references tests/calibrators/joint_reference.json``.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

CASES = ((3, 60, 0), (4, 400, 1), (6, 1500, 2))  # classes, calibration rows, seed
SHOWN = 12


def simulated(classes: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return overconfident, skewed probabilities of n rows, their labels, and rows to predict."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    logits = rng.normal(size=(n + SHOWN, classes))
    logits[np.arange(n), y] += 1.2
    logits = 2.5 * logits + np.linspace(-0.8, 0.8, classes)
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P[:n], y, P[n:]


def main(path: str) -> None:
    from probmetrics.calibrators import get_calibrator
    from venn_abers import VennAbersCalibrator

    found = []
    for classes, n, seed in CASES:
        P, y, new = simulated(classes, n, seed)
        answers = {}
        for ours, theirs in (("structured_vector", "svs"), ("structured_matrix", "sms")):
            # Its default search, in single precision, stops up to 5e-4 of a probability before the minimum
            search = {f"{theirs}_opt": "saga", f"{theirs}_tol": 1e-10, f"{theirs}_max_iter": 100_000}
            answers[ours] = get_calibrator(theirs, **search).fit(P, y).predict_proba(new)
        for ours, theirs in (("pairwise", "one_vs_one"), ("one_vs_rest", "one_vs_all")):
            answers[ours] = VennAbersCalibrator().predict_proba(
                p_cal=P, y_cal=y, p_test=new, p0_p1_output=False, va_type=theirs
            )
        case = {name: np.asarray(p, dtype=float).round(8).tolist() for name, p in answers.items()}
        found.append({"classes": classes, "n": n, "seed": seed, **case})
    versions = {name: version(name) for name in ("probmetrics", "venn-abers", "torch", "numpy")}
    Path(path).write_text(json.dumps({"versions": versions, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
