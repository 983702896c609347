"""Many people at once, a tab closed in mid-fit, a server that is started again: with real servers and real clients."""

import time

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.ui.frame import LOST
from scripts import load
from tests.browser import files
from tests.browser.driver import free_port
from tests.browser.reader import Reader
from tests.waiting import until

# Fits of an hour, a hundred forests each: that they ended by themselves is no answer on any machine.
LARGE = {
    "evaluation": "folds",
    "folds": "10",
    "cv": "10",
    "data": "sample:digits",
    "model": "large_forest",
    "params": '{"n_estimators":2000}',
    "placement": "cv",
}
A_CLIENT = 60  # megabytes that one of them may cost while all are at work


@pytest.mark.soak
def test_many_at_once_see_their_own_answers_and_no_error_and_memory_is_given_back():
    figures = load.run(clients=8, minutes=1, tabs=1, fits=4)
    assert figures.faults == []
    assert len(figures.answers) > 8
    assert load.wrong(figures) == []
    assert max(figures.memory) < figures.before + 8 * A_CLIENT
    assert figures.kept <= load.KEPT_AT_MOST


@pytest.mark.soak  # without a server: tests/pages/test_jobs.py
def test_a_closed_tab_leaves_no_work_behind_and_nobody_in_the_queue():
    with load.server() as (address, process):
        readers = [Reader(address, **LARGE, seed=str(seed)).open() for seed in range(4)]
        assert all(reader.working for reader in readers)
        for reader in readers:
            reader.close()

        def idle() -> bool:
            before = process.seconds
            time.sleep(0.5)  # of which a fit would take its part
            return process.seconds - before < 0.05

        until(idle, "the server has nothing to do")
        last = Reader(address, model="naive_bayes").open()
        assert not any("in the queue" in text for text in last.progress)
        assert last.settled().headline()
        last.close()
        again = Reader(address, model="naive_bayes", bins="13")
        again.states = last.states | {
            "$$ID-of-a-session-before-bins__7": WidgetState(id="$$ID-of-before-bins__7")
        }
        assert any(LOST in alert.body.replace("\\", "") for alert in again.open().all("alert"))
        assert again.settled().headline()["ECE"] != last.headline()["ECE"]
        again.close()


@pytest.mark.soak
def test_after_a_restart_of_the_server_the_view_comes_back_and_a_file_is_asked_for_by_its_name(new_tab):
    port = free_port()
    with load.server(port=port) as (address, _):
        sample, own = new_tab(address), new_tab(address)
        sample.open("explore_reliability", model="naive_bayes", bins="13")
        before, link = sample.headline(), sample.recipe_query()
        own.open("explore_data").upload("mine.csv", files.as_csv(files.churn(300))).go("Reliability")
        mine = own.headline()
        assert before
        assert mine
    with load.server(port=port):
        sample.page.bring_to_front()
        until(lambda: sample.slide("bins", 1).alerts(), "the browser has found the server again")
        assert sample.alerts() == [LOST]  # what was said and done before is lost, and only that
        assert sample.headline() == before
        assert sample.slide("bins", 1).recipe_query() == link | {"bins": "14"}
        assert sample.alerts() == []
        assert new_tab(address).open("explore_reliability", **link).headline() == before
        own.slide("bins", 1)
        assert any("Upload mine.csv again" in text for text in own.alerts())
        own.page.get_by_role("link", name="Go to Data").click()
        own.settle().upload("mine.csv", files.as_csv(files.churn(300))).go("Reliability")
        assert own.headline() == mine
