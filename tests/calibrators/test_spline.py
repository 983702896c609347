"""Spline calibration minimises the log loss plus the roughness of a natural cubic spline of the logit."""

from itertools import pairwise
from math import inf, nextafter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import expit, logit

from calib.calibrators.log_odds import CLIP
from calib.calibrators.platt import Platt
from calib.calibrators.spline import SPLINE_PENALTIES, NaturalSpline, Spline
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields
from tests.saying import assert_says


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = expit(rng.normal(0, 2, n))
    return scores, (rng.random(n) < expit(0.3 + 0.5 * logit(scores) + 0.1 * logit(scores) ** 2)).astype(int)


def objective(values, knots, x, y, penalty):
    """Mean log loss plus half the penalty times ∫f″², the integral taken numerically."""
    curve = CubicSpline(knots, values, bc_type="natural")
    rough = sum(quad(lambda t: curve(t, 2) ** 2, a, b)[0] for a, b in pairwise(knots))
    return np.mean(np.logaddexp(0, curve(x)) - y * curve(x)) + penalty / 2 * rough


@pytest.mark.parametrize("penalty", [1e-4, 0.01, 1.0])
def test_it_is_the_minimum_of_its_objective(penalty):
    scores, y = drawn(120)
    fitted = Spline(knots=6, penalty=penalty).fit(scores, y)
    given = (fitted.knots_, logit(scores), y, penalty)
    peer = minimize(objective, np.zeros(6), args=given, method="BFGS", options={"gtol": 1e-7})
    assert objective(fitted.values_, *given) <= peer.fun + 1e-9
    assert fitted.values_ == pytest.approx(peer.x, abs=2e-3)


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    spline = NaturalSpline(np.array([-3.0, -1.0, 0.5, 0.7, 2.0]))
    values = np.array([0.2, -1.0, 2.0, 1.5, 0.0])
    curve = CubicSpline(spline.knots, values, bc_type="natural")
    assert np.sum((spline.bend @ values) ** 2) == pytest.approx(
        sum(quad(lambda t: curve(t, 2) ** 2, a, b)[0] for a, b in pairwise(spline.knots))
    )


def test_beyond_the_knots_it_goes_on_straight_and_never_downhill():
    knots, values = np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 1.0, 0.0])
    spline = Spline()._with_learned(knots=knots, values=values, n_clipped=0, bounded=False)
    x = np.arange(-5.0, 6.0)
    found = logit(spline.predict(expit(x)))
    slope = CubicSpline([-1, 0, 1], [-1, 1, 0], bc_type="natural")(-1, 1)
    assert found[x <= -1] == pytest.approx(-1 + slope * (x[x <= -1] + 1))
    assert found[x >= 1] == pytest.approx(np.zeros(5), abs=1e-12)  # it falls at 1
    (note,) = spline._notes()
    assert_says(note, "falls", turn_of(spline), "lower probabilities")


def turn_of(spline):
    x = np.linspace(0, 0.999, 100_001)
    top = x[logit(spline.predict(expit(x))).argmax()]
    return f"from {expit(top):.4f} to {expit(1):.4f}"


def test_the_largest_penalty_leaves_a_straight_line_of_the_log_odds():
    scores, y = drawn(300)
    stiff = Spline(penalty=1e9).fit(scores, y)
    slopes = np.diff(logit(stiff.predict(expit(np.linspace(-4, 4, 9)))))
    assert slopes == pytest.approx(np.full(8, slopes[0]), abs=1e-5)
    line = Platt().fit(logit(scores), y)  # the same line but for Platt's targets
    assert slopes[0] == pytest.approx(-line.A_, rel=0.05)


def left_out_loss(spline, x, y, fold, penalty):
    """The log loss on each fold of a spline learned on the others, by a general optimiser."""
    total, columns, rough = 0.0, spline.columns(x), spline.bend.T @ spline.bend
    for held in range(5):
        seen, target = columns[fold != held], y[fold != held]

        def penalised(v, seen=seen, target=target):
            f = seen @ v
            loss = np.mean(np.logaddexp(0, f) - target * f) + penalty / 2 * v @ rough @ v
            return loss, seen.T @ (expit(f) - target) / len(f) + penalty * rough @ v

        best = minimize(penalised, np.zeros(len(rough)), jac=True, method="BFGS", options={"gtol": 1e-9})
        f = columns[fold == held] @ best.x
        total += np.sum(np.logaddexp(0, f) - y[fold == held] * f)
    return total


