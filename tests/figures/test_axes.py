"""Log-odds axes: every point where its log-odds are, nothing lost at the ends, small probabilities in words."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

from calib.analysis.curves import binned_curve, histogram, smooth_curve
from calib.figures import FIGURES
from calib.figures.axes import LETTERS_IN_PANEL, LogOddsAxis
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from tests.figures.evaluations import evaluation
from tests.saying import assert_says

ENTRY = FIGURES["reliability"]


def rare(n=20_000, seed=0, **view):
    """Predictions about 0.8%, right ones; some bins of them have no positive."""
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-6, 1.6, n))
    y = (rng.random(n) < p).astype(int)
    predicted = evaluation(calibrators=("none",), n=600, **view)
    return replace(
        predicted, y=y, rows=np.arange(n), scores=p, predictions={"none": Predictions(y, p)}, weight=None
    )


def marks(figure):
    return [t for t in figure.data if t.customdata is not None and "markers" in (t.mode or "")]


def test_marks_lie_at_their_log_odds_and_say_their_probabilities():
    evaluation = rare(bins=20, binning="quantile", curve="binned")
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=20, strategy="quantile")
    figure = ENTRY.draw(ENTRY.prepare(evaluation, axes="log_odds"))
    x, y = (np.concatenate([np.asarray(getattr(t, name), float) for t in marks(figure)]) for name in "xy")
    there = curve.observed > 0
    np.testing.assert_allclose(np.sort(x), np.sort(logit(curve.mean_p)))
    np.testing.assert_allclose(
        np.sort(y[np.isin(np.round(x, 9), np.round(logit(curve.mean_p[there]), 9))]),
        np.sort(logit(curve.observed[there])),
    )
    words = marks(figure)[0].customdata[5]
    assert "1 in" in words[6]
    low, high = figure.layout.xaxis.range
    assert low < x.min() < x.max() < high
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    at = dict(zip(figure.layout.xaxis.ticktext, figure.layout.xaxis.tickvals, strict=True))
    assert at["0.1 %"] == pytest.approx(logit(0.001))
    assert at["1 %"] - at["0.1 %"] > 2


def test_the_axes_hold_the_rows_and_not_only_the_means_of_wide_bins():
    evaluation = rare()  # in bins of equal width, the first of which holds nearly all
    axis = ENTRY.prepare(evaluation, axes="log_odds").axis
    held = (evaluation.predictions["none"].p >= axis.low) & (evaluation.predictions["none"].p <= axis.high)
    assert held.mean() > 0.9


@pytest.mark.parametrize("curve", ["binned", "corp", "smoothed"])
def test_predictions_of_exactly_0_are_at_the_edge_and_the_caption_says_so(curve):
    plain = rare(bins=20, binning="uniform", curve=curve)
    p = np.where(plain.scores < 0.05, 0.0, plain.scores)  # all of the first bin
    exact = replace(plain, scores=p, predictions={"none": Predictions(plain.y, p)})
    record = ENTRY.prepare(exact, axes="log_odds", faint=True)
    (at,) = {float(x) for t in marks(ENTRY.draw(record)) for x in t.x if x < logit(0.05) - 1e-9}
    assert at == pytest.approx(logit(record.axis.low))
    (said,) = re.findall(r"Predictions of exactly \d are drawn at .*", record.caption)
    assert_says(said, "exactly 0", "left edge", "uncalibrated model")
    assert "exactly" not in ENTRY.prepare(plain, axes="log_odds").caption


def test_bins_without_positives_stay_in_sight_with_an_interval_that_is_not_empty():
    evaluation = rare(bins=20, binning="quantile", curve="binned")
    record = ENTRY.prepare(evaluation, axes="log_odds")
    curve, figure = record.bins["none"], ENTRY.draw(record)
    none = np.flatnonzero(curve.observed == 0)
    assert none.size
    assert (curve.upper[none] > 0).all()
    # what the interval leaves out is unlikely to give no positive, what it holds is not
    assert (binom.cdf(0, curve.count[none], 2 * curve.upper[none]) < 0.025).all()
    assert f"{none.size} bins without a positive" in record.caption
    edge = logit(record.axis.low)
    down = [
        (x, y)
        for t in marks(figure)
        for x, y, s in zip(t.x, t.y, t.marker.symbol, strict=True)
        if s == "triangle-down"
    ]
    np.testing.assert_allclose(sorted(down), sorted((logit(curve.mean_p[i]), edge) for i in none))
    (interval,) = (trace for trace in figure.data if trace.mode == "lines" and len(trace.x) == 3 * none.size)
    lines = np.column_stack([interval.x, interval.y]).reshape(-1, 3, 2)
    np.testing.assert_allclose(lines[:, 0, 1], edge)
    np.testing.assert_allclose(lines[:, 1, 1], logit(curve.upper[none]))


@pytest.mark.parametrize("kind", ["smoothed", "binned", "corp"])
@pytest.mark.parametrize("band", ["none", "confidence", "consistency"])
def test_every_view_is_drawn_in_log_odds_within_the_axes_but_for_lines_that_leave_them(kind, band):
    record = ENTRY.prepare(rare(curve=kind, band=band), axes="log_odds")
    figure, ends = ENTRY.draw(record), logit([record.axis.low, record.axis.high])
    low, high = figure.layout.xaxis.range
    curves = 0
    for trace in figure.data:
        x, y = (np.asarray(each, dtype=float) for each in (trace.x, trace.y))
        if trace.mode == "lines" and trace.yaxis is None and trace.customdata is not None:
            curves += 1
            along = np.isin(y, ends)
            assert not (
                along[1:] & along[:-1]
            ).any()  # none runs along the edge, where it would be half a line
        elif trace.mode != "lines" or trace.yaxis == "y2":
            assert ((x[np.isfinite(x)] >= low) & (x[np.isfinite(x)] <= high)).all()
    assert curves or kind == "binned"
    with pytest.raises(InputError, match="axes"):
        ENTRY.prepare(rare(), axes="square")


def test_the_histogram_counts_every_row_between_edges_that_are_even_in_log_odds():
    evaluation = rare()
    p = evaluation.predictions["none"].p
    axis = LogOddsAxis.around([np.array([0.001, 0.2])])
    found = histogram(evaluation.y, p, edges=axis.edges(10))
    assert found.count.sum() == len(p)
    np.testing.assert_array_equal(found.count, np.histogram(p, found.edges)[0])
    np.testing.assert_allclose(np.diff(logit(found.edges[1:-1])), np.diff(logit(found.edges[1:-1]))[0])


def test_the_smooth_curve_over_log_odds_follows_a_truth_that_one_over_probabilities_cannot():
    """True log-odds are 0.6 of those predicted: near 0.1% and near 3% alike within its own interval, mostly."""
    rng = np.random.default_rng(3)
    p = expit(rng.normal(-5, 1.5, 200_000))
    truth = expit(0.6 * logit(p) - 1.5)
    y = (rng.random(len(p)) < truth).astype(int)
    curve = smooth_curve(y, p, span=0.2, log_odds=True)
    inner = (curve.p > 0.0005) & (curve.p < 0.1)
    true_there = expit(0.6 * logit(curve.p) - 1.5)
    assert inner.sum() > 30
    assert np.abs(np.log(curve.smoothed / true_there))[inner].max() < 0.25
    held = (curve.lower <= true_there) & (true_there <= curve.upper)
    assert held[inner].mean() > 0.8
    flat = smooth_curve(y, p, span=0.2)
    assert ((flat.p > 0.0005) & (flat.p < 0.01)).sum() < 5


def test_no_point_is_needed_for_an_axis():
    assert LogOddsAxis.around([]).low < 0.1
    assert LogOddsAxis.around([np.array([0.0, np.nan, 1.0])]).high > 0.9


def test_pairs_and_their_margins_are_put_on_the_axes_and_none_is_lost():
    result = evaluation(calibrators=("none", "venn_abers"), n=600)
    plain, moved = (FIGURES["pairs"].prepare(result, axes=axes) for axes in ("probability", "log_odds"))
    p0, p1 = result.predictions["venn_abers"].pairs.T
    figure = FIGURES["pairs"].draw(moved)
    x = np.concatenate([t.x for t in figure.data if t.customdata is not None])
    np.testing.assert_allclose(
        np.unique(x.round(9)), np.unique(logit(np.clip(p0, moved.axis.low, 1)).round(9))
    )
    assert moved.margins.sum() == plain.margins.sum()
    words = {word for t in figure.data if t.customdata is not None for word in t.hovertext}
    assert any(f"{p0.max():.3f}" in word for word in words)
    assert moved.axis.high > p1[p1 < 1].max()


def test_intervals_in_bins_keep_their_ends_on_the_axes():
    predicted = evaluation(calibrators=("none", "venn_abers"), n=600, bins=5)
    record = FIGURES["interval_bins"].prepare(predicted, axes="log_odds")
    figure, bins = FIGURES["interval_bins"].draw(record), record.bins
    trace = next(t for t in figure.data if t.name == "mean p0 to mean p1")
    there = bins.count >= 10
    np.testing.assert_allclose(trace.x, record.axis.place(bins.center[there]))
    np.testing.assert_allclose(trace.y + trace.error_y.array, record.axis.place(bins.upper[there]))
    np.testing.assert_allclose(trace.y - trace.error_y.arrayminus, record.axis.place(bins.lower[there]))


@pytest.mark.parametrize("high", [0.02, 0.2, 0.6, 0.95, 0.999])
@pytest.mark.parametrize("low", [1e-6, 5e-6, 1e-4, 2e-3, 0.01])
def test_labels_across_stay_few_enough_for_a_narrow_diagram_on_the_same_grid(low, high):
    axis = LogOddsAxis(low, high)
    across, labels = axis.across["ticktext"], axis.settings["ticktext"]
    assert axis.across["tickvals"] == axis.settings["tickvals"]
    assert sum(map(len, across)) <= LETTERS_IN_PANEL
    assert across[-1] == labels[-1]
    assert across == labels or all("" in pair for pair in pairwise(across))
