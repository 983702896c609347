"""Gaussian pairs, held against SciPy's densities, the logistic closed form, numerical integration and simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

from calib.kernel.checks import InputError
from calib.synthetic import GaussianPair


def random_covariance(rng, d):
    A = rng.standard_normal((d, d))
    return A @ A.T + 0.5 * np.eye(d)


def bayes(pair, X):
    f0, f1 = (
        stats.multivariate_normal(m, c).pdf(X) for m, c in ((pair.mean0, pair.cov0), (pair.mean1, pair.cov1))
    )
    return f1 / (f0 + f1)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_posterior_is_bayes_rule_on_scipys_densities(d):
    rng = np.random.default_rng(d)
    pair = GaussianPair(rng.random(d), random_covariance(rng, d), rng.random(d), random_covariance(rng, d))
    X = 2 * rng.standard_normal((200, d))
    np.testing.assert_allclose(pair.posterior(X), bayes(pair, X).reshape(-1), rtol=1e-9)


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.2, 5), st.floats(-20, 20))
def test_with_equal_variances_the_posterior_is_logistic(m0, m1, variance, x):
    slope = (m1 - m0) / variance
    expected = expit(slope * (x - (m0 + m1) / 2))
    assert GaussianPair(m0, variance, m1, variance).posterior([[x]])[0] == pytest.approx(
        expected, rel=1e-9, abs=1e-300
    )


def test_far_out_the_posterior_is_certain_and_never_nan():
    p = GaussianPair(0, 1, 1, 1).posterior([[-1e6], [1e6]])
    assert p.tolist() == [0, 1]
    wide = GaussianPair(np.zeros(300), 1e-6, np.ones(300), 1e-6)  # densities far beyond what a float can hold
    assert wide.posterior(np.vstack([np.zeros(300), np.full(300, 0.5), np.ones(300)])).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("v0", "v1"), [(1, 1), (1, 4), (0.3, 2)])
def test_bhattacharyya_by_numerical_integration(v0, v1):
    f0, f1 = stats.norm(0.5, np.sqrt(v0)), stats.norm(2, np.sqrt(v1))
    coefficient = quad(lambda x: np.sqrt(f0.pdf(x) * f1.pdf(x)), -30, 30)[0]
    pair, turned = GaussianPair(0.5, v0, 2, v1), GaussianPair(2, v1, 0.5, v0)
    assert pair.bhattacharyya() == pytest.approx(-np.log(coefficient), rel=1e-7)
    assert turned.bhattacharyya() == pytest.approx(pair.bhattacharyya())


def test_bhattacharyya_adds_up_over_independent_features():
    rng = np.random.default_rng(0)
    m0, m1, v0, v1 = rng.uniform(1, 2, (4, 3))
    each = [GaussianPair(m0[i], v0[i], m1[i], v1[i]).bhattacharyya() for i in range(3)]
    assert GaussianPair(m0, v0, m1, v1).bhattacharyya() == pytest.approx(sum(each))
    assert GaussianPair(m0, v0, m0, v0).bhattacharyya() == 0


def test_a_number_variances_and_a_matrix_say_the_same():
    X = [[0.1, 2.0], [3.0, -1.0]]
    forms = (2.0, [2.0, 2.0], [[2.0, 0.0], [0.0, 2.0]])
    answers = [GaussianPair([0, 0], form, [1, 1], 1).posterior(X).tolist() for form in forms]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("d", [1, 2, 20])
def test_random_pairs_are_drawn_as_the_paper_says(d):
    for seed in range(20):
        equal, unequal = (GaussianPair.random(d, seed, equal_covariance=flag) for flag in (True, False))
        assert (equal.cov0 == equal.cov1).all()
        ranges = [
            (equal.mean1, 0, 1),
            (equal.mean0, 1, 3),
            (np.diag(equal.cov0), 1, 2),
            (np.diag(unequal.cov0), 1, 2),
            (np.diag(unequal.cov1), 4, 5),
        ]
        assert all((low <= values).all() and (values < high).all() for values, low, high in ranges)
        assert np.count_nonzero(unequal.cov1) == d
    separate = GaussianPair.variant("separate", 5, 0)
    assert not np.isclose(separate.cov0, separate.cov1)[np.eye(5, dtype=bool)].any()
    assert np.diag(separate.cov1).max() < 2


def test_the_same_seed_draws_the_same_pair_and_another_seed_another():
    one, same, other = (GaussianPair.random(3, seed) for seed in (1, 1, 2))
    assert (one.mean0 == same.mean0).all()
    assert (one.mean0 != other.mean0).all()


@pytest.mark.parametrize("n", [2, 7, 1000])
def test_half_of_the_rows_are_of_each_class_and_the_posterior_is_theirs(n):
    pair = GaussianPair([0, 0], [[2, 0.5], [0.5, 1]], [1, 2], 1)
    data = pair.sample(n, 3)
    assert np.bincount(data.y).tolist() == [n - n // 2, n // 2]
    assert list(data.X.columns) == ["x1", "x2"]
    np.testing.assert_allclose(data.posterior, bayes(pair, data.X.to_numpy()))
    assert data.digest == pair.sample(n, 3).digest
    assert data.digest != pair.sample(n, 4).digest


def test_rows_are_shuffled():
    y = GaussianPair.random(2, 0).sample(2000, 0).y
    changes = np.count_nonzero(np.diff(y))
    assert changes == pytest.approx(1000, abs=4 * np.sqrt(500))


def test_samples_have_the_means_and_covariances_asked_for():
    pair = GaussianPair([0, 5], [[2, 0.9], [0.9, 1]], [1, -1], [3, 0.5])
    data = pair.sample(200_000, 0)
    X = data.X.to_numpy()
    for label, mean, cov in ((0, pair.mean0, pair.cov0), (1, pair.mean1, pair.cov1)):
        np.testing.assert_allclose(X[data.y == label].mean(axis=0), mean, atol=0.03)
        np.testing.assert_allclose(np.cov(X[data.y == label].T), cov, atol=0.05)


@pytest.mark.parametrize("equal", [True, False])
def test_the_share_of_class_1_is_the_posterior(equal):
    data = GaussianPair.random(2, 1, equal_covariance=equal).sample(100_000, 2)
    group = np.minimum((data.posterior * 20).astype(int), 19)
    n = np.bincount(group, minlength=20)
    gap = np.bincount(group, weights=data.y - data.posterior, minlength=20)
    spread = np.sqrt(np.bincount(group, weights=data.posterior * (1 - data.posterior), minlength=20))
    assert (np.abs(gap[n > 50]) < 4 * spread[n > 50]).all()


def test_a_pair_does_not_change_with_the_arrays_it_was_made_of():
    mean, cov = np.zeros(2), np.eye(2)
    pair = GaussianPair(mean, cov, mean + 1, cov)
    before = pair.posterior([[1.0, 1.0]])
    mean += 5
    cov *= 3
    assert pair.posterior([[1.0, 1.0]]) == before


def test_a_data_frame_is_as_good_as_an_array():
    pair = GaussianPair.random(2, 0)
    X = np.array([[0.0, 1.0]])
    assert pair.posterior(pd.DataFrame(X, columns=["x1", "x2"])).tolist() == pair.posterior(X).tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GaussianPair([0, 0], 1, [1], 1), "mean0 has 2, mean1 has 1"),
        (lambda: GaussianPair([0, np.nan], 1, [1, 1], 1), "mean0 must be finite"),
        (
            lambda: GaussianPair([0, 0], [1, 2, 3], [1, 1], 1),
            r"cov0 must be a number, 2 variances or a \(2, 2\)",
        ),
        (lambda: GaussianPair([0, 0], 1, [1, 1], [[1, 2], [2, 1]]), "cov1 must be a covariance matrix"),
        (lambda: GaussianPair([0, 0], [[1, 0.5], [0, 1]], [1, 1], 1), "cov0 must be a covariance matrix"),
        (lambda: GaussianPair(0, -1, 1, 1), "cov0 must be a covariance matrix"),
        (lambda: GaussianPair(0, "wide", 1, 1), "cov0 must be numbers"),
        (lambda: GaussianPair.random(0, 0), "d must be a whole number of at least 1"),
        (
            lambda: GaussianPair.variant("same", 2, 0),
            "covariances must be one of 'equal', 'separate', 'unequal'",
        ),
        (lambda: GaussianPair.random(2, 0).posterior([[1.0]]), r"X must have shape \(n, 2\)"),
        (
            lambda: GaussianPair.random(2, 0).posterior([[1.0, np.nan]]),
            r"X must be finite.*at index \[0, 1\]",
        ),
        (lambda: GaussianPair.random(2, 0).sample(1, 0), "n must be a whole number of at least 2"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
