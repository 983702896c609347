"""The arena by size: the losses of every calibrator on 50 to 15,000 calibration rows, from the scores of a study.

    python -m calib study arena_sizes --data FOLDER/*.csv --store sizes.sqlite
    python -m scripts.arena_sizes sizes.sqlite --rows rows.csv [--methods KEY …] [--sizes N …]

The study fits each model once and stores its probabilities on two thirds of a data set. From these rows, calibration
rows of each size are drawn with the classes' shares, twice up to 500 rows, if at least 300 rows are left. Every
calibrator is fitted on the drawn rows, as a placement does, and evaluated on the rows left over, at most 10,000.
Each case is appended to ``rows.csv`` when it is done, one line per method, so the run can be stopped and continued;
methods that are added later run on the same draws.
"""

from __future__ import annotations

import argparse
import time
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from calib.calibrators import CALIBRATORS, TABLES
from calib.kernel.checks import Array, InputError
from calib.metrics import brier_score, log_loss
from calib.study import Store

SIZES = (50, 150, 500, 1500, 5000, 15000)
DRAWS = 1
LEFT_OVER = (300, 10_000)  # fewest and most rows left over for evaluation
CLIP = 1e-15  # makes infinite log losses finite for the mean; their share is a column of its own
METHODS = tuple(key for key, method in CALIBRATORS.items() if method.input not in TABLES)
CASE = ["data", "model", "repeat", "size", "draw"]
DECIDES = (
    "gradient_boosting",
    "gradient_boosting_stopped",
    "logistic_regression",
)  # p = sigmoid(decision function)


class Drawn(NamedTuple):
    """Calibration rows and the rows left over: scores and labels of each."""

    scores: Array
    y: Array
    rest: Array
    rest_y: Array


def drawn(p: Array, y: Array, size: int, seed: int) -> Drawn:
    """Draw calibration rows with the classes' shares, and return them with the rows left over."""
    at, rest = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=seed)
    rest = rest[: LEFT_OVER[1]]
    return Drawn(p[at], y[at], p[rest], y[rest])


def cases(store: Store, sizes: list[int]) -> Iterator[tuple[tuple, Drawn]]:
    """Yield each case and its rows: every draw of every size from every stored model."""
    for (data, model, repeat), found in store.repeats().items():
        least = min(found.y.sum(), len(found.y) - found.y.sum()) / len(found.y)
        for size in sizes:
            if len(found.y) < size + LEFT_OVER[0] or least * size < 2:
                continue
            for draw in range(DRAWS if size <= 500 else 1):
                seed = zlib.crc32(f"{data}/{repeat}/{size}/{draw}".encode())
                yield (data, model, repeat, size, draw), drawn(found.p, found.y, size, seed)


def losses(key: str, rows: Drawn, decides: bool) -> dict[str, float]:
    """Return the losses of a calibrator on the rows left over; none if it cannot answer."""
    calibrator = CALIBRATORS[key]()
    calibrator.adapt(rows.scores, probability=True, decides=decides)
    begin = time.perf_counter()
    try:
        p = calibrator.fit(rows.scores, rows.y).predict(rows.rest)
    except InputError:
        return {}
    seconds = time.perf_counter() - begin
    exact = log_loss(rows.rest_y, p)
    clipped = log_loss(rows.rest_y, np.clip(p, CLIP, 1 - CLIP))
    return {
        "brier": brier_score(rows.rest_y, p),
        "log_loss": clipped,
        "infinite": float(np.isinf(exact)),
        "seconds": seconds,
    }


def run(store: Store, file: Path, methods: list[str], sizes: list[int]) -> pd.DataFrame:
    """Compute the cases that the file lacks, and return all rows."""
    have = set()
    if file.exists():
        have = set(pd.read_csv(file)[[*CASE, "method"]].itertuples(index=False, name=None))
    for case, rows in cases(store, sizes):
        lacking = [key for key in methods if (*case, key) not in have]
        facts = {
            "minority": int(min(rows.y.sum(), (1 - rows.y).sum())),
            "distinct": len(np.unique(rows.scores)),
        }
        lines = [
            {
                **dict(zip(CASE, case, strict=True)),
                "method": key,
                **facts,
                **losses(key, rows, case[1] in DECIDES),
            }
            for key in lacking
        ]
        pd.DataFrame(lines).to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, metavar="STORE.sqlite")
    parser.add_argument("--rows", type=Path, default=Path("arena_sizes.csv"), metavar="FILE")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="KEY")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    args = parser.parse_args()
    with warnings.catch_warnings(), Store(args.store) as store:
        warnings.simplefilter("ignore")
        run(store, args.rows, args.methods, args.sizes)


if __name__ == "__main__":
    main()
