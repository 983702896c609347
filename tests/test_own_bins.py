"""A number of bins may be edges instead; ``groups`` is scikit-learn's name of clusters."""

from itertools import pairwise

import numpy as np
import pytest

from calib import check
from calib.analysis.curves import binned_curve, histogram
from calib.figures import FIGURES
from calib.kernel.checks import InputError
from calib.metrics import METRICS, expected_calibration_error, murphy_decomposition
from calib.metrics.confidence_intervals import confidence_interval

RNG = np.random.default_rng(0)
P = RNG.random(500).round(2)
Y = (RNG.random(500) < P**2).astype(int)
WEIGHT = RNG.integers(1, 4, 500).astype(float)
EDGES = [0, 0.1, 0.2, 0.55, 1]
BINNED = [key for key, metric in METRICS.items() if metric.binned]


def gaps(y, p, weight):
    """Weight, and observed frequency minus mean prediction, of each bin [low, high), the last one closed."""
    for low, high in pairwise(EDGES):
        rows = (p >= low) & ((p < high) | (high == 1))
        w = weight[rows]
        yield w.sum(), np.average(y[rows], weights=w) - np.average(p[rows], weights=w)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_calibration_error_in_own_bins_is_its_definition(weight):
    held = np.ones(500) if weight is None else weight
    expected = sum(n * abs(gap) for n, gap in gaps(Y, P, held)) / held.sum()
    for edges in (EDGES, tuple(EDGES), np.array(EDGES)):
        assert expected_calibration_error(Y, P, edges, sample_weight=weight) == pytest.approx(
            expected, abs=1e-12
        )
    reliability = sum(n * gap**2 for n, gap in gaps(Y, P, held)) / held.sum()
    assert murphy_decomposition(Y, P, EDGES, weight).reliability == pytest.approx(reliability, abs=1e-12)


@pytest.mark.parametrize("key", BINNED)
def test_edges_of_equal_width_are_the_number_of_bins_for_every_binned_metric(key):
    function, p = METRICS[key].function, RNG.random(500)  # no p is an edge
    assert function(Y, p, bins=np.linspace(0, 1, 11)) == pytest.approx(function(Y, p, bins=10), nan_ok=True)


def test_the_diagram_in_own_bins():
    result = check(Y, P, WEIGHT)
    record = FIGURES["reliability"].prepare(result, bins=EDGES, curve="binned")
    curve = record.bins["none"]
    direct = binned_curve(Y, P, bins=EDGES, sample_weight=WEIGHT)
    assert np.array_equal(curve.edges, EDGES)
    assert np.array_equal(curve.observed, direct.observed)
    np.testing.assert_allclose(curve.observed - curve.mean_p, [gap for _, gap in gaps(Y, P, WEIGHT)])
    assert np.array_equal(
        record.histograms["none"].count, histogram(Y, P, bins=EDGES, sample_weight=WEIGHT).count
    )
    assert "4 bins" in record.alt
    figure = result.figure("reliability", bins=[0, 0.1, 0.2, 1], curve="binned")
    assert any(trace.x is not None and len(trace.x) == 3 for trace in figure.data)
    assert result.recipe.bins == 20  # the evaluation itself keeps its bins


def test_own_bins_in_a_matplotlib_axis():
    plt = pytest.importorskip("matplotlib.pyplot")
    _, ax = plt.subplots()
    assert check(Y, P).plot(ax=ax, bins=EDGES, curve="binned") is ax
    plt.close("all")


def test_an_interval_in_own_bins():
    low, high = confidence_interval("ece", Y, P, bins=EDGES)
    assert low <= expected_calibration_error(Y, P, EDGES) <= high
    assert confidence_interval(
        "ece", Y, P + 0.001 * (P < 1), bins=list(np.linspace(0, 1, 11))
    ) == pytest.approx(confidence_interval("ece", Y, P + 0.001 * (P < 1), bins=10))


@pytest.mark.parametrize(
    "bins", [[0, 0.5], [0.1, 1], [0, 0.5, 0.5, 1], [1], [], [0, np.nan, 1], 0, 2.5, "ten"]
)
def test_bins_that_are_none_are_refused(bins):
    with pytest.raises(InputError, match="bins must be"):
        expected_calibration_error(Y, P, bins)


def test_groups_are_clusters():
    who = np.arange(500) // 5
    named, plain = check(Y, P, groups=who), check(Y, P, cluster=who)
    assert named.interval("brier", "none") == plain.interval("brier", "none")
    assert named.interval("brier", "none") != check(Y, P).interval("brier", "none")
    three = np.column_stack([P / 2, P / 2, 1 - P])
    assert np.array_equal(check(Y, three, groups=who).cluster, check(Y, three, cluster=who).cluster)
    with pytest.raises(InputError, match="cluster and groups have the same meaning"):
        check(Y, P, cluster=who, groups=who)
