import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.calibrators import Isotonic, Rank
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields


@given(st.integers(1, 8), st.integers(1, 6), st.integers(1, 4), st.integers(0, 10_000))
def test_borda_score_counts_smaller_and_half_of_equal(n, m, trees, seed):
    rng = np.random.default_rng(seed)
    fitted, new = rng.integers(0, 4, (n, trees)) / 4, rng.integers(-1, 6, (m, trees)) / 4
    rank = Rank().fit(fitted, rng.integers(0, 2, n))
    expected = [
        sum((c < x[t]) + (c == x[t]) / 2 for t in range(trees) for c in fitted[:, t].tolist()) for x in new
    ]
    assert rank.borda(new).tolist() == expected


def test_prediction_is_isotonic_regression_on_the_borda_scores():
    rng = np.random.default_rng(0)
    trees, new = rng.random((80, 5)), rng.random((30, 5))
    y = (rng.random(80) < trees.mean(axis=1)).astype(int)
    rank = Rank().fit(trees, y)
    np.testing.assert_array_equal(
        rank.predict(new), Isotonic().fit(rank.borda(trees), y).predict(rank.borda(new))
    )


def test_any_increasing_change_of_a_trees_scores_changes_nothing():
    rng = np.random.default_rng(1)
    trees, y = rng.random((60, 4)), rng.integers(0, 2, 60)
    changed = np.column_stack([trees[:, 0] ** 3, np.exp(trees[:, 1]), trees[:, 2] - 7, 100 * trees[:, 3]])
    np.testing.assert_array_equal(
        Rank().fit(trees, y).predict(trees), Rank().fit(changed, y).predict(changed)
    )


def test_another_number_of_trees_is_refused():
    rank = Rank().fit(np.zeros((3, 2)), [0, 1, 1])
    with pytest.raises(InputError, match=r"\b2 trees.*\b3 columns"):
        rank.predict(np.zeros((1, 3)))


def test_memory_grows_with_the_input_and_not_with_its_square():
    rng = np.random.default_rng(2)
    fitted, new = rng.random((5000, 40)), rng.random((5000, 40))
    rank = Rank().fit(fitted, rng.integers(0, 2, 5000))
    tracemalloc.start()
    rank.predict(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * new.nbytes


def test_a_file_has_at_most_a_hundred_million_votes():
    fields = Rank().fit(np.arange(4.0).reshape(2, 2), [0, 1]).to_map()
    for tree in fields["trees"]:
        tree["counts"] = [20_000_000, 30_000_000]
    assert Rank.from_map(Fields(fields, "The file")).borda([[9.0, 9.0]]).tolist() == [1e8]
    fields["trees"][1]["counts"][0] += 1
    with pytest.raises(InputError, match="at most 100,000,000"):
        Rank.from_map(Fields(fields, "The file"))


def test_trees_of_a_file_have_equally_many_votes():
    fields = Rank().fit(np.arange(6.0).reshape(3, 2), [0, 1, 1]).to_map()
    fields["trees"][1]["counts"][0] += 1
    with pytest.raises(InputError, match="same number of votes"):
        Rank.from_map(Fields(fields, "The file"))
