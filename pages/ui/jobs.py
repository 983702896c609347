"""Run long work in the background, with progress and Cancel; each session keeps its latest results of each kind.

A job is also the cache of its result: requesting the same work twice gives one job. This module does not know what
the jobs compute.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st

from calib.kernel.checks import InputError
from calib.kernel.memory import release_memory
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.wording import duration, ordinal
from pages.ui import headings, lesson_layout, server, session_cache, turns
from pages.ui.scheduler import Owner, Scheduler, WorkItem, processors
from pages.ui.text import plain

MOST_JOBS = 6  # jobs of one kind
# Seconds that a page waits before it shows progress, so that short work does not flicker
SECONDS_WITHOUT_PROGRESS = 0.6
IN_BACKGROUND = "The work runs in the background, and you can cancel it."
UNASKED = 10.0  # expected seconds up to which work may begin without a click
PAGE_JOB = "fits"  # the kind of work that the page itself waits for


def cached(name: str, size: int, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the session's result of this key, computed if missing."""
    results = session_cache.cache(name, size)
    if key not in results:
        results[key] = make()
    return results[key]


def kept(name: str, key: Hashable) -> Any | None:
    """Return the result that ``cached`` has kept, or None."""
    return session_cache.cache(name, 1).get(key)


class Job(WorkItem):
    """Call in the background that reports its progress and can be cancelled."""

    def __init__(self, kind: str, what: str, call: Callable[[Watch], Any], same: Hashable = None) -> None:
        work = partial(self._unless_cancelled if same is None else self._once_for_all, call)
        super().__init__(_owner(), work, beside=kind != PAGE_JOB, same=same)
        self.what, self.share, self.doing, self.asked = what, 0.0, "", time.monotonic()
        self.watch = Watch(self._report)
        self.future.add_done_callback(_log_failure)  # once, however often a page shows it
        made = None if same is None else session_cache.shared().get(same)
        if made is None:
            scheduler().submit(self)
        else:
            self.future.set_result(made)

    def _unless_cancelled(self, call: Callable[[Watch], Any]) -> Any:
        made = call(self.watch)
        if self.cancelled:  # nobody waits: a large table would stay in memory
            del made
            release_memory()
            raise Cancelled(self.what)
        return made

    def _once_for_all(self, call: Callable[[Watch], Any]) -> Any:
        """Return what another session has computed meanwhile, or compute it and keep it for the others."""
        made = session_cache.shared().get(self.same)
        if made is None:
            made = call(self.watch)
            session_cache.shared().keep(self.same, made)
        return made

    def _report(self, share: float, doing: str) -> None:
        self.share, self.doing = share, doing
        scheduler().give_way(self)
        if self.cancelled:  # while it waited for others
            raise Cancelled(doing)

    def request_stop(self) -> None:
        self.watch.cancel.set()

    def cancel(self) -> None:
        self.request_stop()
        scheduler().cancel(self)

    def wait(self) -> None:
        """Wait for a moment, so that short work needs no progress bar; not while the job is queued."""
        if not scheduler().place(self):
            with turns.given_up():
                wait([self.future], timeout=max(0.0, SECONDS_WITHOUT_PROGRESS - self.seconds))

    @property
    def cancelled(self) -> bool:
        return self.watch.cancel.is_set()

    @property
    def finished(self) -> bool:
        """Whether there is a result, or a reason why there is none; False after a Cancel."""
        return self.future.done() and not self.cancelled

    @property
    def succeeded(self) -> bool:
        return self.finished and self.future.exception() is None

    @property
    def made(self) -> Any | None:
        """Result of the job, or None until there is one."""
        return self.future.result() if self.succeeded else None

    @property
    def seconds(self) -> float:
        """Seconds since the job was requested."""
        return time.monotonic() - self.asked


