"""Segments as lanes, by size, and one segment's walk: the numbers are those of the rows."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from calib import check
from calib.analysis.audit.of_evaluation import Audited, audited, detectable_gap, level_limits
from calib.export.charts import report_options
from calib.figures import DARK, FIGURES
from calib.kernel.checks import InputError
from tests.analysis.audit.test_of_evaluation import planted
from tests.saying import assert_says


@cache
def made(shift=0.25) -> Audited:
    y, p, table = planted(shift)
    return audited(check(y, p, features=table), resamples=199)


def rows_of(one: Audited, line: int):
    mine = one.found.members(line)
    return one.evaluation.y[mine], one.evaluation.predictions["none"].p[mine]


def test_lanes_are_one_per_cause_with_the_means_of_their_rows():
    one = made()
    record = FIGURES["audit"].prepare(one)
    assert list(record.table["segment"]) == [one.found.segments["segment"][each.line] for each in one.causes]
    y, p = rows_of(one, one.causes[0].line)
    line = record.to_frame().iloc[0]
    assert (line["observed"], line["predicted"]) == (pytest.approx(y.mean()), pytest.approx(p.mean()))
    low, high = level_limits(one.found, one.causes[0].line)
    assert line["observed"] > line["high"] == pytest.approx(p.mean() + high)
    assert line["low"] == pytest.approx(p.mean() + low)
    figure = FIGURES["audit"].draw(record, DARK)
    np.testing.assert_allclose(figure.data[0].x, record.table["observed"])
    assert "#0000" not in figure.to_json()
    assert_says(record.title, "one group", "job = b", "45 %")


def test_the_axis_of_sizes_has_a_tick_if_all_segments_are_equally_large():
    y, p, _ = planted(0.25)
    halves = pd.DataFrame({"half": np.where(np.arange(len(y)) % 2, "odd", "even")})
    record = FIGURES["audit_sizes"].prepare(audited(check(y, p, features=halves), resamples=199))
    assert record.table["rows"].max() - record.table["rows"].min() <= 1
    ticks = [digit * 10.0**power for power in range(6) for digit in (1, 2, 5)]
    low, high = record.curves["rows"].iloc[[0, -1]]
    assert any(low <= tick <= high for tick in ticks)
    assert low <= record.table["rows"].min() < record.table["rows"].max() + 1 <= high


def test_if_nothing_is_found_the_largest_deviations_are_drawn_and_said_to_be_chance():
    record = FIGURES["audit"].prepare(made(0.0))
    assert_says(record.title, "None of the", "clearly miscalibrated")
    assert "No segment was significant" in record.caption
    assert list(record.table["segment"]) == list(made(0.0).found.segments["segment"][:4])
    assert record.table["observed"].between(record.table["low"], record.table["high"]).all()


def test_sizes_have_every_segment_and_the_gap_that_could_be_found():
    one = made()
    record = FIGURES["audit_sizes"].prepare(one)
    assert len(record.to_frame()) == len(one.found.segments)
    np.testing.assert_allclose(record.table["gap"], record.table["observed"] - record.table["predicted"])
    for line in record.curves.itertuples():
        assert line.detectable == pytest.approx(detectable_gap(one.found, line.rows))
        assert 0 < line.threshold < line.detectable
    drawn = sum(len(trace.x) for trace in FIGURES["audit_sizes"].draw(record).data if trace.mode == "markers")
    assert drawn == len(one.found.segments)


def test_a_walk_ends_at_observed_minus_predicted_and_pools_ties():
    y, p, table = planted()
    one = audited(check(y, p.round(1), features=table), resamples=99)
    line = one.causes[0].line
    record = FIGURES["audit_walk"].prepare(one, str(one.found.segments["segment"][line]))
    own, predicted = rows_of(one, line)
    steps = pd.Series(own - predicted).groupby(predicted).sum().cumsum() / len(own)
    np.testing.assert_allclose(record.table["probability"], steps.index)
    np.testing.assert_allclose(record.table["cumulative"], steps)
    assert record.table["cumulative"].iloc[-1] == pytest.approx(own.mean() - predicted.mean())
    assert record.table["share"].iloc[-1] == pytest.approx(1)
    lines = [shape.y0 for shape in FIGURES["audit_walk"].draw(record).layout.shapes]
    assert set(record.limits) <= set(lines)


def test_names_are_shown_as_text():
    y, p, table = planted()
    one = audited(check(y, p, features=table.replace("b", "<b>x</b>")), resamples=99)
    for key in ("audit", "audit_sizes"):
        drawn = FIGURES[key].draw(FIGURES[key].prepare(one)).to_dict()
        words = [*map(str, drawn["layout"]["yaxis"].get("ticktext", ()))]
        words += [str(text) for trace in drawn["data"] for text in trace.get("text") or ()]
        assert not any("<b>x" in word for word in words)


def test_a_report_has_the_search_only_if_somebody_asked_for_it():
    y, p, table = planted()
    evaluation = check(y, p, features=table)
    with pytest.raises(InputError, match="requested"):
        FIGURES["audit"].reported(evaluation, report_options(evaluation.recipe))
    asked = evaluation.recipe.replace(**{"groups.in_report": True, "groups.resamples": 99})
    source, _ = FIGURES["audit"].reported(evaluation, report_options(asked))
    assert source.found.resamples == 99


def test_a_segment_of_nearly_all_rows_is_not_called_a_group():
    y, p, table = planted(0.0)
    table["same"] = np.where(np.arange(len(y)) < 300, "no", "yes")
    one = audited(check(y, p * 0.7, features=table[["same"]]), resamples=99)
    assert one.nearly_all_rows
    assert_says(FIGURES["audit"].prepare(one).title, "nearly all rows", "same = yes")
    assert not made().nearly_all_rows
