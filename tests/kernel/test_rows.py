"""One record of weighted rows: standard errors by the textbook, counts as repeated rows, clusters as single draws."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import sem, t

from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.rows import ALIKE, Rows
from calib.splits import RowInfo

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=40)
Y = RNG.integers(0, 2, 40)


def test_the_standard_error_of_independent_rows_is_the_textbooks():
    assert Rows(Y).standard_error(VALUES) == pytest.approx(sem(VALUES))
    assert Rows(Y).quantile(0.95) == pytest.approx(NormalDist().inv_cdf(0.975))


def test_counts_are_repeated_rows_and_their_clusters_too():
    counts, whose = RNG.integers(1, 5, 40), np.arange(40) // 4
    one = Rows(Y, weight=counts.astype(float))
    assert one.standard_error(VALUES) == pytest.approx(sem(np.repeat(VALUES, counts)))
    assert one.size == counts.sum()
    clustered = Rows(Y, weight=counts.astype(float), cluster=whose)
    again = Rows(np.repeat(Y, counts), cluster=np.repeat(whose, counts))
    assert clustered.standard_error(VALUES) == pytest.approx(again.standard_error(np.repeat(VALUES, counts)))
    assert clustered.quantile(0.95) == pytest.approx(again.quantile(0.95))


def test_clusters_of_one_size_are_their_means():
    whose = np.repeat(np.arange(8), 5)
    assert Rows(Y, cluster=whose + 100).standard_error(VALUES) == pytest.approx(
        sem(VALUES.reshape(8, 5).mean(axis=1))
    )
    assert Rows(Y, cluster=whose).quantile(0.95) == pytest.approx(t.ppf(0.975, 7))
    assert np.isnan(Rows(Y, cluster=np.zeros(40)).standard_error(VALUES))


def test_a_covariance_is_numpys_of_the_means():
    table = RNG.normal(size=(40, 3))
    np.testing.assert_allclose(Rows(Y).covariance(table), np.cov(table.T) / 40)


def test_real_weights_are_checked_rescaled_and_rows_without_weight_left_out():
    weights = np.r_[0.0, RNG.random(39)]
    one, (p,) = Rows.checked(Y, VALUES, sample_weight=weights)
    other, _ = Rows.checked(Y, VALUES, sample_weight=250.3 * weights)
    assert one.n == 39
    np.testing.assert_array_equal(p, VALUES[1:])
    np.testing.assert_allclose(one.weights, other.weights)
    assert one.effective_size == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    with pytest.raises(InputError, match="Lengths differ"):
        Rows.checked(Y, cluster=[1, 2])


def test_predictions_and_what_a_split_knows_are_such_rows():
    predictions = Predictions(Y, VALUES, cluster=np.arange(40))
    assert predictions.of(Y == 1).cluster.tolist() == np.flatnonzero(Y).tolist()
    info = RowInfo(Y, np.arange(40), weight=np.full(40, 2.0))
    assert info.take(np.array([3, 1])).time.tolist() == [3, 1]
    assert info.take(np.array([3, 1]), np.ones(2)).size == 2


def unequal(seed, clusters=7):
    """(counts, clusters, values) of 80 rows in clusters of very different sizes."""
    rng = np.random.default_rng(seed)
    whose = rng.choice(clusters, 80, p=rng.dirichlet(np.full(clusters, 0.7)))
    return rng.integers(1, 4, 80).astype(float), whose, rng.normal(size=80)


@pytest.mark.parametrize("seed", range(4))
def test_the_variance_of_clustered_rows_is_that_of_leaving_out_one_cluster_after_another(seed):
    counts, whose, values = unequal(seed)
    left_out = np.array(
        [np.average(values[whose != g], weights=counts[whose != g]) for g in np.unique(whose)]
    )
    squares = (left_out - np.average(values, weights=counts)) ** 2
    rows = Rows(np.zeros(80, int), weight=counts, cluster=whose)
    assert rows.standard_error(values) ** 2 == pytest.approx(
        (len(squares) - 1) / len(squares) * squares.sum()
    )


@pytest.mark.parametrize("seed", range(4))
def test_degrees_of_freedom_are_satterthwaites_of_the_quadratic_form(seed):
    """The variance's matrix and the working covariance, written out; draws of normal sums agree with its moments."""
    counts, whose, _ = unequal(seed)
    numbers = np.unique(whose, return_inverse=True)[1]
    n = np.bincount(numbers, counts)
    share = n / n.sum()
    residual = np.eye(len(n)) - np.outer(share, np.ones(len(n)))
    form = residual.T @ np.diag((1 - share) ** -2.0) @ residual
    variances = (1 - ALIKE) * n + ALIKE * n**2
    product = form @ np.diag(variances)
    freedom = Rows(np.zeros(80, int), weight=counts, cluster=whose).effective_freedom
    assert freedom == pytest.approx(np.trace(product) ** 2 / np.trace(product @ product))
    sums = np.random.default_rng(seed).normal(size=(200_000, len(n))) * np.sqrt(variances)
    drawn = np.einsum("ij,jk,ik->i", sums, form, sums)
    assert freedom == pytest.approx(2 * drawn.mean() ** 2 / drawn.var(), rel=0.05)


def test_equal_values_of_all_clusters_are_not_skewed():
    assert Rows(Y, cluster=np.arange(40) // 4).skewness(np.full(40, 0.25)) == 0
