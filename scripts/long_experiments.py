"""Makes the results that the pages Overlap and Calibration-set size open with.

    python -m scripts.long_experiments searches     # RF_opt's and CT's settings: one to two hours on two cores
    python -m scripts.long_experiments results      # the experiments with those settings: half an hour

Both write each part when it is done, so that they can be stopped at any moment and started again where they were.
After a change to what is computed, delete the folder ``.cells`` (results) or ``searches.json`` (searches) first.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

import calib.simulations.results
from calib.learn import EXPERIMENTS
from calib.simulations import calibration_size, overlap, searched

SEED = 0
FOLDER = Path(calib.simulations.results.__file__).parent
CELLS = Path(".cells")
TOOLS = ("numpy", "scikit-learn")


def searches(jobs: int) -> None:
    """One for every step and number of dimensions, one for every mixture that settings are searched on."""
    file = FOLDER / searched.FILE
    found = dict(searched.shipped()) if file.exists() else {}
    pairs = [(d, step) for step in range(1, overlap.STEPS + 1) for d in overlap.DIMENSIONS]
    todo = [joblib.delayed(_overlap_search)(*at) for at in pairs if overlap.case(*at) not in found]
    mixtures = [i for i in range(calibration_size.MIXTURES) if calibration_size.case(i) not in found]
    todo += [joblib.delayed(_size_search)(i) for i in mixtures]
    for case, one in joblib.Parallel(jobs, return_as="generator_unordered")(todo):
        found[case] = one
        file.write_text(searched.as_json(found), encoding="utf-8")
        print(f"{case}: {one}", flush=True)


def _overlap_search(d: int, step: int) -> tuple[str, searched.Searched]:
    n = EXPERIMENTS["overlap"].values({})["n"]
    data = overlap.path(d, SEED)[step - 1].sample(n, overlap.generator(d, step, -1, SEED))
    return overlap.case(d, step), searched.search(data.X.to_numpy(), data.y, SEED)


def _size_search(mixture: int) -> tuple[str, searched.Searched]:
    train = calibration_size.sweep(mixture, SEED).train
    return calibration_size.case(mixture), searched.search(train.X.to_numpy(), train.y, SEED)


def results(jobs: int) -> None:
    """Both experiments with the settings that their pages open with."""
    CELLS.mkdir(exist_ok=True)
    for key, simulation in (("overlap", overlap), ("calibration_size", calibration_size)):
        values = EXPERIMENTS[key].values({})
        calls = simulation.cells(SEED, values)
        files = [CELLS / f"{key}-{'-'.join(map(str, name))}.csv" for name in calls]
        jobs_left = [joblib.delayed(_cell)(call, file) for call, file in zip(calls.values(), files, strict=True)]
        for file in joblib.Parallel(jobs, return_as="generator_unordered")(jobs_left):
            print(file, flush=True)
        cells = [pd.read_csv(file, keep_default_na=False) for file in files]
        settings = {name: values[name] for name in values if name in simulation.SETTINGS}
        about = {
            "settings": settings,
            "seed": SEED,
            "when": datetime.date.today().isoformat(),
            "minutes": round(sum(cell["seconds"].iloc[0] for cell in cells) / 60, 1),
            "versions": {tool: version(tool) for tool in TOOLS},
        }
        table = simulation.gathered(cells).table
        table.to_csv(
            FOLDER / f"{key}.csv.gz", index=False, float_format="%.6g", compression={"method": "gzip", "mtime": 0}
        )
        (FOLDER / f"{key}.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _cell(call: Callable[[], pd.DataFrame], file: Path) -> Path:
    """The file of a cell, computed where it is not there; with the processor time that it took."""
    if not file.exists():
        begin = time.process_time()
        table = call()
        part = file.with_suffix(".part")
        table.assign(seconds=time.process_time() - begin).to_csv(part, index=False)
        part.rename(file)
    return file


PARTS: dict[str, Callable[..., Any]] = {"searches": searches, "results": results}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=tuple(PARTS))
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    args = parser.parse_args()
    PARTS[args.part](args.jobs)
