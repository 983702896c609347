"""A saved calibrator, loaded back and applied to a new file of scores."""

from __future__ import annotations

import streamlit as st

from calib.checks import InputError
from calib.data import read_table
from calib.export import Applied, SavedCalibrator, number_columns, read_calibrator, safe_csv
from calib.figures import number
from pages.ui.takeaway import button
from pages.ui.text import plain

PREVIEW_ROWS = 200
INPUTS = {
    "score": "any score of the same model",
    "probability": "probabilities of the same model, from 0 to 1",
    "tree_scores": "the score of every tree, one column each, in their order",
    "fold_scores": "the score of every fold's model, one column each, in their order",
}


def saved() -> None:
    """The calibrator, then the table, then its calibrated copy."""
    left, right = st.columns(2, gap="large")
    with left:
        st.file_uploader("A calibrator saved here (JSON)", key="calibrator_file", on_change=_read_calibrator)
        calibrator: SavedCalibrator | None = _parsed("calibrator")
        if calibrator is not None:
            _describe(calibrator)
    with right:
        st.file_uploader(
            "A table with a column of scores: CSV, TSV, Parquet, Excel, ARFF or JSON records",
            key="scores_file",
            on_change=_read_scores,
            help="It stays in this session's memory and is never written to disk.",
        )
        table = _parsed("scores")
        if calibrator is None or table is None:
            return
        columns = _columns(calibrator, number_columns(table))
    try:
        applied = calibrator.apply(table, columns)
    except InputError as error:
        st.warning(plain(error))
        return
    _show(applied)


def _parsed(name: str):
    """What the last file of this kind held; a refusal is said, and then there is nothing."""
    found = st.session_state.get(f"saved_{name}")
    if isinstance(found, str):
        st.error(plain(found))
        return None
    return found


def _read_calibrator() -> None:
    _keep("calibrator", lambda file: read_calibrator(file.getvalue()))


def _read_scores() -> None:
    _keep("scores", lambda file: read_table(file.getvalue(), file.name))


def _keep(name: str, read) -> None:
    """Parse the file once; the uploader forgets it on a page change."""
    file = st.session_state[f"{name}_file"]
    if file is None:
        return
    try:
        st.session_state[f"saved_{name}"] = read(file)
    except InputError as error:
        st.session_state[f"saved_{name}"] = f"{file.name}: {error}"


def _describe(calibrator: SavedCalibrator) -> None:
    objects = calibrator.calibration.get("objects")
    data = calibrator.made.get("data")
    st.markdown(
        f"**{plain(calibrator.label)}** for {INPUTS[calibrator.input]}; gives the probability of "
        f"**{plain(calibrator.classes[1])}**" + (" with p0 and p1." if calibrator.gives_interval else ".")
    )
    if isinstance(objects, int):
        st.caption(f"Fitted on {objects:,} calibration scores" + (f" of {plain(data)}." if data else "."))
    for note in calibrator.notes:
        st.caption(plain(note))


def _columns(calibrator: SavedCalibrator, names: list[str]) -> list[str]:
    """The score column, or as many as the calibrator needs."""
    if calibrator.columns > 1:
        return st.multiselect(
            f"The {calibrator.columns} score columns, in their order",
            names,
            default=names[: calibrator.columns],
            key="score_columns",
        )
    chosen = st.selectbox("Score column", names, key="score_column", placeholder="No column holds numbers")
    return [] if chosen is None else [chosen]


def _show(applied: Applied) -> None:
    table = applied.table
    st.dataframe(table.head(PREVIEW_ROWS), width="stretch", key="calibrated", alt="The table with its probabilities")
    mean = number(float(table.iloc[:, -1].mean()))
    left_out = f" {applied.unanswered:,} rows without a finite score have no answer." if applied.unanswered else ""
    st.caption(f"{len(table):,} rows; mean probability {mean}.{left_out}")
    button("Calibrated table (CSV)", lambda: safe_csv(table), "calibrated.csv", "text/csv", "calibrated_csv")
