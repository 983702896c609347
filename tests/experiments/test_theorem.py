"""Theorem 1 and corollary 1 over many seeds, for every predictor that is valid; and where a predictor is not."""

import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.experiments import EXPERIMENTS
from calib.experiments.shared.one_feature import by_level, running_mean
from calib.experiments.theorem import PAIRS_OF_PREDICTOR
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch

simulate = EXPERIMENTS["theorem"].simulate

VALID = ("full", "inductive", "venn", "constant", "non_invariant")


def z(values):
    return values.mean() / (values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("predictor", VALID)
@pytest.mark.parametrize("objects", [5, 20])
def test_the_selected_probability_is_right_on_average_and_at_every_level(predictor, objects):
    found = [
        simulate(random_state=s, predictor=predictor, objects=objects, window=0.2, draws=5000)
        for s in range(4)
    ]
    y, selected = np.concatenate([d.y for d in found]), np.concatenate([d.selected for d in found])
    assert abs(z(y - selected)) < 4
    levels = by_level(y, selected)
    assert (np.abs(levels.observed - levels.p) <= 4.5 * levels.error + 1e-12).all()
    low, high = (np.concatenate([f(d.p0, d.p1) for d in found]) for f in (np.minimum, np.maximum))
    assert z(y - low) > 3
    assert z(high - y) > 3


def test_simplified_with_a_narrow_window_is_not_valid_level_by_level():
    draws = simulate(random_state=0, predictor="simplified", window=0.05)
    levels = by_level(draws.y, draws.selected)
    inner = levels[levels.error > 0]
    assert (np.abs(inner.observed - inner.p) / inner.error).max() > 20


def test_the_full_pair_is_algorithm_1_with_the_window_scorer():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(6, 13)), rng.integers(0, 2, (6, 12))
    p0, p1 = PAIRS_OF_PREDICTOR["full"](x, y, {"window": 0.3})
    for row in range(6):
        for label, p in ((0, p0), (1, p1)):
            labels = np.append(y[row], label)
            weights = np.exp(-0.5 * ((x[row][:, None] - x[row][None, :]) / 0.3) ** 2)
            scores = weights @ labels / weights.sum(axis=1)
            refitted = VennAbers().fit(scores[:-1], y[row]).predict_interval(scores[-1:])[0, label]
            assert p[row] == pytest.approx(refitted, abs=1e-12)


def test_predictors_that_ignore_the_object_say_what_the_paper_says():
    x, y = np.zeros((2, 5)), np.array([[0, 1, 1, 0], [1, 1, 1, 0]])
    assert np.array_equal(PAIRS_OF_PREDICTOR["constant"](x, y, {}), ([2 / 5, 3 / 5], [3 / 5, 4 / 5]))
    assert np.array_equal(PAIRS_OF_PREDICTOR["non_invariant"](x, y, {}), ([2 / 4, 2 / 4], [3 / 4, 3 / 4]))


def test_the_same_seed_draws_the_same_and_another_one_another():
    one, again, other = (simulate(random_state=seed, draws=500) for seed in (3, 3, 4))
    assert np.array_equal(one.p0, again.p0)
    assert not np.array_equal(one.p0, other.p0)


def test_running_means_and_errors_are_those_of_the_first_values():
    values = np.random.default_rng(0).normal(size=500)
    run = running_mean(values)
    for t, mean, error in zip(run.t, run.mean, run.error, strict=True):
        assert mean == pytest.approx(values[:t].mean(), abs=1e-9)
        assert error == pytest.approx(values[:t].std(ddof=1) / np.sqrt(t), abs=1e-9)
    assert (run.t[0], run.t[-1]) == (10, 500)


def test_a_setting_out_of_range_is_refused_by_name_and_long_work_can_be_called_off():
    with pytest.raises(InputError, match=r"objects must .*\b5, 10\b.*\b7\b"):
        simulate(random_state=0, objects=7)
    watch = Watch()
    watch.cancel.set()
    with pytest.raises(Cancelled):
        simulate(random_state=0, watch=watch)
