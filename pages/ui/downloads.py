"""Downloads of every chart: pictures, numbers, calibrators, its link and its Python code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.recommendation.advice import recommend
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.export import (
    LANGUAGES,
    calibrator_json,
    can_draw,
    chart_source,
    check_exportable,
    check_written,
    draw_files,
    find_chromium,
    read_calibrator,
    safe_csv,
    saved_of,
    standalone_html,
    subtitle,
    titled,
    write_program,
)
from calib.figures import Theme
from calib.figures.base import FigureEntry, Record
from calib.kernel.checks import InputError
from pages.ui import current, state
from pages.ui.text import plain

CAMERA = ("svg", "png")
PICTURE_DOWNLOADS = {
    "svg": ("Picture (SVG)", "image/svg+xml"),
    "png": ("Picture (PNG)", "image/png"),
    "pdf": ("Document (PDF)", "application/pdf"),
}
NO_CHROMIUM = (
    "Pictures and PDF need Chromium on the server. The camera icon on the chart saves SVG and PNG files "
    "without Chromium."
)


@st.cache_resource
def _trial() -> Future:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="chromium").submit(can_draw)


def draws() -> bool:
    """Tell whether the server has a Chromium whose first trial has not failed."""
    if find_chromium() is None:
        return False
    trial = _trial()
    return trial.result() if trial.done() else True


def button(label: str, make, name: str, mime: str, key: str | None = None, **more: Any) -> None:
    """Make a download when its button is pressed, without a rerun."""
    st.download_button(label, make, name, mime, on_click="ignore", key=key or f"download_{name}", **more)


def table(
    label: str, make: Callable[[], pd.DataFrame], name: str, index: bool = False, key: str | None = None
) -> None:
    """Make a table as CSV when its button is pressed."""
    button(label, lambda: safe_csv(make(), index=index), name, "text/csv", key)


def chart(entry: FigureEntry, record: Record, source: Any, options: Mapping[str, Any], key: str) -> None:
    """Show the popover under a chart; its record was prepared from ``source`` and ``options``."""
    with st.popover("Download", key=f"{key}_downloads"):
        theme = current.theme()
        with st.container(horizontal=True):
            table("Numbers (CSV)", record.to_frame, f"{key}.csv", key=f"{key}_csv")
            button(
                "Interactive chart (HTML)",
                lambda: standalone_html(
                    entry.draw(record, theme),
                    record.alt,
                    theme,
                    title=record.title,
                    below=subtitle(source, entry.label),
                ),
                f"{key}.html",
                "text/html",
                f"{key}_html",
            )
            for form, (label, mime) in PICTURE_DOWNLOADS.items() if draws() else ():
                make = partial(_picture, entry, record, source, theme, form)
                button(label, make, f"{key}.{form}", mime, f"{key}_{form}")
        if not draws():
            st.caption(NO_CHROMIUM)
            st.segmented_control(
                "Format of the camera icon",
                CAMERA,
                default=CAMERA[0],
                key=f"{key}_image",
                format_func=str.upper,
                required=True,
            )
        evaluation = getattr(source, "evaluation", source)
        if isinstance(evaluation, Evaluation):
            calibrator(evaluation, key)
        st.caption("Link to this page with its settings")
        st.code(current.link(), language=None, wrap_lines=True)
        st.caption("Python code for these numbers")
        st.code(
            chart_source(entry.key, source, options, state.files()) or current.python(), language="python"
        )


def _picture(entry: FigureEntry, record: Record, source: Any, theme: Theme, form: str) -> bytes:
    """Draw the figure with its title, which is above the figure on the page; the page alone knows the theme."""
    figure = titled(entry.draw(record, theme), record.title, source, entry.label)
    return draw_files([figure], [form])[0][form]


def calibrator(evaluation: Evaluation, key: str) -> None:
    """Offer any fitted calibrator, the recommended one first, as JSON and as a program, or the reason against it."""
    if evaluation.whole is not None:  # the calibrator of all classes is saved, whichever is shown
        evaluation = evaluation.of("top")
    fitted = saved_of(evaluation).calibrators
    keys = list(fitted)
    if not keys:
        return
    choice = recommend(evaluation).choice
    chosen = st.selectbox(
        "Fitted calibrator",
        keys,
        index=keys.index(choice) if choice in keys else len(keys) - 1,
        format_func=label_of,
        key=f"{key}_calibrator_{choice}",
        help="The recommended calibrator is preselected. This app and the command line can load the JSON file again. "
        "The SQL, ONNX, Python and JavaScript files calibrate scores in your own system.",
    )
    with st.container(horizontal=True):
        try:
            check_exportable(evaluation, chosen)
            make = partial(calibrator_json, evaluation, chosen)
            button("Calibrator (JSON)", make, f"{chosen}.json", "application/json", f"{key}_calibrator_json")
            check_written(fitted[chosen][0])
        except InputError as error:
            st.caption(plain(error))
            return
        for language, entry in LANGUAGES.items():
            make = partial(_program, evaluation, chosen, language)
            button(entry.label, make, f"{chosen}.{entry.suffix}", entry.mime, f"{key}_calibrator_{language}")


def _program(evaluation: Evaluation, chosen: str, language: str) -> bytes:
    """Write the program from the JSON file, so that it carries the file's notes."""
    return write_program(read_calibrator(calibrator_json(evaluation, chosen)), language)
