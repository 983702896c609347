"""The arena by size: the losses of every calibrator on 50 to 15,000 calibration rows, from the scores of a study.

    python -m calib study arena_sizes --data FOLDER/*.csv --store sizes.sqlite
    python -m scripts.arena_sizes sizes.sqlite --rows rows.csv [--published CALARENA.csv] [--grid FILE]
        [--methods KEY …] [--sizes N …]

The study fits each model once and stores its probabilities on two thirds of a data set. From these rows, calibration
rows of each size are drawn with the classes' shares, if at least 300 rows are left. Every
calibrator is fitted on the drawn rows, as a placement does, and evaluated on the rows left over, at most 10,000.
Each case is appended to ``rows.csv`` when it is done, one line per method, so the run can be stopped and continued;
methods that are added later run on the same draws. Prints the tables of docs/results.md; ``--grid`` writes what the
advice reads. ``--published`` adds CalArena's regrets among the methods of both.

The study ``arena_sizes_classes`` does the same for three or more classes, with the calibrators of K classes; the Brier
score is then summed over the classes. Rows are drawn with the classes' shares if every class has two rows.
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
from scipy import stats
from sklearn.model_selection import train_test_split

from calib.analysis.recommendation.rule import REFERENCE, is_tied
from calib.calibrators import (
    CALIBRATORS,
    INPUT_TABLES,
    JOINT,
    JointCalibrator,
    ScoreCalibrator,
    joint_calibrator,
    label_of,
)
from calib.kernel.checks import Array, InputError
from calib.metrics.losses import class_log_losses, class_squared_errors, log_losses, squared_errors
from calib.study import Store

SIZES = (50, 150, 500, 1500, 5000, 15000)
DRAWS = 1
LEFT_OVER = (300, 10_000)  # fewest and most rows left over for evaluation
CLIP = 1e-15  # makes infinite log losses finite for the mean; their share is a column of its own
METHODS = tuple(key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES)
METHODS_OF_K = (*METHODS, *(key for key in JOINT if key not in METHODS))
LOSSES = ["log_loss", "brier"]
EXTREME = 0.3  # largest difference in Brier score that counts, as a share of f (1 − f)
BETWEEN = (150, 500, 2000, 10**9)  # calibration rows of CalArena's table
CALARENA = {
    **{
        "Base-model": "none",
        "Platt-logits": "platt",
        "Beta": "beta",
        "Quadratic": "quadratic",
        "Spline": "spline",
    },
    **{"Venn-Abers": "venn_abers", "Isotonic": "isotonic", "CIR": "centered_isotonic", "TS": "temperature"},
    "Hist-quantile": "histogram",
}
"""CalArena's names of our methods for two classes."""
FEWEST = 5  # data sets of a line of the grid
CASE = ["data", "model", "repeat", "size"]
DECIDES = (
    "gradient_boosting",
    "gradient_boosting_stopped",
    "logistic_regression",
)  # p = sigmoid(decision function)


class Drawn(NamedTuple):
    """Calibration rows and the rows left over: scores, (n,) or (n, K), and labels of each."""

    scores: Array
    y: Array
    rest: Array
    rest_y: Array


def drawn(p: Array, y: Array, size: int, seed: int) -> Drawn:
    """Draw calibration rows with the classes' shares, and return them with the rows left over."""
    often = np.bincount(y)[np.unique(y)].min() > 1
    at, rest = train_test_split(
        np.arange(len(y)), train_size=size, stratify=y if often else None, random_state=seed
    )
    rest = rest[: LEFT_OVER[1]]
    return Drawn(p[at], y[at], p[rest], y[rest])


def cases(store: Store, sizes: list[int]) -> Iterator[tuple[tuple, Drawn]]:
    """Yield each case and its rows: a draw of every size from every stored model."""
    for (data, model, repeat), found in store.repeats().items():
        shares = np.bincount(found.y) / len(found.y)
        for size in sizes:
            if len(found.y) < size + LEFT_OVER[0] or (found.p.ndim == 1 and shares.min() * size < 2):
                continue
            seed = zlib.crc32(f"{data}/{repeat}/{size}/0".encode())
            yield (data, model, repeat, size), drawn(found.p, found.y, size, seed)


