"""Win-rates, regret and their intervals, held against pair-by-pair counting and a bootstrap by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib.comparison import average_ranks, mean_share, paired_t_matrix, regrets, win_rates, wins
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
    found = win_rates(values, higher)
    np.testing.assert_allclose(found.mean, np.array(rates) / (k - 1), atol=1e-12)
    np.testing.assert_allclose(found.mean, (k - average_ranks(values, higher)) / (k - 1), atol=1e-12)
    if len(values) == 1:
        assert np.isnan([found.lower, found.upper]).all()
        return
    assert (found.lower <= found.mean + 1e-12).all()
    assert (found.mean <= found.upper + 1e-12).all()


@pytest.mark.parametrize("sets", [5, pytest.param(10, marks=pytest.mark.soak), 20])
@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_intervals_of_win_rates_include_the_rate_over_all_sets(sets, strength):
    """Four methods, the first better by ``strength`` standard deviations; percentiles of resamples held 80 to 92 %."""
    rng = np.random.default_rng(4)

    def results(n):
        return rng.normal(size=(n, 4)) + np.array([strength, 0, 0, 0])

    rate = win_rates(results(200_000), True).mean[0]
    found = [win_rates(results(sets), True) for _ in range(400)]
    assert np.mean([one.lower[0] <= rate <= one.upper[0] for one in found]) > 0.92


def test_the_interval_of_yes_and_no_is_wilsons_with_students_quantile():
    values = np.array([1.0, 1.0, 0.0, 1.0])
    found = mean_share(values[:, None])
    worth, q = 3.0, stats.t.ppf(0.975, 3)  # m(1 − m) over s²/n, with the divisor n − 1 of s²
    for end in (found.lower[0], found.upper[0]):
        assert (0.75 - end) ** 2 == pytest.approx(q**2 * end * (1 - end) / worth)
    assert np.isnan(mean_share([[0.5]]).lower).all()


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
        (lambda: mean_share([[1.0]], level=1.0), "level"),
        (lambda: paired_t_matrix([[1.0]], True), "at least 2 methods"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
