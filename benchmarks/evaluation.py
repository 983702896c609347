"""Compares ``evaluate`` with its own pipeline, for 10,000 rows, 20 features, a default forest and all calibrators.

The pipeline is fitted on the training rows and scores the calibration and test rows; ``evaluate`` adds splitting,
the calibrators of the registry and the table of metrics. Calibrators that read the features, too, take as long as all
others together, so there is a second ratio without them. Ratios are medians over rounds in which the two take turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks._ratios import Verdicts
from calib import Dataset, Recipe
from calib.calibrators import CALIBRATORS
from calib.evaluate import calibrate, fit, make_estimator


def main(rows: int = 10_000, rounds: int = 5) -> int:
    verdict = Verdicts()
    X, y = make_classification(rows, 20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0)
    data = Dataset("benchmark", pd.DataFrame(X, columns=[f"x{i}" for i in range(20)]), y)
    recipe = Recipe(calibrators=tuple(CALIBRATORS))
    of_scores = [key for key in CALIBRATORS if CALIBRATORS[key].input != "features"]
    part = fit(recipe, data).parts[0]
    held_out = part.train[part.placed.index]
    train, scored = np.setdiff1d(part.train, held_out), np.concatenate([held_out, part.test])
    seconds = np.empty((rounds, 4))
    for i in range(rounds):
        begin = time.perf_counter()
        make_estimator(recipe, data).fit(data.X.iloc[train], y[train]).predict_proba(data.X.iloc[scored])
        fitted_at = time.perf_counter()
        fitted = fit(recipe, data)
        calibrated_at = time.perf_counter()
        table = calibrate(recipe, fitted).metrics
        measured_at = time.perf_counter()
        calibrate(recipe.replace(calibrators=tuple(of_scores)), fit(recipe, data)).metrics
        refitted = time.perf_counter() - measured_at
        seconds[i] = np.diff([begin, fitted_at, calibrated_at, measured_at]).tolist() + [refitted]
    pipeline, fitting, calibrating, _ = (median(column) for column in seconds.T)
    print(
        f"pipeline {pipeline:.2f} s · fit {fitting:.2f} s · {len(table)} calibrators, metrics {calibrating:.3f} s"
    )
    for what, spent, most in (
        ("all calibrators", seconds[:, 1] + seconds[:, 2], 1.35),
        ("those of a score", seconds[:, 3], 1.2),
    ):
        print(f"evaluate / pipeline, {what}: {verdict(median(spent / seconds[:, 0]), most)}")
    return verdict.status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(main(**vars(parser.parse_args())))
