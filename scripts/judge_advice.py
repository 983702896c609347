"""Evaluate the advice "which calibrator should I use here?" on real data: small tables, with many rows left over.

    python -m scripts.judge_advice FOLDER --rows rows.csv [--arena sizes.csv] [--tables 4] [--sizes 150 300 1000]
        [--left-over 300] [--skip NAME …]
    python -m scripts.judge_advice --store sizes.sqlite --rows rows.csv [--arena sizes.csv] --sizes 1500 5000 15000

FOLDER holds one CSV file per data set, with its label in the column ``target``. From each one with enough rows,
tables of typical size are drawn, and the chain runs on them as on the page, with every calibrator. The method that
the advice chooses, and those not clearly different from it, are compared with the scores of the same models and
calibrators on the rows left over. Every table is appended to ``rows.csv`` when it is done, one line per method, so
the run can be stopped at any moment and continued. Prints the table of docs/results.md at the end. Run by hand: a
quarter of an hour.

With ``--arena``, the rows of ``scripts.arena_sizes``, the advice for each data set expects what the other sets of the
arena say. With ``--store``, the scores of ``python -m calib study arena_sizes`` take the place of FOLDER: at each size
(then of the calibration rows), a table is drawn from the scores of every model of the arena.

Both constants of the advice are also tuned for each data set on the other sets alone. The resulting regrets
are printed beside those of the advice as shipped.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit
from sklearn.model_selection import train_test_split

from calib import Recipe
from calib.analysis.recommendation.rule import (
    DIFFERENCE_COLUMNS,
    JUSTIFIED_ROW_PART,
    LITTLE,
    METHODS_WITH_PRIOR,
    advise,
    calibration_kind,
    choose,
    expected_gaps,
    prior,
)
from calib.calibrators import CALIBRATORS, INPUT_TABLES, label_of
from calib.data import prepare, read_table
from calib.evaluate import Evaluation, calibrate, evaluate, fit
from calib.kernel.records import Dataset
from calib.kernel.wording import within_a_sentence
from calib.metrics import METRICS, brier_score, log_loss
from calib.metrics.base import TIE_DECIMALS
from calib.metrics.paired_intervals import difference_interval
from calib.study import Store
from scripts.arena_sizes import complete, grid

JUDGED = ("random_forest", "gradient_boosting", "naive_bayes", "decision_tree", "logistic_regression")
METHODS = tuple(key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES)
CELL = ["data", "model", "size", "table"]
LEFT_OVER = (300, 5000)  # fewest and most rows left over for evaluation
CLIP = 1e-15  # makes infinite log losses finite for the mean; their number is a column of its own
LOSSES = ["brier", "log_loss"]
MEASURED = [*LOSSES, "infinite"]
SEEN = ["score", "infinite", "surest", "lower", "upper"]  # columns of advise's table that the choice uses


class Rules(NamedTuple):
    """Constants of the advice."""

    little: float
    sure: float


TRIED = ((0.0, 0.01, LITTLE, 0.04, 0.08), (0.0, 0.001, JUSTIFIED_ROW_PART, 0.1, 1.0))
SHIPPED = Rules(LITTLE, JUSTIFIED_ROW_PART)
SHARE = 0.7  # of a table, whose rows calibrate; the others are the test set


def load(path: Path) -> Dataset:
    """Read a data set; of three or more classes, the most frequent one is predicted against the rest."""
    frame = read_table(path, path.name)
    often = frame["target"].value_counts()
    return prepare(frame, "target", positive=often.index[0] if len(often) > 2 else None)


def judge(data: Dataset, model: str, size: int, table: int) -> pd.DataFrame:
    """Return one row per method: its losses on the rows left over, whether it scored lowest, and whether it was
    chosen.
    """
    rows, rest = train_test_split(
        np.arange(len(data.y)), train_size=size, stratify=data.y, random_state=table
    )
    rest = rest[: LEFT_OVER[1]]
    recipe = Recipe(model=model, calibrators=METHODS, seed=table)
    drawn = Dataset(data.name, data.X.iloc[rows].reset_index(drop=True), data.y[rows], data.classes)
    fitted = fit(recipe, drawn)
    evaluation, part = calibrate(recipe, fitted), fitted.parts[0]
    tests = part.placed.score(data.X.iloc[rest])
    fresh = {key: part.placed.predict(each[0], tests).p for key, each in evaluation.calibrators.items()}
    return judged(evaluation, fresh, data.y[rest])


def judge_scores(p: np.ndarray, y: np.ndarray, size: int, seed: int) -> pd.DataFrame:
    """Return the same for the scores of a model: ``size`` rows calibrate, and 3/7 as many are the test set."""
    rows, rest = train_test_split(
        np.arange(len(y)), train_size=round(size / SHARE), stratify=y, random_state=seed
    )
    rest = rest[: LEFT_OVER[1]]
    data = Evaluation.from_predictions(y[rows], p[rows]).dataset
    data = replace(data, X=data.X.set_axis(["p"], axis=1))
    evaluation = evaluate(Recipe(content="predictions", calibrators=METHODS, seed=seed), data)
    fresh = {key: each[0].predict(p[rest]) for key, each in evaluation.calibrators.items()}
    return judged(evaluation, fresh, y[rest])


def discrete(kind: str, task: int, rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Simulate tied scores and labels: seven values whose frequencies are unlike them, or votes of ten trees.

    >>> [len(np.unique(discrete(kind, 0)[0])) for kind in ("seven values", "votes of ten")]
    [7, 11]
    """
    rng = np.random.default_rng([task, kind == "votes of ten"])
    if kind == "seven values":
        values = np.linspace(0.05, 0.95, 7)
        truth = expit(rng.normal(0, 0.5) + rng.uniform(0.4, 1.2) * logit(values) + rng.normal(0, 0.3, 7))
        at = rng.choice(7, rows, p=rng.dirichlet(np.full(7, 3.0)))
        return values[at], (rng.random(rows) < truth[at]).astype(int)
    p = expit(rng.normal(0, 0.5) + rng.normal(0, 1.5, rows))
    votes = rng.binomial(10, expit(rng.uniform(0.7, 2) * logit(p)))
    return votes / 10, (rng.random(rows) < p).astype(int)


