"""Pages run one after the other, unless one waits or takes long."""

import threading

import pytest

from calib.data.confined import apart
from pages.ui import turns


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


def test_a_page_that_takes_long_holds_up_nobody_for_ever(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_TURN", 0.01)
    ran = threading.Event()

    def beside():
        with turns.turn():
            ran.set()

    thread = threading.Thread(target=beside)
    with turns.turn():
        thread.start()
        thread.join()
    assert ran.is_set()
    with turns.turn():
        assert not turns._ONE_PAGE.acquire(blocking=False)  # the turn was given back once, and is held once


@pytest.mark.parametrize(("processors", "most"), [(1, 1), (2, 1), (8, 7)])
def test_a_page_has_a_processor_which_fits_leave_until_it_waits(monkeypatch, processors, most):
    limits = []
    monkeypatch.setattr(turns, "processors", lambda: processors)
    monkeypatch.setattr(apart, "limit", lambda *most: limits.append(most))
    with turns.turn():
        assert limits == [(most,)]
        with turns.given_up():
            assert limits == [(most,), ()]
    assert limits == [(most,), (), (most,), ()]
