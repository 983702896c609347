"""A summary as tables, one per question, with the numbers and the best of them marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.kernel.checks import Array
from calib.kernel.wording import counted, listed, number, within_a_sentence
from calib.study.papers.printed import PAPERS, with_published
from calib.study.summary import MetricSummary

MEAN, MEAN_RANK = "Mean", "Mean rank"
INFINITE = "infinite"


@dataclass(frozen=True, eq=False)
class StudyTable:
    """One table of a study.

    Attributes
    ----------
    key
        Part of file names.
    title
        The content of the table.
    frame
        Numbers and texts, with named rows.
    note
        How to read it.
    marked
        Bool, of the frame's shape: the best or significant cells; None if there are none.
    """

    key: str
    title: str
    frame: pd.DataFrame
    note: str
    marked: pd.DataFrame | None = None


def tables(summary: MetricSummary, paper: str | None = None) -> list[StudyTable]:
    """Return every table of a summary, with the published values of a paper (a key of PAPERS) at the end."""
    found = [means_table(summary)]
    if summary.uncompared is None:
        found += [ranks_table(summary), overall_table(summary)]
        if summary.adjusted is not None:
            found += [adjusted_table(summary), significance_table(summary)]
        found += [t_table(summary)] if len(summary.compared) > 1 else []
        found += [wins_table(summary), win_rates_table(summary), regret_table(summary)]
    if paper is not None:
        found.append(published_table(summary, paper))
    return [table for table in found if len(table.frame)]


def means_table(summary: MetricSummary) -> StudyTable:
    """Return data sets × setups, then their means and mean ranks over the compared data sets."""
    frame = pd.concat([summary.means, summary.mean.rename(MEAN).to_frame().T])
    best = [summary.metric.best(values) for values in frame.to_numpy()]
    marked = pd.DataFrame(best, index=frame.index, columns=frame.columns)
    note = f"{summary.metric.help} The mean is over {counted(len(summary.compared), 'data set')}."
    if summary.uncompared is None:
        ranks = summary.average_ranks.rename(MEAN_RANK).to_frame().T
        frame, lowest = pd.concat([frame, ranks]), ranks == ranks.to_numpy().min()
        marked = pd.concat([marked, lowest])
    frame.index.name = marked.index.name = "data"
    pooled = ", folds of each data set pooled" if summary.pooled else ""
    return StudyTable("means", f"{summary.metric.label}{pooled}", frame, note, marked)


def ranks_table(summary: MetricSummary) -> StudyTable:
    frame = pd.concat([summary.ranks, summary.average_ranks.rename(MEAN_RANK).to_frame().T]).rename_axis(
        "data"
    )
    lowest = pd.DataFrame(
        frame.to_numpy() == frame.to_numpy().min(axis=1)[:, None], frame.index, frame.columns
    )
    return StudyTable(
        "ranks",
        f"Ranks by {within_a_sentence(summary.metric.label)}",
        frame,
        "Rank 1 is best. Tied setups share their mean rank.",
        lowest,
    )


def overall_table(summary: MetricSummary) -> StudyTable:
    """Return Friedman's test, Iman and Davenport's F, and Nemenyi's critical difference."""
    found, k, n = summary.friedman, len(summary.setups), len(summary.ranks)
    lines: list[tuple[str, object, float, float]] = []
    if found is not None:
        lines.append(("Friedman χ²", k - 1, found.statistic, found.pvalue))
        if np.isfinite(found.f_statistic):  # it has no value if all data sets rank alike
            freedom = f"{k - 1}, {(k - 1) * (n - 1)}"
            lines.append(("Iman–Davenport F", freedom, found.f_statistic, found.f_pvalue))
    lines.append((f"Nemenyi CD, α = {summary.alpha:g}", "", summary.critical_difference, np.nan))
    frame = pd.DataFrame(lines, columns=["test", "degrees of freedom", "value", "p-value"]).set_index("test")
    note = (
        f"The tests ask whether {counted(k, 'setup')} differ by more than expected by chance over "
        f"{counted(n, 'data set')}. "
        "CD is the critical difference of average ranks."
    )
    return StudyTable("tests", "Tests of all setups together", frame, note)


def adjusted_table(summary: MetricSummary) -> StudyTable:
    """Return Bergmann–Hommel's p-values of every pair."""
    assert summary.adjusted is not None
    frame = _without_diagonal(summary.adjusted)
    note = f"Bold or ★ marks pairs that differ significantly (p at most {summary.alpha:g})."
    marked = (summary.adjusted <= summary.alpha).rename_axis("setup")
    return StudyTable(
        "bergmann_hommel", "Adjusted p-values of every pair (Bergmann–Hommel)", frame, note, marked
    )


