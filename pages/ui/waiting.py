"""Wait for work on a table in the background, with what is done, how far and for how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import streamlit as st

from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from pages.ui import turns
from pages.ui.jobs import so_far
from pages.ui.text import plain

AGAIN = 0.3  # seconds between looks


@turns.given_up()
def in_background(
    what: str, call: Callable[[Watch], Any], on_cancel: Callable[[], None] | None = None
) -> Any:
    """Return ``call(watch)``, computed in the background; a click on anything cancels it, as Cancel does if offered."""
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
            if on_cancel is not None:
                st.button("Cancel", key="cancel_query", on_click=on_cancel)
        while True:
            doing, share = f": {now['doing']}" if now["doing"] else "", min(now["share"], 1.0)
            taken = so_far(time.monotonic() - began, share)
            said.progress(share, text=plain(f"{what}{doing} · {taken}"))  # ends if called off
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
