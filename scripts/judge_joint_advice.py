"""Evaluate the advice for three or more classes on the scores of a study of the arena by size.

    python -m calib study arena_sizes_classes --data FOLDER/*.csv --store classes.sqlite
    python -m scripts.judge_joint_advice classes.sqlite --rows judged.csv --arena rows.csv [--sizes 50 150 …]

From the scores of each model, rows of each size are drawn that calibrate, and 3/7 as many, the test set, which the
advice sees. The methods are those that pages compare by default, and two more. They are evaluated on the rows left
over. What the advice expects of them is taken from the other data sets of the arena (the rows of
``scripts.arena_sizes``). Regret is the distance from the best of the methods; log loss is clipped at 1e-15. Means are
over the cases of a data set, then over data sets. Each case is appended to ``judged.csv`` when it is done, so the run
can be stopped and continued. Prints Markdown.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from calib.analysis.recommendation.rule import (
    DIFFERENCE_COLUMNS,
    START_OF_CLASSES,
    gaps_from,
    lowest_expected,
    prior_of_classes,
)
from calib.calibrators import name_of
from calib.kernel.rows import Rows
from calib.metrics.losses import class_log_losses, class_squared_errors
from calib.recipe import COMPARED_JOINTLY
from calib.study import Store
from scripts.arena_sizes import CLIP, LEFT_OVER, complete, drawn, grid, made
from scripts.judge_advice import LOSSES, MEASURED, SHARE

CASE = ["data", "model", "size"]
METHODS = (*COMPARED_JOINTLY, "structured_vector", "platt")


def judged(y: np.ndarray, predictions: dict[str, np.ndarray], seen: int) -> pd.DataFrame:
    """Return one line per method: its losses on fresh rows, and what the first ``seen`` rows, the test set, show."""
    losses = {key: class_squared_errors(y, P) for key, P in predictions.items()}
    logs = {key: class_log_losses(y, P) for key, P in predictions.items()}
    rows = Rows((predictions["none"][:seen].argmax(axis=1) == y[:seen]).astype(np.intp))
    table = gaps_from(rows, {key: loss[:seen] for key, loss in losses.items()}, START_OF_CLASSES[0])
    shares = np.bincount(y[:seen]) / seen
    return table.assign(
        brier={key: loss[seen:].mean() for key, loss in losses.items()},
        log_loss={key: np.minimum(loss[seen:], -np.log(CLIP)).mean() for key, loss in logs.items()},
        infinite={key: bool(np.isinf(loss[seen:]).any()) for key, loss in logs.items()},
        never={key: bool(np.isinf(loss[:seen]).any()) for key, loss in logs.items()},
        uncertainty=1 - (shares**2).sum(),
    ).rename_axis("method")


def run(store: Store, file: Path, sizes: list[int]) -> pd.DataFrame:
    """Compute the cases that the file lacks, and return all lines."""
    have = set(pd.read_csv(file)[CASE].itertuples(index=False, name=None)) if file.exists() else set()
    for (data, model, repeat), found in store.repeats().items():
        for size in sizes:
            table = round(size / SHARE)
            if (data, model, size) in have or len(found.y) < table + LEFT_OVER[0]:
                continue
            rows = drawn(found.p, found.y, table, zlib.crc32(f"{data}/{repeat}/{size}".encode()))
            tests = np.concatenate([rows.scores[size:], rows.rest])
            learn = rows._replace(scores=rows.scores[:size], y=rows.y[:size])
            predictions = {
                key: made(key, learn, decides=False).fit(learn.scores, learn.y).predict(tests)
                for key in METHODS
            }
            lines = judged(np.concatenate([rows.y[size:], rows.rest_y]), predictions, table - size)
            lines = lines.reset_index().assign(data=data, model=model, size=size)
            lines.to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def advised(lines: pd.DataFrame, arena: pd.DataFrame) -> str:
    """Return the method that the advice chooses for one case, whose calibration rows are ``size``."""
    lines = lines.set_index("method")
    before = prior_of_classes(float(lines["size"].iloc[0]), arena)
    never = lines.index[lines["never"]]
    return lowest_expected(
        lines[[*DIFFERENCE_COLUMNS]], never, before, START_OF_CLASSES[0], float(lines["uncertainty"].iloc[0])
    )


def strategies(rows: pd.DataFrame, arena: pd.DataFrame) -> pd.DataFrame:
    """Return mean regrets, and shares of infinite log losses, of the advice and of always taking each method."""
    best = rows.groupby(CASE)[LOSSES].transform("min")
    rows = rows.assign(**{loss: rows[loss] - best[loss] for loss in LOSSES})
    chosen = []
    for data, own in rows.groupby("data"):
        others = grid(arena[arena["data"] != data])
        for _, lines in own.groupby(CASE):
            chosen.append(lines[lines["method"] == advised(lines, others)])
    lowest = rows.loc[rows.groupby(CASE)["gap"].idxmin()]
    followed = {"the advice": pd.concat(chosen), "the method with the lowest score on the test rows": lowest}
    followed |= {f"always {name_of(key)}": group for key, group in rows.groupby("method", sort=False)}
    means = {name: group.groupby("data")[MEASURED].mean().mean() for name, group in followed.items()}
    return pd.DataFrame(means).T.sort_values("brier")


def report(rows: pd.DataFrame, arena: pd.DataFrame) -> None:
    print(f"{rows.groupby(CASE).ngroups} cases of {rows['data'].nunique()} data sets\n")
    print("| strategy | regret in Brier score | regret in log loss | infinite |\n| --- | --- | --- | --- |")
    for name, x in strategies(rows, arena).iterrows():
        print(f"| {name} | {x['brier']:.4f} | {x['log_loss']:.4f} | {x['infinite']:.1%} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, metavar="STORE.sqlite")
    parser.add_argument("--rows", type=Path, default=Path("judged.csv"), metavar="FILE")
    parser.add_argument("--arena", type=Path, required=True, metavar="ROWS.csv")
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 150, 500, 1500])
    args = parser.parse_args()
    with warnings.catch_warnings(), Store(args.store) as store:
        warnings.simplefilter("ignore")
        rows = run(store, args.rows, args.sizes)
    arena = complete(pd.read_csv(args.arena))
    report(rows, arena)
    for size, own in rows.groupby("size"):
        print(f"\n{size} calibration rows\n")
        report(own, arena)


if __name__ == "__main__":
    main()