def made(key: str, rows: Drawn, decides: bool) -> ScoreCalibrator | JointCalibrator:
    """Return the unfitted calibrator for these scores, as a placement makes it."""
    calibrator = CALIBRATORS[key]()
    if isinstance(calibrator, ScoreCalibrator):
        calibrator.adapt(rows.scores, probability=True, decides=decides and rows.scores.ndim == 1)
    return calibrator if rows.scores.ndim == 1 else joint_calibrator(calibrator)


def losses(key: str, rows: Drawn, decides: bool) -> dict[str, float]:
    """Return the mean losses of a calibrator on the rows left over; none if it cannot answer."""
    calibrator = made(key, rows, decides)
    begin = time.perf_counter()
    try:
        p = calibrator.fit(rows.scores, rows.y).predict(rows.rest)
    except InputError:
        return {}
    seconds = time.perf_counter() - begin
    squared, logs = (squared_errors, log_losses) if p.ndim == 1 else (class_squared_errors, class_log_losses)
    exact = logs(rows.rest_y, p)
    return {
        "brier": squared(rows.rest_y, p).mean(),
        "log_loss": np.minimum(exact, -np.log(CLIP)).mean(),
        "infinite": float(np.isinf(exact).any()),
        "seconds": seconds,
    }


def run(store: Store, file: Path, methods: list[str], sizes: list[int]) -> pd.DataFrame:
    """Compute the cases that the file lacks, and return all rows."""
    have = set()
    if file.exists():
        have = set(pd.read_csv(file)[[*CASE, "method"]].itertuples(index=False, name=None))
    for case, rows in cases(store, sizes):
        lacking = [key for key in methods if (*case, key) not in have]
        counts = np.bincount(rows.y, minlength=2)
        facts = {"minority": int(counts.min()), "tied": is_tied(rows.scores)}
        if rows.scores.ndim == 2:
            facts |= {"tied": False, "uncertainty": 1 - ((counts / len(rows.y)) ** 2).sum()}
        lines = [
            {
                **dict(zip(CASE, case, strict=True)),
                "method": key,
                **facts,
                **losses(key, rows, case[1] in DECIDES),
            }
            for key in lacking
        ]
        if lines:
            pd.DataFrame(lines).to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cases for which every method has a result."""
    rows = rows.drop_duplicates([*CASE, "method"]).dropna(subset=["brier"])
    whole = rows.groupby(CASE)["method"].transform("nunique") == rows["method"].nunique()
    return rows[whole].reset_index(drop=True)


def regrets(rows: pd.DataFrame, by: str = "size") -> pd.DataFrame:
    """Return mean regrets with 95 % intervals over data sets: one line per size and method."""
    best = rows.groupby(CASE)[LOSSES].transform("min")
    lost = rows[[by, "method", "data"]].join(rows[LOSSES] - best)
    by_set = lost.groupby([by, "method", "data"], observed=True)[LOSSES].mean()
    of_sets = by_set.groupby([by, "method"], observed=True)
    half = of_sets.sem().mul(stats.t.ppf(0.975, of_sets.size() - 1), axis=0)
    return of_sets.mean().join(half.add_suffix("_half"))


def grid(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what the advice expects of each method before it sees a test row: ``calib.analysis.recommendation.rule``.

    Cases of two classes are grouped by their calibration rows of the minority class and by whether their scores are
    tied; cases of more classes by their calibration rows. A single case counts at most ``EXTREME`` of the uncertainty.
    """
    reference = rows[rows["method"] == REFERENCE].set_index(CASE)["brier"]
    gap = rows["brier"] - rows.set_index(CASE).index.map(reference)
    if "uncertainty" in rows:
        lines, kind = rows.rename(columns={"size": "rows"}), ["rows"]
        uncertainty = rows["uncertainty"]
    else:
        share = rows["minority"] / rows["size"]
        uncertainty = share * (1 - share)
        sizes, kind = np.array(SIZES) / 2, ["minority", "tied"]
        nearest = np.abs(np.log(rows["minority"].to_numpy()[:, None] / sizes)).argmin(axis=1)
        lines = rows.assign(minority=sizes[nearest].astype(int))
    lines["gap"] = (gap / uncertainty).clip(-EXTREME, EXTREME)
    groups = [*kind, "method"]
    means = lines.groupby([*groups, "data"])[["gap", "infinite"]].mean().groupby(groups)
    found = means.mean().assign(sets=means.size(), deviation=lines.groupby(groups)["gap"].std())
    found = found[found["sets"] >= FEWEST].rename(columns={"gap": "difference"})
    return found[["sets", "difference", "deviation", "infinite"]].round(5).reset_index()