@st.cache_resource
def scheduler() -> Scheduler:
    """Return the workers of all sessions and as many trial places: together one per processor.

    With twice as many, work waits for Python's interpreter rather than for a processor, and so do the pages
    (docs/load.md).
    """
    half = max(1, processors() // 2)
    return Scheduler(half, tried=half)


def _owner() -> Owner:
    """Return this session as the owner of its jobs."""
    return st.session_state.setdefault("owner", Owner())


@st.cache_resource(scope="session", on_release=lambda tab: _tab_closed(*tab), show_spinner=False)
def _while_open(_owner: Owner, session: str) -> tuple[Owner, str]:
    """Hold the owner until Streamlit releases it, when the tab is closed or its connection is lost."""
    return _owner, session


def _tab_closed(owner: Owner, session: str) -> None:
    scheduler().end(owner)
    owner.closed = closed = object()
    # Not if it came back and is closed again
    server.forget_when_closed(session, lambda: owner.closed is closed)


def _jobs(kind: str, size: int = MOST_JOBS) -> session_cache.Cache:
    return session_cache.cache(f"jobs_{kind}", size)


def page_entered(page: str) -> None:
    """Begin a run of this page: cancel the unfinished jobs of another page, which continue there later.

    So they slow down nothing here. The places of the kinds of work are free again.
    """
    session_cache.enter()
    _owner().gone = False  # a connection that was lost may come back
    _while_open(_owner(), server.session_id())
    st.session_state["placed"] = set()
    other, kind, keys = st.session_state.get("resumable", (page, "", ()))
    if other == page:
        return
    for key in keys:
        job = _jobs(kind).get(key)
        if job is not None and not job.future.done() and not job.cancelled:
            _jobs(kind).pop(key).cancel()
    del st.session_state["resumable"]


def _has_place(kind: str) -> bool:
    """Tell whether this kind of work may be shown here: each kind has one place, the first that asks in a run.

    Later requests wait; the page runs again when the work in that place is done.
    """
    placed = st.session_state.setdefault("placed", set())
    first = kind not in placed
    placed.add(kind)
    return first


@contextmanager
def place_of_progress() -> Iterator[None]:
    """Draw in a container in which progress comes and goes while everything below keeps its place among the elements.

    Otherwise Streamlit would draw the old picture again, below the progress and then in its own place. The empty
    element replaces a finished progress at once; Streamlit would keep it until the page has ended.
    """
    with st.container():
        yield
        st.empty()


def so_far(seconds: float, share: float) -> str:
    """Return the time so far, and the time left once that can be estimated."""
    left = f", about {seconds / share * (1 - share):.0f} s left" if share > 0.02 else ""
    return f"{seconds:.0f} s so far{left}"


def run(
    kind: str,
    what: str,
    calls: Mapping[Any, Callable[[Watch], Any]],
    meanwhile: Callable[[], None] | None = None,
    says_left: bool = False,
    for_all: bool = False,
    resumes: bool = False,
) -> list[Any] | None:
    """Return each ``call(watch)``, computed once per key in the background, or None while one is missing.

    A result is missing while its call runs or after a Cancel. If a call is refused or fails, the page ends here with
    the reason.

    Parameters
    ----------
    kind
        Jobs of one kind share a cache; a request for other keys cancels the unfinished jobs.
    what
        Names the work on the page.
    meanwhile
        Draws the results so far, again every two seconds; such work pauses while another page is open
    (``page_entered``).
    says_left
        Whether the work itself reports the remaining time.
    for_all
        Whether the results serve all sessions, whose keys then say all that they depend on; never of uploads.
    resumes
        Whether the calls keep what they have done, so that they continue after a Cancel.
    """
    known = _jobs(kind, max(MOST_JOBS, 2 * len(calls)))
    cancel_others(kind, calls)
    for key, call in calls.items():
        if key not in known:
            known[key] = Job(kind, what, call, same=(kind, key) if for_all else None)
    jobs = [known[key] for key in calls]
    for job in jobs:
        job.wait()
    if all(job.finished for job in jobs):
        return [_result(kind, key, known[key]) for key in calls]
    if meanwhile:
        st.session_state["resumable"] = (st.session_state["page"], kind, list(calls))
    if _has_place(kind):
        with lesson_layout.on_picture(), st.container(key=f"running_{kind}"):
            _show(kind, {key: known[key] for key in calls}, meanwhile, says_left, resumes)
    return None


def run_one(
    kind: str,
    what: str,
    key: Any,
    call: Callable[[Watch], Any],
    for_all: bool = False,
    resumes: bool = False,
) -> Any | None:
    """Return ``call(watch)`` as ``run`` does, or None while it is missing."""
    found = run(kind, what, {key: call}, for_all=for_all, resumes=resumes)
    return None if found is None else found[0]


def cancel_others(kind: str, keys: Collection[Any]) -> None:
    """Cancel the unfinished jobs of this kind that have none of these keys."""
    known = _jobs(kind)
    for key in [key for key, job in known.items() if job.dropped or (key not in keys and not job.finished)]:
        known.pop(key).cancel()


def started(kind: str, key: Any) -> bool:
    """Tell whether there is a job of this kind and key: running, finished or cancelled."""
    return key in _jobs(kind)


def result(kind: str, key: Any) -> Any | None:
    """Return the result of the job of this kind and key, or None."""
    job = _jobs(kind).get(key)
    return job and job.made


def was_cancelled(kind: str, key: Any) -> bool:
    """Tell whether a person has cancelled the job of this kind and key."""
    job = _jobs(kind).get(key)
    return job is not None and job.cancelled and not job.dropped


def or_why(make: Callable[..., Any], *args: Any) -> Any:
    """Return ``make(*args)``, or the InputError that it raises, for work whose refusal does not end the page."""
    try:
        return make(*args)
    except InputError as error:
        error.__context__ = None  # its frames would keep the table that was refused
        return error.with_traceback(None)


def forget(kind: str, keys: Sequence[Any]) -> None:
    """Drop these jobs, because their results are kept elsewhere or they must run again."""
    for key in keys:
        _jobs(kind).pop(key, None)


def may_begin(kind: str, key: Any, what: str, cost: str, seconds: float, main: bool = False) -> bool:
    """Tell whether work may begin: at once if few seconds are expected, else after a click beside ``cost``.

    ``main`` work is the purpose of the page, and its button is the primary one.
    """
    pressed = st.session_state.setdefault("pressed", set())
    if seconds <= UNASKED or started(kind, key) or (kind, key) in pressed:
        return True
    if _has_place(kind):
        with st.container(horizontal=True, vertical_alignment="center", key=f"running_{kind}"):
            st.markdown(f"**{plain(what)}**: {plain(cost)}")
            style: Any = "primary" if main else "secondary"
            press = partial(pressed.add, (kind, key))
            st.button("Start", key=f"start_{kind}", on_click=press, type=style, help=IN_BACKGROUND)
    return False


def price(calls: int, seconds: float, of: str = "") -> str:
    """Return the cost of many model fits in words."""
    return f"{calls:,} model fits {of}take about {duration(seconds)}."


def _result(kind: str, key: Any, job: Job) -> Any:
    """Return a finished job's result; a refusal or a failure ends the page."""
    try:
        return job.future.result()
    except InputError as error:
        with lesson_layout.on_picture():
            st.error(plain(error))
    except BaseException as error:  # also those that would end a program: here they ended one job
        with lesson_layout.on_picture():
            st.error(plain(_failure(job.what, error)))
            st.button("Try again", key=f"try_again_{kind}", on_click=partial(forget, kind, [key]))
    st.stop()


def _log_failure(future: Future) -> None:
    error = None if future.cancelled() else future.exception()
    if error and not isinstance(error, (InputError, Cancelled)):
        logging.getLogger(server.LOGGER).error("a job failed", exc_info=error)


def _failure(what: str, error: BaseException) -> str:
    """Return a message: what failed, that nothing is lost, and what to do."""
    safe = "Your data and settings are safe:"
    if isinstance(error, MemoryError):
        return f"{what} needs more memory than the server has. {safe} choose fewer rows, fewer trees or another model."
    if isinstance(error, BrokenExecutor) or not isinstance(error, Exception):
        return f"{what} was interrupted ({type(error).__name__}) before it had finished. {safe} try again."
    return (
        f"{what} failed on these data ({type(error).__name__}: {error}). "
        f"{safe} try another model, or change the settings of this model."
    )


def _show(
    kind: str,
    jobs: Mapping[Any, Job],
    meanwhile: Callable[[], None] | None,
    says_left: bool,
    resumes: bool,
) -> None:
    """Draw the progress of the jobs with Cancel; after a Cancel, a button that starts them again."""
    if not any(job.cancelled for job in jobs.values()):
        _progress(kind, list(jobs.values()), meanwhile, says_left)
        return
    # One job shows its own partial results; of several jobs, the finished ones are shown
    partly = meanwhile is not None and (len(jobs) == 1 or any(job.finished for job in jobs.values()))
    _offer_again(kind, [key for key, job in jobs.items() if not job.finished], partly, resumes)
    if meanwhile:
        meanwhile()


def _offer_again(kind: str, keys: Sequence[Any], partly: bool, resumes: bool) -> None:
    """Say after a Cancel what the page shows now, and offer a button that starts the jobs again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        before = "The picture below, if any, belongs to the previous settings."
        # Other work than the page's own leaves the picture as it is
        of_page = partly or kind == PAGE_JOB or kind.startswith("learn_")
        below = "Results so far are shown below." if partly else before
        kept = " Finished fits are kept." if resumes else ""
        st.info(f"Cancelled. {below}" if of_page else f"Cancelled.{kept}")
        st.button(
            "Continue" if partly or resumes else "Fit again" if kind == PAGE_JOB else "Start again",
            key=f"fit_again_{kind}",
            on_click=partial(forget, kind, list(keys)),
        )


def _status(running: Sequence[Job], share: float, says_left: bool) -> str:
    """Return the current step and its time, or the place in the queue while other users' jobs run."""
    seconds = max(job.seconds for job in running)
    places = [scheduler().place(job) for job in running]
    if all(map(scheduler().is_held_back, running)):
        doing, taken = "another session computes the same result", so_far(seconds, 0.0)
    elif all(places):
        before = "; other users' jobs run meanwhile" if share else ""
        doing, taken = (
            f"waiting for a processor, {ordinal(min(places))} in the queue{before}",
            so_far(seconds, 0.0),
        )
    else:
        doing = running[places.index(0)].doing or "starting"
        taken = so_far(seconds, 0.0 if says_left else share)
    return f"{running[0].what}: {doing} · {taken}"


def _progress(kind: str, jobs: Sequence[Job], meanwhile: Callable[[], None] | None, says_left: bool) -> None:
    meanwhile = meanwhile and headings.at_this_level(meanwhile)

    @st.fragment(run_every=2 if meanwhile else 0.5)
    def progress() -> None:
        running = [job for job in jobs if not job.finished]
        if not running:
            st.rerun()
        share = sum(1 if job.finished else job.share for job in jobs) / len(jobs)
        st.progress(min(share, 1.0), text=plain(_status(running, share, says_left)))
        if st.button("Cancel", key=f"cancel_{kind}"):
            for job in running:
                job.cancel()
            st.rerun()
        if meanwhile:
            meanwhile()

    progress()
