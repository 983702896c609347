"""The transcription against the papers' own means and ranks, against their texts, and one's own values beside it."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calib.comparison import average_ranks
from calib.study import (
    COMPARISONS,
    PAPERS,
    as_rows,
    likely_paper,
    measured,
    published_values,
    summarise,
    with_published,
)
from calib.study.papers.printed import plain_name, printed, why_not_published
from tests import shared
from tests.saying import assert_says

TREES, FORESTS, VENN = "probability_trees_2019", "rf_calibration_2025", "venn_abers_2014"
SIZES = {  # paper → table → (data sets, setups) with a value each
    TREES: {**{str(i): (25, 8) for i in range(1, 7)}, "7": (25, 6)},
    FORESTS: {**{str(i): (30, 10) for i in range(5, 9)}, **{str(i): (30, 11) for i in range(17, 21)}},
    VENN: {"1": (9, 24), "2": (9, 24), "3": (9, 6)},
}
DIRECTION = {"accuracy": True, "auc": True}
TABLES = [(paper, table) for paper, tables in SIZES.items() for table in tables]


def lines(paper, table):
    found = printed(paper)
    return found[found["table"] == table]


def wide(paper, table):
    """(numbers by data set and setup, those of the line of means, those of the line of ranks), where there are such."""
    found = lines(paper, table).pivot_table(
        index="data", columns="setup", values="value", sort=False, aggfunc="sum"
    )
    rows = found.drop(index=["Mean", "Mean rank", "Rank"], errors="ignore")
    rank = next((found.loc[name] for name in ("Mean rank", "Rank") if name in found.index), None)
    return rows, found.loc["Mean"] if "Mean" in found.index else None, rank


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_every_cell_of_every_table_is_there_once(paper, table):
    found = lines(paper, table)
    found = found[~found["data"].isin(["Mean", "Mean rank", "Rank"])]
    sets, per_set = SIZES[paper][table]
    assert found["data"].nunique() == sets
    assert (found.groupby("data").size() == per_set).all()
    assert not found.duplicated(["metric", "data", "setup"]).any()
    assert found["value"].notna().all()


@pytest.mark.parametrize(
    ("paper", "table", "rounding"),
    [(TREES, str(i), 0.001 if i < 6 else 0.0001) for i in range(1, 7)]
    + [(FORESTS, str(i), 0.00001) for i in (*range(5, 9), *range(17, 21))],
)
def test_the_printed_means_are_those_of_the_columns(paper, table, rounding):
    """Each value and the mean are rounded: the two roundings may add up."""
    rows, mean, _ = wide(paper, table)
    own = rows.mean()[mean.index]
    infinite = np.isinf(mean)
    assert (np.isinf(own) == infinite).all()
    assert ((own - mean)[~infinite].abs() <= rounding + 1e-9).all()


@pytest.mark.parametrize("table", ["1", "2", "4", "5", "6"])
@pytest.mark.parametrize("leaf", ["RF", "LaP"])
def test_the_printed_mean_ranks_of_the_trees_are_those_of_their_four_methods(table, leaf):
    rows, _, rank = wide(TREES, table)
    own = [name for name in rows.columns if name.startswith(f"{leaf}-")]
    metric = lines(TREES, table)["metric"].iloc[0]
    found = average_ranks(rows[own], DIRECTION.get(metric, False))
    assert np.abs(found - rank[own]).max() <= 0.12 + 1e-9


@pytest.mark.parametrize("table", [*map(str, range(5, 9)), *map(str, range(17, 21))])
def test_the_printed_mean_ranks_of_the_forests_are_those_of_all_columns(table):
    rows, _, rank = wide(FORESTS, table)
    metric = lines(FORESTS, table)["metric"].iloc[0]
    found = average_ranks(rows, DIRECTION.get(metric, False))
    assert np.abs(found - rank[rows.columns]).max() <= 0.07


def test_the_2025_column_of_boosting_is_a_copy_and_no_result():
    for table in map(str, range(17, 21)):
        rows, *_ = wide(FORESTS, table)
        assert (rows["XGB_d"] == rows["GNB_opt"]).all()
    found = published_values(FORESTS)
    assert not found[found["setup"] == "XGB_d"][["result", "comparable"]].to_numpy().any()


def test_what_two_tables_print_of_one_number_is_the_same():
    """RF_d, RF_opt and RF_large in Tables 5–8 and 17–20; Venn–Abers' accuracy in Tables 1 and 7."""
    for paper in PAPERS:
        found = published_values(paper)
        assert not found.duplicated(["metric", "data", "setup"]).any()
    trees, forests = published_values(TREES), published_values(FORESTS)
    assert (forests[forests["setup"] == "RF_d"]["table"].str.count(",") == 1).all()
    both = trees[(trees["metric"] == "accuracy") & trees["setup"].str.endswith("VAP")]
    assert (both["table"] == "1, 7").all()