def print_regrets(found: pd.DataFrame, sets: pd.Series) -> None:
    for loss in LOSSES:
        print(f"\n{loss}\n\n| method |" + "".join(f" {size:,} rows ({sets[size]}) |" for size in sets.index))
        print("| --- |" + " --- |" * len(sets))
        for method in found.loc[sets.index[-1]].sort_values(loss).index:
            cells = (found.loc[(size, method)] for size in sets.index)
            print(
                f"| {label_of(method)} |"
                + "".join(f" {x[loss]:.4f} ± {x[loss + '_half']:.4f} |" for x in cells)
            )


def print_beside(rows: pd.DataFrame, file: Path) -> None:
    """Print our regrets and CalArena's on its tabular sets, among the methods of both, at comparable sizes.

    CalArena sums the Brier score over both classes, so it is halved here. A set that two suites have counts twice.
    """
    theirs = pd.read_csv(file).rename(columns={"cal_size": "size", "logloss": "log_loss"})
    theirs = theirs[theirs["suite"] != "cv"].assign(
        data=theirs["suite"] + "/" + theirs["dataset"],
        repeat=0,
        brier=theirs["brier"] / 2,
        method=theirs["method"].map(CALARENA),
    )
    theirs = theirs.dropna(subset=["method"])
    ours = rows[rows["method"].isin(CALARENA.values())]
    found = []
    for each in (ours, theirs.reset_index(drop=True)):
        kinds = pd.cut(each["size"], BETWEEN, right=False, labels=[f"from {low:,}" for low in BETWEEN[:-1]])
        found.append(regrets(each.assign(between=kinds).dropna(subset=["between"]), "between"))
    for loss in LOSSES:
        print(f"\n{loss}, ours and CalArena's\n")
        for (between, method), line in found[0].iterrows():
            other = found[1].loc[(between, method)]
            cells = (f" {x[loss]:.4f} ± {x[loss + '_half']:.4f} |" for x in (line, other))
            print(f"| {between} rows | {label_of(method)} |" + "".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, metavar="STORE.sqlite")
    parser.add_argument("--rows", type=Path, default=Path("arena_sizes.csv"), metavar="FILE")
    parser.add_argument("--methods", nargs="+", metavar="KEY", help="these calibrators instead of all")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--published", type=Path, metavar="CALARENA.csv")
    parser.add_argument("--grid", type=Path, metavar="FILE", help="write what the advice reads")
    args = parser.parse_args()
    with warnings.catch_warnings(), Store(args.store) as store:
        warnings.simplefilter("ignore")
        of_two = next(iter(store.repeats().values())).p.ndim == 1
        methods = args.methods or list(METHODS if of_two else METHODS_OF_K)
        rows = complete(run(store, args.rows, methods, args.sizes))
    print_regrets(regrets(rows), rows.groupby("size")["data"].nunique())
    if args.published:
        print_beside(rows, args.published)
    if args.grid:
        grid(rows).to_csv(args.grid, index=False)


if __name__ == "__main__":
    main()
