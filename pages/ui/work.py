"""Datasets and evaluations for the pages, kept by digest; long work runs in the background with progress and Cancel.

A job is also the cache of its result: the same work asked for twice is one job. Nothing here depends on the view.
"""

from __future__ import annotations

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import streamlit as st

from calib import sources
from calib.evaluate import Evaluation, Fitted, calibrate, expected_cost, fit
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from pages.ui import state
from pages.ui.text import duration, plain

KEPT_FITS, KEPT_RESULTS = 6, 24
AT_ONCE = 0.6  # seconds a page waits before it shows progress: short fits never flicker
AT_ONCE_ROWS = 300_000  # rows that calibrate or are judged without progress being shown
UNASKED = 10.0  # seconds that work beside the page's own may be expected to take without being asked for


class Kept(OrderedDict):
    """The last few results of a session by key; the oldest goes first."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def get_or_make(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self:
            self[key] = make()
            while len(self) > self.most:
                self.popitem(last=False)
        self.move_to_end(key)
        return self[key]


class Job:
    """A call on the executor that reports its progress and can be called off."""

    def __init__(self, kind: str, what: str, call: Callable[[Watch], Any]) -> None:
        self.what, self.share, self.doing, self.begin = what, 0.0, "", time.monotonic()
        self.watch = Watch(self._report)
        self.future: Future = _executor("fits" if kind == "fits" else "beside").submit(call, self.watch)

    def _report(self, share: float, doing: str) -> None:
        self.share, self.doing = share, doing

    def cancel(self) -> None:
        self.watch.cancel.set()
        self.future.cancel()

    def wait(self) -> None:
        """A moment, so that short work is there at once."""
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
    def seconds(self) -> float:
        return time.monotonic() - self.begin


@st.cache_resource
def _executor(name: str) -> ThreadPoolExecutor:
    """One for the fits that pages wait for, one for work beside them, so that neither waits for the other."""
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix=name)


def kept(name: str, most: int) -> Kept:
    """The session's last ``most`` results of one kind."""
    return st.session_state.setdefault(f"kept_{name}", Kept(most))


def kept_tables() -> Kept:
    return kept("tables", KEPT_FITS)


def load(recipe: Recipe) -> Dataset:
    """The Recipe's Dataset, kept; raises InputError where there is none."""
    key = (recipe.data, recipe.data_params, recipe.content, recipe.target, recipe.positive, recipe.exclude, recipe.keep)
    key += (recipe.table,)
    key += (recipe.seed,) if recipe.data.startswith("synthetic:") else ()
    return kept("datasets", KEPT_FITS).get_or_make(key, lambda: sources.load(recipe, state.frames()))


def dataset(recipe: Recipe) -> Dataset:
    """The Recipe's Dataset, or the page ends here with what is wrong and the remedy."""
    try:
        return load(recipe)
    except InputError as error:
        st.error(plain(error))
        st.page_link("pages/explore_data.py", label="Go to Data", query_params=recipe.to_query())
        st.stop()


def evaluation(recipe: Recipe) -> Evaluation:
    """The Recipe's Evaluation. While the model is being fitted the last one, dimmed, under progress and Cancel.

    The page ends here, with the reason, where there is nothing to show.
    """
    data = dataset(recipe)
    result = None
    if _affordable(data, recipe):
        fitted = run("fits", "Fitting the model", {_fit_key(data, recipe): partial(fit, recipe, data)})
        result = fitted and _calibrated(data, recipe, fitted[0])
    if result is None:
        return _last_shown(recipe)
    st.session_state["shown"] = result
    return result.with_view(recipe)


def _affordable(data: Dataset, recipe: Recipe) -> bool:
    """Whether the fit may begin: where the model is fitted anew for every row, one fit tells the price first."""
    key, rows = _fit_key(data, recipe), 100
    if started("fits", key) or PLACEMENTS[recipe.placement].fits(recipe.cv, rows) < rows:
        return True
    once = recipe.replace(placement="split")
    fitted = run("fits", "Fitting the model once", {_fit_key(data, once): partial(fit, once, data)})
    if fitted is None:
        return False
    fits, seconds = expected_cost(_evaluation(data, once, fitted[0]), recipe.placement)
    return agreed("fits", key, PLACEMENTS[recipe.placement].label, price(fits, seconds), seconds)


def _calibrated(data: Dataset, recipe: Recipe, fitted: Fitted) -> Evaluation | None:
    """The Evaluation; of very many rows made in the background, under progress and Cancel."""
    key = (data.digest, recipe.digest("calibrate"))
    many = sum(len(part.test) + len(part.placed.scores) for part in fitted.parts) > AT_ONCE_ROWS
    if many and key not in kept("results", KEPT_RESULTS):
        done = run("calibrations", "Fitting the calibrators", {key: partial(calibrate, recipe, fitted)})
        if done is None:
            return None
        kept("calibrations", KEPT_FITS).pop(key)  # kept once, below
        return kept("results", KEPT_RESULTS).get_or_make(key, lambda: done[0])
    return _evaluation(data, recipe, fitted)


