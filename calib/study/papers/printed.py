"""Published tables of papers beside computed numbers: the differences, and which numbers are not comparable.

One CSV file per paper, one line per printed number: table, metric, data, setup, value, with names as
printed. Vovk & Petej (2014), Tables 1–3 (from the last, places 1 to 3); Johansson, Löfström & Boström
(trees, 2019), Tables 1–7; Shaker & Hüllermeier (2025), Tables 5–8 and 17–21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np
import pandas as pd

from calib.kernel import checks
from calib.kernel.wording import listed
from calib.metrics import METRICS
from calib.study.rows import KEYS, measure

COMPARISON_COLUMNS = ("data", "setup", "own", "published", "difference", "table", "comparable", "remark")
SUMMARY_ROWS = ("Mean", "Mean rank", "Rank", "Runtime")
"""Lines of printed tables that are not data sets."""


@dataclass(frozen=True)
class Rule:
    """A remark on published numbers, which may be incomparable; None matches everything.

    Attributes
    ----------
    comparable
        False if the difference is meaningless.
    result
        False if the printed value is not a result of that setup.
    why
        The remark beside them.
    """

    why: str
    setups: tuple[str, ...] | None = None
    data: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    comparable: bool = False
    result: bool = True

    def holds(self, table: pd.DataFrame) -> pd.Series:
        """Return the lines to which the remark applies."""
        given = {"setup": self.setups, "data": self.data, "metric": self.metrics}
        found = pd.Series(True, index=table.index)
        for column, allowed in given.items():
            if allowed is not None:
                found &= table[column].isin(allowed)
        return found


@dataclass(frozen=True)
class Paper:
    """A paper with printed tables.

    Attributes
    ----------
    sets
        Printed name of a data set → names of its files, if they are spelt differently.
    instead
        Metric → (the metric to choose, why), if the paper's numbers under that name are something else.
    """

    key: str
    label: str
    rules: tuple[Rule, ...]
    sets: MappingProxyType = field(default_factory=lambda: MappingProxyType({}))
    instead: MappingProxyType = field(default_factory=lambda: MappingProxyType({}))


VENN_ABERS = Paper(
    "venn_abers_2014",
    "Vovk and Petej 2014",
    (
        Rule(
            "The paper averages this method over 16 separate splits, and the other methods over 100 splits.",
            setups=tuple(f"VA ({name})" for name in ("J", "JB", "LR", "NB", "NN", "SVM")),
            comparable=True,
        ),
    ),
    MappingProxyType(
        {
            "Australian": ("australian_credit",),
            "Breast": ("breast-cancer_ljubljana",),
            "Liver": ("liver_bupa",),
            "Vote": ("house_votes_84",),
        }
    ),
    MappingProxyType({"brier": ("rmse", "The paper prints the square root of the Brier score.")}),
)
TREES_PAPER = Paper(
    "probability_trees_2019",
    "Johansson, Löfström and Boström 2019 (trees)",
    (
        Rule(
            "Even uncalibrated results differ, so the paper's data set of this name is different or was prepared "
            "differently.",
            data=("spect", "vote", "german"),
        ),
        Rule(
            "The paper's data set has no duplicate rows. Results are comparable if your data set has no duplicate "
            "rows either.",
            data=("haber", "kc1", "kc2", "kc3", "pc1req", "transf.", "wbc"),
            comparable=True,
        ),
        Rule(
            "The paper pools ten repeats of ten folds. With fewer repeats, noise in the bins raises the "
            "reliability value.",
            metrics=("reliability",),
            comparable=True,
        ),
    ),
    MappingProxyType(
        {
            "creditA": ("credit_approval", "credit-a", "crx"),
            "haber": ("haberman",),
            "heartC": ("heart-cleveland",),
            "heartH": ("heart-hungarian",),
            "heartS": ("heart-statlog",),
            "hepati": ("hepatitis",),
            "iono": ("ionosphere",),
            "je4042": ("jEdit_4.0_4.2",),
            "je4243": ("jEdit_4.2_4.3",),
            "liver": ("liver_bupa",),
            "sonar": ("Sonar_Mine_Rock_Data",),
            "transf.": ("transfusion",),
            "ttt": ("tic-tac-toe",),
            "vote": ("house_votes_84",),
            "german": ("german_credit",),
        }
    ),
    MappingProxyType({"log_loss": ("log_loss_base2", "The paper uses base-2 logarithms.")}),
)
FORESTS_PAPER = Paper(
    "rf_calibration_2025",
    "Shaker and Hüllermeier 2025",
    (
        Rule("The paper's column for XGB_d repeats GNB_opt in every row.", setups=("XGB_d",), result=False),
        Rule("The paper's text and its code describe two different methods.", setups=("Rank",)),
        Rule(
            "The paper's ECE tables do not show equation 8, but the unweighted mean squared gap over non-empty bins of "
            "the probability of class 0.",
            metrics=("squared_ece",),
            comparable=True,
        ),
        Rule(
            "The paper clips probabilities to [2.2e-16, 1 − 2.2e-16]. Otherwise the log loss may be "
            "infinite.",
            metrics=("log_loss_clipped",),
            comparable=True,
        ),
    ),
    instead=MappingProxyType(
        {
            "log_loss": ("log_loss_clipped", "The paper computes the log loss from clipped probabilities."),
            "ece": (
                "squared_ece",
                "The paper's ECE tables show the unweighted mean squared gap over bins.",
            ),
        }
    ),
)

PAPERS = {paper.key: paper for paper in (FORESTS_PAPER, TREES_PAPER, VENN_ABERS)}


@dataclass(frozen=True)
class Comparison:
    """Setups that a paper ranks together, to be opened as one study."""

    key: str
    paper: str
    label: str
    setups: tuple[str, ...]


def _prefixed(*ends: str, prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}-{end}" for end in ends)


_FORESTS = ("RF_d", "RF_opt", "RF_large")
_CLASSIFIERS = ("J", "JB", "LR", "NB", "NN", "SVM")
_METHODS = ("Tree", "Platt", "Iso", "VAP")
COMPARISONS = {
    one.key: one
    for one in (
        Comparison(
            "forests_calibrated",
            FORESTS_PAPER.key,
            "Random forest calibration 2025: calibration methods (Tables 5–8)",
            (*_FORESTS, "Platt", "ISO", "Beta", "VA", "CT", "PPA", "Rank"),
        ),
        Comparison(
            "forests_and_others",
            FORESTS_PAPER.key,
            "Random forest calibration 2025: learners (Tables 17–20)",
            (*_FORESTS, "DNN_ens", "XGB_opt", "DT_opt", "LR_opt", "SVM_opt", "DNN_opt", "GNB_opt"),
        ),
        Comparison(
            "trees_frequency",
            TREES_PAPER.key,
            "Probability estimation trees 2019: relative frequencies (Tables 1–6)",
            _prefixed(*_METHODS, prefix="RF"),
        ),
        Comparison(
            "trees_laplace",
            TREES_PAPER.key,
            "Probability estimation trees 2019: Laplace estimates (Tables 1–6)",
            _prefixed(*_METHODS, prefix="LaP"),
        ),
        Comparison(
            "venn_abers",
            VENN_ABERS.key,
            "Venn–Abers predictors 2014: six classifiers, four methods (Tables 1–2)",
            tuple(f"{way} ({name})" for name in _CLASSIFIERS for way in ("W", "VA", "SVA", "DIR")),
        ),
    )
}
"""Published comparisons that can be opened without a file."""


@cache
def _file(paper: str) -> pd.DataFrame:
    checks.one_of(paper, PAPERS, "paper")
    with files(__package__).joinpath(f"{paper}.csv").open(encoding="utf-8") as lines:
        return pd.read_csv(lines, dtype={"table": str, "value": float})


def printed(paper: str) -> pd.DataFrame:
    """Return every printed number of a paper, with the lines of means and ranks: table, metric, data, setup, value.

    >>> lines = printed("rf_calibration_2025")
    >>> lines[(lines.table == "6") & (lines.data == "spect") & (lines.setup == "RF_d")].value.item()
    0.13076
    """
    return _file(paper).copy()


def published_values(paper: str) -> pd.DataFrame:
    """Return the printed numbers of single data sets, whether they are comparable, and the remark beside them.

    If several tables print a number, ``table`` names all of them. Columns table, metric, data, setup, value,
    comparable, result, remark.

    Parameters
    ----------
    paper : str
        A key of ``PAPERS``.
    """
    return _with_remarks(paper).copy()


@cache
def _with_remarks(paper: str) -> pd.DataFrame:
    lines = printed(paper)
    lines = lines[~lines["data"].isin(SUMMARY_ROWS)]
    lines = lines.assign(comparable=True, result=True, remark="")
    for rule in PAPERS[paper].rules:
        found = rule.holds(lines)
        lines.loc[found, "comparable"] &= rule.comparable
        lines.loc[found, "result"] &= rule.result
        lines.loc[found, "remark"] = (lines.loc[found, "remark"] + " " + rule.why).str.strip()
    same = [name for name in lines.columns if name != "table"]
    joined = lines.groupby(same, sort=False)["table"].agg(lambda tables: ", ".join(dict.fromkeys(tables)))
    return joined.reset_index()[["table", *same]]


def as_rows(comparison: str) -> pd.DataFrame:
    """Return the printed results of setups that a paper ranks together, as the rows of a study with one fold.

    Parameters
    ----------
    comparison
        A key of COMPARISONS.

    Examples
    --------
    >>> as_rows("forests_calibrated")[["data", "setup", "accuracy", "brier"]].head(1)
      data setup  accuracy    brier
    0  cm1  RF_d     0.894  0.08772
    """
    chosen = COMPARISONS[checks.one_of(comparison, COMPARISONS, "comparison")]
    lines = published_values(chosen.paper)
    lines = lines[lines["result"] & lines["setup"].isin(chosen.setups)]
    index = pd.MultiIndex.from_product([lines["data"].unique(), chosen.setups], names=["data", "setup"])
    columns = {
        metric: values.set_index(["data", "setup"])["value"]
        for metric, values in lines.groupby("metric", sort=False)
    }
    wide = pd.DataFrame(columns, index=index).reset_index()
    for place, key in enumerate(KEYS[2:], start=2):
        wide.insert(place, key, 0)
    return wide


def plain_name(name: str) -> str:
    """Return a data set's name in lower-case letters and digits, because files spell it differently.

    >>> plain_name("jEdit_4.0_4.2"), plain_name("Heart-Statlog")
    ('jedit4042', 'heartstatlog')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def with_published(means: pd.DataFrame, metric: str, paper: str) -> pd.DataFrame:
    """Return your means with the published value of the same metric, data set and setup, if there is one.

    Parameters
    ----------
    means : data sets × setups
    metric
        The key of the metric.
    paper
        A key of PAPERS.

    Returns
    -------
    COMPARISON_COLUMNS, one row per pair; difference is your value minus the published value, 0 if both are infinite,
    and NaN if the two cannot be compared, for the reason in ``remark``.

    Examples
    --------
    >>> own = pd.DataFrame({"RF_d": [0.1310], "XGB_d": [0.1]}, index=["spect"])
    >>> with_published(own, "brier", "rf_calibration_2025")[["setup", "own", "published", "table", "comparable"]]
       setup    own  published table  comparable
    0   RF_d  0.131    0.13076  6, 18        True
    1  XGB_d  0.100    0.24668     18       False
    """
    lines = published_values(paper)
    lines = lines[lines["metric"] == metric]
    long = means.rename_axis("data").reset_index().melt("data", var_name="setup", value_name="own").dropna()
    names = _printed_names(paper, tuple(lines["data"].unique()), long["data"].unique())
    long = long[long["data"].isin(list(names))].assign(
        printed_name=lambda table: table["data"].map(names).astype("str")
    )
    found = long.merge(
        lines, left_on=["printed_name", "setup"], right_on=["data", "setup"], suffixes=("", "_printed")
    )
    ours, theirs = found["own"].to_numpy(), found["value"].to_numpy()
    with np.errstate(invalid="ignore"):
        difference = np.where(ours == theirs, 0.0, ours - theirs)
    found["difference"] = np.where(found["comparable"], difference, np.nan)
    return found.rename(columns={"value": "published"})[list(COMPARISON_COLUMNS)]