def run_discrete(file: Path, sizes: list[int], tasks: int) -> pd.DataFrame:
    """Judge the advice on simulated tables of so many rows, of which 70 % calibrate."""
    lines = [
        judge_scores(*discrete(kind, task), round(SHARE * size), task).assign(
            **dict(zip(CELL, (f"{kind} {task}", kind, size, 0), strict=True))
        )
        for kind, size, task in product(("seven values", "votes of ten"), sizes, range(tasks))
    ]
    pd.concat(lines).to_csv(file, index=False)
    return pd.read_csv(file)


def judged(evaluation: Evaluation, fresh: dict[str, np.ndarray], y: np.ndarray) -> pd.DataFrame:
    """Return the lines of one table, from the probabilities of the rows left over."""
    found = advise(evaluation)
    minority, tied = calibration_kind(evaluation)
    lines = []
    for key, line in found.table.iterrows():
        p = fresh[str(key)]
        lines.append(
            {
                "method": key,
                "lowest": key == found.table["score"].idxmin(),
                "chosen": key == found.choice,
                "open": not line.gap_lower > 0,
                "brier": brier_score(y, p),
                "log_loss": log_loss(y, np.clip(p, CLIP, 1 - CLIP)),
                "infinite": bool(np.isinf(log_loss(y, p))),
                "seen_miscalibrated": found.miscalibrated,
                "seen_share": evaluation.share,
                **{f"seen_{name}": line[name] for name in SEEN},
                "seen_minority": minority,
                "seen_tied": tied,
                **dict(zip(DIFFERENCE_COLUMNS, _gap(evaluation, str(key)), strict=True)),
            }
        )
    return pd.DataFrame(lines)


def _gap(evaluation: Evaluation, key: str) -> tuple[float, float, float]:
    first, second = (evaluation.predictions[each].p for each in (key, METHODS_WITH_PRIOR[0]))
    return difference_interval("brier", evaluation.sample, first, second)


def run(
    folder: Path, file: Path, sizes: list[int], tables: int, skip: list[str], left_over: int
) -> pd.DataFrame:
    have = set(pd.read_csv(file)[CELL].itertuples(index=False, name=None)) if file.exists() else set()
    for path in sorted(folder.glob("*.csv"), key=lambda path: path.stat().st_size):
        data = None if path.stem in skip else load(path)
        cells = (
            (path.stem, model, size, table) for size in sizes for model in JUDGED for table in range(tables)
        )
        for cell in cells if data else ():
            if cell not in have and len(data.y) >= cell[2] + left_over:
                lines = judge(data, *cell[1:]).assign(**dict(zip(CELL, cell, strict=True)))
                lines.to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def run_scores(store: Path, file: Path, sizes: list[int]) -> pd.DataFrame:
    have = set(pd.read_csv(file)[CELL].itertuples(index=False, name=None)) if file.exists() else set()
    with Store(store) as opened:
        found = opened.repeats()
        for size, (data, model, repeat) in product(sizes, found):
            y, cell = found[data, model, repeat].y, (data, model, size, repeat)
            if cell in have or len(y) < size / SHARE + LEFT_OVER[0] or min(y.mean(), 1 - y.mean()) * size < 2:
                continue
            seed = zlib.crc32(f"{data}/{size}".encode()) // 2  # a Recipe takes 31 bits
            lines = judge_scores(found[data, model, repeat].p, y, size, seed)
            lines = lines.assign(**dict(zip(CELL, cell, strict=True)))
            lines.to_csv(file, mode="a", header=not file.exists(), index=False)
    return pd.read_csv(file)


