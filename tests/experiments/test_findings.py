"""The titles and the answers follow the numbers, also where they turn."""

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.one_feature import by_level
from calib.figures import FIGURES
from tests.saying import assert_says


def record(key, settings=None, **view):
    return FIGURES[key].prepare(EXPERIMENTS[key].simulate(random_state=0, **(settings or {})), **view)


def test_levels_keep_equal_predictions_together_and_lose_nobody():
    rng = np.random.default_rng(0)
    p, y = rng.integers(0, 7, 500) / 6, rng.integers(0, 2, 500)
    levels = by_level(y, p, groups=4)
    assert levels.draws.sum() == 500
    assert (levels.p * levels.draws).sum() == pytest.approx(p.sum(), abs=1e-9)
    assert (levels.observed * levels.draws).sum() == pytest.approx(y.sum(), abs=1e-9)
    many = by_level(y, p, groups=100)
    assert many.draws.tolist() == np.unique(p, return_counts=True)[1].tolist()


def test_theorem_says_which_probability_is_right():
    assert "P_Y is right on average" in record("theorem", {"draws": 5000}).title
    assert record("theorem", {"draws": 5000}).answer == 3


def test_regret_answers_midpoint_nearer_or_further():
    assert record("regret", {"p0": 0.3, "p1": 0.7}).answer == 1
    assert record("regret", {"p0": 0.1, "p1": 0.5}).answer == 2
    assert record("regret", {"p0": 0.7, "p1": 0.1}).answer == 3  # a crossed pair moves outward
    both = [record("regret", {"p0": 0.0, "p1": 0.5}, loss=loss).title for loss in ("log", "square")]
    assert "p = 0.33 " in both[0]
    assert "p = 0.38 " in both[1]


def test_log_loss_counts_the_finite_runs():
    found = EXPERIMENTS["log_loss"].simulate(random_state=0, draws=20, tests=50)
    drawn = FIGURES["log_loss"].prepare(found, run=3)
    finite = np.isfinite(found.log_loss("dir")).all(axis=1).mean()
    assert_says(drawn.title, "finite", f"{100 * finite:.0f} %", "20 runs")
    assert drawn.finite["dir"][-1] == finite
    assert drawn.traces["full"][-1] == pytest.approx(found.log_loss("full")[2].mean(), abs=1e-12)


def test_constant_is_no_answer_where_there_is_nothing_to_know():
    drawn = record("constant", {"gap": 0.0})
    assert drawn.answer is None
    assert_says(drawn.title, "constant predictor", "no worse", "Brier score", "0.25")


def test_order_prints_unshortened_fractions():
    drawn = record("order", {"objects": 6, "ones": 3})
    assert_says(drawn.title, "after a 0", "3/6", "10 of 20 orderings")
    assert drawn.answer == 1


def test_narrowing_names_the_nearest_power():
    assert record("narrowing", {"draws": 10}).answer == 2
    assert record("narrowing", {"draws": 10, "method": "venn"}).answer == 1
