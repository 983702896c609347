"""Measure how often printed intervals include the true value, and how often tests reject wrongly.

    python -m scripts.coverage [--draws 400] [--only TEXT] [--write docs/measurements.md]

Test rows are drawn repeatedly from worlds whose every value is known (``scripts.worlds``), and each interval is
computed as a page or a report computes it. An interval that is not given, because the page says why there is none,
counts as not given, not as a miss. Slow ones are drawn less often. Prints Markdown; with ``--write`` it also replaces
the section "Do the intervals include the true values?" of the file. Run by hand: half an hour on one core.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.stats import t as student

from calib.kernel.wording import number
from scripts.intervals import ON_ROWS, TESTS, Found, Printed, claims_over_sets, over_sets
from scripts.worlds import CALIBRATED, OVERCONFIDENT, Drawn, draw, world

SIZES = (50, 200, 1000, 5000)
PREVALENCES = (0.5, 0.1, 0.02)
MODELS = {"calibrated": CALIBRATED, "overconfident": OVERCONFIDENT}
SAMPLES: Mapping[str, dict[str, Any]] = {  # 1,000 rows of a calibrated model, half of them of class 1
    **{f"{k} cluster{'s' * (k > 1)}": {"clusters": k} for k in (1, 5, 10, 20, 50)},
    "weights 1, 3, 9": {"weighted": True},
    "base rate 10 %": {"stated": 0.1},
}
UNEQUAL: Mapping[str, dict[str, Any]] = {  # clusters whose sizes are lognormal
    f"{k} clusters, σ {unequal:g}": {"clusters": k, "unequal": unequal}
    for k in (20, 40, 200)
    for unequal in (1.0, 1.5)
}
SETS = (5, 10, 20, 40)  # data sets of a study
ENOUGH = 0.92  # if fewer intervals cover, a page says so instead
REPETITIONS = (2, 5, 10, 20, 50)  # repetitions of simulations on Learn pages
CHUNK = 20  # draws per task
Line = tuple[str, float, float, float]  # name, covers, given, width

# Running it


@dataclass(frozen=True)
class Case:
    """Population of test rows, and how they are sampled."""

    prevalence: float = 0.5
    model: str = "calibrated"
    n: int = 1000
    sample: str = ""

    def rows(self, seed: int) -> Drawn:
        numbers = (
            seed,
            round(1000 * self.prevalence),
            list(MODELS).index(self.model),
            self.n,
            len(self.sample),
        )
        of, rng = world(self.prevalence, MODELS[self.model]), np.random.default_rng(numbers)
        return draw(of, self.n, rng, **(SAMPLES | UNEQUAL).get(self.sample, {}))


def summarised(found: Any) -> tuple[float, float, float]:
    """Return (covers or rejects, given, width) of one draw: shares and a mean over its points, NaN without any."""
    if not isinstance(found, tuple):
        return float(found), float(found == found), np.nan
    truth, low, high = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in found))
    asked = ~np.isnan(truth)
    given = asked & ~np.isnan(low) & ~np.isnan(high)
    if not asked.any():
        return np.nan, np.nan, np.nan
    if not given.any():
        return np.nan, 0.0, np.nan
    held = (low[given] <= truth[given] + 1e-12) & (truth[given] <= high[given] + 1e-12)
    with np.errstate(invalid="ignore"):
        return float(held.mean()), float(given.sum() / asked.sum()), float((high - low)[given].mean())


def on_rows(case: Case, seeds: Iterable[int], printed: Mapping[str, Printed]) -> Iterator[Line]:
    """Yield the results of each draw of test rows."""
    for seed in seeds:
        rows = case.rows(seed)
        for one in printed.values():
            if case.n < 1000 or seed % one.thin == 0:
                yield from ((name, *summarised(each)) for name, each in one.found(rows).items())


def on_sets(
    case: int, seeds: Iterable[int], found: Callable[[int, np.random.Generator], Found]
) -> Iterator[Line]:
    """Yield the results of each draw of ``case`` data sets."""
    for seed in seeds:
        yield from (
            (name, *summarised(each))
            for name, each in found(case, np.random.default_rng((seed, case))).items()
        )


def lines_of(
    run: Callable[..., Iterator[Line]], what: Any, cases: Iterable[Any], draws: int, jobs: int
) -> pd.DataFrame:
    """Return columns case, name, covers, given, width: one row per draw."""
    chunks = [(case, range(at, min(at + CHUNK, draws))) for at in range(0, draws, CHUNK) for case in cases]

    def one(case: Any, seeds: range) -> list[tuple]:
        return [(case, *line) for line in run(case, seeds, what)]

    done = joblib.Parallel(jobs, return_as="generator")(joblib.delayed(one)(*chunk) for chunk in chunks)
    lines: list[tuple] = []
    for i, some in enumerate(done, 1):
        print(f"\r{run.__name__} {i}/{len(chunks)}", end="" if i < len(chunks) else "\n", file=sys.stderr)
        lines += some
    return pd.DataFrame(lines, columns=["case", "name", "covers", "given", "width"])


# The tables


@dataclass(frozen=True)
class Cell:
    """Result over all draws of one interval, or test, in one case.

    Attributes
    ----------
    share
        Share of the given intervals that cover; of the tests, share that reject.
    error
        Standard error of the share.
    given
        Share of the intervals that are given.
    width
        Median over the draws.
    """

    share: float
    error: float
    given: float
    width: float

    @classmethod
    def of(cls, lines: pd.DataFrame) -> Cell:
        share, draws = lines["covers"], int(lines["covers"].notna().sum())
        error = float(share.std(ddof=0) / np.sqrt(draws)) if draws else np.nan
        return cls(float(share.mean()), error, float(lines["given"].mean()), float(lines["width"].median()))

    @property
    def usual(self) -> bool:
        """Whether at least one interval in ten is given."""
        return self.given >= 0.1

    @property
    def low(self) -> bool:
        """Whether too few intervals cover, by more than two standard errors; only if one in ten draws gives one."""
        return self.usual and self.share + 2 * self.error < ENOUGH

    @property
    def often(self) -> bool:
        """Whether a test rejects too often, by more than two standard errors."""
        return self.share - 2 * self.error > 1 - ENOUGH

    def written(self, test: bool) -> str:
        if np.isnan(self.given):
            return "·"
        if np.isnan(self.share):
            return "none"
        share = f"{100 * self.share:.{1 if test else 0}f}"
        share = f"**{share}**" if (self.often if test else self.low) else share
        given = "" if self.given > 0.995 else f" ({100 * self.given:.0f})"
        return f"{share}{given}" + ("" if test or np.isnan(self.width) else f" · {number(self.width, 2)}")


def cells_of(lines: pd.DataFrame) -> dict[tuple[str, Any], Cell]:
    """Return (name, case) → its cell."""
    return {at: Cell.of(some) for at, some in lines.groupby(["name", "case"], sort=False)}


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def crossed(lines: pd.DataFrame, columns: Mapping[str, Any], test: bool = False) -> str:
    """Write a table with one row per name and one column per case."""
    found = cells_of(lines)
    return table(
        ["", *columns],
        (
            [
                name,
                *(
                    found[name, case].written(test) if (name, case) in found else "none"
                    for case in columns.values()
                ),
            ]
            for name in lines["name"].unique()
        ),
    )


def by_size(lines: pd.DataFrame) -> str:
    """Write a table with one row per name and size, and one column per model and prevalence."""
    found = cells_of(lines)
    head = [f"{100 * prevalence:.0f} %, {model}" for model in MODELS for prevalence in PREVALENCES]

    def row(name: str, n: int) -> list[str]:
        cases = (Case(prevalence, model, n) for model in MODELS for prevalence in PREVALENCES)
        return [found[name, case].written(False) if (name, case) in found else "none" for case in cases]

    return table(
        ["", "rows", *head],
        (
            [name if n == SIZES[0] else "", f"{n:,}", *row(name, n)]
            for name in lines["name"].unique()
            for n in SIZES
        ),
    )


def folded(text: str) -> str:
    """Fold a long table on a page."""
    return f"<details>\n<summary>Show the table</summary>\n\n{text.strip()}\n\n</details>"


def places(printed: Mapping[str, Printed], lines: Mapping[str, pd.DataFrame]) -> str:
    """Write where intervals are printed, how many cells are low, and the page's alternative there."""
    rows = []
    for key, one in printed.items():
        found = [cell for cell in cells_of(lines[key]).values() if cell.usual]
        low, worst = sum(cell.low for cell in found), min((cell.share for cell in found), default=np.nan)
        rows.append([one.where, f"{100 * worst:.0f}", f"{low} of {len(found)}", one.otherwise])
    return table(
        ["shown in", "lowest coverage, %", "cells clearly below 92 %", "instead of a poor interval"], rows
    )


