import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from calib.calibrators import Beta
from calib.kernel.likelihood import log_loss_sum
from tests.saying import assert_says
from tests.vectors import vector


def best_under_the_signs(scores, y):
    """Least log loss over a, b >= 0 and c by a general optimiser, from several starts."""
    columns = np.column_stack([np.log(scores), -np.log(1 - scores), np.ones(len(y))])
    runs = [
        minimize(
            lambda beta: log_loss_sum(columns @ beta, y, np.ones(len(y))),
            start,
            jac=lambda beta: columns.T @ (expit(columns @ beta) - y),
            bounds=[(0, None), (0, None), (None, None)],
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
        )
        for start in ([1, 1, 0], [0, 0, 0], [3, 0, 0], [0, 3, 0])
    ]
    return min(run.fun for run in runs)


def test_reference_vector():
    case = vector("beta_abm")
    beta = Beta().fit(case["scores"], case["labels"])
    np.testing.assert_allclose([beta.a_, beta.b_, beta.c_], [case["a"], case["b"], case["c"]], atol=1e-10)
    np.testing.assert_allclose(beta.predict(case["test_scores"]), case["p"], atol=1e-10)


def test_reference_vector_with_a_dropped_coefficient():
    case = vector("beta_abm_constrained")
    beta = Beta().fit(case["scores"], case["labels"])
    assert beta.b_ == 0
    np.testing.assert_allclose([beta.a_, beta.c_], case["exact_a_c_with_b0"], atol=1e-10)
    np.testing.assert_allclose(beta.predict(case["test_scores"]), case["betacal_p"], atol=2e-5)


@pytest.mark.parametrize("seed", range(12))
def test_likelihood_is_the_highest_under_the_signs(seed):
    """Small samples of all kinds, reversed ones too: the coefficients are inside, on an edge, and at the corner."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, 40)
    chance = [scores, 1 - scores, np.full(40, 0.4), scores**3][seed % 4]
    y = (rng.random(40) < chance).astype(int)
    beta = Beta().fit(scores, y)
    assert beta.a_ >= 0
    assert beta.b_ >= 0
    p = beta.predict(scores)
    loss = -np.log(np.where(y, p, 1 - p)).sum()
    assert loss == pytest.approx(best_under_the_signs(scores, y), abs=1e-7)


def test_every_case_of_dropping_occurs_in_the_test_above():
    kinds = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scores = rng.uniform(0.02, 0.98, 40)
        chance = [scores, 1 - scores, np.full(40, 0.4), scores**3][seed % 4]
        beta = Beta().fit(scores, (rng.random(40) < chance).astype(int))
        kinds.add((beta.a_ > 0, beta.b_ > 0))
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}


def test_calibrated_probabilities_stay_as_they_are():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    beta = Beta().fit(p, (rng.random(200_000) < p).astype(int))
    np.testing.assert_allclose([beta.a_, beta.b_, beta.c_], [1, 1, 0], atol=0.03)


@pytest.mark.parametrize(
    ("scores", "y"),
    [
        ([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], [0, 0, 0, 1, 1, 1]),
        ([0.2, 0.2, 0.5, 0.5, 0.9, 0.9], [0, 0, 0, 1, 1, 1]),
    ],
)
def test_separable_data_are_bounded_and_said_so(scores, y):
    beta = Beta().fit(scores, y)
    assert beta.bounded_
    assert "no maximum" in beta.notes_[0]
    assert np.isfinite([beta.a_, beta.b_, beta.c_]).all()
    p = beta.predict(scores)
    np.testing.assert_allclose(p[[0, -1]], [0, 1], atol=1e-9)
    np.testing.assert_allclose(p.sum(), sum(y), atol=1e-9)


def test_overlapping_data_are_not_bounded():
    beta = Beta().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    assert not beta.bounded_
    assert beta.notes_ == ()


def test_clipped_scores_are_counted():
    beta = Beta().fit([0, 0, 0.5, 0.5, 1, 1, 1], [0, 1, 0, 1, 1, 1, 0])
    assert beta.n_clipped_ == 5
    assert_says(beta.notes_[0], "5 calibration scores", "0 or 1")
    assert ((beta.predict([0, 1]) > 0) & (beta.predict([0, 1]) < 1)).all()


def test_constant_scores_and_one_class_give_the_class_frequency():
    assert Beta().fit([0.3] * 5, [0, 0, 0, 0, 1]).predict([0.3, 0.9]) == pytest.approx([0.2, 0.2])
    assert Beta().fit([0.3] * 5, [0, 0, 0, 0, 1]).c_ == pytest.approx(logit(0.2))
    assert Beta().fit([0.1, 0.9], [1, 1]).predict([0.5]).tolist() == [1.0]
    assert Beta().fit([0.1, 0.9], [0, 0]).predict([0.5]).tolist() == [0.0]
