"""Of many lines two keep their colour; the others are grey, in a group of their own, until they are asked for."""

import numpy as np
import pytest

from calib.analysis.decision import decide
from calib.calibrators import label_of
from calib.figures import FIGURES, LIGHT, MARKS
from calib.figures.many import COLOURED, GREY, MOST_COLOURED, lines_of, recolour
from tests.figures.evaluations import evaluation

SIX = ("none", "platt", "isotonic", "beta", "venn_abers", "logistic")


def source(figure, calibrators):
    predicted = evaluation(calibrators=calibrators)
    return decide(predicted) if figure == "net_benefit" else predicted


@pytest.mark.parametrize("figure", ["reliability", "net_benefit", "cumulative", "smooth_calibration"])
def test_two_of_six_lines_are_in_colour_and_a_click_in_the_legend_shows_another(figure):
    entry = FIGURES[figure]
    record = entry.prepare(source(figure, SIX))
    drawn = entry.draw(record, LIGHT)
    own = [trace for trace in drawn.data if trace.legendgroup]
    coloured = {trace.legendgroup for trace in own if trace.visible != "legendonly"}
    assert len(coloured) == COLOURED == 2
    assert "none" in coloured
    named = {key for key in SIX if label_of(key) in record.title} - {"none"}
    assert not named or named & coloured
    assert {trace.legendgroup for trace in own if trace.visible == "legendonly"} == set(SIX) - coloured
    grey = [trace for trace in drawn.data if trace.zorder == -1]
    assert {trace.name for trace in grey} >= {label_of(key) for key in set(SIX) - coloured}
    for trace in grey:
        (key,) = [key for key in SIX if label_of(key) == trace.name] or [None]
        twins = [one for one in own if one.legendgroup == key] if key else own
        assert any(np.array_equal(one.y, trace.y, equal_nan=True) for one in twins)
        assert trace.line.color not in {mark.color for mark in MARKS.values()}
    assert GREY.strip() in record.caption


@pytest.mark.parametrize("figure", ["reliability", "net_benefit", "cumulative", "smooth_calibration"])
def test_few_lines_keep_their_colours(figure):
    entry = FIGURES[figure]
    record = entry.prepare(source(figure, SIX[:MOST_COLOURED]))
    assert not any(trace.visible == "legendonly" for trace in entry.draw(record).data)
    assert GREY.strip() not in record.caption


@pytest.mark.parametrize("figure", ["reliability", "net_benefit", "cumulative", "smooth_calibration"])
@pytest.mark.parametrize("asked", [SIX, ("beta",), ("isotonic", "logistic", "no such line")])
def test_exactly_the_lines_that_are_asked_for_take_their_colours(figure, asked):
    entry = FIGURES[figure]
    drawn = entry.draw(entry.prepare(source(figure, SIX)), LIGHT)
    lines = {group: on for group, (_, on) in lines_of(drawn.to_dict()).items()}
    assert set(lines) == set(SIX)
    assert sum(lines.values()) == COLOURED
    own = recolour(drawn, asked, LIGHT)
    coloured = {
        trace.legendgroup for trace in own.data if trace.legendgroup and trace.visible != "legendonly"
    }
    assert coloured == set(asked) & set(SIX)
    grey = {trace.name for trace in own.data if trace.zorder == -1}
    assert grey >= {label_of(key) for key in set(SIX) - set(asked)}
    assert not grey & {label_of(key) for key in asked}
