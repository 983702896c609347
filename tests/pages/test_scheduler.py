"""Sessions take turns at a server's workers: who comes next, where one stands, and what a closed tab leaves."""

import threading
import weakref

import pytest

from calib.kernel.progress import Cancelled, Watch
from pages.ui.scheduler import Owner, Scheduler, WorkItem
from tests.waiting import until

LIMIT = 20


class Desk:
    """A worker, and pieces of work that each wait for a word before their next step."""

    def __init__(self, workers=1, seconds=0.0, **more):
        self.scheduler, self.steps = Scheduler(workers, seconds, **more), []

    def ask(self, owner, name, beside=False, steps=1, same=None):
        gate, watch = threading.Semaphore(0), Watch()

        def call():
            for _ in range(steps):
                self.steps.append(name)
                assert gate.acquire(timeout=LIMIT)
                self.scheduler.give_way(item)
                if watch.cancel.is_set():
                    raise Cancelled(name)
            return name

        item = WorkItem(owner, call, beside, same)
        item.request_stop = watch.cancel.set
        item.name, item.go_on = name, gate.release
        self.scheduler.submit(item)
        return item

    def waiting(self):
        return [item.name for item in self.scheduler._order()]

    def began(self, *names):
        until(lambda: len(self.steps) >= len(names), "the next step begins")
        assert self.steps == list(names)


def test_sessions_come_in_turn_however_much_one_of_them_asks_for():
    desk, a, b, c = Desk(seconds=LIMIT), Owner(), Owner(), Owner()
    asked = [desk.ask(a, name) for name in ("a1", "a2", "a3")]
    asked += [desk.ask(b, "b1"), desk.ask(b, "b2"), desk.ask(c, "c1")]
    assert desk.waiting() == ["b1", "c1", "a2", "b2", "a3"]
    places = {item.name: desk.scheduler.place(item) for item in asked}
    assert places == {"a1": 0, "b1": 1, "c1": 2, "a2": 3, "b2": 4, "a3": 5}
    for item in asked:
        item.go_on()
    assert [item.future.result(LIMIT) for item in asked] == ["a1", "a2", "a3", "b1", "b2", "c1"]
    assert desk.steps == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_of_one_session_what_its_page_waits_for_comes_before_work_beside_it():
    desk, a = Desk(seconds=LIMIT), Owner()
    asked = [desk.ask(a, "page"), desk.ask(a, "beside", beside=True), desk.ask(a, "page again")]
    assert desk.waiting() == ["page again", "beside"]
    for item in asked:
        item.go_on()
    assert [item.future.result(LIMIT) for item in asked] == ["page", "beside", "page again"]


def test_long_work_gives_way_at_its_next_step_and_goes_on_afterwards():
    desk, a, b = Desk(), Owner(), Owner()
    long, short = desk.ask(a, "long", steps=3), desk.ask(b, "short")
    desk.began("long")
    long.go_on()
    desk.began("long", "short")  # although the long one has not ended
    assert desk.scheduler.place(long) == 1
    short.go_on(), long.go_on(), long.go_on()
    assert short.future.result(LIMIT) == "short"
    assert long.future.result(LIMIT) == "long"


def test_short_work_does_not_wait_behind_long_work_and_what_turns_out_long_queues():
    desk, a, b, c = Desk(seconds=LIMIT, tried=1, trial=LIMIT), Owner(), Owner(), Owner()
    long, short = desk.ask(a, "long"), desk.ask(b, "short")
    until(lambda: len(desk.steps) == 2, "both are at work")
    third = desk.ask(c, "third", steps=2)
    assert desk.scheduler.place(third) == 1  # one is tried at a time
    short.go_on()
    assert short.future.result(LIMIT) == "short"
    until(lambda: desk.steps[2:] == ["third"], "the next one is tried")
    desk.scheduler.trial = 0.0
    third.go_on()
    until(lambda: desk.scheduler.place(third) == 1, "it was not short, and there is no worker")
    long.go_on(), third.go_on()
    assert long.future.result(LIMIT) == "long"
    assert third.future.result(LIMIT) == "third"
    assert desk.steps == [*sorted(desk.steps[:2]), "third", "third"]


