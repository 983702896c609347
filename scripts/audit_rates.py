"""Measure how often the audit of groups raises a false alarm, and how often it finds and names a planted group.

``python -m scripts.audit_rates [--tables 1000] [--planted 200] [--jobs 2] [--markdown FILE]``. Each table has ten
columns: five numbers and five categories. The log-odds of the predictions depend on three of them. The audit is
compared with the usual rule: the smallest p-value of a two-sided z-test per segment, without adjustment for the
search, is below 5 %. In tables "sampled by label" the probabilities are right in the population: all events are kept,
but only one in two to five of the other rows, by a column. The planted group has 5 % of 10,000 rows, and its true
probabilities are 0.15 higher than predicted. It is one value of a column, a conjunction of two values, or a
conjunction of two ranges that are not all quantile ranges. "Named" means that the first line is significant and has
rows of this group only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from calib.analysis.audit import ALPHA, audit

ROWS, MANY = 2000, 10_000
SHIFT, RESAMPLES = 0.15, 199
CLUSTERS = {"30 clusters": 30, "100 clusters": 100, "400 clusters": 400}
CALM = (
    "probabilities",
    "five distinct predictions",
    "rare events",
    "weights",
    "counts",
    *CLUSTERS,
    "cluster columns",
    "sampled by label, weights",
    "sampled by label, no weights",
)
PLANTED = ("group", "group, weights", "group, half the rows", "group, 400 clusters", "group, milder weights")
SHAPES = {"group, weights": 1, "group, milder weights": 4}  # of Γ distributions
KEPT = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.25, "e": 0.2}  # share kept of the rows without an event


def columns(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw ten columns, and log-odds of predictions that depend on three of them."""
    numbers = {f"number {i}": rng.normal(size=rows) for i in range(1, 6)}
    values = {
        f"kind {i}": rng.choice(list("abcde"), rows, p=[0.35, 0.25, 0.2, 0.15, 0.05]) for i in range(1, 6)
    }
    table = pd.DataFrame(numbers | values)
    x = table["number 1"] + 0.5 * table["number 2"] + 0.7 * (table["kind 1"] == "a") - 0.5
    return table, x.to_numpy()


def calm(
    seed: int, kind: str, rows: int = ROWS
) -> tuple[np.ndarray, np.ndarray, pd.DataFrame, dict[str, Any]]:
    """Draw (y, p, columns, options) of a table with correct probabilities."""
    rng = np.random.default_rng([seed, CALM.index(kind)])
    table, x = columns(rng, rows)
    if kind.startswith("sampled by label"):
        return _sampled(rng, rows, "no weights" not in kind)
    p = expit(0.7 * x - 3 if kind == "rare events" else x)
    if kind == "five distinct predictions":
        p = np.round(p * 4) / 4 * 0.9 + 0.05
    options: dict[str, Any] = {}
    truth = p
    if kind == "weights":
        options["sample_weight"] = rng.gamma(1, size=rows)
    if kind in CLUSTERS or kind == "cluster columns":
        count = CLUSTERS.get(kind, 100)
        whose = rng.integers(0, count, rows)
        options["cluster"] = whose
        truth = p + p * (1 - p) * np.tanh(rng.normal(0, 0.5, count))[whose]
    if kind == "cluster columns":  # one value per cluster, like the region of a hospital
        for name in ("kind 4", "kind 5"):
            table[name] = rng.choice(list("abcd"), count)[whose]
    y = (rng.random(rows) < truth).astype(int)
    if kind == "counts":  # each row counts as three, in one line per label
        events = rng.binomial(3, p)
        lines = np.repeat(np.arange(rows), 2)
        y, counts = np.tile([1, 0], rows), np.column_stack([events, 3 - events]).ravel()
        return y, p[lines], table.iloc[lines], {"sample_weight": counts}
    return y, p, table, options


def _sampled(
    rng: np.random.Generator, rows: int, weighted: bool
) -> tuple[np.ndarray, np.ndarray, pd.DataFrame, dict[str, Any]]:
    """Sample rows with a probability that depends on their label, and return the weights that correct for it."""
    table, x = columns(rng, 6 * rows)
    p = expit(x)
    y = (rng.random(len(p)) < p).astype(int)
    chance = np.where(y == 1, 1.0, table["kind 1"].map(KEPT))
    kept = np.flatnonzero(rng.random(len(p)) < chance)[:rows]
    options = {"sample_weight": 1 / chance[kept]} if weighted else {}
    return y[kept], p[kept], table.iloc[kept], options


