"""Compares the time of out-of-bag calibration with the time of the forest's fit, for 300 trees, 10,000 training and
10,000 new rows, and 20 features.

Prints medians of ratios within this run, with the bounds they must stay under.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from sklearn.datasets import make_classification

from benchmarks._ratios import Verdicts
from calib.calibrators import VennAbers
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS


def main(rows: int = 10_000, trees: int = 300, repeats: int = 3) -> int:
    verdict = Verdicts()
    X, y = make_classification(2 * rows, 20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0)
    train, test, y = X[:rows], X[rows:], y[:rows]
    scores_ratio, predictor_ratio = [], []
    for repeat in range(repeats):
        fit, forest = seconds(lambda seed=repeat: ProbabilityForest(trees, random_state=seed).fit(train, y))
        scoring, _ = seconds(forest.oob_scores)
        placed = PLACEMENTS["oob"]().fit(
            ProbabilityForest(trees, random_state=repeat), train, y, random_state=repeat
        )
        testing, tests = seconds(lambda placed=placed: placed.score(test))
        calibrating, _ = seconds(
            lambda placed=placed, tests=tests: placed.predict(placed.calibrate(VennAbers()), tests)
        )
        scores_ratio.append(scoring / fit)
        predictor_ratio.append((scoring + testing + calibrating) / fit)
        print(
            f"forest's fit {fit:.2f} s · out-of-bag scores {scoring:.3f} s · scores of new rows {testing:.3f} s · "
            f"Venn–Abers pairs {calibrating:.3f} s"
        )
    print(f"out-of-bag scores / fit: {verdict(median(scores_ratio), 0.05)}")
    print(f"out-of-bag Venn–Abers predictor without the fit / fit: {verdict(median(predictor_ratio), 1)}")
    return verdict.status


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 10_000), ("trees", 300), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    sys.exit(main(**vars(parser.parse_args())))