def evaluations(recipes: Sequence[Recipe]) -> list[Evaluation] | None:
    """The Evaluations of several Recipes on the same data; None, under progress and Cancel, while they are fitted.

    Fits are shared with ``evaluation``: what one page has fitted is there on the others.
    """
    data = dataset(recipes[0])
    calls = {_fit_key(data, recipe): partial(fit, recipe, data) for recipe in recipes}
    fitted = run("fits", "Fitting the models", calls)
    if fitted is None:
        return None
    by_key = dict(zip(calls, fitted, strict=True))
    return [_evaluation(data, recipe, by_key[_fit_key(data, recipe)]).with_view(recipe) for recipe in recipes]


def side_by_side(recipes: Mapping[str, Recipe]) -> dict[str, Evaluation | InputError] | None:
    """By name, the Evaluation of each Recipe on its own data, or why there is none; None, under progress, meanwhile."""
    results: dict[str, Any] = {}
    calls, keys = {}, {}
    for name, recipe in recipes.items():
        try:
            data = load(recipe)
        except InputError as error:
            results[name] = error
            continue
        keys[name] = (_fit_key(data, recipe), data)
        calls[keys[name][0]] = partial(_fitted_or_why, recipe, data)
    fitted = {
        key: job.future.result() for key, job in kept("fits", KEPT_FITS).items() if key in calls and job.succeeded
    }
    missing = {key: call for key, call in calls.items() if key not in fitted}
    if missing:
        done = run("compared", "Fitting the models", missing)
        if done is None:
            return None
        fitted |= dict(zip(missing, done, strict=True))
    for name, (key, data) in keys.items():
        got = fitted[key]
        results[name] = got if isinstance(got, InputError) else _evaluation(data, recipes[name], got)
    return {name: results[name] for name in recipes}


def beside(recipe: Recipe, what: str, cost: str, seconds: float, kind: str | None = None) -> Evaluation | None:
    """Another Recipe's Evaluation, which the page can do without; None while it is not there, for whatever reason.

    It is fitted in the background with progress and Cancel, unasked where ``seconds`` are expected to be few; else
    after a press on a button beside ``cost``, a sentence. ``what`` names it; of one ``kind`` only one is fitted at a
    time, and a kind is by default its placement.
    """
    data = dataset(recipe)
    key, kind = _fit_key(data, recipe), kind or f"beside_{recipe.placement}"
    done = kept("fits", KEPT_FITS).get(key)
    if done is not None and done.succeeded:
        return _evaluation(data, recipe, done.future.result()).with_view(recipe)
    if not agreed(kind, key, what, cost, seconds):
        return None
    results = run(kind, f"Fitting {what}", {key: partial(_fitted_or_why, recipe, data)})
    if results is None:
        return None
    if isinstance(results[0], InputError):
        st.info(f"**{plain(what)}** is not shown: {plain(results[0])}")
        return None
    return _evaluation(data, recipe, results[0]).with_view(recipe)


def _fitted_or_why(recipe: Recipe, data: Dataset, watch: Watch) -> Fitted | InputError:
    try:
        return fit(recipe, data, watch)
    except InputError as error:
        return error


def fitted_of(evaluation: Evaluation) -> Fitted:
    """What the page's own Evaluation was calibrated from."""
    return kept("fits", KEPT_FITS)[_fit_key(evaluation.dataset, evaluation.recipe)].future.result()


def _fit_key(data: Dataset, recipe: Recipe) -> tuple[str, str]:
    return data.digest, recipe.digest("fit")


def _evaluation(data: Dataset, recipe: Recipe, fitted: Fitted) -> Evaluation:
    key = (data.digest, recipe.digest("calibrate"))
    return kept("results", KEPT_RESULTS).get_or_make(key, lambda: calibrate(recipe, fitted))


def run(
    kind: str, what: str, calls: Mapping[Any, Callable[[Watch], Any]], meanwhile: Callable[[], None] | None = None
) -> list[Any] | None:
    """What each ``call(watch)`` returns, made once for its key in the background; None while one runs or was cancelled.

    kind : jobs of one kind share a cache, and asking for other keys calls the unfinished ones off
    what : says on the page what is being done · meanwhile : draws what is there already, again every two seconds; such
    work rests while another page is open (``pause``)
    The page ends here, with the reason, where a call is refused or fails.
    """
    kept_jobs = kept(kind, KEPT_FITS)
    kept_jobs.most = max(kept_jobs.most, 2 * len(calls))
    for key in [key for key, job in kept_jobs.items() if key not in calls and not job.finished]:
        kept_jobs.pop(key).cancel()
    jobs = [kept_jobs.get_or_make(key, partial(Job, kind, what, call)) for key, call in calls.items()]
    for job in jobs:
        job.wait()
    if all(job.finished for job in jobs):
        return [_result(job) for job in jobs]
    if meanwhile:
        st.session_state["resumable"] = (st.session_state["page"], kind, list(calls))
    if any(job.cancelled for job in jobs):
        _offer_again(kind, [key for key in calls if not kept_jobs[key].finished], bool(meanwhile))
        if meanwhile:
            meanwhile()
    else:
        _watch_jobs(kind, jobs, meanwhile)
    return None


