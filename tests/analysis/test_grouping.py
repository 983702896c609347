"""The grouping loss against its definition, true probabilities and another package's printed numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from calib.analysis import grouping
from calib.analysis.grouping import PARTITIONS, _around, _induced, _Parts, grouping_loss
from calib.kernel.checks import InputError
from scripts.grouping_rates import SHAPES, curved, one


def drawn(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"kind": rng.choice(list("ab"), rows), "size": rng.normal(size=rows)})
    p = rng.uniform(0.2, 0.8, rows)
    return (rng.random(rows) < p + 0.2 * np.where(table["kind"] == "a", 1, -1)).astype(int), p, table


def test_explained_and_bias_are_those_of_the_definition():
    y, p, table = drawn(400)
    place = np.minimum((p * 5).astype(int), 4)
    region = place * 2 + (table["kind"] == "a").to_numpy()
    region = np.unique(region, return_inverse=True)[1]
    found = _Parts.of(y, region, place, 5)
    explained = bias = 0.0
    for b in np.unique(place):
        here = place == b
        c, n_b, w_b = y[here].mean(), here.sum(), here.mean()
        for r in np.unique(region[here]):
            there = region == r
            mu, n_br = y[there].mean(), there.sum()
            explained += w_b * n_br / n_b * (mu - c) ** 2
            bias += w_b * n_br / n_b * mu * (1 - mu) / (n_br - 1)
        bias -= w_b * c * (1 - c) / (n_b - 1)
    assert found.explained == pytest.approx(explained)
    assert found.bias == pytest.approx(bias)


def test_explained_less_bias_has_no_bias_and_its_variance_at_the_true_value_is_its_spread():
    """2,000 draws of labels with known probabilities in four regions of two bins; the variance is a bit too large."""
    rng = np.random.default_rng(0)
    true = np.array([0.2, 0.5, 0.4, 0.9])
    place_of = np.array([0, 0, 1, 1])
    center = np.array([0.35, 0.65])[place_of]
    found = []
    for _ in range(2000):
        region = rng.integers(0, 4, 120)
        parts = _Parts.of((rng.random(120) < true[region]).astype(int), region, place_of[region], 2)
        found.append((parts.debiased, parts.slope, parts.rest))
    value, slope, rest = np.array(found).T
    whole = ((true - center) ** 2).mean()
    assert value.mean() == pytest.approx(whole, abs=4 * value.std() / 2000**0.5 + 3e-4)
    assert 0.95 < np.sqrt((slope * whole + rest).mean()) / value.std() < 1.2


@pytest.mark.parametrize(("explained", "bias"), [(0.02, 0.005), (0.004, 0.005), (0.001, 0.02), (0.3, 0.0)])
def test_the_interval_has_the_values_that_the_estimate_does_not_exclude_at_5_percent(explained, bias):
    """By trying 100,000 values: two-sided normal tests, each with the variance at the value that is tried."""
    parts = _Parts(explained, bias, slope=9e-4, rest=2e-5)
    tried = np.linspace(-0.05, 0.6, 100_001)
    variance = parts.slope * tried + parts.rest
    kept = tried[(variance > 0) & (2 * norm.sf(abs(explained - bias - tried) / np.sqrt(variance)) > 0.05)]
    low, high = parts.interval
    assert (low, high) == pytest.approx((kept.min(), kept.max()), abs=1e-5)


def test_the_bound_is_explained_less_bias_and_induced_and_the_interval_includes_it():
    found = grouping_loss(*drawn())
    assert found.lower == pytest.approx(found.explained - found.bias - found.induced)
    assert found.interval[0] <= found.lower <= found.interval[1]
    assert found.rows == 1000
    assert found.induced >= 0


@pytest.mark.parametrize(("edges", "equal"), [([0, 0.5, 1], 2), ([0, 0.1, 0.2, 0.9, 1], 10)])
def test_own_edges_give_what_equal_bins_give_that_hold_the_same_rows(edges, equal):
    """Of ten equal bins, three hold predictions; the others are empty."""
    y, _, table = drawn()
    p = np.random.default_rng(1).choice([0.05, 0.15, 0.95], len(y))
    own, few = grouping_loss(y, p, table, edges), grouping_loss(y, p, table, 1)
    assert vars(own) == vars(grouping_loss(y, p, table, equal))
    assert own.regions > few.regions


def test_a_group_whose_probabilities_are_off_by_a_fifth_costs_its_square():
    """Two halves, ± 0.2 from the prediction: a grouping loss of 0.04."""
    for partition in ("tree", "columns"):
        found = grouping_loss(*drawn(8000), partition=partition)
        assert found.interval[0] < 0.04 < found.interval[1]
        assert found.lower > 0.03
        assert found.p_value == pytest.approx(1.5 / 500)


def test_it_agrees_with_the_numbers_that_the_authors_package_prints(monkeypatch):
    """In their convention, twice ours: 0.0534 of a tree and 0.0099 of two clusters, from halves drawn otherwise.

    They print no seed: of 0 and 42, which were tried, 42 is nearer. Another seed moves the numbers by as much as 0.013.
    """
    X, y = make_classification(n_samples=20_000, random_state=42)
    p = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    monkeypatch.setattr(grouping, "CLUSTERS", (2,))
    tree, clusters = (grouping_loss(y, p, X, partition=each) for each in ("tree", "k-means"))
    assert 2 * tree.lower == pytest.approx(0.0534, abs=0.006)
    assert 0 <= 2 * tree.induced < 0.0008, "theirs; here the curve has been taken out before"
    assert 2 * clusters.lower == pytest.approx(0.0099, abs=0.003)


def test_on_gaussians_low_end_and_interval_hold_and_more_than_half_is_found():
    runs = np.array([one(seed, 4000, population=20_000) for seed in range(12)])
    whole, own, bound, low, high, _ = runs.T
    assert binom.sf(2, 12, 0.05) < 0.02
    assert (low > whole).sum() <= 2
    assert ((own < low) | (own > high)).sum() <= 2
    large = whole > 0.003
    assert np.median((bound / whole)[large]) > 0.5


@pytest.mark.soak
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("loss", [True, False])
def test_the_interval_in_many_tables(partition, loss):
    """100 tables; at 95 % fewer than 88 are right in 1 of 200 sets, and at 5 % more than 11 are wrong in 1 of 200."""
    assert max(binom.cdf(87, 100, 0.95), binom.sf(11, 100, 0.05)) < 0.005
    whole, own, _, low, high, p_value = np.array([one(seed, 4000, loss, partition) for seed in range(100)]).T
    assert (low <= whole).sum() >= 88
    assert ((low <= own) & (own <= high)).sum() >= 88
    if not loss:
        assert max((low > 0).sum(), (p_value <= 0.05).sum()) <= 11


def test_k_means_finds_more_than_half_with_more_clusters_than_two(monkeypatch):
    runs = {}
    for clusters in (grouping.CLUSTERS, (2,)):
        monkeypatch.setattr(grouping, "CLUSTERS", clusters)
        found = np.array([one(seed, 20_000, True, "k-means", 20_000) for seed in range(3)])
        runs[len(clusters)] = np.median(found[:, 2] / found[:, 0])
    assert runs[1] + 0.1 < runs[4]
    assert runs[4] > 0.6


def test_where_there_is_no_grouping_loss_none_is_claimed():
    runs = np.array([one(seed, 1000, loss=False, population=1000) for seed in range(12)])
    assert (runs[:, 3] > 0).sum() <= 2
    assert (runs[:, 5] <= 0.05).sum() <= 2


@pytest.mark.parametrize("shape", ["wavy", "stepped"])
def test_the_scores_own_curve_is_not_grouping_loss(shape):
    """Features know the score. A tree found a steep wave through them in 57 % of tables of 1,500 rows."""
    runs = np.array([curved(seed, 1500, shape, "tree") for seed in range(8)])
    assert (runs[:, 0] > 0).sum() <= 2
    assert binom.sf(2, 8, 0.57) > 0.9, "so many of the old bounds would fail"


@pytest.mark.soak
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_scores_own_curve_is_not_grouping_loss_in_many_tables(shape, partition):
    low = np.array([curved(seed, 1500, shape, partition)[0] for seed in range(60)])
    assert (low > 0).sum() <= 8, "more than 8 of 60 have a chance of 1 in 200 at 5 %"
    assert binom.sf(8, 60, 0.05) < 0.005


def test_the_mean_around_a_row_is_that_of_its_neighbours_without_itself():
    y = np.random.default_rng(0).random(40)
    for reach in (1, 7, 100):
        plain = [np.mean([*y[max(0, i - reach) : i], *y[i + 1 : i + 1 + reach]]) for i in range(40)]
        np.testing.assert_allclose(_around(y, reach), plain)


def test_the_induced_part_is_the_variance_of_a_curve_within_bins_whatever_its_shape():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(40_000))
    curve, place = 0.3 * np.sin(8 * np.pi * p), np.minimum((10 * p).astype(int), 9)
    true = sum(curve[place == b].var() * (place == b).mean() for b in range(10))
    found = _induced(curve + rng.normal(scale=0.4, size=len(p)), place, 10)
    assert found == pytest.approx(true, abs=4 * 0.4**2 / np.sqrt(40_000 * 400) + 0.06 * true)
    # by pairs, one by one, of few rows
    e, at = rng.normal(size=30), np.repeat([0, 1], [12, 18])
    parts = []
    for b in (0, 1):
        one = e[at == b]
        near = [one[i] * one[j] for i in range(len(one)) for j in range(i + 1, min(len(one), i + 6))]
        every = [one[i] * one[j] for i in range(len(one)) for j in range(len(one)) if i != j]
        parts.append(len(one) / 30 * (np.mean(near) - np.mean(every)))
    assert _induced(e, at, 2) == pytest.approx(max(0.0, sum(parts)))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_columns_of_any_type_and_missing_values_make_regions(partition):
    y, p, table = drawn(600)
    table["when"] = pd.date_range("2024-01-01", periods=600)
    table.loc[:50, "kind"] = None
    table.loc[50:90, "size"] = np.nan
    found = grouping_loss(y, p, table, partition=partition)
    assert 1 < found.regions < 600
    assert found.rows + found.dropped == 300


def test_the_answer_is_the_same_for_the_same_seed_and_the_input_stays():
    y, p, table = drawn(500)
    before = table.copy()
    assert grouping_loss(y, p, table).lower == grouping_loss(y, p, table).lower
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.full(2000, 2)}, "labels 0 and 1"),
        ({"p": np.full(2000, np.nan)}, "p must be finite"),
        ({"X": pd.DataFrame({"a": [1]})}, "Lengths differ"),
        ({"X": pd.DataFrame(index=range(2000))}, "no columns"),
        ({"bins": 0}, "bins"),
        ({"bins": 1001}, "bins must be a whole number from 1 to 1,?000"),
        ({"bins": [0.1, 1]}, "bins must be a whole number, or edges that increase from 0 to 1"),
        ({"partition": "forest"}, "partition must be one of 'tree', 'k-means', 'columns'"),
        ({"random_state": -1}, "random_state"),
        ({"y": [0, 1], "p": [0.1, 0.2], "X": [[1], [2]]}, "at least 100 rows"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    y, p, table = drawn()
    with pytest.raises(InputError, match=message):
        grouping_loss(**({"y": y, "p": p, "X": table} | change))
