"""Wait for a table that is read in the background, with progress and Cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import streamlit as st

from calib import sources
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from calib.recipe import DEFAULT_DATA
from pages.ui import controls, state
from pages.ui.text import plain

ARRIVED = "arrived_table"  # the upload that is being read
AGAIN = 0.3  # seconds between looks


def in_background(what: str, call: Callable[[Watch], Any]) -> Any:
    """Return ``call(watch)``, computed in the background; a click on Cancel, or on anything else, cancels it."""
    now: dict[str, Any] = {"share": 0.0, "doing": ""}
    watch = Watch(lambda share, doing: now.update(share=share, doing=doing))
    place, began = st.empty(), time.monotonic()
    found: Future[Any] = Future()
    threading.Thread(target=_into, args=(found, call, watch), name="query", daemon=True).start()
    try:
        with suppress(TimeoutError):  # so that short work does not flicker
            return found.result(timeout=AGAIN)
        with place.container():
            said = st.empty()
            st.button("Cancel", key="cancel_query", on_click=_cancel)
        while True:
            doing = f": {plain(now['doing'])}" if now["doing"] else ""
            seconds = f"{time.monotonic() - began:.0f} s so far"
            said.progress(
                min(now["share"], 1.0), text=f"{plain(what)}{doing} · {seconds}"
            )  # ends if called off
            with suppress(TimeoutError):
                return found.result(timeout=AGAIN)
    finally:
        watch.cancel.set()
        place.empty()


def _into(found: Future[Any], call: Callable[[Watch], Any], watch: Watch) -> None:
    try:
        made = call(watch)
        if watch.cancel.is_set():  # nobody waits: a large table would stay in memory
            del made
            release_memory()
        else:
            found.set_result(made)
    except BaseException as error:  # passed on to the page that waits
        found.set_exception(error)


def _cancel() -> None:
    """After Cancel, show the previous data again, or the first data set."""
    st.session_state.pop(ARRIVED, None)
    if sources.file_key(state.recipe().data) not in state.uploaded_files() and sources.parse_place(
        state.recipe().data
    ):
        controls.choose_data(DEFAULT_DATA)
    state.say("Reading was cancelled.")
