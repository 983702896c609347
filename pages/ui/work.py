"""Datasets and evaluations for the pages: kept by digest, and long fits run in the background with progress and Cancel.

A job is also the cache of its result: the same fit asked for twice is one job. Nothing here depends on the view.
"""

from __future__ import annotations

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import streamlit as st

from calib import sources
from calib.checks import InputError
from calib.evaluate import Evaluation, Fitted, calibrate, fit
from calib.progress import Watch
from calib.recipe import Recipe
from calib.records import Dataset
from pages.ui import state
from pages.ui.text import plain

KEPT_FITS, KEPT_RESULTS = 6, 24
AT_ONCE = 0.6  # seconds a page waits before it shows progress: short fits never flicker


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

    def __init__(self, what: str, call: Callable[[Watch], Any]) -> None:
        self.what, self.share, self.doing, self.begin = what, 0.0, "", time.monotonic()
        self.watch = Watch(self._report)
        self.future: Future = _executor().submit(call, self.watch)

    def _report(self, share: float, doing: str) -> None:
        self.share, self.doing = share, doing

    def cancel(self) -> None:
        self.watch.cancel.set()
        self.future.cancel()

    @property
    def cancelled(self) -> bool:
        return self.watch.cancel.is_set()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begin


@st.cache_resource
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix="fit")


def _kept(name: str, most: int) -> Kept:
    return st.session_state.setdefault(f"kept_{name}", Kept(most))


def kept_tables() -> Kept:
    return _kept("tables", KEPT_FITS)


def load(recipe: Recipe) -> Dataset:
    """The Recipe's Dataset, kept; raises InputError where there is none."""
    key = (recipe.data, recipe.data_params, recipe.content, recipe.target, recipe.positive, recipe.exclude, recipe.keep)
    key += (recipe.seed,) if recipe.data.startswith("synthetic:") else ()
    return _kept("datasets", KEPT_FITS).get_or_make(key, lambda: sources.load(recipe, state.frames()))


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
    key = (data.digest, recipe.digest("fit"))
    job = _kept("fits", KEPT_FITS).get_or_make(key, lambda: Job("Fitting the model", lambda w: fit(recipe, data, w)))
    fitted = _result(job)
    if fitted is None:
        return _last_shown(_watch_job(job, key))
    result = _kept("results", KEPT_RESULTS).get_or_make(
        (data.digest, recipe.digest("calibrate")), lambda: calibrate(recipe, fitted)
    )
    st.session_state["shown"] = result
    return result.with_view(recipe)


def _result(job: Job) -> Fitted | None:
    """The job's result, or None while it runs or after it was cancelled; a refusal ends the page."""
    if job.cancelled:
        return None
    try:
        return job.future.result(timeout=max(0.0, AT_ONCE - job.seconds))
    except NotYet:
        return None
    except InputError as error:
        st.error(plain(error))
    except Exception as error:
        logging.getLogger("calibration_explorer").exception("a fit failed")
        st.error(
            f"The model could not be fitted on these data ({type(error).__name__}: {plain(error)}). "
            "The data and the settings are kept: try another model, or other settings of this one."
        )
    st.stop()


def _watch_job(job: Job, key: Any) -> None:
    """Draw the job's progress and Cancel, or after a cancel the offer to start again."""
    if job.cancelled:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info("Cancelled. The picture below, if any, belongs to the settings before.")
            st.button("Fit again", key="fit_again", on_click=lambda: _kept("fits", KEPT_FITS).pop(key, None))
        return

    @st.fragment(run_every=0.5)
    def progress() -> None:
        if job.future.done():
            st.rerun()
        left = job.seconds / job.share * (1 - job.share) if job.share > 0.02 else None
        text = f"{job.what}: {job.doing or 'starting'} · {job.seconds:.0f} s" + (
            f", about {left:.0f} s left" if left else ""
        )
        st.progress(min(job.share, 1.0), text=text)
        if st.button("Cancel", key="cancel"):
            job.cancel()
            st.rerun()

    progress()


def _last_shown(_: None) -> Evaluation:
    if "shown" not in st.session_state:
        st.stop()
    st.html("<style>.stMain .stPlotlyChart, .stMain .stDataFrame, .stMain .stMetric {opacity: .35}</style>")
    return st.session_state["shown"]
