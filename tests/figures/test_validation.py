"""The figures of a validation report, against the rows themselves."""

import numpy as np
import pytest

from calib.figures import DARK, FIGURES, LIGHT
from calib.figures.validation import with_interval
from calib.kernel.wording import brief

from .evaluations import evaluation as said


@pytest.fixture(scope="module")
def evaluation():
    return said()


def test_on_log_odds_each_mark_is_the_frequency_of_a_tenth_of_the_rows(evaluation):
    record = FIGURES["reliability_log_odds"].prepare(evaluation, calibrators=["none"])
    p = evaluation.predictions["none"].p
    edges = np.unique(np.quantile(p, np.linspace(0, 1, 11)))
    of = np.searchsorted(edges[1:-1], p, side="right")
    frequency = [evaluation.y[of == i].mean() for i in range(len(edges) - 1)]
    np.testing.assert_allclose(record.to_frame()["observed"], frequency, atol=1e-12)
    assert brief(evaluation.measured(["slope"]).loc["none", "slope"]) in record.title
    assert record.axis is not None
    assert "NaN" not in FIGURES["reliability_log_odds"].draw(record, DARK).to_json()


def test_the_distribution_holds_every_row_of_either_class(evaluation):
    record = FIGURES["distribution"].prepare(evaluation)
    table = record.to_frame().groupby("calibrator")
    assert set(table["count"].sum()) == {evaluation.size}
    assert set(table["positives"].sum()) == {evaluation.y.sum()}
    shares = [sum(trace.y) for trace in FIGURES["distribution"].draw(record, LIGHT).data]
    np.testing.assert_allclose(np.abs(shares), 1)
    p, y = evaluation.predictions["none"].p, evaluation.y
    up = FIGURES["distribution"].draw(record, LIGHT).data[0]
    assert sum(np.array(up.y)[np.array(up.x) < 0.5]) == pytest.approx((p[y == 1] < 0.5).mean())


def test_a_number_without_an_interval_stands_alone():
    assert with_interval(0.5, np.nan, np.nan) == "0.500"
    assert with_interval(np.inf, np.nan, np.nan) == "∞"