def followed(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the regrets to the best in hindsight under each strategy, one line per table."""
    best = rows.groupby(CELL)[LOSSES].transform("min")
    rows = rows.assign(**{loss: rows[loss] - best[loss] for loss in LOSSES})
    own = {
        "the advice": rows[rows["chosen"]],
        "the method with the lowest score on the test rows": rows[rows["lowest"]],
    }
    return own | {f"always {label_of(key)}": group for key, group in rows.groupby("method", sort=False)}


def strategies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean regrets, one weight per data set, and the share of infinite log losses.

    The columns ``…_half`` are half the 95 % t intervals over data sets.
    """
    found = {}
    for name, group in followed(rows).items():
        of_sets = group.groupby("data")[MEASURED].mean()
        half = stats.t.ppf(0.975, len(of_sets) - 1) * of_sets.sem()
        found[name] = pd.concat([of_sets.mean(), half.add_suffix("_half")])
    return pd.DataFrame(found).T.sort_values("brier")


def contradicted(rows: pd.DataFrame) -> tuple[int, int]:
    """Return how many tables the advice calls clearly better, and for how many the rows left over say the opposite."""
    raw = rows[rows["method"] == "none"].set_index(CELL)["brier"]
    clear = rows[rows["chosen"] & (rows["method"] != "none") & (rows["seen_upper"] < 0)].set_index(CELL)
    return len(clear), int((clear["brier"] > raw[clear.index]).sum())


def print_strategies(rows: pd.DataFrame) -> None:
    for name, line in strategies(rows).iterrows():
        cells = (f" {line[loss]:.5f} ± {line[loss + '_half']:.5f} |" for loss in LOSSES)
        print(f"| {name} |{''.join(cells)} {line['infinite']:.1%} |")
    clear, opposite = contradicted(rows)
    print(f"{clear} tables with a clearly lower score, {opposite} contradicted by the rows left over")


def left_out(rows: pd.DataFrame) -> dict[str, set[str]]:
    """Return per loss the fixed choices with the least mean regret when each data set in turn is left out."""
    means = {loss: rows.pivot_table(loss, "method", "data") for loss in LOSSES}
    sets = rows["data"].unique()
    return {
        loss: {str(means[loss].drop(columns=name).mean(axis=1).idxmin()) for name in sets} for loss in LOSSES
    }


def chosen_by(
    rules: Iterable[Rules],
    table: pd.DataFrame,
    arena: pd.DataFrame | None = None,
    order: Sequence[str] = METHODS_WITH_PRIOR,
) -> Iterator[str]:
    """Yield the method that the advice would have chosen on one table under each of these rules.

    ``order`` names the methods whose prior counts.
    """
    share = float(table["share"].iloc[0])
    before = prior(float(table["minority"].iloc[0]), bool(table["tied"].iloc[0]), arena)
    expected = expected_gaps(
        table[[*DIFFERENCE_COLUMNS]], before, METHODS_WITH_PRIOR[0], share * (1 - share), order
    )
    for little, sure in rules:
        yield choose(
            table.assign(sure=table["surest"] < sure, expected=expected),
            METHODS_WITH_PRIOR[0],
            miscalibrated=bool(table["miscalibrated"].iloc[0]),
            share=share,
            little=little,
        )


def by_rules(
    rows: pd.DataFrame,
    rules: list[Rules],
    arena: pd.DataFrame | None = None,
    order: Sequence[str] = METHODS_WITH_PRIOR,
) -> np.ndarray:
    """Return mean regrets and shares of infinite log losses: (data sets, rules, MEASURED).

    With the rows of the arena, each data set is left out of what is expected of it.
    """
    sets: dict[str, list[np.ndarray]] = {}
    for data, own in rows.groupby("data"):
        others = None if arena is None else grid(arena[arena["data"] != data])
        for _, lines in own.groupby(CELL):
            lines = lines.set_index("method")
            lost = lines[LOSSES].sub(lines[LOSSES].min()).join(lines["infinite"].astype(float))
            seen = lines.filter(regex="^(seen|gap)").rename(columns=lambda name: name.removeprefix("seen_"))
            choices = list(chosen_by(rules, seen, others, order))
            sets.setdefault(data, []).append(lost.loc[choices].to_numpy())
    return np.array([np.mean(cells, axis=0) for cells in sets.values()])


def decided_elsewhere(found: np.ndarray, by: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean under each set's best rules on the other sets, and the positions of these rules."""
    own = found[:, :, MEASURED.index(by)]
    best = (own.sum(axis=0) - own).round(TIE_DECIMALS).argmin(axis=1)
    return found[np.arange(len(found)), best].mean(axis=0), best


def print_decided_elsewhere(rows: pd.DataFrame, arena: pd.DataFrame | None) -> None:
    """Print the regrets with what is expected, and then the constants too, taken from the other sets."""
    rules = [Rules(*one) for one in product(*TRIED)]
    found = by_rules(rows, rules, arena)
    shipped = found[:, rules.index(SHIPPED)].mean(axis=0)
    print(f"| the advice, with the arena of the other data sets |{as_cells(shipped)}")
    plain = by_rules(rows, [SHIPPED], order=METHODS_WITH_PRIOR[:1])[:, 0].mean(axis=0)
    print(f"| automatic calibration, unless another method is clearly better |{as_cells(plain)}")
    for loss in LOSSES:
        line, best = decided_elsewhere(found, loss)
        print(
            f"| the advice, with rules chosen on the other data sets by "
            f"{within_a_sentence(METRICS[loss].label)} |{as_cells(line)}"
        )
        print(f"  {Counter(rules[i] for i in best).most_common()}")
    for name in Rules._fields:
        alike = [
            i for i, one in enumerate(rules) if one._replace(**{name: getattr(SHIPPED, name)}) == SHIPPED
        ]
        for loss in LOSSES:
            line, best = decided_elsewhere(found[:, alike], loss)
            taken = Counter(getattr(rules[alike[i]], name) for i in best).most_common()
            print(f"only {name} decided on the other sets by {loss}:{as_cells(line)} {taken}")
        means = found[:, alike].mean(axis=0)
        print(
            "  "
            + "; ".join(f"{getattr(rules[i], name)}:{as_cells(m)}" for i, m in zip(alike, means, strict=True))
        )


def as_cells(line: np.ndarray) -> str:
    return f" {line[0]:.4f} | {line[1]:.4f} | {line[2]:.1%} |"


def best_fixed(rows: pd.DataFrame, loss: str) -> str:
    """Return the advice's regret beside that of the best fixed choice in hindsight."""
    regrets = strategies(rows)[loss]
    fixed = regrets[regrets.index.str.startswith("always")]
    return f"the advice {regrets['the advice']:.4f}, {fixed.idxmin()} {fixed.min():.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("--store", type=Path, metavar="STORE.sqlite")
    parser.add_argument(
        "--discrete", type=int, metavar="TASKS", help="simulated scores of few values instead"
    )
    parser.add_argument("--rows", type=Path, default=Path("judge_advice.csv"), metavar="FILE")
    parser.add_argument("--arena", type=Path, metavar="SIZES.csv")
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--left-over", type=int, default=LEFT_OVER[0], help="fewest rows left over")
    parser.add_argument("--sizes", type=int, nargs="+", default=[150, 300, 1000])
    parser.add_argument("--skip", nargs="*", default=["sources", "scene", "SPF", "breast"], metavar="NAME")
    args = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.discrete:
            rows = run_discrete(args.rows, args.sizes, args.discrete)
        elif args.store:
            rows = run_scores(args.store, args.rows, args.sizes)
        else:
            rows = run(args.folder, args.rows, args.sizes, args.tables, args.skip, args.left_over)
    cells = rows.groupby(CELL)
    best = rows[rows["brier"] <= cells["brier"].transform("min") + 1e-12]
    held = best.groupby(CELL)["open"].max().groupby("data").mean().mean()
    print(f"{cells.ngroups} tables of {rows['data'].nunique()} data sets")
    print_strategies(rows)
    print_decided_elsewhere(rows, complete(pd.read_csv(args.arena)) if args.arena else None)
    print(
        f"what may be the best held the best in {held:.1%}, {cells['open'].sum().mean():.1f} methods on average"
    )
    print(f"best fixed choice with any one set left out: {left_out(rows)}")
    for size, own in rows.groupby("size"):
        print(f"{size} rows, {own['data'].nunique()} data sets")
        print_strategies(own)
    for by in ("model", "size"):
        for key, own in rows.groupby(by):
            print(
                f"{key}: {'; '.join(f'{loss} {best_fixed(own, loss)}' for loss in LOSSES)}; {left_out(own)}"
            )


if __name__ == "__main__":
    main()
