"""The ends of the lines can be told apart, and what is above the picture is said."""

import pytest

from calib.experiments.calibration_size import MUCH, SHARE_IN_SIGHT
from calib.experiments.shared.long_run import DRAWN_METHODS, wide
from calib.figures import FIGURES, LIGHT
from calib.figures.many import recolour
from tests.experiments.simulated import record

PIXELS = 400  # of the plot's height in a window of 1366 by 768


def drawn(**view):
    of = record("calibration_size", "calibration_size", **view)
    return of, FIGURES["calibration_size"].draw(of, LIGHT)


def test_a_calibrator_that_is_better_with_all_rows_is_seen_below_the_uncalibrated_forest():
    of, figure = drawn()
    low, high = figure.layout.yaxis.range
    last = wide(of.rows, "share", "tce").iloc[-1]
    assert PIXELS * (last["none"] - last["venn_abers"]) / (high - low) > 8
    later = wide(of.rows[of.rows["share"] >= SHARE_IN_SIGHT], "share", "tce")[list(DRAWN_METHODS)]
    assert low < later.min(axis=None)
    assert later.max(axis=None) < high


@pytest.mark.parametrize("measure", ["tce", "ece", "brier", "excess", *MUCH])
def test_the_picture_says_how_far_lines_begin_above_it(measure):
    of, figure = drawn(measure=measure)
    first = wide(of.rows, "share", measure)[list(DRAWN_METHODS)].iloc[0].max()
    words = [one.text for one in figure.layout.annotations]
    if measure in MUCH:
        assert words == []
        assert figure.layout.yaxis.range[1] > first
    else:
        assert words == [f"↑ {of.above}"]
        assert first > figure.layout.yaxis.range[1]
        assert float(of.above.split()[2]) == pytest.approx(first, rel=0.05)


def test_a_line_that_is_asked_for_is_in_the_picture():
    of, figure = drawn()
    venn = wide(of.rows, "share", "tce")["venn"]
    assert venn.min() > figure.layout.yaxis.range[1]
    assert recolour(figure, ["none", "venn"], LIGHT).layout.yaxis.range[1] > venn.iloc[-1]
    before = drawn()[1].layout.yaxis.range
    assert recolour(drawn()[1], ["none", "platt"], LIGHT).layout.yaxis.range == before