def _printed_names(paper: str, printed_sets: tuple[str, ...], sets: Iterable[str]) -> dict[str, str]:
    """Return file of a data set → its printed name, if there is one."""
    spelt = PAPERS[paper].sets
    alike = {plain_name(other): name for name in printed_sets for other in spelt.get(name, (name,))}
    return {
        file: found
        for file in sets
        if (found := file if file in printed_sets else alike.get(plain_name(file))) is not None
    }


def likely_paper(rows: pd.DataFrame) -> str | None:
    """Return the paper whose names of setups occur most in these rows, or None if no paper's do.

    Parameters
    ----------
    rows : DataFrame
        The rows of a study.

    Examples
    --------
    >>> likely_paper(pd.DataFrame({"setup": ["RF_d", "Platt", "mine"]}))
    'rf_calibration_2025'
    """
    there = set(rows["setup"])
    shared = {key: len(there & set(printed(key)["setup"])) for key in PAPERS}
    best = max(shared, key=lambda key: shared[key])
    return best if shared[best] else None


def why_not_published(metric: str, paper: str) -> str:
    """Explain why there is no published value of this metric, and what to choose instead.

    >>> why_not_published("brier", "venn_abers_2014")
    'Vovk and Petej 2014: The paper prints the square root of the Brier score. Choose RMSE to compare them.'
    """
    label, name = PAPERS[paper].label, measure(metric).label
    if metric in PAPERS[paper].instead:
        other, why = PAPERS[paper].instead[metric]
        return f"{label}: {why} Choose {measure(other).label} to compare them."
    known = [key for key in dict.fromkeys(published_values(paper)["metric"]) if key in METRICS]
    if metric not in known:
        there = listed([measure(key).label for key in known], last="or")
        return f"{label} contains no table of {name}. Choose {there}."
    return f"{label} contains a table of {name}, but it does not name any of your data sets or setups."