def test_cross_validation_takes_the_penalty_with_the_least_loss_left_out():
    scores, y = drawn(400, seed=3)
    chosen = Spline(knots=6).fit(scores, y)
    fold = np.argsort(np.argsort(scores)) % 5
    # Where a general optimiser can be trusted
    moderate = [penalty for penalty in SPLINE_PENALTIES if 1e-4 <= penalty <= 1]
    losses = [
        left_out_loss(NaturalSpline(chosen.knots_), logit(scores), y, fold, penalty) for penalty in moderate
    ]
    assert 0 < np.argmin(losses) < len(moderate) - 1
    assert chosen.penalty_ == moderate[int(np.argmin(losses))]


def test_it_comes_nearer_to_a_curved_truth_than_a_straight_line_does():
    scores, y = drawn(20_000)
    at = expit(np.linspace(-4, 4, 50))
    truth = expit(0.3 + 0.5 * logit(at) + 0.1 * logit(at) ** 2)
    spline = np.abs(Spline().fit(scores, y).predict(at) - truth).max()
    line = np.abs(Platt().fit(logit(scores), y).predict(logit(at)) - truth).max()
    assert spline < 0.05 < line


def test_two_scores_get_their_frequencies_and_the_line_through_them():
    fitted = Spline().fit([0.6] * 4 + [0.9] * 4, [0, 0, 0, 1, 0, 1, 1, 1])
    assert fitted.knots_ == pytest.approx(logit([0.6, 0.9]))
    assert fitted.values_ == pytest.approx(logit([0.25, 0.75]))
    at = np.array([0.3, 0.6, 0.75, 0.9, 0.99])
    line = np.polynomial.Polynomial.fit(fitted.knots_, fitted.values_, 1)
    assert logit(fitted.predict(at)) == pytest.approx(line(logit(at)))


@pytest.mark.parametrize(
    ("knots", "values", "beyond"),
    [
        ([0.0, 1.0], [0.0, 1e100], {"values": [0.0, nextafter(1e100, inf)]}),
        ([0.0, 1.0, 2.0], [0.0, -1e100, 0.0], {"values": [0.0, 0.0, -nextafter(1e100, inf)]}),
        ([0.0, 1e-17], [1.0, 0.0], {"knots": [0.0, nextafter(1e-17, 0)]}),
    ],
)
def test_the_steepest_curve_of_a_file_has_an_answer_for_every_score(knots, values, beyond):
    file = {"clip": CLIP, "knots": knots, "values": values}
    p = Spline.from_map(Fields(file, "The file")).predict(np.linspace(0, 1, 101))
    assert ((p >= 0) & (p <= 1)).all()
    with pytest.raises(InputError, match="values must have a finite slope"):
        Spline.from_map(Fields(file | beyond, "The file"))


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_few_rows_are_answered(n):
    p = Spline().fit(np.linspace(0.1, 0.9, n), np.arange(n) % 2).predict([0.05, 0.5, 0.95])
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()


def test_separated_classes_are_said_to_be_at_any_penalty():
    for penalty in (1e-6, 10.0, 52.0):
        for scores, y in (([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]), ([0.2, 0.5, 0.98], [0, 1, 1])):
            fitted = Spline(penalty=penalty).fit(scores, y)
            assert fitted.bounded_
            assert fitted.predict(scores) == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize("seed", [71, 105])
def test_many_separated_rows_are_said_to_be_beside_a_large_penalty(seed):
    scores = expit(np.random.default_rng(seed).normal(0, 2, 1000))
    y = (scores > np.median(scores)).astype(int)
    fitted = Spline().fit(scores, y)
    assert fitted.bounded_
    assert any("separate the classes" in note for note in fitted.notes_)
    assert fitted.predict(scores) == pytest.approx(y, abs=1e-6)


@pytest.mark.parametrize("near", [1e-16, 1e-12, 1e-7, 1e-5])
def test_scores_that_hardly_differ_are_fitted_as_one(near):
    """A forest's means of the same leaves differ by rounding; knots that near had left no numbers at all."""
    rng = np.random.default_rng(0)
    apart = np.array([0.2, 0.4, 0.5, 0.6, 0.8])
    scores = np.tile(np.concatenate([apart, apart + near]), 20)
    y = rng.random(len(scores)) < scores
    as_one = np.tile(np.concatenate([apart, apart]), 20)
    at = [0.1, 0.3, 0.5, 0.7, 0.9]
    for penalty in (0.01, 1.0):
        near_one, one = (Spline(penalty=penalty).fit(s, y).predict(at) for s in (scores, as_one))
        assert near_one == pytest.approx(one, abs=1e-3)
    assert np.isfinite(Spline().fit(scores, y).predict(at)).all()