def test_what_is_tried_ends_with_its_tab():
    desk, a, b = Desk(seconds=LIMIT, tried=1, trial=LIMIT), Owner(), Owner()
    long, tried = desk.ask(a, "long"), desk.ask(b, "tried", steps=9)
    until(lambda: len(desk.steps) == 2, "both are at work")
    desk.scheduler.end(b)
    tried.go_on()
    with pytest.raises(Cancelled):
        tried.future.result(LIMIT)
    long.go_on()
    assert long.future.result(LIMIT) == "long"


def test_no_more_work_at_once_than_workers():
    desk, owners = Desk(workers=2, seconds=LIMIT), [Owner() for _ in range(5)]
    asked = [desk.ask(owner, i) for i, owner in enumerate(owners)]
    until(lambda: len(desk.steps) == 2, "two are at work")
    assert len(desk.waiting()) == 3
    for item in asked:
        item.go_on()
    assert sorted(item.future.result(LIMIT) for item in asked) == [0, 1, 2, 3, 4]


def test_work_of_a_closed_tab_ends_running_or_waiting_or_still_to_come():
    desk, gone, here = Desk(), Owner(), Owner()
    running, waiting = desk.ask(gone, "running", steps=9), desk.ask(gone, "waiting")
    other = desk.ask(here, "other", steps=2)
    desk.began("running")
    desk.scheduler.end(gone)
    late = desk.ask(gone, "late")
    running.go_on()
    with pytest.raises(Cancelled):
        running.future.result(LIMIT)
    assert waiting.future.cancelled()
    assert late.future.cancelled()
    assert all(item.dropped for item in (running, waiting, late))
    desk.began("running", "other")
    other.go_on(), other.go_on()
    assert other.future.result(LIMIT) == "other"


def test_work_that_is_called_off_while_others_are_before_it_ends_at_once():
    desk, a, b = Desk(), Owner(), Owner()
    paused, other = desk.ask(a, "paused", steps=9), desk.ask(b, "other")
    paused.go_on()
    desk.began("paused", "other")
    paused.request_stop()
    desk.scheduler.cancel(paused)
    with pytest.raises(Cancelled):
        paused.future.result(LIMIT)
    assert not other.future.done()
    other.go_on()
    assert other.future.result(LIMIT) == "other"


@pytest.mark.parametrize("error", [ValueError("no"), MemoryError(), SystemExit(1), KeyboardInterrupt()])
def test_work_that_dies_is_told_and_leaves_its_worker_to_the_next(error):
    desk = Desk()

    def die():
        raise error

    item = WorkItem(Owner(), die)
    desk.scheduler.submit(item)
    assert item.future.exception(LIMIT) is error
    after = desk.ask(Owner(), "after")
    after.go_on()
    assert after.future.result(LIMIT) == "after"


def test_of_work_that_several_sessions_request_alike_one_piece_is_under_way_at_a_time():
    desk, a, b, c = Desk(workers=2, tried=1), Owner(), Owner(), Owner()
    first = desk.ask(a, "first", steps=2, same="fit")
    second, other = desk.ask(b, "second", same="fit"), desk.ask(c, "other")
    desk.began("first", "other")
    first.go_on()  # gives way, since others wait
    other.go_on()
    assert other.future.result(LIMIT) == "other"
    until(lambda: desk.steps.count("first") == 2, "the first goes on")
    assert desk.scheduler.place(second) == 1
    first.go_on()
    assert first.future.result(LIMIT) == "first"
    until(lambda: desk.steps[-1] == "second", "the second begins")
    second.go_on()
    assert second.future.result(LIMIT) == "second"


def test_if_the_session_that_was_first_is_gone_the_next_one_does_the_work_itself():
    desk, a, b = Desk(workers=2), Owner(), Owner()
    first, second = desk.ask(a, "first", same="fit"), desk.ask(b, "second", same="fit")
    desk.began("first")
    desk.scheduler.end(a)
    first.go_on()
    until(lambda: desk.steps == ["first", "second"], "the second begins")
    second.go_on()
    assert second.future.result(LIMIT) == "second"


def test_work_that_has_ended_lets_go_of_what_it_worked_on():
    """Its item is kept as long as its result, but a table that it has read is not."""

    class Content:
        pass

    content = Content()
    kept = weakref.ref(content)
    item = WorkItem(Owner(), lambda content=content: 1)
    del content
    assert kept() is not None
    Scheduler(1).submit(item)
    assert item.future.result(LIMIT) == 1
    until(lambda: kept() is None, "what it worked on is gone")
