"""Compares ``evaluate`` with its own pipeline, for 10,000 rows, 20 features, a default forest and all calibrators.

The pipeline is fitted on the training rows and scores the calibration and test rows; ``evaluate`` adds splitting,
the calibrators of the registry and the table of metrics. Calibrators that read the features, too, take as long as all
others together, so there is a second ratio without them. Ratios are medians over rounds in which the two take turns.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks._ratios import Verdicts, elapsed
from calib import Dataset, Evaluation, Recipe
from calib.calibrators import CALIBRATORS
from calib.evaluate import calibrate, fit, make_estimator


def main(rows: int = 10_000, rounds: int = 5) -> int:
    verdict = Verdicts()
    X, y = make_classification(rows, 20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0)
    data = Dataset("benchmark", pd.DataFrame(X, columns=[f"x{i}" for i in range(20)]), y)
    recipe = Recipe(calibrators=tuple(CALIBRATORS))
    of_scores = tuple(key for key in CALIBRATORS if CALIBRATORS[key].input != "features")
    part = fit(recipe, data).parts[0]
    held_out = part.train[part.placed.index]
    train, scored = np.setdiff1d(part.train, held_out), np.concatenate([held_out, part.test])

    def pipeline() -> None:
        make_estimator(recipe, data).fit(data.X.iloc[train], y[train]).predict_proba(data.X.iloc[scored])

    def evaluated(calibrators: tuple[str, ...]) -> Evaluation:
        found = calibrate(recipe.replace(calibrators=calibrators), fit(recipe, data))
        assert len(found.metrics) == len(calibrators)
        return found

    work = (pipeline, lambda: evaluated(recipe.calibrators), lambda: evaluated(of_scores))
    seconds = np.array([[elapsed(each) for each in work] for _ in range(rounds)])
    alone, whole, of_score = np.median(seconds, axis=0)
    print(
        f"pipeline {alone:.2f} s · all {len(CALIBRATORS)} calibrators {whole:.2f} s · those of a score {of_score:.2f} s"
    )
    whole, of_score = np.median(seconds[:, 1:] / seconds[:, :1], axis=0)
    print(f"evaluate / pipeline, all calibrators:      {verdict(whole, 1.4)}")
    print(f"evaluate / pipeline, calibrators of a score: {verdict(of_score, 1.25)}")
    return verdict.status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(main(**vars(parser.parse_args())))
