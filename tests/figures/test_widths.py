"""Widths: counts and quantiles by definition, one line a method and placement, and what a full [0, 1] means."""

import numpy as np
import pytest

from calib.figures.widths import draw, logarithmic_edges, prepare, series_of
from calib.kernel.checks import InputError
from tests.figures.evaluations import evaluation

TREE = {"model": "decision_tree", "params": (("min_samples_leaf", 1),), "n": 80}


def test_every_width_is_counted_once_in_its_bin():
    predicted = [evaluation(), evaluation(placement="cv", cv=3), evaluation(placement="train")]
    record = prepare(predicted)
    assert [s.name for s in record.series] == [
        f"{method}, {kind}"
        for method in ("Venn predictor", "Venn–Abers")
        for kind in ("inductive", "cross", "simplified")
    ]
    for series, counts, quantiles in zip(record.series, record.counts, record.quantiles, strict=True):
        width = np.sort(series.predictions.width)
        bins = [
            sum(
                left <= w < right or (i == 0 and w < left) or (i == len(counts) - 1 and w >= right)
                for w in width
            )
            for i, (left, right) in enumerate(zip(record.edges[:-1], record.edges[1:], strict=True))
        ]
        assert counts.sum() == len(width)
        assert np.abs(np.cumsum(counts) - np.cumsum(bins)).max() <= 1  # a width on an edge
        for share, value in zip((0.1, 0.5, 0.9), quantiles, strict=True):
            rank = share * (len(width) - 1)
            low = int(rank)
            assert value == pytest.approx(
                width[low] + (rank - low) * (width[min(low + 1, len(width) - 1)] - width[low])
            )
    frame = record.to_frame()
    assert frame.groupby("method")["rows"].sum().tolist() == [len(predicted[0].y)] * 6
    assert len([trace for trace in draw(record).data if trace.fill]) == 6


def test_the_title_compares_the_placements_of_one_method_or_else_the_methods():
    one, many = prepare(evaluation()), prepare([evaluation(), evaluation(placement="cv", cv=3)])
    for record, methods in ((one, 2), (many, 1)):
        widest = record.series[int(record.quantiles[:, 1].argmax())]
        named = [series for series in record.series if series.name in record.title]
        assert widest in named
        assert len(named) == 2
        assert len({series.calibrator for series in named}) == methods


@pytest.mark.parametrize(
    ("narrow", "low"), [(0.5, 0.01), (0.01, 0.01), (0.009, 0.001), (0.0, 1e-6), (1e-9, 1e-6)]
)
def test_the_axis_begins_at_a_power_of_ten(narrow, low):
    edges = logarithmic_edges(narrow)
    assert edges[0] == pytest.approx(low)
    assert edges[-1] == pytest.approx(1)
    np.testing.assert_allclose(edges[1:] / edges[:-1], edges[1] / edges[0])


def test_a_model_that_remembers_every_label_is_said_to_say_nothing():
    full = evaluation(placement="full", **TREE)
    assert np.median(full.predictions["venn_abers"].width) > 0.99
    assert "Venn–Abers, full: the refitted model memorises" in prepare([full]).caption
    assert "remembers" not in prepare(evaluation()).caption


def test_without_intervals_the_reason_is_said():
    with pytest.raises(InputError, match="calibration scores"):
        prepare(evaluation(placement="none"))
    with pytest.raises(InputError, match="calibration scores"):
        series_of(evaluation(calibrators=("none", "platt")))


def test_folds_count_the_calibration_rows_of_one_fold():
    predicted = evaluation(evaluation="folds", folds=3)
    assert {s.calibration_size for s in series_of(predicted)} == {len(predicted.calibration_y) // 3}
