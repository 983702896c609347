"""Per bin: mean ends and frequencies by brute force, Wilson's limits, and few rows drawn faint."""

import numpy as np
import pytest

from calib.analysis.curves import binomial_interval
from calib.figures.interval_bins import FEW_IN_BIN, draw, prepare
from calib.kernel.binning import bin_index
from calib.kernel.wording import counted, some_of
from tests.figures.evaluations import evaluation


@pytest.mark.parametrize("method", ["venn", "venn_abers"])
def test_bins_hold_the_means_of_their_rows(method):
    result = evaluation()
    predictions = result.predictions[method]
    record = prepare(result, method)
    index = bin_index(predictions.p, result.recipe.bins)
    agree = told = 0
    for line in record.to_frame().itertuples():
        rows = index == line.Index
        assert line.count == rows.sum()
        if not rows.any():
            continue
        assert line.lower == pytest.approx(predictions.lower[rows].mean())
        assert line.upper == pytest.approx(predictions.upper[rows].mean())
        assert line.observed == pytest.approx(result.y[rows].mean())
        low, high = binomial_interval(result.y[rows].sum(), rows.sum())
        assert (line.observed_low, line.observed_high) == pytest.approx((float(low), float(high)))
        told += rows.sum() >= FEW_IN_BIN
        agree += rows.sum() >= FEW_IN_BIN and low <= line.upper and high >= line.lower
    assert some_of(agree, told, "bin") in record.title
    assert "only describes" in record.caption.lower()


def test_equal_count_bins_follow_the_recipe():
    predictions = evaluation(binning="quantile", bins=5)
    counts = prepare(predictions).bins.count
    assert len(counts) <= 5
    assert counts.sum() == len(predictions.y)


def test_bins_with_few_rows_are_faint_and_said():
    said = evaluation(bins=40)
    record = prepare(said)
    few = ((record.bins.count > 0) & (record.bins.count < FEW_IN_BIN)).sum()
    assert few > 0
    assert f"Faint marks: {counted(few, 'bin')}" in record.caption
    drawn = [len(trace.x) for trace in draw(record).data if trace.name == "observed frequency"]
    assert drawn == [(record.bins.count >= FEW_IN_BIN).sum(), few]
    assert np.isfinite(np.concatenate([trace.y for trace in draw(record).data])).all()
