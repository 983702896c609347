"""Evaluate the advice for three or more classes on the predictions of an arena_multiclass study.

    python -m calib study arena_multiclass --data FOLDER/*.csv --store arena.sqlite
    python -m scripts.judge_joint_advice arena.sqlite

Every test set of the study is halved at random: a strategy sees one half and is evaluated on the other. A strategy
starts with one calibrator, and takes another only if, on the half that it sees, the interval of the difference in
Brier score (summed over the classes) lies below 0. It never takes a calibrator that gave the true class a probability
of 0. Regret is the distance from the best method on the evaluated half; log loss is clipped at 1e-15. Means are over
the cases of a data set, then over data sets. For every data set the first calibrator is also chosen on the other sets
alone. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from calib.analysis.recommendation.rule import best_or_start
from calib.calibrators import name_of
from calib.kernel.rows import Rows
from calib.metrics.losses import class_log_losses, class_squared_errors
from calib.study import Store

CASE = ["data", "model", "placement", "repeat"]
PLACEMENTS = ("split", "cv", "oob_whole")  # placements whose scores are of rows that the model did not see
CLIP = 1e-15
LOSSES = ("brier", "log_loss")
MEASURED = [*LOSSES, "infinite"]


def halves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the rows that a strategy sees, and of those that evaluate it.

    >>> [len(half) for half in halves(7, 0)]
    [3, 4]
    """
    order = np.random.default_rng(seed).permutation(n)
    return order[: n // 2], order[n // 2 :]


def judged(y: np.ndarray, predictions: dict[str, np.ndarray], seed: int) -> pd.DataFrame:
    """Return per method its losses on the evaluated half, and the method taken when starting with it ("then")."""
    seen, fresh = halves(len(y), seed)
    losses = {key: class_squared_errors(y[seen], P[seen]) for key, P in predictions.items()}
    never = {key for key, P in predictions.items() if np.isinf(class_log_losses(y[seen], P[seen])).any()}
    rows = Rows((predictions["none"][seen].argmax(axis=1) == y[seen]).astype(np.intp))
    lines = {}
    for key, P in predictions.items():
        exact = class_log_losses(y[fresh], P[fresh])
        lines[key] = {
            "brier": class_squared_errors(y[fresh], P[fresh]).mean(),
            "log_loss": np.minimum(exact, -np.log(CLIP)).mean(),
            "infinite": bool(np.isinf(exact).any()),
            "seen": losses[key].mean(),
            "then": best_or_start(rows, losses, never, key),
        }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("method")


def read(file: Path) -> pd.DataFrame:
    """Read the results: one row per case and method."""
    frames = []
    with Store(file) as store:
        keys = pd.DataFrame(store.repeats(), columns=["data", "setup", "repeat"])
        names = keys["setup"].str.split("/", expand=True).set_axis(["model", "placement", "method"], axis=1)
        keys = keys.join(names)
        for case, rows in keys[keys["placement"].isin(PLACEMENTS)].groupby(CASE, sort=False):
            found = {row.method: store.pooled(row.data, row.setup, row.repeat) for row in rows.itertuples()}
            table = judged(found["none"].y, {key: one.p for key, one in found.items()}, int(case[3]))
            frames.append(table.reset_index().assign(**dict(zip(CASE, case, strict=True))))
    return pd.concat(frames, ignore_index=True)


def regrets(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with each loss minus the lowest loss of its case."""
    best = rows.groupby(CASE)[list(LOSSES)].transform("min")
    return rows.assign(**{loss: rows[loss] - best[loss] for loss in LOSSES})


def by_set(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means per data set: data sets × MEASURED."""
    return rows.groupby("data")[MEASURED].mean()


def followed(rows: pd.DataFrame, first: str) -> pd.DataFrame:
    """Return the rows of the methods that a strategy takes which starts with ``first``."""
    then = rows[rows["method"] == first][[*CASE, "then"]].rename(columns={"then": "method"})
    return rows.drop(columns="then").merge(then, on=[*CASE, "method"])


def elsewhere(tables: dict[str, pd.DataFrame], loss: str) -> tuple[pd.Series, Counter[str]]:
    """Return means under each set's best choice on the other sets, and how often each was chosen."""
    own = pd.DataFrame({key: table[loss] for key, table in tables.items()})
    chosen = {name: own.drop(index=name).mean().idxmin() for name in own.index}
    lines = pd.DataFrame({name: tables[key].loc[name] for name, key in chosen.items()}).T
    return lines.mean(), Counter(chosen.values())


def strategies(rows: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return regrets of always taking each method, and of starting with it, each data sets × MEASURED."""
    rows = regrets(rows)
    always = {key: by_set(group) for key, group in rows.groupby("method", sort=False)}
    return always, {key: by_set(followed(rows, key)) for key in always}


def line(name: str, means: pd.Series) -> str:
    return f"| {name} | {means['brier']:.4f} | {means['log_loss']:.4f} | {means['infinite']:.1%} |"


def report(rows: pd.DataFrame) -> None:
    always, begun = strategies(rows)
    print(f"{rows.groupby(CASE).ngroups} cases of {rows['data'].nunique()} data sets\n")
    print("| strategy | regret in Brier score | regret in log loss | infinite |\n| --- | --- | --- | --- |")
    lowest = regrets(rows).sort_values("seen").drop_duplicates(CASE)
    lines = {"the method with the lowest score on the rows seen": by_set(lowest).mean()}
    lines |= {f"begin with {name_of(key)}": table.mean() for key, table in begun.items()}
    lines |= {f"always {name_of(key)}": table.mean() for key, table in always.items()}
    for name, means in sorted(lines.items(), key=lambda one: one[1]["log_loss"]):
        print(line(name, means))
    for what, tables in (("begin with", begun), ("always", always)):
        for loss in LOSSES:
            means, chosen = elsewhere(tables, loss)
            print(line(f"{what} the best of the other sets by {loss}", means), dict(chosen))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, metavar="STORE.sqlite")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the lines, or read them if they are there"
    )
    args = parser.parse_args()
    rows = pd.read_csv(args.csv) if args.csv and args.csv.exists() else read(args.store)
    if args.csv and not args.csv.exists():
        rows.to_csv(args.csv, index=False)
    report(rows)
    for by in ("placement", "model"):
        for key, own in rows.groupby(by):
            print(f"\n{by}: {key}\n")
            report(own)


if __name__ == "__main__":
    main()
