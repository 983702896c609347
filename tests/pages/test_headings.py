"""Levels of headings, and the place of words in presenter view."""

import pytest

from pages.ui import headings
from pages.ui.lesson_layout import COLUMN_WIDTHS
from tests.pages.app import page


def test_what_is_drawn_again_after_the_pages_end_keeps_its_level(monkeypatch):
    """The picture of a job that still ran was a third level under the first."""
    state, levels = {"in_a_part": False}, []
    monkeypatch.setattr(headings.st, "session_state", state)
    draw = headings.at_this_level(lambda: levels.append(state["in_a_part"]))
    state["in_a_part"] = True  # the page went on
    draw()
    assert levels == [False]


@pytest.mark.parametrize(
    ("stem", "view", "split"),
    [
        ("learn_glossary", {}, False),
        ("learn_two_probabilities", {"two_probabilities.experiment": "theorem"}, True),
        ("learn_labs", {"labs.experiment": "playground"}, False),
    ],
)
def test_in_presenter_view_words_alone_take_the_whole_width(stem, view, split):
    widths = [column.weight for column in page(stem, presenter="true", **view).columns[:2]]
    assert (widths == pytest.approx(COLUMN_WIDTHS)) is split
