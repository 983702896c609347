"""Pages run one after the other, unless one waits or takes long."""

import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from calib.data.confined import apart
from pages.ui import turns, waiting


def page_that(does: Callable[[], object]) -> threading.Thread:
    """Return a thread that waits for its turn as a page does, and then calls ``does``."""

    def run() -> None:
        with turns.turn():
            does()

    return threading.Thread(target=run)


def test_pages_take_turns_and_one_that_waits_lets_others_run():
    order, first_waits, second_ran = [], threading.Event(), threading.Event()

    def second():
        first_waits.wait()
        with turns.turn():
            order.append("second")
            second_ran.set()

    thread = threading.Thread(target=second)
    thread.start()
    with turns.turn():
        order.append("first")
        with turns.given_up():
            first_waits.set()
            second_ran.wait()
        order.append("first again")
    thread.join()
    assert order == ["first", "second", "first again"]


def test_a_page_that_waits_for_a_table_lets_others_run(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 60)
    ran = threading.Event()
    thread = page_that(ran.set)
    with turns.turn():
        thread.start()
        assert waiting.in_background("reading", lambda watch: ran.wait(30))
    thread.join()


def test_a_page_that_takes_long_holds_up_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 0.01)
    ran = threading.Event()
    thread = page_that(ran.set)
    with turns.turn():
        thread.start()
        thread.join()
    assert ran.is_set()


def test_pages_come_in_the_order_in_which_they_asked(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 60)  # none leaves the queue before all are in it
    order = []
    threads = [page_that(partial(order.append, i)) for i in range(5)]
    with turns.turn():
        for i, thread in enumerate(threads, start=1):
            thread.start()
            while len(turns._QUEUE.waiting) < i:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]


def test_a_page_whose_time_is_over_ends_no_turn_but_its_own(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 0.01)
    entered, leave = threading.Event(), threading.Event()
    thread = page_that(lambda: (entered.set(), leave.wait()))
    with turns.turn():
        thread.start()
        entered.wait()
        monkeypatch.setattr(turns._QUEUE, "ends", before := time.monotonic() + 60)
    assert turns._QUEUE.ends == before
    leave.set()
    thread.join()
    assert turns._QUEUE.ends == 0


@pytest.fixture
def limits(monkeypatch):
    """How many fits may go on, as it was last said; none is a limit."""
    said = []
    monkeypatch.setattr(apart, "limit", lambda *most: said.append(most))
    return said


@pytest.mark.parametrize(("processors", "most"), [(1, 0), (2, 0), (8, 6)])
def test_fits_leave_a_page_two_processors_until_it_waits(monkeypatch, limits, processors, most):
    monkeypatch.setattr(turns, "FIRST", 60)
    monkeypatch.setattr(turns, "processors", lambda: processors)
    with turns.turn():
        assert limits == [(most,)]
        with turns.given_up():
            assert limits == [(most,), ()]
    assert limits == [(most,), (), (most,), ()]
    assert turns._QUEUE.first.finished.is_set()


@pytest.mark.parametrize(("processors", "most"), [(1, 1), (2, 1), (8, 7)])
def test_beside_a_page_that_takes_long_fits_go_on(monkeypatch, limits, processors, most):
    monkeypatch.setattr(turns, "FIRST", 0)
    monkeypatch.setattr(turns, "processors", lambda: processors)
    with turns.turn():
        turns._QUEUE.first.join()
        assert limits[1:] == [(most,)]
    turns._QUEUE.take_less(turns._QUEUE.holder)
    assert limits[2:] == [()]
