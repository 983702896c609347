"""Win-rates, regret and their intervals, held against pair-by-pair counting and a bootstrap by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib.comparison import average_ranks, mean_over_sets, paired_t_matrix, regrets, win_rates, wins
from calib.kernel.checks import InputError

VALUES = st.sampled_from([0.1, 0.2, 0.3, 0.4, np.inf])
TABLES = st.tuples(st.integers(1, 6), st.integers(2, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(VALUES, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(TABLES, st.booleans())
def test_wins_are_what_counting_pair_by_pair_gives(table, higher):
    values = np.array(table)
    found = wins(values, higher)
    for i in range(values.shape[1]):
        for j in range(values.shape[1]):
            a, b = values[:, i], values[:, j]
            better = (a > b) if higher else (a < b)
            assert found[i, j].tolist() == [
                better.sum(),
                (a == b).sum(),
                len(a) - better.sum() - (a == b).sum(),
            ]


@given(TABLES, st.booleans())
def test_a_win_rate_is_the_mean_share_of_the_others_beaten_with_ties_as_halves(table, higher):
    values = np.array(table)
    k = values.shape[1]
    signed = values if higher else -values
    rates = [
        np.mean(
            [(row[i] > np.delete(row, i)).sum() + 0.5 * (row[i] == np.delete(row, i)).sum() for row in signed]
        )
        for i in range(k)
    ]
    found = win_rates(values, higher, repeats=50)
    np.testing.assert_allclose(found.mean, np.array(rates) / (k - 1), atol=1e-12)
    np.testing.assert_allclose(found.mean, (k - average_ranks(values, higher)) / (k - 1), atol=1e-12)
    if len(values) == 1:
        assert np.isnan([found.lower, found.upper]).all()
        return
    assert (found.lower <= found.mean + 1e-12).all()
    assert (found.mean <= found.upper + 1e-12).all()


def test_intervals_are_those_of_a_bootstrap_over_data_sets():
    values = np.random.default_rng(3).normal(size=(40, 2))
    found = mean_over_sets(values, repeats=9999, random_state=1)
    for j in range(2):
        other = stats.bootstrap(
            (values[:, j],), np.mean, n_resamples=9999, method="percentile", random_state=2
        )
        assert found.lower[j] == pytest.approx(other.confidence_interval.low, abs=0.02)
        assert found.upper[j] == pytest.approx(other.confidence_interval.high, abs=0.02)
    assert (
        mean_over_sets(values, random_state=1).lower == mean_over_sets(values, random_state=1).lower
    ).all()


def test_an_infinite_value_makes_the_mean_infinite_and_never_a_nan():
    values = np.ones((30, 3))
    values[0, 1], values[:, 2] = np.inf, np.inf
    found = mean_over_sets(values)
    assert found.mean.tolist() == [1.0, np.inf, np.inf]
    assert found.lower.tolist() == [1.0, 1.0, np.inf]  # a third of the draws leave the one data set out
    assert found.upper.tolist() == [1.0, np.inf, np.inf]


@given(TABLES, st.booleans())
def test_regret_is_the_distance_to_the_best_and_nobody_regrets_what_nobody_could_do_better(table, higher):
    values = np.array(table)
    found = regrets(values, higher)
    for row, regret in zip(values.tolist(), found.tolist(), strict=True):
        best = max(row) if higher else min(row)
        expected = [0.0 if value == best else abs(value - best) for value in row]
        assert regret == expected


@pytest.mark.parametrize("higher", [True, False])
def test_the_matrix_of_t_tests_is_scipys(higher):
    values = np.random.default_rng(0).normal(size=(12, 4))
    found = paired_t_matrix(values, higher)
    for i in range(4):
        assert np.isnan(found[i, i])
        for j in set(range(4)) - {i}:
            other = stats.ttest_rel(values[:, i], values[:, j], alternative="greater" if higher else "less")
            assert found[i, j] == pytest.approx(other.pvalue)


def test_an_infinite_result_has_no_t_test_and_the_others_have():
    values = np.array([[1.0, 2.0, np.inf], [2.0, 2.5, 1.0], [1.0, 3.0, 2.0]])
    found = paired_t_matrix(values, higher_is_better=False)
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    assert np.isfinite(found[0, 1])
    assert np.isnan(paired_t_matrix(values[:1], False)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wins([[1.0, np.nan]], True), "missing"),
        (lambda: regrets([[1.0, 2.0]], None), "higher_is_better"),
        (lambda: mean_over_sets([[1.0]], repeats=0), "repeats"),
        (lambda: mean_over_sets([[1.0]], level=1.0), "level"),
        (lambda: paired_t_matrix([[1.0]], True), "at least 2 methods"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
