import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.calibrators import Venn
from calib.kernel.binning import binned, edge_index
from calib.kernel.checks import InputError

rows = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=30)


def category_of(venn, fitted, score):
    """The category in plain words, one score at a time."""
    if venn.taxonomy == "label":
        return int(score > venn.threshold)
    if venn.taxonomy == "uniform":
        return min(int(np.floor(score * venn.bins + 1e-9)), venn.bins - 1)
    return int(edge_index(np.array([score]), binned(fitted, venn.bins, "quantile").edges)[0])


@pytest.mark.parametrize("taxonomy", ["label", "uniform", "quantile"])
@pytest.mark.parametrize("leave_out", [False, True])
@given(rows)
def test_pair_is_the_category_counted_with_each_label(taxonomy, leave_out, data):
    scores, y = np.array([i / 20 for i, _ in data]), np.array([label for _, label in data])
    venn = Venn(taxonomy=taxonomy, bins=4).fit(scores, y)
    new = np.linspace(0, 1, 11)
    removed = np.arange(11) % len(y)
    pairs = venn.leave_one_out_interval(new, removed) if leave_out else venn.predict_interval(new)
    for j, score in enumerate(new):
        mates = [
            label
            for i, label in enumerate(y)
            if category_of(venn, scores, scores[i]) == category_of(venn, scores, score)
            and not (leave_out and i == removed[j])
        ]
        assert pairs[j].tolist() == [sum([*mates, added]) / (len(mates) + 1) for added in (0, 1)]


def test_an_empty_category_says_that_it_knows_nothing():
    assert Venn().fit([0.1, 0.2], [0, 1]).predict_interval([0.9]).tolist() == [[0, 1]]


def test_the_threshold_itself_is_predicted_0_and_margins_have_theirs_at_0():
    venn = Venn(threshold=0).fit([-1, 0, 0.1, 2], [0, 0, 1, 1])
    assert venn.predict_interval([0.0, 1e-9]).tolist() == [[0, 1 / 3], [2 / 3, 1]]


def test_equal_width_bins_need_probabilities():
    with pytest.raises(InputError, match="equal bins.*from -1 to 2.*'quantile'"):
        Venn(taxonomy="uniform").fit([-1, 2], [0, 1])
    with pytest.raises(InputError, match="equal bins"):
        Venn(taxonomy="uniform").fit([0, 1], [0, 1]).predict([1.5])


def test_decimals_on_an_edge_go_to_the_upper_bin():
    venn = Venn(taxonomy="uniform", bins=20).fit([0.15, 0.14], [1, 0])
    assert venn.predict_interval([0.16]).tolist() == [[0.5, 1]]


def test_quantile_categories_hold_margins_and_scores_beyond_the_range():
    venn = Venn(taxonomy="quantile", bins=2).fit([-3, -2, 5, 9], [0, 0, 1, 1])
    assert venn.predict_interval([-100, 100]).tolist() == [[0, 1 / 3], [2 / 3, 1]]


def test_only_an_unchanged_threshold_follows_margins():
    for threshold, probability, adapted in (
        (0.5, True, 0.5),
        (0.5, False, 0.0),
        (0.3, True, 0.3),
        (0.3, False, 0.3),
    ):
        venn = Venn(threshold=threshold)
        venn.adapt(np.array([-1.0, 2.0]), probability, decides=True)
        assert venn.threshold == adapted
