"""The fit of softmax(W z + b): where the exact method overflows, the iterative one finds the same minimum."""

import numpy as np
import pytest
import scipy

from calib.calibrators import CALIBRATORS
from calib.kernel import softmax
from calib.kernel.softmax import fit_softmax

RNG = np.random.default_rng(0)
P = RNG.dirichlet([1.0, 2.0, 0.5], 300)
Y = np.array([RNG.choice(3, p=row) for row in P])
DEPENDENT = np.log(P) - np.log(P).mean(axis=1, keepdims=True)  # logits that sum to 0


def without_the_exact_method(monkeypatch):
    used, whole = [], softmax.minimize

    def minimize(*args, method, **options):
        used.append(method)
        if method == "trust-exact":
            raise OverflowError
        return whole(*args, method=method, **options)

    monkeypatch.setattr(softmax, "minimize", minimize)
    return used


@pytest.mark.parametrize(("penalty", "of_intercepts"), [(None, 0.0), (np.full((3, 3), 0.1), 0.01)])
def test_both_methods_end_at_one_minimum(monkeypatch, penalty, of_intercepts):
    given = np.log(P) * 2, Y, np.ones(300)
    exact = fit_softmax(*given, penalty=penalty, intercept_penalty=of_intercepts)
    used = without_the_exact_method(monkeypatch)
    other = fit_softmax(*given, penalty=penalty, intercept_penalty=of_intercepts)
    assert used == ["trust-exact", "trust-ncg"]
    np.testing.assert_allclose(other.weights, exact.weights, atol=1e-5)
    np.testing.assert_allclose(other.intercepts, exact.intercepts, atol=1e-5)
    assert other.bounded is exact.bounded is False


@pytest.mark.parametrize("kind", [softmax._Diagonal, softmax._Full])
@pytest.mark.parametrize("ridge", [np.zeros((3, 4)), np.full((3, 4), 0.1)], ids=["free", "penalised"])
def test_the_derivatives_are_those_of_the_objective(kind, ridge):
    problem = kind(np.log(P), Y, np.full(len(Y), 1 / len(Y)), ridge)
    rng = np.random.default_rng(1)
    x, direction = rng.normal(size=(2, np.prod(problem.shape)))
    step = 1e-5 * direction
    rise = (problem.objective(x + step) - problem.objective(x - step)) / 2e-5
    assert problem.gradient(x) @ direction == pytest.approx(rise, rel=1e-6)
    turn = (problem.gradient(x + step) - problem.gradient(x - step)) / 2e-5
    np.testing.assert_allclose(problem.curvature(x, direction), turn, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(problem.hessian(x) @ direction, turn, rtol=1e-5, atol=1e-8)


def test_dirichlet_calibration_predicts_the_same_after_an_overflow(monkeypatch):
    exact = CALIBRATORS["dirichlet"]().fit(P, Y).predict(P)
    used = without_the_exact_method(monkeypatch)
    np.testing.assert_allclose(CALIBRATORS["dirichlet"]().fit(P, Y).predict(P), exact, atol=1e-5)
    assert "trust-ncg" in used


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize(("logits", "units"), [(np.log(P), [1e-3, 1, 1e3]), (DEPENDENT, 1e4)])
def test_probabilities_are_the_same_in_any_unit_of_the_logits(logits, units, diagonal):
    found = []
    for z in (logits, logits * units):
        fit = fit_softmax(z, Y, np.ones(300), diagonal=diagonal)
        found.append(scipy.special.softmax(z @ fit.weights.T + fit.intercepts, axis=1))
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
