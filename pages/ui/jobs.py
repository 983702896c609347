"""Long work in the background, with progress and Cancel; what a session has computed is kept, the latest of each kind.

A job is also the cache of its result: the same work asked for twice is one job. What is worked on is not
known here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, wait
from functools import partial
from typing import Any

import streamlit as st

from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.wording import duration, ordinal
from pages.ui import server, session_cache, stage
from pages.ui.text import plain
from pages.ui.turns import Owner, Ticket, Turns, processors

MOST_JOBS = 6  # of one kind
AT_ONCE = 0.6  # seconds a page waits before it shows progress: short work never flickers
UNASKED = 10.0  # seconds that work beside the page's own may be expected to take without being asked for
PAGE = "fits"  # the kind of work that the page itself waits for


def cached(name: str, size: int, key: Hashable, make: Callable[[], Any]) -> Any:
    """The session's result of this key, made where there is none."""
    results = session_cache.cache(name, size)
    if key not in results:
        results[key] = make()
    return results[key]


class Job(Ticket):
    """A call in the background that reports its progress and can be called off."""

    def __init__(self, kind: str, what: str, call: Callable[[Watch], Any]) -> None:
        super().__init__(_owner(), lambda: call(self.watch), beside=kind != PAGE)
        self.what, self.share, self.doing, self.asked = what, 0.0, "", time.monotonic()
        self.watch = Watch(self._report)
        self.future.add_done_callback(_log_failure)  # once, however often a page shows it
        turns().submit(self)

    def _report(self, share: float, doing: str) -> None:
        self.share, self.doing = share, doing
        turns().give_way(self)
        if self.cancelled:  # while others were before it
            raise Cancelled(doing)

    def called_off(self) -> None:
        self.watch.cancel.set()

    def cancel(self) -> None:
        self.called_off()
        turns().cancel(self)

    def wait(self) -> None:
        """A moment, so that short work is there at once; not for what stands in the queue."""
        if not turns().place(self):
            wait([self.future], timeout=max(0.0, AT_ONCE - self.seconds))

    @property
    def cancelled(self) -> bool:
        return self.watch.cancel.is_set()

    @property
    def finished(self) -> bool:
        """Whether there is a result, or a reason why there is none; not after a Cancel."""
        return self.future.done() and not self.cancelled

    @property
    def succeeded(self) -> bool:
        return self.finished and self.future.exception() is None

    @property
    def made(self) -> Any | None:
        """The result, once there is one."""
        return self.future.result() if self.succeeded else None

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self.asked


@st.cache_resource
def turns() -> Turns:
    """The workers of all sessions: as many as processors, behind the pages; as much again is tried."""
    return Turns(processors(), tried=processors())


def _owner() -> Owner:
    """This session, as the one who asks for work."""
    return st.session_state.setdefault("owner", Owner())


@st.cache_resource(scope="session", on_release=lambda tab: _tab_closed(*tab), show_spinner=False)
def _while_open(_owner: Owner, session: str) -> tuple[Owner, str]:
    """Streamlit lets go of it when the tab is closed, or its connection lost."""
    return _owner, session


def _tab_closed(owner: Owner, session: str) -> None:
    turns().end(owner)
    server.forget_when_closed(session)


def _jobs(kind: str, size: int = MOST_JOBS) -> session_cache.Cache:
    return session_cache.cache(f"jobs_{kind}", size)


def page_entered(page: str) -> None:
    """Begin a run of this page: call off what another one had begun and takes up again where it stopped.

    So it slows nothing here. And no kind of work has its place on the page yet.
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
    """Whether this kind of work may be shown where the page is: one place a kind, the first that asks in a run.

    What asks later waits; the page runs again when the work in that place is done.
    """
    placed = st.session_state.setdefault("placed", set())
    first = kind not in placed
    placed.add(kind)
    return first


def run(
    kind: str,
    what: str,
    calls: Mapping[Any, Callable[[Watch], Any]],
    meanwhile: Callable[[], None] | None = None,
    says_left: bool = False,
) -> list[Any] | None:
    """What each ``call(watch)`` returns, made once for its key in the background; None while one runs or was cancelled.

    The page ends here, with the reason, where a call is refused or fails.

    Parameters
    ----------
    kind
        Jobs of one kind share a cache, and asking for other keys calls the unfinished ones off.
    what
        Says on the page what is being done.
    meanwhile
        Draws what is there already, again every two seconds; such work rests while another page is open
        (``page_entered``).
    says_left
        Whether the work itself tells how long the rest takes.
    """
    known = _jobs(kind, max(MOST_JOBS, 2 * len(calls)))
    for key in [key for key, job in known.items() if job.dropped or (key not in calls and not job.finished)]:
        known.pop(key).cancel()
    for key, call in calls.items():
        if key not in known:
            known[key] = Job(kind, what, call)
    jobs = [known[key] for key in calls]
    for job in jobs:
        job.wait()
    if all(job.finished for job in jobs):
        return [_result(kind, key, known[key]) for key in calls]
    if meanwhile:
        st.session_state["resumable"] = (st.session_state["page"], kind, list(calls))
    if _has_place(kind):
        with stage.on_picture(), st.container(key=f"running_{kind}"):
            _show(kind, {key: known[key] for key in calls}, meanwhile, says_left)
    return None


def started(kind: str, key: Any) -> bool:
    """Whether there is a job of this kind and key, running, finished or called off."""
    return key in _jobs(kind)


def result(kind: str, key: Any) -> Any | None:
    """What the job of this kind and key returned, if there is one that is done."""
    job = _jobs(kind).get(key)
    return job and job.made


def forget(kind: str, keys: Sequence[Any]) -> None:
    """Drop these jobs: their results are kept elsewhere, or they are to run again."""
    for key in keys:
        _jobs(kind).pop(key, None)


def may_begin(kind: str, key: Any, what: str, cost: str, seconds: float, main: bool = False) -> bool:
    """Whether work may begin: unasked where few seconds are expected, else after one press beside ``cost``.

    ``main`` work is what the page is for, and its button says so.
    """
    pressed = st.session_state.setdefault("pressed", set())
    if seconds <= UNASKED or started(kind, key) or (kind, key) in pressed:
        return True
    if _has_place(kind):
        with st.container(horizontal=True, vertical_alignment="center", key=f"running_{kind}"):
            st.markdown(f"**{plain(what)}**: {plain(cost)}")
            options = {"type": "primary"} if main else {}
            st.button("Start", key=f"start_{kind}", on_click=pressed.add, args=((kind, key),), **options)
    return False


def price(calls: int, seconds: float) -> str:
    """What many fits cost, in words."""
    return f"{calls:,} model fits take about {duration(seconds)}. They run in the background, and you can cancel them."


def _result(kind: str, key: Any, job: Job) -> Any:
    """A finished job's result; a refusal or a failure ends the page."""
    try:
        return job.future.result()
    except InputError as error:
        with stage.on_picture():
            st.error(plain(error))
    except BaseException as error:  # also what would end a program: here it ended one piece of work
        with stage.on_picture():
            st.error(plain(_failure(job.what, error)))
            st.button("Try again", key=f"try_again_{kind}", on_click=partial(forget, kind, [key]))
    st.stop()


