"""The tables of a summary: their numbers, what is marked in them, and what they say instead of a NaN."""

import numpy as np
import pandas as pd

from calib.export import drawings
from calib.figures import FIGURES
from calib.study import as_rows, summarise
from calib.study.tables import INFINITE, MEAN, MEAN_RANK, as_texts, cell_text, tables
from tests.saying import assert_says
from tests.study.test_summary import RANDOM
from tests.study.test_summary import as_rows as rows_of


def by_key(summary, paper=None):
    return {table.key: table for table in tables(summary, paper)}


def test_each_row_marks_its_best_values():
    values = np.array([[0.1004, 0.1001, 0.3], [np.inf, 0.2, 0.4]])
    table = by_key(summarise(rows_of(values), "brier"))["means"]
    assert table.marked.loc[["set0", "set1"]].to_numpy().tolist() == [
        [False, True, False],  # exact values decide
        [False, True, False],
    ]


def test_means_end_with_their_mean_and_mean_rank():
    summary = summarise(rows_of(RANDOM), "brier")
    table = by_key(summary)["means"]
    assert table.frame.index.tolist()[-2:] == [MEAN, MEAN_RANK]
    np.testing.assert_allclose(table.frame.loc[MEAN], RANDOM.mean(axis=0))
    np.testing.assert_allclose(table.frame.loc[MEAN_RANK], summary.average_ranks)
    assert (
        table.marked.loc[MEAN_RANK].tolist()
        == (summary.average_ranks == summary.average_ranks.min()).tolist()
    )
    assert (table.marked.iloc[:20].sum(axis=1) >= 1).all()


def test_every_question_has_its_table():
    found = by_key(summarise(as_rows("forests_calibrated"), "brier"), "rf_calibration_2025")
    assert list(found) == [
        "means", "ranks", "tests", "bergmann_hommel", "significance", "t_tests", "wins", "win_rates", "regret",
        "published",
    ]  # fmt: skip
    assert found["wins"].frame.loc["RF_large", "Rank"] == "28/0/2"  # Rank is better on SPF and scene
    assert found["significance"].frame.loc["RF_large", "Rank"] == "v"
    assert found["significance"].frame.loc["Rank", "RF_large"] == ""
    assert found["win_rates"].frame.index[0] == found["regret"].frame.index[0] == "RF_large"
    assert found["published"].frame.query("comparable")["difference"].eq(0).all()
    assert list(found["tests"].frame["degrees of freedom"]) == [9, "9, 261", ""]


def test_the_2019_conclusions_come_out_of_the_printed_tables():
    """P1: the uncalibrated tree least reliable everywhere, VAP the best Brier rank, the Laplace tree the best AUC."""
    for key in ("trees_frequency", "trees_laplace"):
        rows = as_rows(key)
        reliability = summarise(rows, "reliability").ranks
        assert (reliability.iloc[:, 0] == 4).all()
        assert summarise(rows, "brier").average_ranks.idxmin().endswith("-VAP")
    assert summarise(as_rows("trees_laplace"), "auc").average_ranks.idxmin() == "LaP-Tree"


def test_reliability_over_folds_is_not_set_beside_the_printed_one_of_pooled_folds():
    rows = as_rows("trees_laplace")[["data", "setup", "repeat", "fold", "seed", "reliability"]]
    found = by_key(summarise(rows, "reliability"), "probability_trees_2019")["published"].frame
    assert found[found["comparable"]]["difference"].eq(0).all()
    folds = pd.concat([rows, rows.assign(fold=1)], ignore_index=True)
    found = by_key(summarise(folds, "reliability"), "probability_trees_2019")["published"].frame
    assert not found["comparable"].any()
    assert found["difference"].isna().all()
    assert found["remark"].str.contains("mean over folds").all()


def test_infinite_results_are_said_in_the_t_tests_and_the_regret():
    summary = summarise(
        as_rows("venn_abers"), "log_loss", setups=["VA (LR)", "SVA (LR)", "DIR (LR)", "W (LR)"]
    )
    found = by_key(summary)
    assert found["t_tests"].frame.loc["VA (LR)", "DIR (LR)"] == INFINITE
    assert isinstance(found["t_tests"].frame.loc["VA (LR)", "SVA (LR)"], float)
    assert_says(found["t_tests"].note, "DIR (LR) and W (LR) are infinite")
    assert_says(found["regret"].note, "DIR (LR)", "infinite", "9 data sets")
    assert found["regret"].frame.loc["DIR (LR)", "regret"] == np.inf
    assert "nan" not in " ".join(as_texts(found["regret"].frame).ravel())


def test_one_data_set_alone_has_no_interval_no_t_test_and_no_word_of_sampling_variability():
    summary = summarise(rows_of(RANDOM[:1]), "brier")
    found = by_key(summary)
    assert "t_tests" not in found
    assert found["win_rates"].frame[["lower", "upper"]].isna().all(axis=None)
    assert found["regret"].frame["regret"].min() == 0
    drawn = {one.key: FIGURES[one.name].prepare(one.source, **one.options) for one in drawings(summary)}
    assert list(drawn) == ["critical_difference", "win_rates", "significance"]
    rates = drawn["win_rates"]
    assert_says(rates.title, "100 %", "Brier score")
    assert "interval" not in rates.caption + rates.alt
    assert "nan" not in rates.alt + str(FIGURES["win_rates"].draw(rates).data[0].customdata)


def test_a_metric_without_a_best_end_has_its_means_alone():
    assert list(by_key(summarise(rows_of(RANDOM, "uncertainty"), "uncertainty"))) == ["means"]


def test_cells_read_as_people_read_them():
    cells = [0.08772, np.inf, np.nan, 12, True, "v", None]
    assert [cell_text(cell) for cell in cells] == ["0.0877", "∞", "–", "12", "yes", "v", ""]
    assert cell_text(np.int64(3)) == "3"
    assert cell_text(np.bool_(False)) == "no"
