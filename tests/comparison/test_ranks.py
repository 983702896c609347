"""Ranks and tests over data sets, held against SciPy, Demšar's printed example and the papers' tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from calib.comparison import average_ranks, cliques, friedman, nemenyi_critical_difference
from calib.comparison.ranks import ranks
from calib.kernel.checks import InputError
from tests.comparison.published import (
    DEMSAR_RANKS,
    NEMENYI_Q,
    P1_METHODS,
    P1_RANKS,
    P2_METHODS,
    P2_RANKS,
    p1_table,
    p2_table,
)

tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(3, 6)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, np.inf]),
)


def ranks_by_counting(row, higher_is_better):
    better = (lambda a, b: a > b) if higher_is_better else (lambda a, b: a < b)
    return [sum(better(b, a) for b in row) + (sum(b == a for b in row) + 1) / 2 for a in row]


@given(tables, st.booleans())
def test_a_rank_is_one_plus_how_many_are_better_plus_half_the_others_tied(table, higher):
    expected = [ranks_by_counting(row, higher) for row in table.tolist()]
    np.testing.assert_array_equal(ranks(table, higher), expected)
    np.testing.assert_allclose(average_ranks(table, higher), np.mean(expected, axis=0))


@given(tables)
def test_higher_is_better_turns_the_ranks_round(table):
    turned = table.shape[1] + 1 - average_ranks(table, False)
    np.testing.assert_allclose(average_ranks(table, True), turned)


@given(tables, st.booleans())
def test_friedman_agrees_with_scipy_ties_and_infinities_included(table, higher):
    if (table == table[:, :1]).all():
        return  # SciPy divides 0 by 0 where every data set ties all methods
    ours, theirs = friedman(table, higher), stats.friedmanchisquare(*table.T)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.pvalue == pytest.approx(theirs.pvalue, abs=1e-9)


def test_demsars_example():
    np.testing.assert_allclose(average_ranks(DEMSAR_RANKS, False), [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    test = friedman(DEMSAR_RANKS, False)
    # He prints χ² = 9.28 and F = 3.69 without the correction for ties: one group of four and three of two.
    correction = 1 - (4**3 - 4 + 3 * (2**3 - 2)) / (14 * 4 * (4**2 - 1))
    uncorrected = test.statistic * correction
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.005)


def test_iman_davenport_follows_from_the_corrected_statistic():
    test = friedman(DEMSAR_RANKS, False)
    F = 13 * test.statistic / (14 * 3 - test.statistic)
    assert test.f_statistic == pytest.approx(F)
    assert test.f_pvalue == pytest.approx(stats.f.sf(F, 3, 39))


def test_friedman_at_its_ends():
    nothing = friedman(np.ones((5, 3)), True)
    assert (nothing.statistic, nothing.pvalue, nothing.f_statistic, nothing.f_pvalue) == (0, 1, 0, 1)
    unanimous = friedman(np.tile([3.0, 2.0, 1.0], (6, 1)), True)
    assert unanimous.statistic == pytest.approx(12)
    assert unanimous.f_statistic == np.inf
    assert unanimous.f_pvalue == 0


def test_friedman_holds_its_level_under_the_hypothesis():
    rng = np.random.default_rng(0)
    tests = [friedman(rng.random((20, 5)), True) for _ in range(1000)]
    for name in ("pvalue", "f_pvalue"):
        rejected = np.mean([getattr(test, name) <= 0.05 for test in tests])
        assert rejected == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 1000))


@pytest.mark.parametrize("alpha", NEMENYI_Q)
def test_critical_differences_follow_from_the_printed_q(alpha):
    for k, q in zip(range(2, 11), NEMENYI_Q[alpha], strict=True):
        expected = q * np.sqrt(k * (k + 1) / (6 * 30))
        assert nemenyi_critical_difference(k, 30, alpha) == pytest.approx(expected, abs=0.0012 * expected / q)


def test_two_methods_need_no_studentized_range():
    # The range of two standard normals over √2 is the absolute value of one.
    assert nemenyi_critical_difference(2, 1, 0.01) == pytest.approx(stats.norm.isf(0.005))


def alike_by_nemenyi(R, n):
    return np.abs(np.subtract.outer(R, R)) < nemenyi_critical_difference(len(R), n)


@pytest.mark.parametrize(
    ("metric", "best"),
    [("brier", {"RF_large", "RF_opt", "RF_d", "CT", "PPA"}), ("ece", {"VA", "RF_opt", "CT"})],
)
def test_the_best_groups_that_p2_names_come_out(metric, best):
    R = np.array(P2_RANKS[metric])
    assert {P2_METHODS[i] for i in cliques(R, alike_by_nemenyi(R, 30))[0]} == best


@pytest.mark.parametrize("metric", P2_RANKS)
def test_p2_average_ranks(metric):
    R = average_ranks(p2_table(metric), higher_is_better=metric == "acc")
    # The table is rounded to six digits, which makes ties
    np.testing.assert_allclose(R, P2_RANKS[metric], atol=0.07)


@pytest.mark.parametrize(("title", "leaf"), P1_RANKS)
def test_p1_average_ranks(title, leaf):
    table = p1_table(title)
    assert table.shape == (25, 8)
    four = table[:, :4] if leaf == "RF" else table[:, 4:]
    R = average_ranks(four, higher_is_better=title != "Brier loss")
    assert len(R) == len(P1_METHODS)
    np.testing.assert_allclose(R, P1_RANKS[title, leaf], atol=0.12)  # printed with three digits


@given(
    st.lists(st.integers(4, 40), min_size=1, max_size=8).map(lambda ranks: np.array(ranks) / 4),
    st.floats(0.1, 5),
)
def test_cliques_are_the_largest_runs_within_the_difference(R, difference):
    k = len(R)
    order = np.argsort(R, kind="stable")
    runs = [order[i:j] for i in range(k) for j in range(i + 2, k + 1) if np.ptp(R[order[i:j]]) < difference]
    largest = [run for run in runs if not any(set(run) < set(other) for other in runs)]
    found = cliques(R, np.abs(R[:, None] - R) < difference)
    assert found == [tuple(run) for run in largest]


def test_a_clique_needs_all_its_pairs_alike():
    alike = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    assert cliques([1, 2, 3], alike) == [(0, 1), (1, 2)]


def test_nan_is_refused_with_its_place():
    frame = pd.DataFrame({"Platt": [1.0, 2.0], "VA": [1.0, np.nan]}, index=["spect", "wilt"])
    with pytest.raises(InputError, match="data set wilt, method VA"):
        average_ranks(frame, True)
    with pytest.raises(InputError, match="data set 1, method 0"):
        friedman([[1, 2, 3], [np.nan, 2, 3]], True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: average_ranks([1, 2, 3], True), "at least 2 methods"),
        (lambda: average_ranks([[1], [2]], True), "at least 2 methods"),
        (lambda: average_ranks([[1, 2]], "yes"), "higher_is_better must be one of True, False"),
        (lambda: friedman([[1, 2, 3]], True), "number of data sets"),
        (lambda: nemenyi_critical_difference(1, 10), "k must be"),
        (lambda: nemenyi_critical_difference(5, 10, 5), "alpha must be"),
        (lambda: cliques([1, 2], [True, True]), "alike must have shape"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