def _log_failure(future: Future) -> None:
    error = None if future.cancelled() else future.exception()
    if error and not isinstance(error, (InputError, Cancelled)):
        logging.getLogger(server.OURS).error("a job failed", exc_info=error)


def _failure(what: str, error: BaseException) -> str:
    """What happened to the work, that nothing is lost, and what to do."""
    safe = "Your data and settings are safe:"
    if isinstance(error, MemoryError):
        return f"{what} needs more memory than the server has. {safe} choose fewer rows, fewer trees or another model."
    if isinstance(error, BrokenExecutor) or not isinstance(error, Exception):
        return f"{what} was interrupted ({type(error).__name__}) before it had finished. {safe} try again."
    return (
        f"{what} did not work on these data ({type(error).__name__}: {error}). "
        f"{safe} try another model, or change the settings of this model."
    )


def _show(kind: str, jobs: Mapping[Any, Job], meanwhile: Callable[[], None] | None, says_left: bool) -> None:
    """How far the jobs are, with Cancel; or that they were called off, and a way to begin again."""
    if not any(job.cancelled for job in jobs.values()):
        _progress(kind, list(jobs.values()), meanwhile, says_left)
        return
    # One job shows what it has got by itself; of many those are shown that are finished
    partly = meanwhile is not None and (len(jobs) == 1 or any(job.finished for job in jobs.values()))
    _offer_again(kind, [key for key, job in jobs.items() if not job.finished], partly)
    if meanwhile:
        meanwhile()


def _offer_again(kind: str, keys: Sequence[Any], partly: bool) -> None:
    """After a cancel: what the page shows now, and a button that starts the jobs again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        before = "The picture below, if any, belongs to the previous settings."
        # Work beside the page's own leaves the picture as it is
        own = partly or kind == PAGE or kind.startswith("learn_")
        below = "Results so far are shown below." if partly else before
        st.info(f"Cancelled. {below}" if own else "Cancelled.")
        st.button(
            "Continue" if partly else "Fit again" if kind == PAGE else "Start again",
            key=f"fit_again_{kind}",
            on_click=partial(forget, kind, list(keys)),
        )


def _standing(running: Sequence[Job], share: float, says_left: bool) -> str:
    """What is being done and how long it takes; or, while others' work goes before, the place in the queue."""
    seconds = max(job.seconds for job in running)
    places = [turns().place(job) for job in running]
    if all(places):
        before = "; other users' jobs run meanwhile" if share else ""
        doing, left = f"waiting for a processor, {ordinal(min(places))} in the queue{before}", ""
    else:
        doing = running[places.index(0)].doing or "starting"
        left = f", about {seconds / share * (1 - share):.0f} s left" if share > 0.02 and not says_left else ""
    return f"{running[0].what}: {doing} · {seconds:.0f} s so far{left}"


def _progress(kind: str, jobs: Sequence[Job], meanwhile: Callable[[], None] | None, says_left: bool) -> None:
    @st.fragment(run_every=2 if meanwhile else 0.5)
    def progress() -> None:
        running = [job for job in jobs if not job.finished]
        if not running:
            st.rerun()
        share = sum(1 if job.finished else job.share for job in jobs) / len(jobs)
        st.progress(min(share, 1.0), text=plain(_standing(running, share, says_left)))
        if st.button("Cancel", key=f"cancel_{kind}"):
            for job in running:
                job.cancel()
            st.rerun()
        if meanwhile:
            meanwhile()

    progress()