def started(kind: str, key: Any) -> bool:
    """Whether there is a job of this kind and key, running, finished or called off."""
    return key in kept(kind, KEPT_FITS)


def agreed(kind: str, key: Any, what: str, cost: str, seconds: float, unasked: float | None = None) -> bool:
    """Whether work may begin: unasked where few seconds are expected, else after one press beside ``cost``."""
    pressed = st.session_state.setdefault("agreed", set())
    if seconds <= (UNASKED if unasked is None else unasked) or started(kind, key) or (kind, key) in pressed:
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(what)}**: {plain(cost)}")
        st.button("Start", key=_widget("start", kind), on_click=pressed.add, args=((kind, key),))
    return False


def price(fits: int, seconds: float) -> str:
    """What many fits cost, in words."""
    return f"{fits:,} model fits, about {duration(seconds)}; they run in the background and can be cancelled."


def pause() -> None:
    """Call off what another page has begun and takes up again where it stopped, so that it slows nothing here."""
    page, kind, keys = st.session_state.get("resumable", (None, "", ()))
    if page is None or page == st.session_state["page"]:
        return
    for key in keys:
        job = kept(kind, KEPT_FITS).get(key)
        if job is not None and not job.future.done() and not job.cancelled:
            kept(kind, KEPT_FITS).pop(key).cancel()
    del st.session_state["resumable"]


def finished(kind: str, key: Any) -> Any | None:
    """What the job of this kind and key returned, if there is one that is done."""
    job = kept(kind, KEPT_FITS).get(key)
    done = job is not None and job.finished and job.future.exception() is None
    return job.future.result() if done else None


def _result(job: Job) -> Any:
    """A finished job's result; a refusal or a failure ends the page."""
    try:
        return job.future.result()
    except InputError as error:
        st.error(plain(error))
    except Exception as error:
        logging.getLogger("calibration_explorer").error("a job failed", exc_info=error)
        st.error(
            f"{job.what} did not work on these data ({type(error).__name__}: {plain(error)}). "
            "The data and the settings are kept: try another model, or other settings of this one."
        )
    st.stop()


def _offer_again(kind: str, keys: Sequence[Any], partly: bool) -> None:
    """After a cancel: what the page shows now, and a button that starts the jobs again."""

    def forget() -> None:
        for key in keys:
            kept(kind, KEPT_FITS).pop(key, None)

    with st.container(horizontal=True, vertical_alignment="center"):
        shown = "shows what was done until then" if partly else "belongs to the settings before"
        own = partly or kind in ("fits", "calibrations")  # work beside the page's own leaves the picture as it is
        st.info("Cancelled." + (f" The picture below, if any, {shown}." if own else ""))
        st.button("Go on" if partly else "Fit again", key=_widget("fit_again", kind), on_click=forget)


def _widget(name: str, kind: str) -> str:
    return name if kind == "fits" else f"{name}_{kind}"


def _watch_jobs(kind: str, jobs: Sequence[Job], meanwhile: Callable[[], None] | None) -> None:
    """Draw how far the jobs are, and Cancel."""

    @st.fragment(run_every=2 if meanwhile else 0.5)
    def progress() -> None:
        running = [job for job in jobs if not job.finished]
        if not running:
            st.rerun()
        share = sum(1 if job.finished else job.share for job in jobs) / len(jobs)
        seconds = max(job.seconds for job in running)
        left = f", about {seconds / share * (1 - share):.0f} s left" if share > 0.02 else ""
        text = f"{running[0].what}: {running[0].doing or 'starting'} · {seconds:.0f} s{left}"
        st.progress(min(share, 1.0), text=text)
        if st.button("Cancel", key=_widget("cancel", kind)):
            for job in running:
                job.cancel()
            st.rerun()
        if meanwhile:
            meanwhile()

    progress()


def _last_shown(recipe: Recipe) -> Evaluation:
    if "shown" not in st.session_state:
        st.stop()
    st.html("<style>.stMain .stPlotlyChart, .stMain .stDataFrame, .stMain .stMetric {opacity: .35}</style>")
    return st.session_state["shown"].with_view(recipe)
