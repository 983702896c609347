"""Gaussian mixtures, held against SciPy's densities and simulation; the sizes of the calibration-size sweep."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calib.kernel.checks import InputError
from calib.synthetic import CALIBRATION_SHARES, GaussianMixturePair, GaussianPair, size_sweep


def test_the_posterior_is_bayes_rule_on_the_mean_of_scipys_densities():
    rng = np.random.default_rng(0)
    means0, means1 = rng.uniform(0, 5, (3, 2)), rng.uniform(0, 5, (2, 2))
    covs0, covs1 = [1, [1, 2], [[2, 0.3], [0.3, 1]]], [[0.5, 0.7], 3]
    X = rng.uniform(-2, 7, (300, 2))
    f0, f1 = (
        np.mean([stats.multivariate_normal(m, c).pdf(X) for m, c in zip(means, covs, strict=True)], axis=0)
        for means, covs in ((means0, covs0), (means1, covs1))
    )
    pair = GaussianMixturePair(means0, covs0, means1, covs1)
    np.testing.assert_allclose(pair.posterior(X), f1 / (f0 + f1), rtol=1e-9)


def test_one_cluster_a_class_is_a_gaussian_pair():
    rng = np.random.default_rng(1)
    m0, m1, v0, v1 = rng.uniform(1, 2, (4, 3))
    X = rng.uniform(0, 3, (50, 3))
    mixture = GaussianMixturePair([m0], [v0], [m1], [v1])
    np.testing.assert_allclose(mixture.posterior(X), GaussianPair(m0, v0, m1, v1).posterior(X))


def test_random_mixtures_are_drawn_as_the_paper_says():
    pair = GaussianMixturePair.random(0)
    for means, covs in ((pair.means0, pair.covs0), (pair.means1, pair.covs1)):
        assert means.shape == (4, 2)
        assert ((means >= 0) & (means < 20)).all()
        variances = np.diagonal(covs, axis1=1, axis2=2)
        assert ((variances >= 1) & (variances < 5)).all()
        assert np.count_nonzero(covs) == variances.size


def test_clusters_are_equally_likely_and_keep_their_shape():
    pair = GaussianMixturePair([[0, 0], [100, 0]], [[1, 4], [[2, 1], [1, 3]]], [[0, 100]], [1])
    data = pair.sample(80_000, 0)
    zero = data.X.to_numpy()[data.y == 0]
    right = zero[:, 0] > 50
    assert right.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(40_000))
    np.testing.assert_allclose(np.cov(zero[~right].T), [[1, 0], [0, 4]], atol=0.12)
    np.testing.assert_allclose(np.cov(zero[right].T), [[2, 1], [1, 3]], atol=0.12)


def test_the_share_of_class_1_is_the_posterior():
    data = GaussianMixturePair.random(3).sample(100_000, 4)
    group = np.minimum((data.posterior * 20).astype(int), 19)
    n = np.bincount(group, minlength=20)
    gap = np.bincount(group, weights=data.y - data.posterior, minlength=20)
    spread = np.sqrt(np.bincount(group, weights=data.posterior * (1 - data.posterior), minlength=20))
    assert (np.abs(gap[n > 50]) < 4 * spread[n > 50]).all()


def test_the_parts_of_the_sweep_are_one_sample_cut_in_three():
    sweep = size_sweep(random_state=7)
    rng = np.random.default_rng(7)
    whole = GaussianMixturePair.random(rng).sample(1700, rng)
    parts = (sweep.train, sweep.pool, sweep.test)
    assert [part.n for part in parts] == [800, 800, 100]
    pd.testing.assert_frame_equal(pd.concat([part.X for part in parts], ignore_index=True), whole.X)
    assert np.concatenate([part.y for part in parts]).tolist() == whole.y.tolist()
    assert np.concatenate([part.posterior for part in parts]).tolist() == whole.posterior.tolist()


def test_calibration_sets_grow_from_2_to_100_percent_and_hold_the_smaller_ones():
    sweep = size_sweep(random_state=0)
    assert (CALIBRATION_SHARES[0], CALIBRATION_SHARES[-1], len(CALIBRATION_SHARES)) == (0.02, 1.0, 50)
    sets = [sweep.calibration(share) for share in CALIBRATION_SHARES]
    assert [data.n for data in sets] == list(range(16, 801, 16))
    assert all((larger.y[: data.n] == data.y).all() for data, larger in pairwise(sets))
    assert sets[-1].digest == sweep.pool.digest


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GaussianMixturePair([[0, 0]], [1, 1], [[1, 1]], [1]), "means0 has 1, covs0 has 2"),
        (lambda: GaussianMixturePair([[0, 0]], [1], [[1]], [1]), r"means1 must have shape \(n, 2\)"),
        (lambda: GaussianMixturePair([[0, 0]], [1], [[1, 1]], [-1]), "covs1 must be a covariance matrix"),
        (lambda: GaussianMixturePair([0, 0], [1], [[1, 1]], [1]), "means0 must have shape"),
        (lambda: GaussianMixturePair.random(0, clusters=0), "clusters must be"),
        (lambda: size_sweep(0).calibration(0), "share must be"),
        (lambda: size_sweep(0).calibration(1.01), "share must be"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()