def test_the_places_of_table_3_follow_from_tables_1_and_2():
    """Each method by its best classifier: the first three of four (Vovk and Petej 2014, section 5)."""
    places = lines(VENN, "3")
    for table, metric in (("1", "log_loss"), ("2", "rmse")):
        rows, *_ = wide(VENN, table)
        for data, row in rows.iterrows():
            best = {
                way: row[[n for n in rows.columns if n.split(" ")[0] == way]]
                for way in ("W", "VA", "SVA", "DIR")
            }
            order = sorted(best, key=lambda way: best[way].min())[:3]
            own = places[(places["metric"] == f"{metric}_place") & (places["data"] == data)].sort_values(
                "value"
            )
            assert own["setup"].tolist() == [best[way].idxmin() for way in order]


def cell(text):
    """A number of P1's text: ∞, or digits, which are negative where their leading dot is missing."""
    if "infty" in text:
        return np.inf
    digits = re.search(r"\d*\.\d+|\d+", re.sub(r"\\overline\{(\d+)\}", r"\1", text)).group()
    return float(digits) if "." in digits else -float(f"0.{digits}")


@pytest.mark.parametrize("table", ["1", "2", "3", "4", "5", "6"])
def test_the_2019_tables_are_those_of_the_text(table):
    text = shared.path("papers/001_*.txt").read_text(encoding="utf-8").split(f"\nTable {table}: ", 1)[1]
    rows, mean, _ = wide(TREES, table)
    seen = 0
    for line in text.splitlines():
        name, *cells = line.split("\t")
        name = name.replace("$\\operatorname{credit} A$", "creditA")
        if (name in rows.index or name == "Mean") and len(cells) == 8:
            own = mean if name == "Mean" else rows.loc[name]
            assert own.tolist() == pytest.approx([cell(one) for one in cells]), name
            seen += 1
        if name == "Mean":
            break
    assert seen == 26


def test_the_2019_intervals_are_those_of_the_text():
    text = shared.path("papers/001_*.txt").read_text(encoding="utf-8").split("\nTable 7: ", 1)[1]
    found = {name: cells for name, *cells in (line.rstrip("\t").split("\t") for line in text.splitlines())}
    for name, own in lines(TREES, "7").groupby("data"):  # low, high and accuracy of RF-VAP, then of LaP-VAP
        cells = found[{"haber": "haberman", "transf.": "transfusion"}.get(name, name)]
        assert own["value"].tolist() == [float(one) for one in cells], name


