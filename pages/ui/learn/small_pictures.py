"""The pictures of a class for its phones: images of some 30 kB, drawn once for the server by its Chromium.

A phone that asks gets what is there; nothing waits for an image, and a server without Chromium has none.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock

import plotly.graph_objects as go
import streamlit as st
from cachetools import LRUCache

from calib.export import draw_files
from calib.export.charts import Chart
from calib.figures import DARK, LIGHT, Theme
from calib.figures.narrowing import renamed, without_data
from calib.figures.projector import for_projector
from calib.lessons.live_quiz import Round
from pages.ui import downloads

PICTURE_WIDTH, PICTURE_FORMAT = 960, "webp"
MOST_PICTURED_STEPS = 100  # steps


class Pictures:
    """Images of steps, by theme and by whether they show data. Any thread may call any method."""

    def __init__(self) -> None:
        self._made: LRUCache[Hashable, Future] = LRUCache(MOST_PICTURED_STEPS)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="phones")
        self._lock = Lock()

    def ask(self, round: Round, made: Chart) -> None:
        """Draw the images of a round's step from its chart, unless they are drawn or being drawn."""
        key = _key(round)
        with self._lock:
            if key not in self._made and downloads.draws():
                self._made[key] = self._worker.submit(partial(_images, made, round))

    def of(self, round: Round, theme: Theme, open: bool) -> str | None:
        """Return the image as a data address, without data while the question is ``open``; None if there is none."""
        with self._lock:
            future = self._made.get(_key(round)) if round.step else None
        if future is None or not future.done() or future.exception():
            return None
        return future.result()[theme.name, open]


@st.cache_resource
def pictures() -> Pictures:
    """Return the images of this server, one object for all sessions."""
    return Pictures()


def _key(round: Round) -> Hashable:
    step = round.step
    assert step is not None, "only a round with a step has a picture"
    return step.page, step.chart, step.recipe.digest("view"), round.posed, step.place


def _images(made: Chart, round: Round) -> dict[tuple[str, bool], str]:
    """Draw a chart in both themes, before and after the reveal, by one start of the browser."""
    wanted = [(theme, open) for theme in (LIGHT, DARK) for open in (True, False)]
    files = draw_files(
        [_figure(made, theme, open and not round.posed, known(round)) for theme, open in wanted],
        (PICTURE_FORMAT,),
    )
    return {
        (theme.name, open): f"data:image/{PICTURE_FORMAT};base64,{b64encode(file[PICTURE_FORMAT]).decode()}"
        for (theme, open), file in zip(wanted, files, strict=True)
    }


def known(round: Round) -> Collection[str]:
    """Return the names of the traces that the step shows before its answer."""
    step = round.step
    assert step is not None, "only a round with a step has a picture"
    if step.question is None:
        return ()
    return renamed(step.question.shows, step.picture)


def _figure(made: Chart, theme: Theme, empty: bool, known: Collection[str]) -> go.Figure:
    figure = for_projector(made.draw(theme)).update_layout(width=PICTURE_WIDTH)
    return go.Figure(without_data(figure.to_dict(), kept=known)) if empty else figure