def significance_table(summary: MetricSummary) -> StudyTable:
    """Return the matrix of Johansson et al. (2019), Tables 3 and 5."""
    assert summary.significant is not None
    frame = summary.significant.map(lambda sure: "v" if sure else "").rename_axis("setup")
    title = f"Statistically significant differences at α = {summary.alpha:g}"
    return StudyTable(
        "significance",
        title,
        frame,
        "v means that the setup in the row is significantly better than the setup in the column (Bergmann–Hommel "
        "test).",
    )


def t_table(summary: MetricSummary) -> StudyTable:
    """Return one-sided p-values, and a word if a value is infinite."""
    infinite, n = np.isin(summary.setups, list(summary.infinite)), len(summary.compared)
    frame = _without_diagonal(summary.t_tests.astype(object).mask(infinite[:, None] | infinite, INFINITE))
    note = (
        "A small p-value is evidence that the setup in the row is better on average than the setup in the column "
        f"({counted(n, 'data set')})."
    )
    if summary.infinite:
        note += (
            f" Values of {listed(list(summary.infinite))} are infinite on at least one data set, so mean "
            f"differences are undefined."
        )
    marked = (summary.t_tests <= summary.alpha).rename_axis("setup")
    return StudyTable(
        "t_tests", "One-sided paired t-tests, not adjusted for multiple testing", frame, note, marked
    )


def wins_table(summary: MetricSummary) -> StudyTable:
    cells = [["/".join(map(str, pair)) for pair in row] for row in summary.wins.tolist()]
    frame = _without_diagonal(pd.DataFrame(cells, index=summary.setups, columns=summary.setups))
    note = (
        "Number of data sets on which the setup in the row is better than / equal to / worse than the setup in the "
        "column."
    )
    return StudyTable("wins", "Wins, draws and losses", frame, note)


def win_rates_table(summary: MetricSummary) -> StudyTable:
    frame = summary.win_rates.sort_values("mean", ascending=False, kind="stable").rename_axis("setup")
    return StudyTable(
        "win_rates",
        "Win rates against all other setups",
        frame.rename(columns={"mean": "win-rate"}),
        "Mean share of the other setups that each setup beats, with 95 % intervals over data sets. A tie "
        "counts as one half.",
    )


def regret_table(summary: MetricSummary) -> StudyTable:
    frame = summary.regret.sort_values("mean", kind="stable").rename_axis("setup")
    note = (
        f"Mean difference in {within_a_sentence(summary.metric.label)} between each setup and the best "
        f"setup on the same data set. There is no interval, because it would be unreliable with few data "
        f"sets and "
        "most regrets near 0."
    )
    for name, sets in summary.infinite.items():
        note += f" {name} is infinite on {counted(len(sets), 'data set')}."
    return StudyTable(
        "regret",
        "Mean regret against the best setup in hindsight",
        frame.rename(columns={"mean": "regret"}),
        note,
    )


def published_table(summary: MetricSummary, paper: str) -> StudyTable:
    """Return your values beside the published ones, pair by pair."""
    frame = with_published(summary.means, summary.metric.key, paper).set_index("data")
    if summary.over_folds:
        why = "The published value uses pooled folds; your value is a mean over folds."
        frame = frame.assign(
            comparable=False, difference=np.nan, remark=(frame["remark"] + " " + why).str.strip()
        )
    note = "Difference: your value minus the published value, or empty if the two values cannot be compared."
    return StudyTable("published", f"Beside {PAPERS[paper].label}", frame, note)


def _without_diagonal(values: pd.DataFrame) -> pd.DataFrame:
    cells = values.to_numpy(dtype=object, copy=True)
    np.fill_diagonal(cells, "")
    return pd.DataFrame(cells, index=values.index, columns=values.columns).rename_axis("setup")


def cell_text(value: object) -> str:
    """Format a cell for readers: numbers in three digits, ∞ as ∞, NaN as –, None as "".

    >>> cell_text(0.08772), cell_text(float("inf")), cell_text("v"), cell_text(True), cell_text(12)
    ('0.0877', '∞', 'v', 'yes', '12')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return "" if value is None else str(value)


def as_texts(frame: pd.DataFrame) -> Array:
    """Return every cell as text, (rows, columns)."""
    cells = [[cell_text(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return np.array(cells, dtype=object).reshape(frame.shape)
