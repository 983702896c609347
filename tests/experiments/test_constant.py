"""The constant Venn predictor: as valid as Venn–Abers, and no better than the frequency of class 1."""

import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.experiments import EXPERIMENTS

simulate = EXPERIMENTS["constant"].simulate


def test_both_are_valid_and_only_one_is_useful():
    found = simulate(random_state=0, draws=5000)
    brier = {}
    for key, draws in found.many.items():
        error = draws.y - draws.selected
        assert abs(error.mean()) < 4 * error.std() / np.sqrt(len(error))
        brier[key] = ((draws.merged - draws.y) ** 2).mean()
    assert brier["constant"] == pytest.approx(0.25, abs=0.01)
    assert brier["full"] < 0.2
    assert found.constant[1] - found.constant[0] == pytest.approx(1 / 101, abs=1e-12)
    assert found.many["constant"].width == pytest.approx(1 / 101, abs=1e-12)


def test_without_anything_to_know_the_constant_predictor_is_best():
    many = simulate(random_state=0, gap=0.0, draws=5000).many
    brier = {key: ((draws.merged - draws.y) ** 2).mean() for key, draws in many.items()}
    assert brier["constant"] < brier["full"]


def test_the_curve_is_algorithm_1_at_each_x():
    found = simulate(random_state=4, objects=20, draws=500)
    for i in (0, 80, 160):
        for label, p in ((0, found.p0[i]), (1, found.p1[i])):
            x, y = np.append(found.train_x, found.x[i]), np.append(found.train_y, label)
            weights = np.exp(-0.5 * ((x[:, None] - x[None, :]) / 0.5) ** 2)
            scores = weights @ y / weights.sum(axis=1)
            pair = VennAbers().fit(scores[:-1], y[:-1]).predict_interval(scores[-1:])[0]
            assert p == pytest.approx(pair[label], abs=1e-12)
