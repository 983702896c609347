"""The lanes of the grouping loss: bars from 0 to what regions explain, in three parts."""

import numpy as np

from calib import check
from calib.analysis.grouping_losses import grouping_losses
from calib.figures import DARK, FIGURES
from tests.analysis.test_grouping_losses import rows


def test_parts_add_up_to_what_regions_explain_and_marks_are_the_bounds():
    y, p, table = rows()
    found = grouping_losses(check(y, p, features=table), "none")
    record = FIGURES["grouping_loss"].prepare(found)
    figure = FIGURES["grouping_loss"].draw(record, DARK)
    bars, marks = {each.name: each for each in figure.data[:3]}, figure.data[3]
    frame = record.to_frame()
    ends = np.asarray(bars["Bias"].base, float) + np.asarray(bars["Bias"].x, float)
    np.testing.assert_allclose(ends, frame["explained"])
    np.testing.assert_allclose(marks.x, [each.lower for each in found.losses])
    np.testing.assert_allclose(marks.x + marks.error_x.array, frame["interval_high"])
    assert "#0000" not in figure.to_json()
