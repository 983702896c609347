"""Proposition 2: the vectorised pairs are those of the placements, and they settle where the paper says."""

import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.experiments import EXPERIMENTS
from calib.experiments.shared.one_feature import venn_abers_pairs
from calib.placements import PLACEMENTS
from calib.synthetic import SignExample
from tests.synthetic.memorising import MemorisingClassifier

simulate = EXPERIMENTS["counterexample"].simulate


def test_the_pairs_are_those_of_the_placements_train_and_full():
    data = SignExample().sample(41, random_state=3)
    X, y = data.X.to_numpy(), data.y
    seen = (X[:, 0] > 0).astype(float)[None]
    unseen = np.append(seen[0, :-1], 2.0)[None]
    for key, scores in (("train", unseen), ("full", seen)):
        placed = PLACEMENTS[key]().fit(MemorisingClassifier(), X[:-1], y[:-1])
        predictions = placed.predict(placed.calibrate(VennAbers()), placed.score(X[-1:]))
        p0, p1 = venn_abers_pairs(scores, scores, y[None, :-1])
        assert (p0[0], p1[0]) == pytest.approx((predictions.p0[0], predictions.p1[0]), abs=1e-12)


def test_simplified_settles_beside_one_half_and_full_around_it():
    found = simulate(random_state=0, draws=500)
    simplified, full = found.means["simplified"], found.means["full"]
    assert (simplified[:, 1] == 1).all()
    assert simplified[-1, 0] == pytest.approx(2 / 3, abs=0.01)
    assert simplified[-1, 0] - 0.5 > 10 * found.errors["simplified"][-1, 0]
    low, high = full[:, 0] - 4 * found.errors["full"][:, 0], full[:, 1] + 4 * found.errors["full"][:, 1]
    assert ((low < 0.5) & (high > 0.5)).all()
    assert (full[0, 1] - full[0, 0]) > 10 * (full[-1, 1] - full[-1, 0])
