import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.calibration import _SigmoidCalibration

from calib.calibrators import Logistic, Platt
from calib.kernel.checks import InputError
from tests.vectors import vector


def overlapping(seed, n=400):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, (rng.random(n) < expit(2 * scores - 0.5)).astype(int), rng


@pytest.mark.parametrize("name", ["platt_small", "platt_sklearn_test"])
def test_reference_vectors(name):
    case = vector(name)
    platt = Platt().fit(case["scores"], case["labels"])
    assert (
        pytest.approx(case["platt_A"], abs=1e-12),
        pytest.approx(case["platt_B"], abs=1e-12),
    ) == (platt.A_, platt.B_)
    np.testing.assert_allclose(platt.predict(case["scores"]), case["p"], atol=1e-12)


@pytest.mark.parametrize("scale", [1, 1e-4, 1e6, 1e200])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("separable", [False, True])
def test_agrees_with_scikit_learn(scale, weighted, separable):
    scores, y, rng = overlapping(0)
    y = (scores > 0.2).astype(int) if separable else y
    weights = rng.uniform(0.1, 3, len(y)) if weighted else None
    if weighted:  # scikit-learn takes the scale of weights for a number of rows: give it Kish's
        weights *= weights.sum() / (weights @ weights)
    theirs = _SigmoidCalibration().fit(scores * scale, y, weights)
    ours = Platt().fit(scores * scale, y, weights)
    new = rng.normal(size=100) * scale
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-6)


def test_gradient_vanishes_at_platts_targets():
    scores, y, _ = overlapping(1)
    platt = Platt().fit(scores, y)
    positive = y.sum()
    negative = len(y) - positive
    targets = np.where(y, (positive + 1) / (positive + 2), 1 / (negative + 2))
    residual = platt.predict(scores) - targets
    np.testing.assert_allclose([residual.sum(), residual @ scores], 0, atol=1e-9)


@pytest.mark.parametrize(("scale", "shift"), [(1e-300, 0), (1e300, 0), (1, 1e6), (-1, 0)])
def test_scale_and_shift_of_the_scores_do_not_matter(scale, shift):
    scores, y, _ = overlapping(2)
    p = Platt().fit(scores, y).predict(scores)
    moved = scale * scores + shift
    np.testing.assert_allclose(Platt().fit(moved, y).predict(moved), p, atol=1e-9)


def test_separable_data_stay_off_0_and_1():
    platt = Platt().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    p = platt.predict([-2, -1, 1, 2])
    assert np.isfinite([platt.A_, platt.B_]).all()
    np.testing.assert_allclose(p.mean(), (2 * 1 / 4 + 2 * 3 / 4) / 4)
    assert ((p > 0.1) & (p < 0.9)).all()


def votes(seed, trees=40, n=300):
    """Shares of votes, some of them 0 and 1, and labels that go with them."""
    rng = np.random.default_rng(seed)
    scores = rng.binomial(trees, rng.beta(0.4, 0.4, n)) / trees
    assert {0, 1 / trees, 1} <= set(scores.tolist())
    return scores, (rng.random(n) < scores).astype(int)


def test_on_log_odds_it_is_scikit_learns_sigmoid_of_the_log_odds():
    margins, y, rng = overlapping(3)
    new = rng.normal(size=100)
    theirs = _SigmoidCalibration().fit(margins, y)
    ours = Platt(on="log-odds", clip=2.3e-16).fit(expit(margins), y)
    np.testing.assert_allclose(ours.predict(expit(new)), theirs.predict(new), atol=1e-6)


def test_votes_of_0_and_1_are_half_a_vote_away_from_them():
    scores, y = votes(0)
    inside = np.where(scores == 0, 1 / 80, np.where(scores == 1, 79 / 80, scores))
    theirs = _SigmoidCalibration().fit(logit(inside), y)
    np.testing.assert_allclose(
        Platt(on="log-odds").fit(scores, y).predict(scores), theirs.predict(logit(inside)), atol=1e-6
    )


def test_a_first_unanimous_vote_is_just_beyond_all_that_were_seen():
    """No vote of 0 calibrated: at ln 2.2e-16 one would be beyond all measure."""
    scores, y = votes(0)
    inside = (scores > 0) & (scores < 1)
    platt = Platt(on="log-odds").fit(scores[inside], y[inside])
    theirs = _SigmoidCalibration().fit(logit(scores[inside]), y[inside])
    np.testing.assert_allclose(platt.predict([0, 1]), theirs.predict(logit([1 / 80, 79 / 80])), atol=1e-6)


@pytest.mark.parametrize("on", ["score", "log-odds"])
def test_scores_keep_their_order_and_ties_stay_ties(on):
    scores, y = votes(1)
    p = Platt(on=on).fit(scores, y).predict(scores)
    order = np.argsort(scores, kind="stable")
    assert ((np.diff(p[order]) > 0) == (np.diff(scores[order]) > 0)).all()


def test_on_log_odds_whole_weights_are_repetitions_and_zero_weights_absence():
    scores, y = votes(2)
    scores[(scores == 1 / 40) | (scores == 39 / 40)] = 2 / 40
    scores[0] = 1 / 40  # the only one that near: absent, it no longer sets how near 0 may come
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weights[0] = 0
    weighted = Platt(on="log-odds").fit(scores, y, weights)
    repeated = Platt(on="log-odds").fit(np.repeat(scores, weights), np.repeat(y, weights))
    assert weighted.clip_ == repeated.clip_ == pytest.approx(1 / 40)
    np.testing.assert_allclose(weighted.predict(scores), repeated.predict(scores), atol=1e-9)


def test_log_odds_of_what_is_no_probability_are_refused():
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        Platt(on="log-odds").fit([-1.0, 0.5], [0, 1])


@pytest.mark.parametrize("calibrator", [Platt(), Platt(on="score"), Platt(on="log-odds"), Logistic()])
@pytest.mark.parametrize("turned", [False, True])
def test_a_line_that_falls_and_so_reverses_the_order_of_the_rows_is_said(calibrator, turned):
    scores, y, _ = overlapping(3)
    p = expit(-scores if turned else scores)
    fitted = calibrator.fit(p, y)
    falls = bool(np.all(np.diff(fitted.predict([0.2, 0.5, 0.8])) < 0))
    assert falls == turned
    assert any("reverses the ranking" in note for note in fitted.notes_) == turned


@pytest.mark.parametrize("calibrator", [Platt(), Logistic()])
def test_a_level_line_reverses_nothing(calibrator):
    assert not any("reverses" in note for note in calibrator.fit([0.2, 0.8, 0.2, 0.8], [0, 1, 1, 0]).notes_)


@pytest.mark.parametrize(("end", "clipped"), [(0.2, True), (0.0, False), (1.0, False)])
def test_scores_of_a_decision_function_are_clipped_at_rounding_only_if_none_is_certain(end, clipped):
    platt = Platt()
    platt.adapt(np.array([0.3, end, 0.7]), probability=True, decides=True)
    assert (platt.clip is not None) == clipped
