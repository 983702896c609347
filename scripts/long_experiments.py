"""Compute the results that the pages Overlap and Calibration-set size open with.

    python -m scripts.long_experiments searches    # settings of RF_opt and CT: one to two hours on two cores
    python -m scripts.long_experiments results     # the experiments with those settings: half an hour

Both write each part when it is done, so that they can be stopped at any moment and continued. After a change to the
computation, first delete the folder ``.cells`` (results) or ``searches.json`` (searches).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from calib.experiments import EXPERIMENTS
from calib.experiments.calibration_size import simulation as calibration_size
from calib.experiments.overlap import simulation as overlap
from calib.experiments.shared import forest_comparison
from calib.experiments.shared.long_run import LongRun, resumed

SEED = 0
CELLS = Path(".cells")
RUNS: dict[str, LongRun] = {"overlap": overlap.OVERLAP_RUN, "calibration_size": calibration_size.SIZE_RUN}


def searches(jobs: int) -> None:
    """Run one search per step and number of dimensions, and one per mixture used for tuning."""
    file = Path(forest_comparison.__file__).with_name(forest_comparison.SEARCHES_FILE)
    found = dict(forest_comparison.stored_searches()) if file.exists() else {}
    pairs = [(d, step) for step in range(1, overlap.STEPS_OF_DISTANCE + 1) for d in overlap.DIMENSIONS]
    todo = [joblib.delayed(_overlap_search)(*at) for at in pairs if overlap.case(*at) not in found]
    mixtures = [i for i in range(calibration_size.MIXTURES) if calibration_size.case(i) not in found]
    todo += [joblib.delayed(_size_search)(i) for i in mixtures]
    for case, one in joblib.Parallel(jobs, return_as="generator_unordered")(todo):
        found[case] = one
        file.write_text(forest_comparison.as_json(found), encoding="utf-8")
        print(f"{case}: {one}", flush=True)


def _overlap_search(d: int, step: int) -> tuple[str, forest_comparison.ForestSettings]:
    n = EXPERIMENTS["overlap"].values({})["n"]
    data = overlap.path(d, SEED)[step - 1].sample(n, overlap.generator(d, step, -1, SEED))
    return overlap.case(d, step), forest_comparison.search(data.X.to_numpy(), data.y, SEED)


def _size_search(mixture: int) -> tuple[str, forest_comparison.ForestSettings]:
    train = calibration_size.sweep(mixture, SEED).train
    return calibration_size.case(mixture), forest_comparison.search(train.X.to_numpy(), train.y, SEED)


def results(jobs: int) -> None:
    """Run both experiments with the settings that their pages open with."""
    CELLS.mkdir(exist_ok=True)
    for key, run in RUNS.items():
        settings = EXPERIMENTS[key].values({})
        chunks = run.chunks(SEED, settings)
        files = [CELLS / f"{key}-{'-'.join(map(str, name))}.csv" for name in chunks]
        jobs_left = [
            joblib.delayed(resumed)(chunk, file) for chunk, file in zip(chunks.values(), files, strict=True)
        ]
        for file in joblib.Parallel(jobs, return_as="generator_unordered")(jobs_left):
            print(file, flush=True)
        run.keep([pd.read_csv(file, keep_default_na=False) for file in files], SEED, settings)


PARTS: dict[str, Callable[..., Any]] = {"searches": searches, "results": results}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=tuple(PARTS))
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    args = parser.parse_args()
    PARTS[args.part](args.jobs)
