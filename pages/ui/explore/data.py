"""The parts of the Data page: bringing a table, its choices, its problems in plain words, its columns and rows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from calib import sources
from calib.data import class_counts, guess_target, looks_like_predictions, read_table, summarise, validate
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset, Problem
from calib.recipe import Recipe
from calib.sources import digest
from calib.synthetic import SYNTHETIC
from pages.ui import controls, frame, state, work
from pages.ui.text import plain

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


PREVIEW_ROWS = 200
MOST_LABELS = 50
SHOW = {"error": st.error, "warning": st.warning, "info": st.info}


def raw(recipe: Recipe) -> tuple[pd.DataFrame, str | None, str | None]:
    """(table, target, positive) as the file has them, or the page ends here with what is missing."""
    try:
        return work.kept_tables().get_or_make(
            (recipe.data, recipe.target, recipe.positive), lambda: sources.load_frame(recipe, state.frames())
        )
    except InputError as error:
        st.error(plain(error))
        st.stop()


def choices(recipe: Recipe, table: tuple[pd.DataFrame, str | None, str | None]) -> None:
    """Label column, positive class, columns, and whether the table holds features or predictions."""
    raw_table, target, positive = table
    columns = list(map(str, raw_table.columns))
    left, middle, right = st.columns(3)
    with left:
        state.control(
            st.selectbox,
            "target",
            target if target in columns else None,
            "Label column",
            columns,
            placeholder="Choose the label",
            help="The column that says which class each row belongs to.",
            and_then={"positive": None},
        )
    with middle:
        default = "the one that the scores grow with" if recipe.content == "predictions" else "the rarer one"
        labels = list(class_counts(raw_table, target))[:MOST_LABELS] if target in columns else []
        state.control(
            st.selectbox,
            "positive",
            positive if positive in labels else None,
            "Positive class",
            labels,
            placeholder="Chosen by default",
            help=f"The class whose probability is predicted: by default {default}. With more than two classes, the "
            "chosen one is set against all others.",
        )
    with right:
        state.control(
            st.segmented_control,
            "content",
            recipe.content,
            "The other columns hold",
            ["features", "predictions"],
            format_func={"features": "Features", "predictions": "Predictions"}.get,
            required=True,
            help="Features train a model here; predictions were made elsewhere and are only judged and calibrated.",
        )
    if recipe.content == "features":
        others = [name for name in columns if name != target]
        state.control(
            st.multiselect,
            "exclude",
            [name for name in recipe.exclude if name in others],
            "Leave out columns",
            others,
            placeholder="None",
            help="Columns the model must not see, for example ones that give the label away.",
        )
        _keep(recipe, raw_table[[name for name in others if name not in recipe.exclude]])


def _keep(recipe: Recipe, others: pd.DataFrame) -> None:
    """Columns that are left out unasked may be used all the same; no control where there are none."""
    found = summarise(others) if others.shape[1] else pd.DataFrame({"column": [], "type": []})
    unused = list(found["column"][found["type"].isin(["identifier", "free text"])])
    if unused:
        state.control(
            st.multiselect,
            "keep",
            [name for name in recipe.keep if name in unused],
            "Use although left out",
            unused,
            placeholder="None",
            help="Columns that look like identifiers or free text are not used unless they are chosen here.",
        )


def problems(recipe: Recipe, table: tuple[pd.DataFrame, str | None, str | None]) -> None:
    """Every problem in plain words with its remedy, the gravest first."""
    raw_table, target, positive = table
    if target is None:
        st.info("Choose the label column: the class that each row belongs to.")
        st.stop()
    found = validate(raw_table, target, positive, exclude=recipe.exclude)
    for severity, show in SHOW.items():
        lines = _lines([problem for problem in found if problem.severity == severity])
        if lines:
            show("\n".join(lines))
    if any(problem.severity == "error" for problem in found):
        st.dataframe(raw_table.head(PREVIEW_ROWS), width="stretch", alt="The first rows of the table")
        st.stop()


def _lines(found: list[Problem]) -> list[str]:
    """One line a kind of problem, naming all the columns that have it."""
    columns: dict[tuple[str, str], list[str]] = {}
    for problem in found:
        columns.setdefault((problem.message, problem.remedy), []).extend([problem.column] if problem.column else [])
    return [
        f"- {f'**{plain(_some(names))}**: ' if names else ''}{plain(message)} {plain(remedy)}"
        for (message, remedy), names in columns.items()
    ]


def _some(names: list[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def overview(recipe: Recipe, data: Dataset) -> None:
    """Headline numbers, columns and rows."""
    positives = int(data.y.sum())
    with st.container(horizontal=True):
        st.metric("Rows", f"{data.n:,}", width=160)
        st.metric("Score columns" if data.predictions else "Columns used", data.X.shape[1], width=160)
        st.metric(
            f"Class 1: {plain(data.classes[1])}",
            f"{positives / data.n:.1%}",
            f"{positives:,} rows",
            delta_color="off",
            delta_arrow="off",
            width=220,
        )
        st.metric(
            f"Class 0: {plain(data.classes[0])}",
            f"{1 - positives / data.n:.1%}",
            f"{data.n - positives:,} rows",
            delta_color="off",
            delta_arrow="off",
            width=220,
        )
    frame.notes(data.notes)
    st.subheader("Columns", anchor=False)
    st.dataframe(summarise(data.X), width="stretch", alt="Type, missing values and examples of every column")
    st.subheader("First rows", anchor=False)
    first = data.X.head(PREVIEW_ROWS)
    labels = pd.Series(data.y[:PREVIEW_ROWS], first.index).map(dict(enumerate(data.classes)))
    st.dataframe(pd.concat([labels.rename("class"), first], axis=1), width="stretch", alt="First rows")


def synthetic_settings(recipe: Recipe) -> None:
    """The settings of a synthetic set; its true posteriors are known."""
    entry = SYNTHETIC[recipe.data.removeprefix("synthetic:")]
    settings = dict(recipe.data_params)
    with st.container(horizontal=True):
        for parameter in entry.parameters:
            controls.parameter_control(
                parameter, f"data_params.{parameter.name}", settings.get(parameter.name, parameter.default)
            )
        controls.seed(recipe, "Another seed draws other rows.")
