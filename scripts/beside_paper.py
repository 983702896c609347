"""Compare a study's means with a paper's printed values, and measure reliability, as Markdown for docs/results.md.

    python -m scripts.beside_paper results.sqlite --metrics log_loss rmse
    python -m scripts.beside_paper results.sqlite --metrics brier accuracy --within 0.01
    python -m scripts.beside_paper results.sqlite --ranks brier auc reliability
    python -m scripts.beside_paper results.sqlite --bins 10 20 100

Each cell is "own (printed)". ``--within`` prints per setup the means over the comparable sets, and on how many of
them the two differ by at most this much. ``--ranks`` prints mean ranks, own and printed, among the setups that the
paper ranks together, each over all its sets. ``--bins`` prints per setup the mean over data sets, and the mean rank,
of the reliability in this many equal-width bins, with the folds of a set pooled. Few rows fill 100 bins with noise:
the last column subtracts the part that sampling alone gives a calibrated method, the variance of each bin's
frequency, weighted by its rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from calib.comparison import average_ranks
from calib.metrics import murphy_decomposition
from calib.study import Store, pooled_predictions, summarise
from calib.study.papers.printed import COMPARISONS, likely_paper, printed, with_published


def comparison(rows: pd.DataFrame, metric: str) -> list[str]:
    """Return a table with one row per setup and one column per data set."""
    paper = likely_paper(rows)
    if paper is None:
        return ["The names of these setups are in no paper."]
    means = rows.pivot_table(metric, "data", "setup", sort=False)
    found = with_published(means, metric, paper)
    cells = found["own"].map(shown) + " (" + found["published"].map(shown) + ")"
    table = found.assign(cell=cells).pivot_table("cell", "setup", "data", aggfunc="first")
    return markdown(table.reindex([name for name in means if name in table.index]).fillna(""), metric)


def closeness(rows: pd.DataFrame, metric: str, most: float) -> list[str]:
    """Return per setup own and printed mean, the number of sets that differ by at most ``most``, and the farthest."""
    paper = likely_paper(rows)
    if paper is None:
        return ["The names of these setups are in no paper."]
    found = with_published(rows.pivot_table(metric, "data", "setup", sort=False), metric, paper)
    lines = {}
    for setup, own in found[found["comparable"]].groupby("setup", sort=False):
        distance = own.set_index("data")["difference"].abs()
        lines[setup] = {
            f"{metric}, own": f"{own['own'].mean():.4f}",
            "published": f"{own['published'].mean():.4f}",
            f"within {most:g}": f"{(distance <= most).sum()} of {len(own)}",
            "farthest": f"{distance.max():.4f} on {distance.idxmax()}",
        }
    return markdown(pd.DataFrame(lines).T, "setup")


def mean_ranks(store: Store, rows: pd.DataFrame, metrics: list[str]) -> list[str]:
    """Return per setup "own (printed)" mean ranks, one column per metric.

    Only setups that the paper ranks together are included, if all of them are in the rows.
    """
    there, paper, predictions = set(rows["setup"]), likely_paper(rows), store.repeats()
    lines: dict[str, dict[str, str]] = {}
    for one in COMPARISONS.values():
        if one.paper == paper and there.issuperset(one.setups):
            table = printed(paper)
            table = table[table["data"].isin(("Mean rank", "Rank"))].drop_duplicates(["metric", "setup"])
            ranks = table.set_index(["metric", "setup"])["value"]
            for metric in metrics:
                for setup, rank in summarise(rows, metric, one.setups, predictions).average_ranks.items():
                    lines.setdefault(str(setup), {})[metric] = f"{rank:.2f} ({ranks[metric, setup]:.2f})"
    return markdown(pd.DataFrame(lines).T, "mean rank")


def shown(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.3f}"


def reliability(store: Store, rows: pd.DataFrame, bins: list[int]) -> list[str]:
    """Return per setup the mean and the mean rank for each number of bins."""
    setups, predictions, lines = list(dict.fromkeys(rows["setup"])), store.repeats(), {}
    pooled = {name: pooled_predictions(predictions, name, setups) for name in dict.fromkeys(rows["data"])}
    for k in bins:
        table = pd.DataFrame(
            {
                name: {key: murphy_decomposition(one.y, one.p, bins=k).reliability for key, one in of.items()}
                for name, of in pooled.items()
            }
        ).reindex(setups)
        noise = pd.DataFrame(
            {name: {key: sampling(one.p, k) for key, one in of.items()} for name, of in pooled.items()}
        )
        lines[f"mean, {k} bins"] = table.mean(axis=1).map("{:.4f}".format)
        lines[f"mean rank, {k} bins"] = pd.Series(average_ranks(table.to_numpy().T, False), setups).map(
            "{:.1f}".format
        )
        lines[f"less sampling, {k} bins"] = (table - noise).mean(axis=1).map("{:.4f}".format)
    return markdown(pd.DataFrame(lines), "setup")


def sampling(p: np.ndarray, k: int) -> float:
    """Return the expected reliability in k bins of correct predictions p: Σ m(1 − m)/n over the bins' means m.

    >>> round(sampling(np.array([0.5, 0.5, 0.2, 1.0]), 10), 6)    # (0.25 + 0.16 + 0) / 4
    0.1025
    """
    places = np.minimum((p * k).astype(int), k - 1)
    rows = np.bincount(places, minlength=k)
    means = np.bincount(places, p, minlength=k)[rows > 0] / rows[rows > 0]
    return float((means * (1 - means)).sum() / len(p))


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
    parser.add_argument("--within", type=float)
    parser.add_argument("--ranks", nargs="*", default=[])
    parser.add_argument("--bins", nargs="*", type=int, default=[])
    asked = parser.parse_args()
    with Store(asked.store) as opened:
        results = opened.rows()
        for metric in asked.metrics:
            lines = (
                comparison(results, metric)
                if asked.within is None
                else closeness(results, metric, asked.within)
            )
            print(*lines, "", sep="\n")
        if asked.ranks:
            print(*mean_ranks(opened, results, asked.ranks), "", sep="\n")
        if asked.bins:
            print(*reliability(opened, results, asked.bins), sep="\n")