def test_the_2025_tables_are_those_of_the_text():
    text = shared.path("papers/002_*.txt").read_text(encoding="utf-8")
    blocks = [block for block in re.split(r"\n(?=\| RF_d \|)", text) if "\n| cm1 | 0." in block]
    assert len(blocks) == 8
    for table, block in zip([*map(str, range(5, 9)), *map(str, range(17, 21))], blocks, strict=True):
        own = lines(FORESTS, table).set_index(["data", "setup"])["value"]
        head, *rest = [
            [one.strip() for one in line.strip("| ").split("|")]
            for line in block.splitlines()
            if line.startswith("|")
        ]
        head, seen = [name for name in head if name], 0
        for name, *cells in rest:
            if len(cells) == len(head) and re.match(r"\d", cells[0]):
                assert [own[name, setup] for setup in head] == [float(one) for one in cells]
                seen += 1
        assert seen == 32


def test_the_2014_tables_are_those_of_the_texts():
    """Upper blocks from the first transcription, lower ones from the second, which lacks every ∞."""
    ways, upper, lower = ("W", "VA", "SVA", "DIR"), ("J", "JB", "LR"), ("NB", "NN", "SVM")
    first = shared.path("papers/003_*.txt").read_text(encoding="utf-8").splitlines()
    second = shared.path("papers/004_*.txt").read_text(encoding="utf-8").splitlines()
    one, two = wide(VENN, "1")[0], wide(VENN, "2")[0]
    names = [f"{way} ({of})" for of in upper for way in ways]
    blocks = [
        line.split("\t") for line in first if line.split("\t")[0] in one.index and line.count("\t") == 12
    ]
    for name, *cells in blocks[:9]:
        assert one.loc[name, names].tolist() == [np.inf if text == "∞" else float(text) for text in cells]
    rows = [[text.strip() for text in line.strip("| ").split("|") if text.strip()] for line in second]
    rows = [row for row in rows if row[0] in one.index]
    for name, *cells in [row for row in rows if len(row) == 10][:9]:
        assert one.loc[name, [f"{way} ({of})" for of in lower for way in ways[:3]]].tolist() == list(
            map(float, cells)
        )
    assert np.isinf(one[[name for name in one.columns if name.startswith("DIR")]]).all().all()
    full = [row for row in rows if len(row) == 13]
    for block, of in ((full[:9], upper), (full[9:], lower)):
        for name, *cells in block:
            assert two.loc[name, [f"{way} ({c})" for c in of for way in ways]].tolist() == list(
                map(float, cells)
            )


@pytest.mark.parametrize(("table", "file"), [("5", "acc"), ("6", "brier"), ("7", "logloss"), ("8", "ece")])
def test_the_2025_values_are_the_papers_own_files_rounded(table, file):
    own = pd.read_csv(shared.path(f"reference/rf_calibration_2025_{file}.csv"), index_col=0)
    rows, *_ = wide(FORESTS, table)
    np.testing.assert_allclose(rows, own.loc[rows.index, rows.columns], atol=5.01e-6 + 1e-9)


def test_infinite_rows_rank_last_together():
    rows, _, rank = wide(TREES, "4")
    own = [name for name in rows.columns if name.startswith("LaP")]
    assert np.isinf(rows["LaP-Iso"]).all()
    assert rank["LaP-Iso"] == 4 == stats.rankdata(rows[own], axis=1)[:, own.index("LaP-Iso")].mean()


@pytest.mark.parametrize("key", COMPARISONS)
def test_printed_tables_open_as_rows_and_give_the_printed_ranks(key):
    chosen, rows = COMPARISONS[key], as_rows(key)
    assert (rows.groupby("setup").size() == rows["data"].nunique()).all()
    assert list(dict.fromkeys(rows["setup"])) == list(chosen.setups)
    assert likely_paper(rows) == chosen.paper
    values = printed(chosen.paper)
    for metric in measured(rows):
        summary = summarise(rows, metric)
        if metric.startswith("label_"):  # only Venn–Abers has intervals
            assert {name[-3:] for name in summary.setups} == {"VAP"}
            continue
        assert summary.notes == ()
        own = values[(values["metric"] == metric) & values["setup"].isin(chosen.setups)]
        means = own[own["data"] == "Mean"].drop_duplicates("setup").set_index("setup")["value"]
        assert len(means) or key == "venn_abers"
        np.testing.assert_allclose(summary.mean[means.index], means, atol=0.001)