SECTION = "## Do the intervals include the true values?"


def report(draws: int, jobs: int, only: str = "") -> Iterator[str]:
    """Yield the parts of the section of docs/measurements.md as they are computed."""
    intervals = {key: one for key, one in ON_ROWS.items() if only in key}
    tests = {key: one for key, one in TESTS.items() if only in key}
    grid = [Case(share, model, n) for n in SIZES for share in PREVALENCES for model in MODELS]
    samples = {name: Case(sample=name) for name in SAMPLES}
    yield from (SECTION, ABOUT.format(draws=draws))
    if intervals:
        found = {key: lines_of(on_rows, {key: one}, grid, draws, jobs) for key, one in intervals.items()}
        yield from (
            places(intervals, found),
            "### By the number of rows",
            folded(by_size(pd.concat(found.values()))),
        )
        lines = lines_of(on_rows, intervals, samples.values(), draws, jobs)
        yield from (
            "### With clusters, weights or another base rate",
            OF_SAMPLES,
            folded(crossed(lines, samples)),
        )
        lines = of_unequal(draws, jobs)
        yield from ("### With clusters of different sizes", OF_UNEQUAL, lines)
    if tests:
        right = [case for case in grid if case.model == "calibrated"]
        columns = {f"{case.n:,} rows, {100 * case.prevalence:.0f} %": case for case in right} | samples
        lines = lines_of(on_rows, tests, columns.values(), draws, jobs)
        yield from ("### Tests at 5 %", OF_TESTS, crossed(lines, columns, test=True))
    if not only:
        sets = {f"{n} data sets": n for n in SETS}
        means, claims = (lines_of(on_sets, each, SETS, draws, jobs) for each in (over_sets, claims_over_sets))
        yield from ("### Over data sets", OF_SETS, crossed(means, sets), crossed(claims, sets, test=True))
        share = [f"{100 * (1 - 2 * student.sf(2, k - 1)):.0f}" for k in REPETITIONS]
        yield from (OF_ERRORS, table([f"{k} repetitions" for k in REPETITIONS], [share]))


