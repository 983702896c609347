"""The forest plot and the curves draw the numbers of ``centres``."""

from dataclasses import replace

import numpy as np
import pytest

from calib.analysis.centres import centres
from calib.figures import FIGURES
from tests.figures.test_captions import REGIONS, followed


@pytest.fixture(scope="module")
def found():
    return centres(followed().evaluation, REGIONS)


def test_lanes_have_the_values_shrunken_values_and_intervals_of_each_centre(found):
    entry = FIGURES["centres"]
    record = entry.prepare(found)
    assert list(record.table["rows"]) == sorted(found.table["rows"], reverse=True)
    figure = entry.draw(record)
    for x, key in (("x", "observed_expected"), ("x2", "slope")):
        marks, rings, pooled, new = (trace for trace in figure.data if trace.xaxis == x)
        lines, all_of = found.table.loc[record.table["centre"]], found.pooled[key]
        np.testing.assert_allclose(marks.x, lines[key])
        np.testing.assert_allclose(marks.x + marks.error_x.array, lines[f"{key}_high"])
        np.testing.assert_allclose(rings.x, lines[f"{key}_shrunken"])
        assert pooled.x[0] == all_of.value
        assert list(new.x) == [all_of.new_low, all_of.new_high]
    assert len(figure.data) == 8
    assert f"{found.pooled['slope'].new_low:.2f}" in record.alt


def test_a_wide_prediction_interval_leaves_no_room_for_ticks_near_1(found):
    entry, ratio = FIGURES["centres"], found.pooled["observed_expected"]
    assert 1.25 in entry.draw(entry.prepare(found)).layout.xaxis.tickvals
    pooled = found.pooled | {"observed_expected": replace(ratio, new_low=0.2, new_high=4)}
    assert 1.25 not in entry.draw(entry.prepare(replace(found, pooled=pooled))).layout.xaxis.tickvals


def test_two_centres_are_described_without_a_prediction_interval(found):
    two = centres(followed().evaluation, np.where(np.asarray(REGIONS) == REGIONS[0], "a", "b"))
    record = FIGURES["centres"].prepare(two)
    assert "prediction interval" not in record.alt
    assert "nan" not in record.alt + record.title + record.caption


def test_each_panel_has_the_curve_of_its_centre(found):
    entry = FIGURES["centre_curves"]
    record = entry.prepare(found)
    figure = entry.draw(record)
    assert len(figure.data) == 4 * len(record.centres)
    for name, trace in zip(record.centres, figure.data[3::4], strict=True):
        np.testing.assert_allclose(trace.y, found.curves[name])
