"""A study's means beside a paper's printed values, and how reliable its setups are, as Markdown for docs/results.md.

    python -m scripts.beside_paper results.sqlite --metrics log_loss rmse
    python -m scripts.beside_paper results.sqlite --bins 10 20 100

Every cell is "own (printed)". With ``--bins``: of each setup the mean over data sets, and the mean rank, of the
reliability in so many equal-width bins, the folds of a set pooled; few rows fill 100 bins with noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from calib.comparison import average_ranks
from calib.metrics import murphy_decomposition
from calib.study import Store, pooled_predictions
from calib.study.published import beside, likely_paper


def comparison(rows: pd.DataFrame, metric: str) -> list[str]:
    """A line a setup, a column a data set."""
    paper = likely_paper(rows)
    if paper is None:
        return ["The names of these setups are in no paper."]
    means = rows.pivot_table(metric, "data", "setup", sort=False)
    found = beside(means, metric, paper)
    cells = found["own"].map(shown) + " (" + found["published"].map(shown) + ")"
    table = found.assign(cell=cells).pivot_table("cell", "setup", "data", aggfunc="first")
    return markdown(table.reindex([name for name in means if name in table.index]).fillna(""), metric)


def shown(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.3f}"


def reliability(store: Store, rows: pd.DataFrame, bins: list[int]) -> list[str]:
    """A line a setup: mean and mean rank for each number of bins."""
    setups, predictions, lines = list(dict.fromkeys(rows["setup"])), store.repeats(), {}
    pooled = {name: pooled_predictions(predictions, name, setups) for name in dict.fromkeys(rows["data"])}
    for k in bins:
        table = pd.DataFrame(
            {
                name: {key: murphy_decomposition(one.y, one.p, bins=k).reliability for key, one in of.items()}
                for name, of in pooled.items()
            }
        ).reindex(setups)
        lines[f"mean, {k} bins"] = table.mean(axis=1).map("{:.4f}".format)
        lines[f"mean rank, {k} bins"] = pd.Series(average_ranks(table.to_numpy().T, False), setups).map(
            "{:.1f}".format
        )
    return markdown(pd.DataFrame(lines), "setup")


def markdown(table: pd.DataFrame, corner: str) -> list[str]:
    lines = [[corner, *table.columns], ["---"] * (1 + table.shape[1])]
    lines += [[name, *row] for name, row in zip(table.index, table.to_numpy(), strict=True)]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("--metrics", nargs="*", default=[])
    parser.add_argument("--bins", nargs="*", type=int, default=[])
    asked = parser.parse_args()
    with Store(asked.store) as opened:
        results = opened.rows()
        for metric in asked.metrics:
            print(*comparison(results, metric), "", sep="\n")
        if asked.bins:
            print(*reliability(opened, results, asked.bins), sep="\n")
