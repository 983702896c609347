"""The script of docs/results.md on smooth intervals: its fits are scikit-learn's, and what it says of them is exact."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from scripts import smooth_intervals as script

RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 101, 60)
Y = (RNG.random(60) < script.GRID[SCORES]).astype(int)


@pytest.mark.parametrize("kind", ["platt", "quadratic"])
def test_the_pair_is_that_of_two_unpenalised_fits_that_hold_the_row(kind):
    B, _ = script.terms(kind)
    found = script.smooth(kind)(SCORES, Y, RNG)
    for k in (0, 37, 100):
        for label in (0, 1):
            fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
            fit.fit(B[[*SCORES, k], 1:], [*Y, label])
            assert found[k, label] == pytest.approx(fit.predict_proba(B[[k], 1:])[0, 1], abs=1e-4)


@pytest.mark.parametrize("kind", ["platt", "quadratic", "spline"])
def test_over_which_row_of_a_bag_is_the_test_row_the_answers_of_true_labels_miss_nothing(kind):
    """The mean of (Y − P_Y) times 1 and times the logit is 0, whatever the labels: exchangeability needs no more."""
    y = RNG.permutation(Y)
    rest = [np.delete(np.arange(60), i) for i in range(60)]
    pairs = [script.smooth(kind)(SCORES[own], y[own], RNG) for own in rest]
    missed = np.array([y[i] - pairs[i][SCORES[i], y[i]] for i in range(60)])
    assert missed.sum() == pytest.approx(0, abs=1e-4)
    assert missed @ script.Z[SCORES] == pytest.approx(0, abs=1e-3)


def test_venn_abers_is_valid_by_the_script_s_measure_and_uncalibrated_scores_are_not():
    world = script.made_worlds()["steps"]
    rng = np.random.default_rng(0)
    rows = [script.drawn(world, 200, rng) for _ in range(240)]
    venn_abers = script.measures(np.stack([script.venn_abers(*one, rng) for one in rows]), *world)
    raw = np.stack([np.stack([script.GRID] * 2, axis=1)] * 240)
    by_hand = np.sqrt((world[0] * (world[1] - script.GRID) ** 2).sum())
    assert script.measures(raw, *world)["valid"] == pytest.approx(by_hand, rel=0.02)
    assert venn_abers["valid"] < 0.3 * by_hand
