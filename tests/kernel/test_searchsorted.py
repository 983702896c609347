"""Locating scores among breaks gives what NumPy's search gives."""

from itertools import product

import numpy as np
import pytest

from calib.kernel import isotonic_regression as module
from calib.kernel.isotonic_regression import places

RNG = np.random.default_rng(0)
TINY, HUGE = np.finfo(float).smallest_subnormal, np.finfo(float).max
DRAWS = {
    "even": lambda n: RNG.random(n),
    "near zero": lambda n: RNG.random(n) ** 10,
    "few": lambda n: RNG.integers(0, 30, n) / 30,
    "heavy tails": lambda n: RNG.standard_cauchy(n),
    "two clusters": lambda n: RNG.choice([0.0, 1.0], n) + 1e-9 * RNG.normal(size=n),
    "subnormal": lambda n: RNG.integers(0, 9, n) * TINY,
    "huge": lambda n: RNG.choice([-HUGE, -1.0, 0.0, 1.0, HUGE], n),
    "infinite": lambda n: RNG.choice([-np.inf, 0.25, 0.5, np.inf], n),
}


@pytest.mark.parametrize("scores", DRAWS)
@pytest.mark.parametrize("breaks", [name for name in DRAWS if name != "infinite"])
def test_the_counts_are_those_of_a_search_for_each_score(breaks, scores):
    for t, n in product([0, 1, 2, 7, 500], [0, 1, 100, 3_000]):
        at, s = np.unique(DRAWS[breaks](t)), DRAWS[scores](n)
        s = np.concatenate([s, RNG.choice(at, n)]) if t else s
        below, upto = places(at, s)
        assert np.array_equal(below, np.searchsorted(at, s, side="left")), (t, n)
        assert np.array_equal(upto, np.searchsorted(at, s, side="right")), (t, n)


def test_scores_are_sorted_only_where_breaks_are_crowded(monkeypatch):
    sorted_, by_sorting = [], module._by_sorting

    def seen(breaks, scores):
        sorted_.append(len(scores))
        return by_sorting(breaks, scores)

    monkeypatch.setattr(module, "_by_sorting", seen)
    places(np.arange(100) / 100, RNG.random(10_000))
    assert sum(sorted_) == 0
    places(np.sort(np.append(np.arange(100), 50 + 1e-9)) / 100, RNG.random(10_000))
    assert 0 < sum(sorted_) < 1_000
