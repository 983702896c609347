"""How data come in: an uploaded file, parsed once and kept for the session, or an OpenML id."""

from __future__ import annotations

import streamlit as st

from calib.checks import InputError
from calib.data import guess_target, looks_like_predictions, read_table
from calib.sources import digest
from pages.ui import controls, state

KEPT_FILES = 4
FORMATS = "CSV, TSV, Parquet, Excel, ARFF or JSON records, also gzipped"


def uploader(recipe) -> None:
    """The file picker; a link to an upload waits here for its file."""
    missing = recipe.data.startswith("upload:") and recipe.data.removeprefix("upload:") not in state.uploads()
    if missing:
        st.warning(
            f"This link was made with a file (digest {recipe.data.removeprefix('upload:')}). "
            "Bring that file below and the page opens as it was; its content never travels in a link."
        )
    st.file_uploader(
        f"A table with a label column, or predictions made elsewhere: {FORMATS}",
        key="file",
        on_change=_received,
        help="The file stays in this session's memory and is never written to disk.",
    )


def _received() -> None:
    file = st.session_state["file"]
    if file is None:
        return
    data = file.getvalue()
    try:
        frame = read_table(data, file.name)
    except InputError as error:
        state.say(str(error) if file.name in str(error) else f"{file.name}: {error}")
        return
    state.say(None)
    key = digest(data)
    uploads = state.uploads()
    uploads[key] = state.Upload(file.name, frame, guess_target(frame), looks_like_predictions(frame))
    while len(uploads) > KEPT_FILES:
        uploads.pop(next(iter(uploads)))
    if state.recipe().data != f"upload:{key}":
        state.update(**controls.choose_data(f"upload:{key}"))


def openml() -> None:
    """A data set of OpenML by its number, fetched where there is a network."""
    with st.form("openml", border=False):
        number = st.number_input(
            "OpenML id", min_value=1, value=None, step=1, placeholder="for example 37", key="openml_id"
        )
        if st.form_submit_button("Fetch") and number:
            state.update(**controls.choose_data(f"openml:{int(number)}"))
            st.rerun()