def planted(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, pd.DataFrame, dict[str, Any], np.ndarray]:
    """Draw (y, p, columns, options, rows of the group) of a table with a planted group."""
    rng = np.random.default_rng([seed, 99])
    many = MANY // 2 if kind == "group, half the rows" else MANY  # (Σw)²/Σw² of Γ(1) weights
    table, x = columns(rng, many)
    p = np.minimum(expit(x), 0.84)
    high = {i: table[f"number {i}"] >= np.quantile(table[f"number {i}"], q) for i, q in ((3, 0.8), (4, 0.75))}
    group = [
        table["kind 2"] == "e",
        (table["kind 2"] == "c") & (table["kind 3"] == "b"),
        high[3] & high[4],
    ][seed % 3].to_numpy()
    options: dict[str, Any] = {}
    truth = p + SHIFT * group
    if kind in SHAPES:
        options["sample_weight"] = rng.gamma(SHAPES[kind], size=many)
    if kind == "group, 400 clusters":
        options["cluster"] = rng.integers(0, 400, many)
        truth = truth + p * (1 - p) * np.tanh(rng.normal(0, 0.3, 400))[options["cluster"]]
    return (rng.random(many) < truth).astype(int), p, table, options, group


def naive(found: Any) -> tuple[bool, int]:
    """Return whether the smallest unadjusted p-value is below 5 %, and the line of that segment."""
    rows, p = found.rows, found.p
    gap, variance = np.zeros(found.members(0).size), np.zeros(found.members(0).size)
    gap[found.places] = rows.weights * (rows.y - p)
    variance[found.places] = rows.weights**2 / rows.draws * p * (1 - p)
    sums = (
        (gap[mine].sum(), variance[mine].sum()) for mine in map(found.members, range(len(found.segments)))
    )
    z = [abs(d) / np.sqrt(v) for d, v in sums]
    worst = int(np.argmax(z))
    return bool(2 * norm.sf(z[worst]) < ALPHA), worst


def one_calm(seed: int, kind: str, resamples: int = RESAMPLES) -> tuple[bool, bool]:
    """Tell whether the audit and the usual rule raise a false alarm."""
    y, p, table, options = calm(seed, kind)
    found = audit(y, p, table, resamples=resamples, **options)
    return found.p_value <= ALPHA, naive(found)[0]


def one_planted(seed: int, kind: str, resamples: int = RESAMPLES) -> tuple[bool, bool, bool]:
    """Tell whether the audit finds something, whether it names the group, and whether the usual rule names it."""
    y, p, table, options, group = planted(seed, kind)
    found = audit(y, p, table, resamples=resamples, **options)
    alarm = found.p_value <= ALPHA
    return (
        alarm,
        alarm and bool(group[found.members(0)].all()),
        bool(group[found.members(naive(found)[1])].all()),
    )


def seconds(rows: int = 100_000, count: int = 7) -> tuple[int, float, float]:
    """Return (segments, seconds, processor seconds) of 999 redraws of many rows."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, rows)
    table = pd.DataFrame({f"number {i}": rng.random(rows) for i in range(count)})
    begin, busy = time.perf_counter(), time.process_time()
    found = audit((rng.random(rows) < p).astype(int), p, table)
    return len(found.segments), time.perf_counter() - begin, time.process_time() - busy


def rates(pool: ProcessPoolExecutor, one: Callable, kind: str, seeds: range, resamples: int) -> list[float]:
    """Return percentages over the tables of these seeds."""
    found = pool.map(partial(one, kind=kind, resamples=resamples), seeds, chunksize=4)
    return [100 * float(np.mean(each)) for each in zip(*found, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--others", type=int, default=400, help="tables of the other kinds")
    parser.add_argument("--planted", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    parser.add_argument("--only", nargs="+", help="kinds of calibrated tables and of planted groups")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    lines = ["| calibrated tables of 2,000 rows | tables | audit | usual rule |", "| --- | --- | --- | --- |"]
    with ProcessPoolExecutor(args.jobs) as pool:
        for kind in (kind for kind in CALM if args.only is None or kind in args.only):
            runs = args.tables if kind == CALM[0] else args.others
            mine, usual = rates(pool, one_calm, kind, range(args.first, args.first + runs), args.resamples)
            lines.append(f"| {kind} | {runs:,} | {mine:.1f} % | {usual:.0f} % |")
            print(lines[-1], flush=True)
        lines += [
            "",
            "| planted group | tables | found | named | usual rule names |",
            "| --- | --- | --- | --- | --- |",
        ]
        for kind in (kind for kind in PLANTED if args.only is None or kind in args.only):
            found, named, usual = rates(
                pool, one_planted, kind, range(args.first, args.first + args.planted), args.resamples
            )
            lines.append(f"| {kind} | {args.planted:,} | {found:.1f} % | {named:.1f} % | {usual:.1f} % |")
            print(lines[-1], flush=True)
    segments, wall, busy = seconds()
    lines += ["", f"{segments} segments of 100,000 rows: {wall:.1f} s ({busy:.1f} s of processor time)."]
    print(lines[-1])
    if args.markdown:
        args.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
