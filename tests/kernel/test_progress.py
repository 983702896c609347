"""Progress adds up over nested parts, and a set event stops the next step, wherever it is."""

import threading

import pytest

from calib.kernel.progress import Cancelled, Watch


def test_a_loop_reports_before_each_item_and_at_the_end():
    seen = []
    assert list(Watch(lambda share, what: seen.append((share, what))).loop("ab", "letters")) == ["a", "b"]
    assert seen == [(0, "letters"), (0.5, "letters"), (1, "letters")]


def test_parts_of_parts_fill_the_whole():
    seen = []
    whole = Watch(lambda share, what: seen.append(share))
    for half in (0, 1):
        part = whole.within(half / 2, (half + 1) / 2)
        for quarter in (0, 1):
            list(part.within(quarter / 2, (quarter + 1) / 2).loop([0], "work"))
    assert seen == [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]


def test_a_set_event_stops_every_part_at_its_next_step():
    event = threading.Event()
    watch = Watch(cancel=event)
    inner = watch.within(0, 0.5).within(0, 0.5)
    inner.step(0, "work")
    event.set()
    for one in (watch, inner):
        with pytest.raises(Cancelled, match="work"):
            one.step(0, "work")


def test_an_empty_loop_is_done_at_once():
    seen = []
    assert list(Watch(lambda share, what: seen.append(share)).loop([], "nothing")) == []
    assert seen == [1]
