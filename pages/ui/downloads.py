"""What can be taken along from every chart: pictures, numbers, the calibrators behind it, its link and its source."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import streamlit as st

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.export import (
    LANGUAGES,
    calibrator_json,
    can_draw,
    chart_source,
    check_exportable,
    check_written,
    draw,
    find_chromium,
    read_calibrator,
    safe_csv,
    standalone_html,
    write_program,
)
from calib.figures import FIGURES
from calib.figures.base import Record
from calib.kernel.checks import InputError
from pages.ui import current, state
from pages.ui.text import plain

CAMERA = ("svg", "png")
PICTURES = {
    "svg": ("Picture (SVG)", "image/svg+xml"),
    "png": ("Picture (PNG)", "image/png"),
    "pdf": ("Document (PDF)", "application/pdf"),
}
NO_CHROMIUM = (
    "Pictures and PDF made here need Chromium on the server; the camera on the chart saves SVG and PNG."
)


@st.cache_resource
def _trial() -> Future:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="chromium").submit(can_draw)


def draws() -> bool:
    """Whether a Chromium here can be asked for pictures: there is one, and a first trial has not failed."""
    if find_chromium() is None:
        return False
    trial = _trial()
    return trial.result() if trial.done() else True


def button(label: str, make, name: str, mime: str, key: str, **more: Any) -> None:
    """A download that is made when it is pressed, without a rerun."""
    st.download_button(label, make, name, mime, on_click="ignore", key=key, **more)


def chart(name: str, record: Record, source: Any, options: Mapping[str, Any], key: str) -> None:
    """The popover under a chart; ``source`` and ``options`` are what its record was prepared from."""
    with st.popover("Download", key=f"{key}_downloads"):
        entry, theme = FIGURES[name], current.theme()
        st.segmented_control(
            "The camera on the chart saves",
            CAMERA,
            default=CAMERA[0],
            key=f"{key}_image",
            format_func=str.upper,
            required=True,
        )
        with st.container(horizontal=True):
            button(
                "Numbers (CSV)", lambda: safe_csv(record.to_frame()), f"{key}.csv", "text/csv", f"{key}_csv"
            )
            button(
                "Interactive chart (HTML)",
                lambda: standalone_html(entry.draw(record, theme), record.alt, theme),
                f"{key}.html",
                "text/html",
                f"{key}_html",
            )
            for form, (label, mime) in PICTURES.items() if draws() else ():
                make = partial(lambda form: draw([entry.draw(record, theme)], [form])[0][form], form)
                button(label, make, f"{key}.{form}", mime, f"{key}_{form}")
        if not draws():
            st.caption(NO_CHROMIUM)
        evaluation = getattr(source, "evaluation", source)
        if isinstance(evaluation, Evaluation):
            calibrators(evaluation, key)
        st.caption("An address that opens this page as it is")
        st.code(current.link(), language=None, wrap_lines=True)
        st.caption("Python that gives these numbers")
        st.code(chart_source(name, source, options, state.files()) or current.python(), language="python")


def calibrators(evaluation: Evaluation, key: str) -> str | None:
    """Any fitted calibrator as JSON, or why it cannot be had; the key of the one that can."""
    if not evaluation.calibrators:
        return None
    chosen = st.selectbox(
        "Fitted calibrator",
        list(evaluation.calibrators),
        index=len(evaluation.calibrators) - 1,
        format_func=label_of,
        key=f"{key}_calibrator",
        help="A lookup table or a few numbers, with the merge rule; the README has a ten-line loader.",
    )
    try:
        check_exportable(evaluation, chosen)
    except InputError as error:
        st.caption(plain(error))
        return None
    make = partial(calibrator_json, evaluation, chosen)
    button("Calibrator (JSON)", make, f"{chosen}.json", "application/json", f"{key}_calibrator_json")
    return chosen


def programs(evaluation: Evaluation, chosen: str, key: str) -> None:
    """A fitted calibrator in the languages of the places where scores are made, or why it cannot be had."""
    try:
        check_written(evaluation.calibrators[chosen][0])
    except InputError as error:
        st.caption(plain(error))
        return
    for language, entry in LANGUAGES.items():
        make = partial(_program, evaluation, chosen, language)
        button(entry.label, make, f"{chosen}.{entry.suffix}", entry.mime, f"{key}_calibrator_{language}")


def _program(evaluation: Evaluation, chosen: str, language: str) -> bytes:
    """From its file, so that what the file says to know first stands in the program too."""
    return write_program(read_calibrator(calibrator_json(evaluation, chosen)), language)
