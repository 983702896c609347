"""Write the data sets of the arena by size that are neither the papers' nor ours: synthetic ones and public tables.

    python -m scripts.arena_data FOLDER [--public RDATA]

Synthetic tables have known true probabilities, from which the labels are drawn: twelve of two classes with 45,000 rows,
six of three to ten classes with 20,000 rows, and six more of these with 45,000 in the folder ``large``. RDATA is the
folder ``pydataset/resources/rdata/csv`` of the Python package pydataset 0.2.0, which holds tables of R packages. With
it, 20 tables of two classes are added, and three of five to eight classes at both sizes. Their labels are columns, or
columns cut at a value; columns that tell the label are excluded. The same seeds give the same files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from calib.kernel.checks import Array

ROWS = 45_000
ROWS_OF_CLASSES = 20_000
Tables = Iterator[tuple[str, Array, Array]]


def of_two_classes(rng: np.random.Generator) -> Tables:
    """Yield name, features and true probability (``ROWS``,); draws are made when the next table is asked for."""
    X = rng.normal(size=(ROWS, 8))
    yield "syn_linear", X, expit(X @ [1, -1, 0.5, 0.5, 0, 0, 0.3, 0.1] - 0.5)
    X = rng.uniform(size=(ROWS, 10))
    friedman = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    yield "syn_friedman", X, expit(0.4 * (friedman - 14))
    X = rng.normal(size=(ROWS, 6))
    yield "syn_rare", X, expit(-5 + 1.2 * X[:, 0] + 0.8 * X[:, 1] ** 2 - 0.5 * X[:, 2])
    X = rng.normal(size=(ROWS, 5))
    yield "syn_xor", X, 0.08 + 0.84 * (X[:, 0] * X[:, 1] > 0)
    X = rng.uniform(-2, 2, size=(ROWS, 2))
    yield "syn_rings", X, expit(2.5 * np.cos(3 * np.hypot(X[:, 0], X[:, 1])))
    Z = rng.normal(size=(ROWS, 3))
    copies = (Z + spread * rng.normal(size=(ROWS, 3)) for spread in (0.3, 0.5))
    yield "syn_redundant", np.column_stack([Z, *copies]), expit(1.5 * Z.sum(1) - 1)
    X = rng.standard_t(2.5, size=(ROWS, 6))
    yield "syn_heavy", X, expit(np.clip(X[:, 0], -3, 3) + np.tanh(X[:, 1]) * 2 - np.abs(X[:, 2]))
    X = rng.normal(size=(ROWS, 20))
    yield "syn_noise", X, expit(0.25 * X[:, 0] + 0.2 * X[:, 1] - 1.2)
    X = rng.normal(size=(ROWS, 4))
    yield "syn_noisylabels", X, 0.15 + 0.7 * (X[:, 0] + X[:, 1] * X[:, 2] > 0.3)
    codes, effects = rng.integers(0, 8, size=(ROWS, 6)), rng.normal(size=(6, 8))
    yield "syn_categories", codes.astype(float), expit(effects[np.arange(6), codes].sum(1))
    X = rng.normal(size=(ROWS, 10))
    yield "syn_separable", X, expit(6 * X[:, :5].sum(1))
    means = rng.normal(size=(12, 5)) * 1.5
    X = means[rng.integers(0, 12, ROWS)] + rng.normal(size=(ROWS, 5))
    share, density = rng.uniform(0.02, 0.98, 12), normal_density(X, means)
    yield "syn_mixture", X, (density @ share) / density.sum(1)


def of_classes(rng: np.random.Generator, rows: int) -> Tables:
    """Yield name, features and true probabilities (rows, K)."""
    X = rng.normal(size=(rows, 6))
    yield "k_linear", X, softmax(X @ rng.normal(size=(6, 3)) * 0.8, axis=1)
    means, shares = rng.normal(size=(5, 5)) * 1.4, np.array([0.4, 0.25, 0.2, 0.1, 0.05])
    X = means[rng.choice(5, rows, p=shares)] + rng.normal(size=(rows, 5))
    yield "k_gaussians", X, of_sum_one(normal_density(X, means) * shares)
    X = rng.uniform(-2, 2, size=(rows, 2))
    r = np.hypot(*X.T)
    terms = (2 * np.cos(3 * r), 2 * np.sin(3 * r), -np.cos(2 * r) + X[:, 0], 0 * r)
    yield "k_rings", X, softmax(np.column_stack(terms), axis=1)
    means = rng.normal(size=(10, 8)) * 1.1
    X = means[rng.integers(0, 10, rows)] + rng.normal(size=(rows, 8))
    yield "k_ten", X, of_sum_one(normal_density(X, means))
    X = rng.normal(size=(rows, 8))
    copies = X + 0.3 * rng.normal(size=X.shape)
    yield "k_redundant", np.column_stack([X, copies]), softmax(X @ rng.normal(size=(8, 4)), axis=1)
    X = rng.normal(size=(rows, 4))
    P = np.full((rows, 4), 0.06)
    P[np.arange(rows), (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] > 0.5)] = 0.82
    yield "k_noisylabels", X, P


def normal_density(X: Array, means: Array) -> Array:
    """Return exp(−‖x − mean‖² / 2) for each row and mean."""
    return np.exp(-0.5 * ((X[:, None] - means) ** 2).sum(axis=2))


def of_sum_one(P: Array) -> Array:
    return P / P.sum(axis=1, keepdims=True)


def labelled(X: Array, truth: Array, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table, with labels drawn from the true probabilities: 0 and 1, or c0, c1 …"""
    if truth.ndim == 1:
        target = (rng.random(len(truth)) < truth).astype(int).tolist()
    else:
        drawn = (rng.random(len(truth))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
        target = [f"c{k}" for k in drawn.clip(0, truth.shape[1] - 1)]
    return pd.DataFrame(np.round(X, 5), columns=[f"x{i}" for i in range(X.shape[1])]).assign(target=target)


class Public(NamedTuple):
    """Table of an R package: its file, the condition for class 1, and columns to exclude."""

    file: str
    condition: str
    without: str


PUBLIC = {
    "diamonds_price": Public("ggplot2/diamonds", "price > 2401", "price x y z"),
    "diamonds_ideal": Public("ggplot2/diamonds", "cut == 'Ideal'", "cut"),
    "cps_earnings": Public("Ecdat/CPSch3", "ahe > ahe.median()", "ahe"),
    "vocab": Public("car/Vocab", "vocabulary >= 8", "vocabulary"),
    "rwm_doctor": Public("COUNT/rwm5yr", "docvis > 0", "docvis id"),
    "rwm_hospital": Public("COUNT/rwm5yr", "hospvis > 0", "hospvis id"),
    "vietnam_pharmacy": Public("Ecdat/VietNamI", "pharvis > 0", "pharvis"),
    "hi_insurance": Public("Ecdat/HI", "whi == 'yes'", "whi hhi hhi2 wght"),
    "doctor_contacts": Public("Ecdat/DoctorContacts", "mdu >= 4", "mdu"),
    "inst_eval": Public("lme4/InstEval", "y >= 4", "y"),
    "movies": Public(
        "ggplot2/movies", "rating >= 7", f"title rating mpaa {' '.join(f'r{i}' for i in range(1, 11))}"
    ),
    "budget_food": Public("Ecdat/BudgetFood", "wfood > 0.4", "wfood"),
    "bundesliga": Public("vcd/Bundesliga", "HomeGoals > AwayGoals", "HomeGoals AwayGoals Date"),
    "flchain": Public("survival/flchain", "death == 1", "death futime chapter"),
    "males_union": Public("Ecdat/Males", "union == 'yes'", "union nr"),
    "baseball_hr": Public("plyr/baseball", "hr >= 5", "hr id rbi"),
    "ofp_hospital": Public("Ecdat/OFP", "hosp > 0", "hosp"),
    "slid_wages": Public("car/SLID", "wages > 20", "wages"),
    "verbagg": Public("lme4/VerbAgg", "resp != 'no'", "resp r2 id"),
    "benefits": Public("Ecdat/Benefits", "ui == 'yes'", "ui"),
}
"""Two classes, at most ``ROWS`` rows."""
USED = {
    "plyr/baseball": "ab > 0",
    "car/SLID": "wages == wages",
}  # rows; wages are missing in half of the table
PUBLIC_CLASSES = {
    "k_diamonds_cut": ("ggplot2/diamonds", "cut"),
    "k_diamonds_clarity": ("ggplot2/diamonds", "clarity"),
    "k_inst_eval": ("lme4/InstEval", "y"),
}
"""The label's column."""
SIZES_OF_CLASSES = ((1, ROWS_OF_CLASSES, ""), (2, ROWS, "large/"))
"""Seed, rows and folder of the tables of more classes."""


def public_tables(rdata: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and table, with the label as the column target."""
    for name, (file, condition, without) in PUBLIC.items():
        table = read(rdata, file)
        target = table.eval(condition).astype(int)
        yield name, sampled(table.drop(columns=without.split()).assign(target=target), ROWS)
    for (name, (file, label)), (_, rows, folder) in product(PUBLIC_CLASSES.items(), SIZES_OF_CLASSES):
        table = read(rdata, file)
        target = "c_" + table[label].astype(str)
        yield folder + name, sampled(table.drop(columns=label).assign(target=target), rows)


def read(rdata: Path, file: str) -> pd.DataFrame:
    table = pd.read_csv(rdata / f"{file}.csv", index_col=0)
    return table.query(USED[file]) if file in USED else table


def sampled(table: pd.DataFrame, rows: int) -> pd.DataFrame:
    return table.sample(rows, random_state=0) if len(table) > rows else table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--public", type=Path, metavar="RDATA")
    args = parser.parse_args()
    (args.folder / "large").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, X, truth in of_two_classes(rng):
        save(labelled(X, truth, rng), args.folder, name)
    for seed, rows, folder in SIZES_OF_CLASSES:
        rng = np.random.default_rng(seed)
        for name, X, truth in of_classes(rng, rows):
            save(labelled(X, truth, rng), args.folder, folder + name)
    for name, table in public_tables(args.public) if args.public else ():
        save(table, args.folder, name)


def save(table: pd.DataFrame, folder: Path, name: str) -> None:
    table.to_csv(folder / f"{name}.csv", index=False)
    print(name, len(table), "rows,", table["target"].nunique(), "classes")


if __name__ == "__main__":
    main()
