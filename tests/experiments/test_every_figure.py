"""What holds for every Learn picture, with the default settings, in both themes."""

import itertools
import re

import pytest

from calib.experiments import EXPERIMENTS
from calib.figures import DARK, FIGURES, LIGHT
from calib.figures.projector import for_projector
from tests.experiments.simulated import record as record_of
from tests.figures.test_theme import VISION, difference
from tests.headlines import long_numbers
from tests.sweep import sweep

CLASS = "class [01]$|label (is )?[01]|^p[01]$"  # p0 and p1: for the label 0 and for 1


@pytest.fixture(scope="module", params=EXPERIMENTS)
def drawn(request):
    """An experiment and its pictures' records."""
    experiment = EXPERIMENTS[request.param]
    return experiment, {
        key: record_of(key, request.param) for figures in experiment.runs.values() for key in figures
    }


def test_a_record_says_what_was_found_and_what_to_look_for(drawn):
    _, records = drawn
    for record in records.values():
        assert any(sign.isdigit() for sign in record.title)
        assert len(record.title) < 160
        assert long_numbers(record.title) == []
        assert record.caption.endswith(".")
        assert record.alt.endswith(".")
        assert len(record.to_frame())


def test_one_of_the_answers_came_true_with_the_default_settings(drawn):
    experiment, records = drawn
    answers = [record.answer for record in records.values() if record.answer is not None]
    assert answers == [experiment.right]
    assert len(experiment.why) == len(experiment.answers)
    assert all(text.endswith(".") for text in experiment.why)


def test_the_inks_of_classes_and_of_losses_mean_nothing_else(drawn):
    _, records = drawn
    means = {LIGHT.positive: CLASS, LIGHT.negative: CLASS, LIGHT.calibration: "^CL", LIGHT.grouping: "^GL"}
    for key, record in records.items():
        for trace in FIGURES[key].draw(record, LIGHT).data:
            for part in ("line", "marker"):
                color = trace[part]["color"] if part in trace and "color" in trace[part] else None
                if isinstance(color, str) and color in means:
                    assert re.search(means[color], trace.name), (key, trace.name)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_of_one_picture_differ_in_dash_or_in_colour_for_readers_with_any_colour_vision(drawn, theme):
    _, records = drawn
    for key, record in records.items():
        lines = {
            (trace.line.color, trace.line.dash or "solid"): trace.name
            for trace in FIGURES[key].draw(record, theme).data
            if trace.type == "scatter" and "lines" in (trace.mode or "") and trace.line.width != 0
            if trace.name and (trace.line.color or "").startswith("#")  # grey ones are seen through
        }
        for (one, dash), (other, same) in itertools.combinations(lines, 2):
            seen = [difference(one, other, vision) for vision in VISION.values() if dash == same]
            assert min(seen, default=8) >= 8, (key, lines[one, dash], lines[other, same])


@pytest.mark.parametrize("key", [key for key, experiment in EXPERIMENTS.items() if experiment.turn])
def test_one_setting_turns_the_answer(key):
    experiment = EXPERIMENTS[key]
    assert len(experiment.turn) == 1
    records = (record_of(figure, key, **experiment.turn) for figure in experiment.figures)
    (answer,) = (record.answer for record in records if record.answer is not None)
    assert answer != experiment.right


@pytest.mark.parametrize("theme", sweep([LIGHT, DARK], DARK), ids=["light", "dark"])
def test_it_is_drawn_in_the_themes_own_inks_and_is_light(drawn, theme):
    _, records = drawn
    for key, record in records.items():
        figure = FIGURES[key].draw(record, theme)
        text = figure.to_json()
        assert len(text) < 2_000_000
        assert '"fixedrange":true' not in text  # zoom
        assert "#0000" not in text
        assert theme.paper in text
        other = DARK if theme is LIGHT else LIGHT
        assert other.ink not in text
        assert other.uncalibrated not in text


def test_in_a_room_rows_of_panels_stay_in_their_order_within_the_picture(drawn):
    _, records = drawn
    for key, record in records.items():
        figure = FIGURES[key].draw(record, LIGHT)
        before, after = (
            [axis.domain or (0, 1) for axis in each.select_yaxes()]
            for each in (figure, for_projector(figure))
        )
        assert all(0 <= low < high <= 1 for low, high in after)
        for (low, _), place in zip(before, after, strict=True):
            below = [row[1] for row, was in zip(after, before, strict=True) if was[1] <= low]
            assert all(place[0] >= end for end in below)


def test_what_is_covered_neither_shows_nor_tells_the_errors_that_give_the_answer_away(drawn):
    _, records = drawn
    for key, record in records.items():
        covered, entry = record.covered(), FIGURES[key]
        if covered is record:
            continue
        for part in (covered, *entry.panels(covered)):
            words = [note.text for note in entry.draw(part, LIGHT).layout.annotations]
            assert not any("TCE" in text for text in (*words, part.drawn))
            assert part.drawn
        assert any("TCE" in note.text for note in entry.draw(record, LIGHT).layout.annotations)
