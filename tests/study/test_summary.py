"""Summaries held against SciPy, Demšar's worked example and small tables by hand; what is missing is said by name."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib.comparison import bergmann_hommel
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.metrics import METRICS
from calib.study import pooled_predictions, pooled_values, summarise
from calib.study.summary import friedman_line
from calib.study.tables import overall_table
from tests.comparison.published import DEMSAR_RANKS
from tests.saying import assert_says


def as_rows(table, metric="brier", folds=1, noise=None):
    """Rows whose means are a table, data sets × setups; the folds of a cell lie around its mean."""
    lines = []
    for (i, row), fold in product(enumerate(np.asarray(table, dtype=float)), range(folds)):
        shift = 0.0 if noise is None else noise[fold] - np.mean(noise)
        lines += [(f"set{i}", f"m{j}", 0, fold, 0, value + shift) for j, value in enumerate(row)]
    return pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold", "seed", metric])


RANDOM = np.random.default_rng(5).random((20, 5)).round(2)


def test_means_are_those_of_a_group_by_over_folds_and_repeats():
    rng = np.random.default_rng(0)
    lines = list(product(["b", "a"], ["x", "y"], range(3), range(4)))
    rows = pd.DataFrame(lines, columns=["data", "setup", "repeat", "fold"]).assign(
        seed=0, auc=rng.random(len(lines))
    )
    summary = summarise(rows.sample(frac=1, random_state=1), "auc", setups=["x", "y"])
    expected = rows.groupby(["data", "setup"])["auc"].mean()
    for data, setup in product("ab", "xy"):
        assert summary.means.loc[data, setup] == pytest.approx(expected[data, setup])
    assert summary.mean["x"] == pytest.approx(rows[rows.setup == "x"]["auc"].mean())


@pytest.mark.parametrize(("metric", "sign"), [("brier", 1), ("accuracy", -1)])
def test_ranks_and_friedman_are_scipys_and_the_direction_the_metrics(metric, sign):
    summary = summarise(as_rows(RANDOM, metric, folds=3, noise=[0.1, -0.2, 0.4]), metric)
    ranks = stats.rankdata(sign * RANDOM.round(10), axis=1)
    np.testing.assert_allclose(summary.ranks, ranks)
    np.testing.assert_allclose(summary.average_ranks, ranks.mean(axis=0))
    other = stats.friedmanchisquare(*RANDOM.T)
    assert summary.friedman.statistic == pytest.approx(other.statistic)
    assert summary.friedman.pvalue == pytest.approx(other.pvalue)
    chi2, n, k = other.statistic, *RANDOM.shape
    assert summary.friedman.f_statistic == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
    better = summary.t_tests.loc["m0", "m1"]
    alternative = "less" if sign == 1 else "greater"
    assert better == pytest.approx(
        stats.ttest_rel(RANDOM[:, 0], RANDOM[:, 1], alternative=alternative).pvalue
    )


def test_where_all_data_sets_rank_alike_davenports_f_is_no_sure_sign():
    """Its denominator is 0 then, for two data sets as for fifty."""
    alike = summarise(as_rows(np.array([[0.1, 0.2], [0.3, 0.4]])), "brier")
    line = friedman_line(alike)
    assert overall_table(alike).frame.index.tolist() == ["Friedman χ²", "Nemenyi CD, α = 0.05"]
    assert_says(line, "Friedman χ² = 2.00, p = 0.157")
    assert_says(line, "F is undefined", "all data sets", "same order")
    assert "F = " in friedman_line(summarise(as_rows(RANDOM), "brier"))


def test_demsars_worked_example():
    """Demšar (2006), Table 6 and section 3.2.2–3.2.4: 4 methods, 14 data sets."""
    summary = summarise(as_rows(DEMSAR_RANKS), "brier")
    assert summary.average_ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert summary.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3)
    without_ties = 12 * 14 / (4 * 5) * ((summary.average_ranks**2).sum() - 4 * 5**2 / 4)
    assert without_ties == pytest.approx(9.28, abs=0.005)  # as printed
    assert summary.friedman.statistic == pytest.approx(stats.friedmanchisquare(*DEMSAR_RANKS.T).statistic)
    assert summary.adjusted.loc["m0", "m3"] == pytest.approx(bergmann_hommel(summary.average_ranks, 14)[0, 3])


def test_a_metric_with_a_target_is_ranked_by_the_distance_from_it():
    table = [[0.05, -0.01, 0.02], [-0.30, 0.10, -0.10]]
    summary = summarise(as_rows(table, "accuracy_gap"), "accuracy_gap")
    assert summary.ranks.to_numpy().tolist() == [[3, 1, 2], [3, 1.5, 1.5]]
    assert summary.mean["m0"] == pytest.approx(-0.125)  # as it is, with its sign
    assert summary.regret["mean"].round(6).tolist() == [0.12, 0.0, 0.005]


def test_a_metric_without_a_best_end_has_means_and_no_ranks():
    summary = summarise(as_rows(RANDOM, "uncertainty"), "uncertainty")
    assert summary.means.shape == (20, 5)
    assert "no best value" in summary.uncompared
    with pytest.raises(InputError, match="no best value"):
        summary.ranks  # noqa: B018


def test_significant_is_where_the_better_rank_has_a_small_adjusted_pvalue():
    table = np.column_stack(
        [np.arange(30) / 100, 0.5 + np.arange(30) / 100, 0.501 + np.arange(30)[::-1] / 100]
    )
    summary = summarise(as_rows(table), "brier")
    ranks, p = summary.average_ranks, summary.adjusted
    for a, b in product(summary.setups, summary.setups):
        assert summary.significant.loc[a, b] == (ranks[a] < ranks[b] and p.loc[a, b] <= 0.05)
    assert summary.significant.loc["m0", "m1"]
    assert not summary.significant.loc["m1", "m0"]


@given(
    st.lists(st.lists(st.sampled_from([0.1, 0.2, np.inf]), min_size=3, max_size=3), min_size=2, max_size=5)
)
def test_infinite_losses_stay_infinite_and_their_ranks_are_right(table):
    values = np.array(table)
    summary = summarise(as_rows(values, "log_loss", folds=2), "log_loss")
    assert summary.mean.tolist() == pytest.approx(values.mean(axis=0).tolist())
    np.testing.assert_array_equal(summary.ranks, stats.rankdata(values, axis=1))
    assert not np.isnan(summary.win_rates).to_numpy().any()
    assert not np.isnan(summary.regret).to_numpy().any()
    assert list(summary.infinite) == [f"m{j}" for j in np.flatnonzero(np.isinf(values).any(axis=0))]
    for name in summary.infinite:
        assert summary.t_tests[name].isna().all()


def test_one_infinite_fold_makes_a_mean_infinite_and_two_do_not_make_it_nan():
    rows = as_rows([[0.1, 0.2], [0.3, 0.4]], "log_loss", folds=4)
    rows.loc[[0, 4], "log_loss"] = np.inf
    summary = summarise(rows, "log_loss")
    assert summary.means.loc["set0", "m0"] == np.inf
    assert summary.means.loc["set0", "m1"] == pytest.approx(0.2)


def test_a_data_set_that_a_setup_lacks_is_named_and_left_out_of_ranks():
    rows = as_rows(RANDOM[:6, :3], folds=2)
    rows = rows[~((rows.data == "set2") & (rows.setup == "m1"))]
    rows.loc[(rows.data == "set4") & (rows.setup.isin(["m0", "m2"])), "brier"] = np.nan
    summary = summarise(rows, "brier")
    assert summary.left_out == {"set2": ["m1"], "set4": ["m0", "m2"]}
    kept = [0, 1, 3, 5]
    np.testing.assert_allclose(summary.average_ranks, stats.rankdata(RANDOM[kept, :3], axis=1).mean(axis=0))
    np.testing.assert_allclose(summary.mean, RANDOM[kept, :3].mean(axis=0))
    said = " ".join(summary.notes)
    assert "set2: m1 has no value" in said
    assert_says(said, "set4", "m0 and m2", "no value")
    assert summarise(rows, "brier", setups=["m2", "m0"]).left_out == {"set4": ["m2", "m0"]}


def test_of_very_many_setups_that_a_data_set_lacks_the_first_are_named():
    rows = as_rows(np.random.default_rng(0).random((3, 40)), folds=2)
    rows = rows[(rows.data != "set2") | (rows.setup == "m39")]
    (said,) = summarise(rows, "brier").notes
    assert said.startswith("set2: m0, m1, ")
    assert_says(said, "m10", "28 others have no value", "exclude this data set")


def test_a_setup_without_a_value_anywhere_leaves_the_others_to_be_compared():
    """As the width of intervals, which only some setups have."""
    rows = as_rows(RANDOM[:6, :4], "width")
    rows.loc[rows.setup.isin(["m1", "m3"]), "width"] = np.nan
    summary = summarise(rows, "width")
    assert summary.setups == ["m0", "m2"]
    assert summary.left_out == {}
    assert len(summary.compared) == 6
    assert_says(" ".join(summary.notes), "m1 and m3", "no mean width", "excluded")


def test_means_that_are_equal_tie_in_whatever_order_their_folds_were_added():
    lines = [("a", "m0", fold, value) for fold, value in enumerate((0.1, 0.2, 0.3))]
    lines += [("a", "m1", fold, value) for fold, value in enumerate((0.3, 0.2, 0.1))]
    rows = pd.DataFrame(lines, columns=["data", "setup", "fold", "brier"]).assign(repeat=0, seed=0)
    summary = summarise(rows, "brier")
    assert sum((0.1, 0.2, 0.3)) != sum((0.3, 0.2, 0.1))
    assert summary.average_ranks.tolist() == [1.5, 1.5]
    assert summary.regret["mean"].tolist() == [0, 0]
    tiny = rows.assign(brier=rows["brier"] * 1e-9 + (rows["setup"] == "m1") * 1e-15)
    assert summarise(tiny, "brier").average_ranks.tolist() == [1, 2]  # small differences are differences


def test_fewer_folds_than_others_are_named():
    rows = as_rows(RANDOM[:2, :2], folds=5)
    gone = (rows.data == "set1") & (rows.setup == "m1") & (rows.fold > 2)
    rows.loc[gone, "brier"] = np.nan
    (said,) = summarise(rows, "brier").notes
    assert_says(said, "m1", "3 of 5 folds", "set1", "only these folds")
    (said,) = summarise(rows[(rows.setup == "m0") | (rows.fold < 2)], "brier").notes
    assert_says(said, "m1", "2 of 5 folds", "each data set", "only these folds")


def test_where_nothing_can_be_compared_it_says_why():
    rows = as_rows(RANDOM[:3, :2])
    assert "at least 2 setups" in summarise(rows, "brier", setups=["m0"]).uncompared
    apart = rows[(rows.data == "set0") == (rows.setup == "m0")]
    assert_says(summarise(apart, "brier").uncompared, "No data set", "every setup")
    one = summarise(rows[rows.data == "set0"], "brier")
    assert one.uncompared is None
    assert one.friedman is None


def test_more_setups_than_bergmann_hommel_compares_have_no_such_pvalues():
    table = np.random.default_rng(0).random((5, 13))
    summary = summarise(as_rows(table), "brier")
    assert summary.adjusted is None
    assert summary.significant is None
    assert summary.critical_difference > 0


def predictions(sets=("a", "b"), setups=("x", "y"), repeats=2, n=60):
    rng = np.random.default_rng(1)
    return {
        key: Predictions(rng.integers(0, 2, n), rng.random(n).round(2))
        for key in product(sets, setups, range(repeats))
    }


def test_reliability_pools_the_folds_of_a_data_set():
    predicted = predictions()
    rows = pd.DataFrame(
        list(product("ab", "xy", range(2), range(3))), columns=["data", "setup", "repeat", "fold"]
    )
    rows = rows.assign(seed=0, reliability=0.5, brier=0.25)
    summary = summarise(rows, "reliability", predictions=predicted)
    for data, setup in product("ab", "xy"):
        y = np.concatenate([predicted[data, setup, repeat].y for repeat in range(2)])
        p = np.concatenate([predicted[data, setup, repeat].p for repeat in range(2)])
        bins = np.minimum(99, np.floor(p * 100 + 1e-9)).astype(int)
        parts = [(bins == b) for b in np.unique(bins)]
        expected = sum(part.sum() * (p[part].mean() - y[part].mean()) ** 2 for part in parts) / len(y)
        assert summary.means.loc[data, setup] == pytest.approx(expected)
    assert summary.pooled
    assert summarise(rows, "brier", predictions=predicted).means.to_numpy().tolist() == [[0.25, 0.25]] * 2
    alone = summarise(rows, "reliability")
    assert (alone.means == 0.5).all().all()
    assert alone.over_folds
    assert "contains the predictions" in alone.notes[0]
    one_part = summarise(rows[(rows["fold"] == 0) & (rows["repeat"] == 0)], "reliability")
    assert (one_part.notes, one_part.over_folds) == ((), False)


def test_predictions_missing_of_a_setup_are_a_gap():
    predicted = predictions()
    predicted = {key: one for key, one in predicted.items() if key[:2] != ("b", "y")}
    found = pooled_values(predicted)
    assert np.isnan(found.loc["b", "y"])
    y, p = (
        np.concatenate([getattr(predicted["b", "x", repeat], name) for repeat in range(2)]) for name in "yp"
    )
    assert found.loc["b", "x"] == METRICS["reliability"].function(y, p)
    assert list(pooled_predictions(predicted, "b", ["y", "x"])) == ["x"]
    assert len(pooled_predictions(predicted, "a", ["x"])["x"].y) == 120


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rows: summarise(rows, "height"), "metric must be one of"),
        (lambda rows: summarise(rows, "auc"), "do not contain auc"),
        (lambda rows: summarise(rows, "brier", setups=["m0", "mine"]), "setups must be one of"),
        (lambda rows: summarise(rows, "brier", alpha=1.0), "alpha"),
    ],
)
def test_what_the_rows_do_not_have_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call(as_rows(RANDOM))
