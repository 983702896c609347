"""Levels of headings."""

from pages.ui import headings


def test_what_is_drawn_again_after_the_pages_end_keeps_its_level(monkeypatch):
    """The picture of a job that still ran was a third level under the first."""
    state, levels = {"in_a_part": False}, []
    monkeypatch.setattr(headings.st, "session_state", state)
    draw = headings.at_this_level(lambda: levels.append(state["in_a_part"]))
    state["in_a_part"] = True  # the page went on
    draw()
    assert levels == [False]
