"""Who wins the arena: win-rates and regrets of every calibrator, from the rows of ``python -m calib study arena``.

    python -m calib study arena --data FOLDER/*.csv --repeats 1 --store arena.sqlite --csv arena.csv
    python -m scripts.arena_table arena.csv [--by model | placement] [--metrics brier log_loss_clipped …]
    python -m scripts.arena_table rows.csv --by size --metrics brier log_loss_clipped     # of
    scripts.judge_advice

A case is a data set, a model and a placement on which every method answered (margins are refused by the
methods that need probabilities, so that the support vector machine takes no part; Rank, which only forests
have, neither). In each case a method beats some share of the others; these shares and the regrets to the best
method in hindsight are averaged over the cases of a data set and then over data sets, which are drawn anew
for the intervals. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from calib.calibrators import label_of
from calib.comparison import mean_share, ranks, regrets
from calib.metrics import METRICS

CASE = ["data", "model", "placement", "repeat"]
HISTOGRAM = "histogram_uniform"


def read(file: Path) -> pd.DataFrame:
    """A line a case and method."""
    rows = pd.read_csv(file)
    if "setup" in rows:
        names = rows["setup"].str.split("/", expand=True)
        return rows.assign(model=names[0], placement=names[1], method=names[2])
    return rows.rename(columns={"table": "repeat", "log_loss": "log_loss_clipped"}).assign(placement="split")


def cases(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """(cases, methods): a metric where every method but Rank answered."""
    extra = [name for name in ("size",) if name in rows]  # of tables drawn in several sizes
    table = rows.pivot_table(metric, CASE + extra, "method", sort=False).drop(columns="rank", errors="ignore")
    return table[table.notna().all(axis=1)]


def standings(table: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """A line a method: win-rate with its 95 % interval over data sets, and mean regret."""
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


def print_standings(rows: pd.DataFrame, metrics: list[str]) -> None:
    found = {metric: standings(cases(rows, metric), METRICS[metric].higher_is_better) for metric in metrics}
    labels = [METRICS[metric].label for metric in metrics]
    print("| method |" + "".join(f" win-rate by {label} | regret in {label} |" for label in labels))
    print("| --- |" + " --- | --- |" * len(labels))
    for method in found[metrics[0]].index:
        lines = [found[metric].loc[method] for metric in metrics]
        print(
            f"| {named(method)} |"
            + "".join(f" {x.rate:.2f} [{x.lower:.2f}, {x.upper:.2f}] | {x.regret:.4f} |" for x in lines)
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path, metavar="ROWS.csv")
    parser.add_argument("--by", choices=("model", "placement", "size"))
    parser.add_argument("--metrics", nargs="+", default=["brier", "log_loss_clipped", "miscalibration"])
    args = parser.parse_args()
    rows = read(args.rows)
    for name, part in rows.groupby(args.by) if args.by else [("all", rows)]:
        table = cases(part, args.metrics[0])
        sets = table.index.get_level_values("data").nunique()
        print(f"\n{name}: {len(table)} cases of {sets} data sets, {table.shape[1]} methods\n")
        print_standings(part, args.metrics)


if __name__ == "__main__":
    main()