def test_ones_own_values_stand_beside_the_printed_ones_under_the_names_of_files():
    own = pd.DataFrame(
        {"RF-VAP": [0.20, 0.3, np.inf], "mine": [0.1, 0.1, 0.1]},
        index=["haberman", "jEdit_4.2_4.3", "nowhere"],
    )
    found = with_published(own, "brier", TREES)
    assert found[["data", "setup", "table"]].to_numpy().tolist() == [
        ["haberman", "RF-VAP", "5"],
        ["jEdit_4.2_4.3", "RF-VAP", "5"],
    ]
    assert found["published"].tolist() == [0.203, 0.236]
    assert found["difference"].tolist() == pytest.approx([-0.003, 0.064])
    infinite = with_published(
        pd.DataFrame({"RF-Tree": [np.inf, 0.7]}, index=["colic", "iono"]), "log_loss_base2", TREES
    )
    assert infinite["difference"].tolist() == [0.0, -np.inf]


def test_what_cannot_be_compared_carries_its_reason_and_no_difference():
    own = pd.DataFrame({"RF_d": [0.13], "XGB_d": [0.2], "Rank": [0.17]}, index=["spect"])
    found = with_published(own, "brier", FORESTS).set_index("setup")
    assert found["comparable"].to_dict() == {"RF_d": True, "XGB_d": False, "Rank": False}
    assert "repeats GNB_opt" in found.loc["XGB_d", "remark"]
    assert found["difference"].isna().tolist() == [False, True, True]
    ece = with_published(own, "squared_ece", FORESTS)
    assert ece["remark"].str.contains("not show equation 8").all()
    assert with_published(own, "ece", FORESTS).empty
    assert "Choose Squared ECE, unweighted to" in why_not_published("ece", FORESTS)
    assert "Choose Log loss, clipped to" in why_not_published("log_loss", FORESTS)
    assert_says(why_not_published("width", VENN), "no table", "Mean width", "Choose Log loss or RMSE")
    sets = pd.DataFrame({"RF-Tree": [0.2] * 4}, index=["spect", "vote", "german_credit", "kc1"])
    trees = with_published(sets, "brier", TREES).set_index("data")
    assert trees["comparable"].to_dict() == {
        "spect": False,
        "vote": False,
        "german_credit": False,
        "kc1": True,
    }
    assert "duplicate" in trees.loc["kc1", "remark"]


def test_sets_of_one_name_that_are_others_are_not_mistaken():
    """The 2014 Breast is Ljubljana's; breast.csv of 2025 is Wisconsin's."""
    own = pd.DataFrame({"W (JB)": [0.4, 0.4]}, index=["breast", "breast-cancer_ljubljana"])
    assert with_published(own, "rmse", VENN)["data"].tolist() == ["breast-cancer_ljubljana"]


@pytest.mark.soak
def test_every_file_of_the_sets_at_hand_has_at_most_one_printed_name():
    files = [name for name in shared.data_sets() if name != "sources"]
    found = {
        paper: {name for name in files if not with_published(_any(paper, [name]), *_metric(paper)).empty}
        for paper in PAPERS
    }
    if files:
        assert len(found[FORESTS]) >= 26
        assert {"haberman", "heart-statlog", "pc1_req", "tic-tac-toe", "transfusion"} <= found[TREES]
        assert {"australian_credit", "house_votes_84", "liver_bupa"} <= found[VENN]
        assert plain_name("pc1_req") == "pc1req"


def _metric(paper):
    return ("rmse" if paper == VENN else "brier"), paper


def _any(paper, names):
    setup = {TREES: "RF-VAP", FORESTS: "RF_d", VENN: "W (J)"}[paper]
    return pd.DataFrame({setup: [0.1] * len(names)}, index=names)
