"""Number of trees: what more of them bring, and what one alone is worth."""

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.tree_count import AT_COUNTS, COUNTS
from calib.figures import FIGURES

simulate = EXPERIMENTS["tree_count"].simulate


@pytest.mark.soak
def test_more_trees_lower_tce_and_ten_times_as_many_bring_less_each_time(remembered):
    found = [
        simulate("tree_count_curve", random_state=seed, using=remembered).curves["forest"]["tce"]
        for seed in range(3)
    ]
    mean = np.mean(found, axis=0)
    assert (np.diff(mean[: AT_COUNTS.index(200)]) < 0).all()
    few, some, many = (mean[AT_COUNTS.index(count)] for count in COUNTS)
    assert 0 < some - many < (few - some) / 5
    for seed in range(3):
        assert FIGURES["tree_count"].prepare(simulate(random_state=seed, using=remembered)).answer == 2


def test_a_forest_is_its_trees_less_what_they_disagree(remembered):
    grown = remembered["grow"](0, "separate", 1000, "forest", None, 500)
    votes, truth, p = np.array(grown.votes()), grown.plane.posterior, grown.p()
    alone, apart = ((votes - truth) ** 2).mean(), ((votes - p) ** 2).mean()
    curve = simulate("tree_count_curve", random_state=0, using=remembered).curves["forest"]
    assert curve["alone"] == pytest.approx(np.full(len(AT_COUNTS), alone), abs=1e-9)
    assert curve["tce"][-1] == pytest.approx(alone - apart, abs=1e-9)
    # Over all choices of k of the T trees the mean TCE is TCE_T + V (1/k − 1/T), V the variance with divisor
    # T − 1.
    T = len(votes)
    rng = np.random.default_rng(0)
    drawn = [((votes[rng.choice(T, 5, replace=False)].mean(axis=0) - truth) ** 2).mean() for _ in range(60)]
    expected = curve["tce"][-1] + apart * T / (T - 1) * (1 / 5 - 1 / T)
    assert np.mean(drawn) == pytest.approx(expected, abs=4 * np.std(drawn) / np.sqrt(len(drawn)))
