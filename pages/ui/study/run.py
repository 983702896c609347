"""Lower parts of the Run page: the size of a study, its progress, Cancel and Continue, and the results so far.

Results are kept in a results file in this session's memory; nothing is written to disk.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from calib.export import study_command, uploaded
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import counted, duration
from calib.recipe import Recipe
from calib.study import (
    Extent,
    Store,
    StudyProgress,
    Summary,
    run_study,
    study_progress,
)
from pages.ui import downloads, headings, jobs, state
from pages.ui.study import results
from pages.ui.study.choose import Study
from pages.ui.text import plain
from pages.ui.uploads import received

KIND, WHAT = "study", "Running"
# Of a study here: the store stays below 100 MB
MOST_STUDY_CELLS, MOST_STUDY_RESULTS, MOST_STUDY_PREDICTIONS = 2000, 20_000, 3_000_000
MOST_STORE = 100  # megabytes of an uploaded results file


@dataclass(eq=False)
class Running:
    """Results file of a session, and the thread that writes to it.

    Attributes
    ----------
    number
        Number of the results file; work for another file is another job.
    alone
        Lock of the writing thread.
    pace
        ``Study.pace`` → [runs, seconds] measured in this session.
    retry
        Whether failed runs are to be repeated.
    """

    store: Store = field(default_factory=Store.in_memory)
    number: int = 0
    alone: threading.Lock = field(default_factory=threading.Lock)
    pace: dict[Any, list[float]] = field(default_factory=dict)
    retry: bool = False


def running() -> Running:
    return st.session_state.setdefault("study_run", Running())


def work(study: Study) -> None:
    """Draw the size of the study with Start, the progress with Cancel, and the results so far."""
    of, too_many = study.extent, _too_many(study.extent)
    if too_many:
        st.info(plain(f"{_size(study)}. {too_many}"))
        jobs.run(KIND, WHAT, {})
        return
    now = _standing(study)
    missing = of.cells - now.done
    may_begin = partial(jobs.may_begin, KIND, key_of(study), _size(study), seconds=float("inf"), main=True)
    if missing and not may_begin(cost=_cost(study, missing)):
        with headings.details():
            st.caption(
                "A run is one fold of one data set with one model; all setups with that model share this run."
            )
        jobs.run(KIND, WHAT, {})
        so_far(study)
        return
    if missing or running().retry or jobs.started(KIND, key_of(study)):
        call = partial(compute, running(), study)
        if (
            jobs.run(KIND, WHAT, {key_of(study): call}, meanwhile=partial(so_far, study), says_left=True)
            is None
        ):
            return
    st.success(plain(f"All {counted(of.cells, 'run')} are done."))
    if _standing(study).failed:
        st.button("Repeat failed runs", key="run_retry", on_click=_retry, args=(study,))
    so_far(study)


def key_of(study: Study) -> tuple:
    """Return the key of the work on a study; another store makes it other work."""
    return (running().number, *study.key)


def _too_many(of: Extent) -> str | None:
    """Explain why the study is too large for the browser."""
    if (
        of.cells > MOST_STUDY_CELLS
        or of.results > MOST_STUDY_RESULTS
        or of.predictions > MOST_STUDY_PREDICTIONS
    ):
        return (
            f"In the browser, a study can have at most {MOST_STUDY_CELLS:,} runs, {MOST_STUDY_RESULTS:,} results and "
            f"{MOST_STUDY_PREDICTIONS:,} predictions. Choose fewer repeats, setups or data sets, or use the command "
            "line below."
        )
    return None


def _size(study: Study) -> str:
    sets, of = counted(len(study.sets), "data set"), study.extent
    return f"{sets}, {counted(of.cells, 'run')}, {counted(of.fits, 'model fit')}"


def _cost(study: Study, missing: int) -> str:
    """Estimate how long the missing runs take, from those of this session."""
    there = study.extent.cells - missing
    before, rest = (f"{there:,} are done; ", "the rest takes") if there else ("", "they take")
    cells, seconds = running().pace.get(study.pace, (0, 0.0))
    if not cells:
        return f"{before}the time is unknown until the first runs have finished."
    about = duration(missing * seconds / cells)
    return f"{before}{rest} about {about}, estimated from {counted(int(cells), 'run')} in this session."


def _standing(study: Study) -> StudyProgress:
    return study_progress(study.protocol, study.sets, running().store, **study.chosen)


def compute(run: Running, study: Study, watch: Watch) -> Summary:
    """Run what the store lacks, after the current cell of cancelled work is done."""
    while not run.alone.acquire(timeout=0.2):
        watch.step(0.0, "waiting for the current run")
    try:
        retry, run.retry = run.retry, False
        timed = Watch(_timed(run, study, watch.report), watch.cancel)
        return run_study(
            study.protocol,
            study.sets,
            run.store,
            **study.chosen,
            retry_failed=retry,
            breadth_first=True,
            shared=True,
            watch=timed,
        )
    finally:
        run.alone.release()


def _timed(
    run: Running, study: Study, report: Callable[[float, str], None] | None
) -> Callable[[float, str], None]:
    """Return a report function that also measures each run; the first step comes before the first run."""
    pace, last = run.pace.setdefault(study.pace, [0, 0.0]), [0.0]

    def step(share: float, doing: str) -> None:
        now = time.perf_counter()
        if last[0]:
            pace[0] += 1
            pace[1] += now - last[0]
        last[0] = now
        if report:
            report(share, doing)

    return step


def _retry(study: Study) -> None:
    running().retry = True
    jobs.forget(KIND, [key_of(study)])


def so_far(study: Study) -> None:
    """Show progress, failures, rows and a link to the results."""
    now, store = _standing(study), running().store
    if not now.done:
        return
    with st.container(horizontal=True, key="run_headline"):
        st.metric("Runs done", f"{now.done:,} of {now.cells:,}", width=215)
        st.metric("Failed results", f"{now.failed:,}", width=215)
    if now.failed:
        results.list_failures(store.failures(of=now.keys), expanded=True)
    with st.container(horizontal=True, key="run_rows"):
        if now.failed < len(store.stored_keys() & now.keys) and st.button(
            "Open in Results", key="run_open", type="primary"
        ):
            results.take(store.content(), f"{study.protocol.key}.sqlite")
            st.switch_page("pages/study_results.py", query_params=state.here())
        downloads.table("Results (CSV)", lambda: store.rows(of=now.keys), "rows.csv", key="run_csv")


def continue_later(recipe: Recipe) -> None:
    """Offer the store as a file, a store to continue, and the equivalent command line."""
    with st.expander("Continue later or elsewhere", key="continue_later"):
        left, right = st.columns(2, gap="large")
        with left:
            st.caption(
                "Run this study in a shell, without the browser's limits. With the same results file, the study "
                "continues:"
            )
            st.code(study_command(recipe), language="bash", wrap_lines=True)
            with st.container(horizontal=True):
                content = running().store.content
                downloads.button(
                    "Results file (SQLite)", content, "results.sqlite", "application/vnd.sqlite3", "run_store"
                )
                st.button("Discard results", key="run_discard", on_click=lambda: _use(Store.in_memory()))
            st.caption(
                "Results stay in this session's memory. Download the results file to continue later, here or with "
                "--store. A study pauses while another page is open."
            )
        with right:
            st.file_uploader(
                "Results file to continue",
                key="run_store_file",
                on_change=lambda: received("run_store_file", _continue),
                max_upload_size=MOST_STORE,
            )


def _use(store: Store) -> None:
    """Continue with another store."""
    before = running()
    st.session_state["study_run"] = Running(store, before.number + 1, pace=before.pace)


def _continue(content: bytes, name: str) -> None:
    """Continue with an uploaded store."""
    uploaded.check_ends(uploaded.results, content, name)
    try:
        store = Store.of_bytes(content, name)
        store.rows()
    except InputError:
        raise
    except (sqlite3.Error, ValueError) as error:
        raise InputError(f"{name} is not a readable results file ({error}). Choose another file.") from None
    _use(store)
