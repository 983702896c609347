"""Tabulate the arena: win-rates and regrets of every calibrator, from the rows of ``python -m calib study arena``.

    python -m calib study arena --data FOLDER/*.csv --repeats 1 --store arena.sqlite --csv arena.csv
    python -m scripts.arena_table arena.csv [--by model | placement] [--metrics brier log_loss_clipped …]
    python -m scripts.arena_table rows.csv --by size --metrics brier log_loss_clipped
    python -m scripts.arena_table arena.csv --metrics … --published FILE --pair pairwise venn_abers

The third line reads the rows of ``scripts.judge_advice``, the last one an arena of three or more classes.

A case is a data set, a model and a placement for which every method has a result. Methods that need probabilities
refuse margins, so the support vector machine is left out; so is Rank, which only forests have. In each case a method
beats some share of the others. These shares, and the regrets to the best method in hindsight, are averaged over the
cases of a data set and then over data sets; the intervals resample data sets. Prints Markdown tables. ``--published``
adds CalArena's win-rates by log loss: columns benchmark, runs, method, win_rate_log_loss. ``--pair`` compares two
methods over the data sets by Student's t.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from calib.calibrators import label_of
from calib.comparison import mean_share, ranks, regrets
from calib.study import measure

CASE = ["data", "model", "placement", "repeat"]
HISTOGRAM = "histogram_uniform"
CALARENA = {
    **{
        "Base-model": "none",
        "CIR": "centered_isotonic",
        "Dirichlet": "dirichlet",
        "Hist-quantile": "histogram",
    },
    **{"Hist-uniform": HISTOGRAM, "Isotonic": "isotonic", "MS": "matrix", "SMS": "structured_matrix"},
    **{"SVS": "structured_vector", "Spline": "spline", "TS": "temperature", "VS": "vector"},
    **{"Venn-Abers": "venn_abers"},
}
"""CalArena's names of our methods."""


def read(file: Path) -> pd.DataFrame:
    """Read the rows: one per case and method."""
    rows = pd.read_csv(file)
    if "setup" in rows:
        names = rows["setup"].str.split("/", expand=True)
        return rows.assign(model=names[0], placement=names[1], method=names[2])
    return rows.rename(columns={"table": "repeat", "log_loss": "log_loss_clipped"}).assign(placement="split")


def cases(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a metric, (cases, methods), for the cases in which every method but Rank has a result."""
    extra = [name for name in ("size",) if name in rows]  # for tables drawn in several sizes
    table = rows.pivot_table(metric, CASE + extra, "method", sort=False).drop(columns="rank", errors="ignore")
    return table[table.notna().all(axis=1)]


def standings(table: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Return one row per method: win-rate with its 95 % interval over data sets, and mean regret."""
    values, k = table.to_numpy(), table.shape[1]
    rates = pd.DataFrame((k - ranks(values, higher_is_better)) / (k - 1), table.index, table.columns)
    lost = pd.DataFrame(regrets(values, higher_is_better), table.index, table.columns)
    by_set, lost_by_set = (each.groupby(level="data").mean() for each in (rates, lost))
    found = mean_share(by_set.to_numpy())
    lines = {
        "rate": found.mean,
        "lower": found.lower,
        "upper": found.upper,
        "regret": lost_by_set.mean().to_numpy(),
    }
    return pd.DataFrame(lines, index=table.columns).sort_values("rate", ascending=False)


def named(method: str) -> str:
    return f"{label_of('histogram')}, equal width" if method == HISTOGRAM else label_of(method)


def published(file: Path | None) -> pd.DataFrame:
    """Read CalArena's win-rates by log loss: one row per method, one column per benchmark."""
    if file is None:
        return pd.DataFrame()
    rows = pd.read_csv(file)
    rows["method"] = rows["method"].map(CALARENA)
    rows["benchmark"] += rows["runs"].map(" ({:,} runs)".format)
    return rows.pivot_table("win_rate_log_loss", "method", "benchmark", sort=False)


def print_standings(rows: pd.DataFrame, metrics: list[str], beside: pd.DataFrame) -> None:
    found = {metric: standings(cases(rows, metric), measure(metric).higher_is_better) for metric in metrics}
    labels = [measure(metric).label for metric in metrics]
    names = [*(f" win-rate by {label} | regret in {label} |" for label in labels)]
    print("| method |" + "".join([*names, *(f" {name} |" for name in beside.columns)]))
    print("| --- |" + " --- |" * (2 * len(labels) + len(beside.columns)))
    for method in found[metrics[0]].index:
        lines = [found[metric].loc[method] for metric in metrics]
        print(
            f"| {named(method)} |"
            + "".join(f" {x.rate:.2f} [{x.lower:.2f}, {x.upper:.2f}] | {x.regret:.4f} |" for x in lines)
            + "".join(
                f" {beside.loc[method, name]:.2f} |" if method in beside.index else " |" for name in beside
            )
        )


def difference(
    rows: pd.DataFrame, metric: str, first: str, second: str
) -> tuple[float, float, float, int, int]:
    """Return the mean of first − second over data sets, its 95 % interval (t), and the numbers of sets below 0 and in
    all.
    """
    table = cases(rows, metric)
    each = (table[first] - table[second]).groupby(level="data").mean().to_numpy()
    half = stats.t.ppf(0.975, len(each) - 1) * each.std(ddof=1) / np.sqrt(len(each))
    return each.mean(), each.mean() - half, each.mean() + half, int((each < 0).sum()), len(each)


def print_difference(rows: pd.DataFrame, metrics: list[str], first: str, second: str) -> None:
    print(f"\n{named(first)} minus {named(second)}\n")
    for metric in metrics:
        mean, low, high, lower, sets = difference(rows, metric, first, second)
        print(
            f"- {measure(metric).label}: {mean:+.4f} [{low:+.4f}, {high:+.4f}], lower on {lower} of {sets} sets"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path, metavar="ROWS.csv")
    parser.add_argument("--by", choices=("model", "placement", "size"))
    parser.add_argument("--metrics", nargs="+", default=["brier", "log_loss_clipped", "miscalibration"])
    parser.add_argument("--published", type=Path, metavar="CALARENA.csv")
    parser.add_argument("--pair", nargs=2, metavar="METHOD")
    parser.add_argument("--placements", nargs="+", help="only these kinds of calibration data")
    args = parser.parse_args()
    rows = read(args.rows)
    rows = rows[rows["placement"].isin(args.placements or rows["placement"])]
    for name, part in rows.groupby(args.by) if args.by else [("all", rows)]:
        table = cases(part, args.metrics[0])
        sets = table.index.get_level_values("data").nunique()
        print(f"\n{name}: {len(table)} cases of {sets} data sets, {table.shape[1]} methods\n")
        print_standings(part, args.metrics, published(args.published))
        if args.pair:
            print_difference(part, args.metrics, *args.pair)


if __name__ == "__main__":
    main()
