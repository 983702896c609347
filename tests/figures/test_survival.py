"""The survival diagram draws the bins and the curve; without censoring these are the plain frequencies."""

import numpy as np

from calib.figures import FIGURES
from tests.figures.test_captions import FOLLOWED, followed


def test_marks_are_the_frequencies_if_nobody_is_censored():
    entry = FIGURES["survival"]
    record = entry.prepare(followed(), bins=5)
    risk, had = FOLLOWED["risk_2"].to_numpy(), (FOLLOWED["target"] == "relapse") & (FOLLOWED["time"] <= 2)
    edges = record.table["right"].to_numpy()[:-1]
    at = np.searchsorted(edges, risk, side="left")
    marks = entry.draw(record).data[-1]
    counted = [had.to_numpy()[at == i].mean() for i in range(5)]
    np.testing.assert_allclose(marks.y, counted, atol=0.02)  # rows on an edge may be in either bin
    np.testing.assert_allclose(np.average(marks.y, weights=record.table["rows"]), had.mean())
    np.testing.assert_allclose(marks.x, record.table["risk"])
    assert record.table["rows"].sum() == len(FOLLOWED)


def test_the_band_holds_the_curve():
    record = FIGURES["survival"].prepare(followed())
    assert (record.curve["lower"] <= record.curve["observed"]).all()
    assert (record.curve["observed"] <= record.curve["upper"]).all()
