"""Work in the background: one kind has one place on a page, whatever asks for it and however slow the machine is.

It waits for its turn where others' work goes before, ends with its tab, and says so when it dies.
"""

import weakref
from concurrent.futures.process import BrokenProcessPool
from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from calib.kernel.checks import InputError
from pages.ui import server
from pages.ui.scheduler import Owner, Scheduler, WorkItem
from tests.pages.app import LIMIT, at_once, faults, jobs_of, messages, settled
from tests.saying import assert_says
from tests.waiting import until


def two_of_one_kind():
    import streamlit as st

    from pages.ui import jobs
    from tests.pages.test_jobs import HOLD

    jobs.page_entered("a page")
    for number in (1, 2):
        found = jobs.run(
            "kind", f"Work {number}", {(number, i): lambda watch: HOLD.wait(60) for i in range(2)}
        )
        st.text(f"{number}: {found}")
    jobs.may_begin("dear", 1, "One", "an hour", float("inf"))
    jobs.may_begin("dear", 2, "Two", "an hour", float("inf"))


HOLD = Event()


def test_jobs_of_one_kind_asked_for_twice_in_a_run_stand_in_one_place():
    HOLD.clear()
    at = AppTest.from_function(two_of_one_kind, default_timeout=LIMIT).run()
    assert not at.exception
    assert [button.key for button in at.button] == ["cancel_kind", "start_dear"]
    at.button(key="cancel_kind").click().run()
    assert not at.exception
    assert [button.key for button in at.button if "kind" in button.key] in (
        ["cancel_kind"],
        ["fit_again_kind"],
    )
    HOLD.set()


def test_a_tree_that_ends_while_its_progress_is_drawn_does_not_draw_the_forests_progress_beside_it(
    monkeypatch,
):
    """Two jobs watched in one run once asked for the same button, on a machine slow enough."""
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    whole = jobs._progress

    def slowly(kind, running, *more):
        whole(kind, running, *more)
        for job in running:
            job.future.result(LIMIT)

    monkeypatch.setattr(jobs, "_progress", slowly)
    query = {"data": "synthetic:gaussian", "data_params": '{"n":60}', "params": '{"n_estimators":3}'}
    at = at_once("explore_trees", **query)
    assert faults(at) == []
    assert faults(settled(at)) == []
    assert len(at.metric) == 3


def test_the_latest_results_are_kept_and_a_cache_grows_with_what_is_asked_of_it():
    def script():
        import streamlit as st

        from pages.ui import jobs, session_cache

        made = []
        for key in (1, 2, 1, 3, 1, 2):
            jobs.cached("numbers", 2, key, lambda key=key: made.append(key) or key)
        larger = session_cache.cache("numbers", 5)
        st.text(f"{made} {sorted(larger)} {larger.most}")

    at = AppTest.from_function(script).run()
    assert at.text[0].value == "[1, 2, 3, 2] [1, 2] 5"  # 3 took the place of 2, and 2 that of 3


def one_piece_of_work():
    import streamlit as st

    from pages.ui import jobs
    from tests.pages.test_jobs import WORK

    jobs.page_entered("a page")
    for_all = bool(st.query_params.get("for_all"))
    found = jobs.run("kind", "Fitting the model", {1: lambda watch: WORK[0](watch)}, for_all=for_all)
    st.text(f"found {found}")


WORK = [lambda watch: None]  # what the script above does; replaced by the tests


def ready(at: AppTest) -> AppTest:
    """After the work, whatever came of it."""
    return settled(at.run())


@pytest.fixture
def script(monkeypatch):
    """The page, with its work and one worker."""
    from pages.ui import jobs

    scheduler = Scheduler(1)
    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    monkeypatch.setattr(jobs, "scheduler", lambda: scheduler)
    monkeypatch.setitem(globals(), "WORK", [lambda watch: "a result"])
    return AppTest.from_function(one_piece_of_work, default_timeout=LIMIT), scheduler


