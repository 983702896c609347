"""Makes the results that the pages Overlap and Calibration-set size open with.

    python -m scripts.long_experiments [searches | results] [--jobs N]

``searches`` finds RF_opt's and CT's settings, hours of work: every one is written when it is found, so that the command
can be stopped at any moment and started again. ``results`` runs the experiments with them, in minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import joblib

import calib.simulations.results
from calib.simulations import overlap, searched
from calib.synthetic import size_sweep

SEED = 0
MIXTURES = 100
FOLDER = Path(calib.simulations.results.__file__).parent


def _overlap_search(d: int, step: int) -> tuple[str, searched.Searched]:
    pair = overlap.path(d, SEED)[step - 1]
    data = pair.sample(1000, overlap.generator(d, step, -1, SEED))
    return overlap.case(d, step), searched.search(data.X.to_numpy(), data.y, SEED)


def _size_search(repetition: int) -> tuple[str, searched.Searched]:
    train = size_sweep([SEED, 12, repetition]).train
    return f"size {repetition}", searched.search(train.X.to_numpy(), train.y, SEED)


def searches(jobs: int) -> None:
    file = FOLDER / searched.FILE
    found = searched.shipped() if file.exists() else {}
    todo = [
        joblib.delayed(_overlap_search)(d, step)
        for step in range(1, overlap.STEPS + 1)
        for d in overlap.DIMENSIONS
        if overlap.case(d, step) not in found
    ]
    todo += [joblib.delayed(_size_search)(i) for i in range(MIXTURES) if f"size {i}" not in found]
    for case, one in joblib.Parallel(jobs, return_as="generator_unordered")(todo):
        found[case] = one
        file.write_text(searched.as_json(found), encoding="utf-8")
        print(f"{case}: {one}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("searches", "results"))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    searches(args.jobs)
