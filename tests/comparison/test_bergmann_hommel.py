"""Bergmann–Hommel held against its definition by brute force, García and Herrera's example and P1's conclusions."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib.comparison import bergmann_hommel, rank_pvalues
from calib.comparison.ranks import set_partitions
from calib.kernel.checks import InputError
from tests.comparison.published import P1_METHODS, P1_RANKS


def exhaustive_sets(k):
    """Every set of pairs that can be exactly the true ones: some values make these equal and no others."""
    pairs = list(combinations(range(k), 2))
    values = product(range(k), repeat=k)
    return pairs, {
        frozenset(pair for pair in pairs if value[pair[0]] == value[pair[1]]) for value in values
    } - {frozenset()}


def adjusted_by_definition(R, n):
    pairs, sets = exhaustive_sets(len(R))
    z = {(i, j): abs(R[i] - R[j]) / np.sqrt(len(R) * (len(R) + 1) / (6 * n)) for i, j in pairs}
    p = {pair: 2 * stats.norm.sf(z[pair]) for pair in pairs}
    return (
        {pair: min(1, max(len(s) * min(p[q] for q in s) for s in sets if pair in s)) for pair in pairs},
        p,
        sets,
    )


ranks = st.integers(3, 5).flatmap(lambda k: st.lists(st.integers(4, 4 * k), min_size=k, max_size=k))


@given(ranks.map(lambda quarters: np.array(quarters) / 4), st.integers(2, 50))
def test_adjusted_pvalues_by_the_definition(R, n):
    expected, p, _ = adjusted_by_definition(R, n)
    adjusted = bergmann_hommel(R, n)
    assert np.array_equal(adjusted, adjusted.T)
    assert (np.diag(adjusted) == 1).all()
    for (i, j), value in expected.items():
        assert adjusted[i, j] == pytest.approx(value, rel=1e-12)
        assert adjusted[i, j] >= p[i, j]


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_is_rejected_at_alpha_where_its_adjusted_pvalue_is_at_most_alpha(seed):
    # The procedure as Bergmann and Hommel state it: reject all pairs outside every exhaustive set that is not
    # rejected.
    R = np.random.default_rng(seed).uniform(1, 5, 5)
    _, p, sets = adjusted_by_definition(R, 12)
    adjusted = bergmann_hommel(R, 12)
    for alpha in (0.01, 0.05, 0.1, 0.3):
        accepted = set().union(*(s for s in sets if min(p[pair] for pair in s) > alpha / len(s)))
        assert {pair for pair in p if adjusted[pair] > alpha} == accepted


def test_garcia_and_herreras_example():
    # JMLR 9 (2008): C4.5, 1-NN, naive Bayes, kernel and CN2 over 30 data sets.
    R = [2.100, 3.250, 2.200, 4.333, 3.117]
    p, adjusted = rank_pvalues(R, 30), bergmann_hommel(R, 30)
    printed = {
        (0, 3): (4.487e-8, 4.487e-7),
        (2, 3): (1.736e-7, 1.042e-6),
        (3, 4): (0.0029, 0.0115),
        (0, 1): (0.0048, 0.0291),
    }
    for pair, (raw, corrected) in printed.items():
        assert p[pair] == pytest.approx(raw, rel=0.02)  # the ranks are rounded to three digits
        assert adjusted[pair] == pytest.approx(corrected, rel=0.02)
    # 1-NN and CN2, C4.5 and naive Bayes cannot be told apart.
    assert adjusted[1, 4] == adjusted[0, 2] == 1


def significant(title, leaf):
    """Ordered pairs (better, worse) that P1 would call significantly different at 0.05."""
    R = P1_RANKS[title, leaf]
    adjusted = bergmann_hommel(R, 25)
    return {
        (P1_METHODS[i], P1_METHODS[j])
        for i, j in product(range(4), repeat=2)
        if R[i] < R[j] and adjusted[i, j] <= 0.05
    }


def test_what_p1_found_significant_comes_out():
    assert significant("Accuracy", "RF") == set()
    assert significant("Accuracy", "LaP") == {("VAP", "Platt"), ("VAP", "Tree"), ("Iso", "Tree")}
    assert significant("AUC", "RF") == {
        ("VAP", "Tree"),
        ("VAP", "Platt"),
        ("VAP", "Iso"),
        ("Tree", "Platt"),
        ("Iso", "Platt"),
    }
    assert len(significant("AUC", "LaP")) == 6
    for leaf in ("RF", "LaP"):
        assert {("VAP", "Platt"), ("VAP", "Iso"), ("VAP", "Tree")} <= significant("Brier loss", leaf)


def test_there_are_bell_many_partitions_and_no_two_are_the_same():
    for k, bell in enumerate((1, 2, 5, 15, 52, 203, 877, 4140), start=1):
        blocks = set_partitions(k)
        assert blocks.shape == (k, bell)
        assert len(np.unique(blocks, axis=1).T) == bell


def test_ten_methods_are_compared():
    adjusted = bergmann_hommel(np.linspace(2, 9, 10), 30)
    # The farthest pair may be held back by all 45 hypotheses at most, and by itself at least.
    p = rank_pvalues(np.linspace(2, 9, 10), 30)
    assert adjusted[0, 9] == pytest.approx(45 * p[0, 9])


def test_equal_ranks_are_never_told_apart():
    assert (bergmann_hommel([2.0, 2.0, 2.0], 1000) == 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bergmann_hommel([1, np.nan, 2], 10), "ranks must be finite"),
        (lambda: bergmann_hommel([1.0], 10), "number of methods must be a whole number from 2 to 12"),
        (lambda: bergmann_hommel(range(13), 10), "number of methods must be a whole number from 2 to 12"),
        (lambda: bergmann_hommel([1, 2, 3], 0), "n must be"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
