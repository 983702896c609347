"""Compares a study with a plain scikit-learn loop, on one core and on two, and measures the time of summarising a large
study.

The work: 1,000 rows, ten folds, a default forest on two thirds of the training rows, its probabilities uncalibrated,
with Platt scaling and with isotonic regression on the other third, and four metrics each. Ratios are medians over
rounds in which the two take turns; the second core's workers are started before the timing, as in a long study.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from sklearn.calibration import _SigmoidCalibration
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks._ratios import Verdicts, elapsed
from calib import Dataset
from calib.study import Store, check_rows, read_protocol, run_study, summarise
from calib.study.cell import Result

PROTOCOL = """
title = "Benchmark"
setups = [
  { name = "Raw", calibrator = "none" },
  { name = "Platt", calibrator = "platt", options = { "platt.on" = "score" } },
  { name = "Isotonic", calibrator = "isotonic" },
]
[metrics]
keys = ["accuracy", "auc", "brier", "log_loss"]
[recipe]
model = "random_forest"
placement = "split"
"""
MOST_SECONDS = 2.0  # for 100,000 rows


def plain(X: np.ndarray, y: np.ndarray, repeats: int) -> list[list[float]]:
    """Run the loop that a person would write."""
    rows = []
    for repeat in range(repeats):
        for fold, (train, test) in enumerate(
            StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y)
        ):
            run = 10 * repeat + fold
            fit, held_out = train_test_split(train, test_size=1 / 3, stratify=y[train], random_state=run)
            model = RandomForestClassifier(random_state=run).fit(X[fit], y[fit])
            scores, p = model.predict_proba(X[held_out])[:, 1], model.predict_proba(X[test])[:, 1]
            platt = _SigmoidCalibration().fit(scores, y[held_out])
            isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, y[held_out])
            for answer in (p, platt.predict(p), isotonic.predict(p)):
                label = (answer > 0.5).astype(int)
                losses = [brier_score_loss(y[test], answer), log_loss(y[test], answer)]
                rows.append([accuracy_score(y[test], label), roc_auc_score(y[test], answer), *losses])
    return rows


def main(rounds: int = 5, repeats: int = 4) -> int:
    verdict = Verdicts()
    X, y = make_classification(1000, 20, n_informative=6, flip_y=0.1, class_sep=0.8, random_state=0)
    sets = {"made": Dataset("made", pd.DataFrame(X, columns=[f"x{i}" for i in range(20)]), y)}
    protocol = read_protocol(PROTOCOL, "benchmark.toml")
    with tempfile.TemporaryDirectory() as folder:

        def study(repeats: int, jobs: int) -> None:
            path = Path(folder) / f"{time.monotonic_ns()}.sqlite"
            with Store(path, write=True) as store:
                assert run_study(protocol, sets, store, repeats=repeats, jobs=jobs).complete

        seconds = np.empty((rounds, 3))
        for i in range(rounds):
            seconds[i, :2] = [elapsed(lambda: plain(X, y, 1)), elapsed(lambda: study(1, 1))]
            study(1, 2)  # starts the workers again, which may have ended while idle
            seconds[i, 2] = elapsed(lambda: study(repeats, 2))
        loop, one, two = (median(column) for column in seconds.T)
        print(
            f"plain loop {10 / loop:.2f} cells a second · study {10 / one:.2f} · two jobs {10 * repeats / two:.2f}"
        )
        print(f"study / plain loop:  {verdict(median(seconds[:, 1] / seconds[:, 0]), 1.15)}")
        print(
            f"two jobs against one: {verdict(median(repeats * seconds[:, 1] / seconds[:, 2]), 1.7, at_least=True)}"
        )
        print(
            f"100 000 rows summarised, s: {verdict(summarised(Path(folder) / 'large.sqlite'), MOST_SECONDS)}"
        )
    return verdict.status


def summarised(path: Path) -> float:
    """Return the seconds to read the rows of a large store and to summarise one metric with its tests."""
    keys = ("accuracy", "auc", "brier", "log_loss", "ece", "reliability", "resolution", "rmse")
    values = np.random.default_rng(0).random((100_000, len(keys)))
    with Store(path, write=True) as store:
        store.add(
            Result(
                f"set{i % 50}",
                f"setup{i // 50 % 20}",
                i // 1000,
                0,
                i,
                "d",
                "r",
                dict(zip(keys, row, strict=True)),
            )
            for i, row in enumerate(values)
        )
    with Store(path) as store:
        return elapsed(lambda: summarise(check_rows(store.rows()), "brier"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=4)
    sys.exit(main(**vars(parser.parse_args())))
