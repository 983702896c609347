"""Automatic calibration is the weighted mean of its candidates' log-odds, and the rows that it holds out decide."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import expit, logit

from calib.calibrators import Auto, Platt, VennAbers
from calib.calibrators.auto import CURVES_WEIGHED, PENALTIES, ClassSteps, _folds
from calib.calibrators.platt import half_step, platt_targets
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.likelihood import LEAST_WEIGHT
from calib.metrics import brier_score, log_loss
from tests.saying import assert_says

OWN, LINE, STIFF, FLEXIBLE, STEPS = range(5)


def drawn(n, seed=0, truth=lambda s: s):
    rng = np.random.default_rng(seed)
    scores = expit(rng.normal(0, 2, n))
    return scores, (rng.random(n) < truth(scores)).astype(int)


def best_curve(knots, x, y, penalty):
    """Values at the knots of the curve with the least penalised loss, by a general optimiser."""
    positive, negative = platt_targets(y.sum(), len(y))
    targets = np.where(y == 1, positive, negative)
    columns = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    second = columns.derivative(2)
    rough = np.array(
        [
            [
                sum(
                    quad(lambda t, i=i, j=j: second(t)[i] * second(t)[j], a, b)[0] for a, b in pairwise(knots)
                )
                for j in range(len(knots))
            ]
            for i in range(len(knots))
        ]
    )
    design = columns(x)

    def loss(values):
        f = design @ values
        gradient = design.T @ (expit(f) - targets) / len(f) + penalty * rough @ values
        return np.mean(np.logaddexp(0, f) - targets * f) + penalty / 2 * values @ rough @ values, gradient

    return minimize(loss, np.zeros(len(knots)), jac=True, method="BFGS", options={"gtol": 1e-9}).x


def test_it_is_the_weighted_mean_of_candidates_that_are_fitted_by_other_means():
    scores, y = drawn(300, truth=lambda s: s**2)
    auto, x = Auto().fit(scores, y), logit(scores)
    scale = x.std()
    knots = auto.knots_ / scale
    curves = [x]
    curves.append(logit(Platt(on="log-odds").fit(scores, y).predict(scores)))
    for penalty in PENALTIES[1:]:
        values = best_curve(knots, x / scale, y, penalty)
        curves.append(CubicSpline(knots, values, bc_type="natural")(x / scale))
    curves.append(logit(VennAbers().fit(scores, y).predict(scores)))
    mixed = np.column_stack(curves) @ auto.weights_
    assert logit(auto.predict(scores)) == pytest.approx(mixed, abs=2e-3)
    assert (auto.weights_ >= 0).all()
    assert auto.weights_.sum() == pytest.approx(1)


def test_each_row_is_held_out_once_and_its_label_does_not_decide_where():
    """Folds in turn along each class's scores would tell a flexible curve the labels that it does not see."""
    scores, y = drawn(400)
    for labels in (y, np.repeat([0, 1], 200)):
        tied = pool_ties(scores, labels)
        folds = list(_folds(tied))
        assert sum(held.weights for _, held in folds) == pytest.approx(tied.weights)
        assert sum(held.sums for _, held in folds) == pytest.approx(tied.sums)
        for learn, held in folds:
            assert (learn.weights + held.weights == tied.weights).all()
            assert (held.sums <= held.weights).all()
    unrelated = [
        Auto().fit(drawn(2000, seed)[0], np.random.default_rng(seed).integers(0, 2, 2000)).losses_
        for seed in range(5)
    ]
    assert np.mean([losses[STEPS] - losses[LINE] for losses in unrelated]) > 0.001


@pytest.mark.parametrize(
    ("truth", "best", "poor"),
    [
        (lambda s: s, OWN, STEPS),
        (lambda s: expit(0.7 + 0.5 * logit(s)), LINE, OWN),
        (lambda s: 0.2 + 0.6 * (s > 0.37), STEPS, LINE),
    ],
)
def test_the_candidate_that_is_right_has_the_lowest_held_out_loss(truth, best, poor):
    auto = Auto().fit(*drawn(20_000, 1, truth))
    assert auto.losses_[best] <= auto.losses_[:-1].min() + 1e-4
    assert auto.weights_[best] > auto.weights_[poor]
    assert auto.weights_[poor] < 0.1


@pytest.mark.parametrize("n", [50, 150, 500, 2000, 10_000])
def test_it_loses_little_against_the_best_of_its_candidates(n):
    """Mean over truths and seeds: no more than the best single method, by both losses (docs/results.md)."""
    truths = [
        lambda s: s,
        lambda s: expit(-0.5 + 0.6 * logit(s)),
        lambda s: s**2,
        lambda s: np.clip(np.round(s * 5) / 5, 0.03, 0.97),
    ]
    found = {"auto": [], "platt": [], "venn_abers": []}
    for truth in truths:
        for seed in range(6 if n < 5000 else 2):
            scores, y = drawn(n, seed, truth)
            at = np.linspace(0.01, 0.99, 197)
            p = truth(at)
            methods = {"auto": Auto(), "platt": Platt(on="log-odds"), "venn_abers": VennAbers()}
            for key, method in methods.items():
                q = method.fit(scores, y).predict(at)
                cross = -(p * np.log(q) + (1 - p) * np.log1p(-q))
                found[key].append([cross.mean(), ((p - q) ** 2).mean()])
    means = {key: np.mean(each, axis=0) for key, each in found.items()}
    assert (means["auto"] < np.minimum(means["platt"], means["venn_abers"]) + 0.0015).all(), means