def of_unequal(draws: int, jobs: int) -> str:
    """Write the table of clusters of different sizes: metrics of the overconfident model, and their changes."""
    cases = {name: Case(model="overconfident", sample=name) for name in UNEQUAL}
    printed = {key: replace(ON_ROWS[key], thin=1) for key in ("numbers", "differences")}
    return crossed(lines_of(on_rows, printed, cases.values(), draws, jobs), cases)


ABOUT = """We simulated test rows repeatedly from known distributions. The log-odds of the true probabilities are
normal with a standard deviation of 1.5, and the mean probability is the prevalence. The overconfident model doubles
these log-odds and shifts them so that its mean prediction is right.

    python -m scripts.coverage --draws {draws} --write docs/measurements.md

Each cell gives the coverage, in %, and the median width of the intervals. Coverage is the share of the 95 % intervals
that include the value in the population. If some draws give no interval, the number in brackets is the percentage of
draws that give an interval. A coverage in bold is clearly below 92 %, given the number of draws. “none” means that
there is no interval; “·” means that there is no true value to include."""
OF_SAMPLES = """Each draw has 1,000 rows of a calibrated model, half of them in class 1. Rows of one cluster have
correlated predictions (correlation 0.3), and the labels are additionally correlated (0.2). Weights are independent of
the labels."""
OF_UNEQUAL = """Cluster sizes are lognormal; σ is the standard deviation of their logarithms. Each draw has 1,000 rows
of the overconfident model, half of them in class 1. With σ = 1.5, the largest of 20 clusters contains a third of the
rows. The intervals are then wide, and their coverage exceeds 95 %."""
OF_TESTS = """The table shows how often, in %, a test at the 5 % level rejects a true hypothesis. Rates in bold are
clearly above 8 %, given the number of draws."""
OF_SETS = """In each simulated data set, all methods share a random level of loss, and the loss of each method
deviates from this level by chance. In the last row of the first table, one method is better than the others by one
standard deviation. The second table shows how often, in %, tests at the 5 % level find a difference that does not
exist."""
OF_ERRORS = """The Learn pages show ± two standard errors over repetitions. For normally distributed results,
the coverage of these intervals (in %) follows from the t distribution:"""


def with_section(text: str, section: str) -> str:
    """Replace a section of a document, up to the next heading of its level, or append it.

    >>> with_section("# A\\n\\n## B\\nold\\n\\n## C\\n", "## B\\nnew\\n")
    '# A\\n\\n## B\\nnew\\n\\n## C\\n'
    """
    head = section.splitlines()[0]
    section = section.rstrip() + "\n"
    old = re.search(rf"^{re.escape(head)}$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if old is None:
        return f"{text.rstrip()}\n\n{section}"
    rest = text[old.end() :]
    return text[: old.start()] + section + ("\n" if rest else "") + rest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--only", default="", help="a part of the name of what is printed, as in ON_ROWS and TESTS"
    )
    parser.add_argument("--write", type=Path, metavar="FILE")
    asked = parser.parse_args()
    section = ""
    for part in report(asked.draws, asked.jobs, asked.only):
        print(part, end="\n\n", flush=True)
        section += f"{part}\n\n"
    if asked.write:
        asked.write.write_text(
            with_section(asked.write.read_text(encoding="utf-8"), section), encoding="utf-8"
        )
