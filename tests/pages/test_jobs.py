"""Work in the background: one kind has one place on a page, whatever asks for it and however slow the machine is."""

from threading import Event

from streamlit.testing.v1 import AppTest

from tests.pages.app import LIMIT, at_once, faults, settled


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
    jobs.may_begin("dear", 1, "One", "an hour", 3600.0)
    jobs.may_begin("dear", 2, "Two", "an hour", 3600.0)


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

    monkeypatch.setattr(jobs, "AT_ONCE", 0.0)
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

        from pages.ui import jobs

        made = []
        for key in (1, 2, 1, 3, 1, 2):
            jobs.cached("numbers", 2, key, lambda key=key: made.append(key) or key)
        larger = jobs.cache("numbers", 5)
        st.text(f"{made} {sorted(larger)} {larger.maxsize}")

    at = AppTest.from_function(script).run()
    assert at.text[0].value == "[1, 2, 3, 2] [1, 2] 5"  # 3 took the place of 2, and 2 that of 3