def test_who_waits_for_others_work_sees_the_place_in_the_queue(script):
    at, scheduler = script
    hold, others = Event(), [Owner(), Owner()]
    items = [WorkItem(owner, lambda: hold.wait(60)) for owner in others]
    for item in items:
        scheduler.submit(item)
    (bar,) = at.run().get("progress")
    assert_says(bar.proto.text, "waiting for a processor", "2nd in the queue")
    hold.set()
    assert ready(at).text[0].value == "found ['a result']"


def test_what_work_returns_after_a_cancel_is_dropped(script):
    """Some libraries read a table to its end before they look at Cancel."""
    at, _ = script
    end, made = Event(), []

    def work(watch):
        assert end.wait(60)
        table = Event()
        made.append(weakref.ref(table))
        return table

    WORK[0] = work
    at.run().button(key="cancel_kind").click().run()
    (job,) = jobs_of(at, "kind")
    end.set()
    until(job.future.done, "the work ends")
    until(lambda: made[0]() is None, "its result is gone")
    assert not job.finished
    assert messages(at) == ["Cancelled."]


@pytest.mark.usefixtures("script")
def test_what_serves_all_is_computed_once_for_sessions_that_request_it_together():
    hold, calls = Event(), []

    def work(watch):
        calls.append(watch)
        assert hold.wait(60)
        return len(calls)

    WORK[0] = work
    sessions = [AppTest.from_function(one_piece_of_work, default_timeout=LIMIT) for _ in range(3)]
    for at in sessions:
        at.query_params["for_all"] = "yes"
    texts = [at.run().get("progress")[0].proto.text for at in sessions]
    assert [r"another session computes the same result" in text for text in texts] == [False, True, True]
    hold.set()
    assert [ready(at).text[0].value for at in sessions] == ["found [1]"] * 3
    alone = AppTest.from_function(one_piece_of_work, default_timeout=LIMIT)
    assert ready(alone).text[0].value == "found [2]"
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no trees"), "failed on these data (ValueError: no trees)"),
        (MemoryError(), "choose fewer rows, fewer trees or another model"),
        (BrokenProcessPool("a worker died"), "was interrupted"),
        (SystemExit(1), "was interrupted"),
    ],
)
def test_work_that_dies_says_what_happened_and_what_to_do_and_can_be_tried_again(script, error, said):
    at, _ = script

    def dies(watch):
        raise error

    WORK[0] = dies
    (message,) = messages(ready(at))
    assert said in message
    assert "Your data and settings are safe" in message
    assert not at.exception
    WORK[0] = lambda watch: "a result"
    at.button(key="try_again_kind").click()
    assert ready(at).text[0].value == "found ['a result']"
    assert messages(at) == []


def ours(caplog) -> list[str]:
    return [record.message for record in caplog.records if record.name == server.LOGGER]


def test_a_failure_is_logged_once_however_often_the_page_runs_and_a_refusal_never(script, caplog):
    at, _ = script

    def dies(watch):
        raise ValueError("no trees")

    def refuses(watch):
        raise InputError("Choose fewer trees.")

    WORK[0] = dies
    for _ in range(3):
        assert len(messages(ready(at))) == 1
    until(lambda: ours(caplog), "the record")  # it is written after who waits for the work was told
    assert ours(caplog) == ["a job failed"]
    WORK[0] = refuses
    at.button(key="try_again_kind").click()
    assert messages(ready(at)) == ["Choose fewer trees."]
    assert ours(caplog) == ["a job failed"]


def test_work_of_a_closed_tab_ends_and_begins_again_when_the_connection_comes_back(script):
    from pages.ui import jobs

    at, _ = script
    begun = []

    def steps(watch):
        begun.append(watch)
        while True:
            watch.step(0.5, "trees")
            watch.cancel.wait(0.01)

    WORK[0] = steps
    (job,) = jobs_of(at.run(), "kind")
    until(lambda: begun, "the work begins")
    jobs._tab_closed(at.session_state["owner"], "the tab")
    until(job.future.done, "the work ends")
    assert job.dropped
    WORK[0] = lambda watch: "a result"
    assert ready(at).text[0].value == "found ['a result']"  # and nobody says that it was cancelled
    assert messages(at) == []