def test_votes_of_ten_and_seven_values_get_their_frequencies():
    rng = np.random.default_rng(0)
    for values in (np.arange(11) / 10, np.linspace(0.1, 0.9, 7)):
        truth = rng.permutation(np.linspace(0.05, 0.95, len(values)))
        scores = np.repeat(values, 20_000)
        y = (rng.random(len(scores)) < np.repeat(np.sort(truth) ** 2, 20_000)).astype(int)
        frequencies = y.reshape(len(values), -1).mean(axis=1)
        assert Auto().fit(scores, y).predict(values) == pytest.approx(frequencies, abs=0.01)


def test_scores_of_0_and_1_and_separated_classes_stay_finite():
    scores, y = np.repeat([0.0, 0.2, 0.8, 1.0], 10), np.repeat([0, 0, 1, 1], 10)
    p = Auto().fit(scores, y).predict([0.0, 0.2, 0.5, 0.8, 1.0])
    assert ((p > 0.001) & (p < 0.999)).all()
    assert (np.diff(p) >= 0).all()
    close = np.array([1e-300, 2e-300, 3e-300, 4e-300])  # clipped to one value
    assert Auto().fit(close, [0, 1, 0, 1]).predict(close) == pytest.approx([0.5] * 4)


@pytest.mark.parametrize("rows", [1, 200])
def test_rows_that_all_fall_into_one_fold_give_equal_weights(rows):
    """Weighted rows with equal scores and labels are held out together: none would be left to learn from."""
    scores, weights = np.repeat([0.1, 0.2], rows), np.random.default_rng(0).gamma(1, size=2 * rows)
    auto = Auto().fit(scores, scores > 0.15, weights)
    assert auto.weights_ == pytest.approx([0.2] * 5)
    assert np.isnan(auto.losses_).all()
    assert not any("held-out" in note for note in auto.notes_)
    low, high = auto.predict([0.1, 0.2])
    assert 0 < low < 0.5 < high < 1


def test_small_weights_are_left_out_and_the_notes_name_the_rest_with_their_weights_and_losses():
    auto = Auto().fit(*drawn(20_000, 1, lambda s: 0.2 + 0.6 * (s > 0.37)))
    assert ((auto.weights_ == 0) | (auto.weights_ >= LEAST_WEIGHT)).all()
    mixture, losses = auto.notes_[:2]
    for name, weight in zip(CURVES_WEIGHED, auto.weights_, strict=True):
        assert (name in mixture) == (weight > 0)
    largest = CURVES_WEIGHED[int(auto.weights_.argmax())]
    assert_says(mixture, f"{largest} {100 * auto.weights_.max():.0f} %")
    assert_says(losses, f"{auto.losses_[-1]:.3f}", CURVES_WEIGHED[int(auto.losses_[:-1].argmin())])


def test_a_fall_is_noted_where_it_is():
    scores, y = drawn(5000, 2, lambda s: 0.2 + 0.6 * (np.abs(s - 0.5) > 0.3))
    auto = Auto().fit(scores, y)
    (note,) = [note for note in auto.notes_ if "falls" in note]
    at = np.unique(scores)
    p = auto.predict(at)
    low = int(np.argmax(np.maximum.accumulate(p) - p))
    assert_says(note, f"to {at[low]:.4f}", "lower probabilities")
    steady = Auto().fit(*drawn(5000, 3, lambda s: s**2))
    assert (np.diff(steady.predict(np.unique(drawn(5000, 3)[0]))) >= -1e-6).all() or "falls" in steady.notes_[
        -1
    ]


def test_losses_are_those_of_fresh_rows():
    scores, y = drawn(20_000, 3, lambda s: s**1.5)
    auto = Auto().fit(scores[:5000], y[:5000])
    p = auto.predict(scores[5000:])
    assert auto.losses_[-1] == pytest.approx(log_loss(y[5000:], p), abs=0.02)
    assert brier_score(y[5000:], p) < brier_score(y[5000:], scores[5000:])


def test_the_clip_is_half_a_step():
    scores, y = drawn(100)
    assert Auto().fit(scores, y).clip_ == half_step(scores)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda classes: classes.pop(), "classes must contain 3 step functions"),
        (lambda classes: classes[2]["steps"].append(0.5), "steps must contain 2"),
        (lambda classes: classes[1]["steps"].__setitem__(0, -0.1), "classes must contain probabilities"),
        (lambda classes: classes[1]["steps"].__setitem__(1, 1.1), "classes must contain probabilities"),
    ],
)
def test_a_file_of_steps_has_one_step_function_of_probabilities_per_class(change, words):
    file = {"present": [0, 1, 2], "classes": [{"breaks": [0.5], "steps": [0.0, 1.0]} for _ in range(3)]}
    read = ClassSteps.from_map(Fields(file, "The file"), 3)
    assert read.predict([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3]]).tolist() == [[1, 0, 0], [1 / 3] * 3]
    change(file["classes"])
    with pytest.raises(InputError, match=words):
        ClassSteps.from_map(Fields(file, "The file"), 3)
