"""Parts of the Compare page: keep, compare and export Recipes, and apply saved calibrators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib import sources
from calib.analysis.differences import answer, clipped_sentence
from calib.analysis.split_optimism import random_recipe
from calib.data import read_confined
from calib.evaluate import Evaluation
from calib.export import (
    Applied,
    SavedCalibrator,
    bundle,
    number_columns,
    print_pdf,
    python_source,
    read_calibrator,
    read_recipes,
    report_html,
    side_by_side_table,
    uploaded,
    write_recipes,
)
from calib.figures import LIGHT, Theme, formatted_side_by_side
from calib.figures.metrics import formatted_scores_side_by_side
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.progress import Watch
from calib.kernel.records import Problem
from calib.kernel.wording import class_named, number
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.settings import METRICS_COMPARED
from calib.sources import digest
from pages.ui import chart, controls, current, downloads, frame, headings, state, tables
from pages.ui.evaluations import evaluations_of, is_fitted, load, may_fit, or_previous
from pages.ui.explore.groups import known_centres
from pages.ui.explore.reliability import known_optimism
from pages.ui.tables import grid
from pages.ui.text import plain
from pages.ui.uploads import received, remember, remembered

MOST_SIDE_BY_SIDE = 6
COMPARISON_JOB = "compared"  # kind of work
LONGEST_RECIPE_NAME, LONGEST_TEXT = 60, 400  # letters of a name, and of a line on the report's first page


def kept() -> dict[str, Recipe]:
    return st.session_state.setdefault("kept_recipes", {})


def keep(recipe: Recipe) -> None:
    """Draw the kept settings: keep, open, forget, save and load them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name",
            placeholder=_suggestion(recipe),
            key="recipe_name",
            max_chars=LONGEST_RECIPE_NAME,
            persist_state="session",
        )
        st.button("Keep these settings", on_click=_keep, args=(recipe,), key="keep", type="primary")
        if kept():
            downloads.button(
                "All saved settings (JSON)",
                partial(write_recipes, dict(kept())),
                "recipes.json",
                "application/json",
                "all_kept",
            )
    for i, (name, one) in enumerate(kept().items()):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept_{i}"):
            st.markdown(f"**{plain(_with_data(name, one))}** · {plain(_differing(one))}", width="stretch")
            goes_on = partial(state.replace, one)
            st.button("Open", key=f"open_{i}", on_click=goes_on, help="Continue with these settings.")
            st.button("Forget", key=f"forget_{i}", on_click=kept().pop, args=(name, None), type="tertiary")
    with st.expander("Load settings"):
        st.file_uploader(
            "Settings saved on this page (JSON), or a settings file for the command line",
            key="recipe_file",
            on_change=lambda: received("recipe_file", _load),
        )


def _suggestion(recipe: Recipe) -> str:
    if recipe.content == "predictions":
        return f"{recipe.score or _first_score(recipe)}, {recipe.file or recipe.data.partition(':')[2]}"[
            :LONGEST_RECIPE_NAME
        ]
    return f"{MODELS[recipe.model].label}, {PLACEMENTS[recipe.placement].label.lower()}"


def _first_score(recipe: Recipe) -> str:
    """Return the default score column if there are several, else "Scores"."""
    try:
        columns = load(recipe).scores
    except InputError:
        return "Scores"  # the page itself says why
    return str(columns[0]) if len(columns) > 1 else "Scores"


def _keep(recipe: Recipe) -> None:
    name = st.session_state["recipe_name"].strip() or _suggestion(recipe)
    kept()[name] = recipe
    st.session_state["recipe_name"] = ""


def _differing(recipe: Recipe) -> str:
    """Return the settings that differ from their defaults; the name says which data are not those of the page."""
    stated = {name: value for name, value in recipe.stated().items() if name != "data"}
    return ", ".join(state.in_words(recipe, stated)) or "all defaults"


def _load(content: bytes, file: str) -> None:
    uploaded.check_ends(uploaded.recipes, content, file)
    found = read_recipes(content, file.removesuffix(".json"))
    kept().update({name[:LONGEST_RECIPE_NAME]: one for name, one in found.items()})


def compared(recipe: Recipe) -> dict[str, Recipe]:
    """Return the Recipes to compare, by name: those chosen among the kept ones, and the current one if it is new."""
    known = {one.digest("calibrate") for one in kept().values()}  # all are shown in this page's view
    fresh = {} if recipe.digest("calibrate") in known else {_free_name(recipe): recipe}
    all_kept = {_with_data(name, one): one for name, one in kept().items()}
    names = [*fresh, *reversed(all_kept)]  # the newest first
    if len(names) > 1:
        names = st.multiselect(
            "Side by side",
            names,
            default=names[:MOST_SIDE_BY_SIDE],
            max_selections=MOST_SIDE_BY_SIDE,
            key=f"side_by_side_{digest(repr(names).encode())}",
            help="Results that another page has already computed appear immediately. For other settings, "
            "the models must be fitted first.",
        )
    return {name: (fresh | all_kept)[name] for name in names}


def _free_name(recipe: Recipe) -> str:
    """Return a name for the current settings that no kept Recipe has."""
    name = _suggestion(recipe)
    return f"{name} (new settings)" if name in kept() else name


def _with_data(name: str, kept_one: Recipe) -> str:
    """Return the name of a kept Recipe, with its data set if that differs from the page's."""
    if kept_one.data == state.recipe().data:
        return name
    named = f"{name} · {state.data_name(kept_one)}"
    return named if named not in kept() else name


def results(recipes: Mapping[str, Recipe], view: Recipe) -> dict[str, Evaluation]:
    """Return the Evaluations by name, all in this page's view; say which are missing.

    While they are fitted, return those of the last settings, in grey.
    """
    if not recipes:
        st.info("Choose at least one of your saved settings.")
        return {}
    found = evaluations_of(recipes, COMPARISON_JOB) if may_fit(recipes, COMPARISON_JOB) else None
    if found is None:
        return or_previous("compared", None) or {}
    shown = {}
    for name, result in found.items():
        if isinstance(result, InputError):
            st.warning(f"**{plain(name)}** cannot be shown: {plain(result)}")
        elif result.predictions:
            shown[name] = result.with_view(view)
        else:
            frame.refusals(result)
    return or_previous("compared", shown)


def picture(evaluations: Mapping[str, Evaluation], view: Recipe, sentence: Any) -> None:
    """Draw one metric of every calibrator and Recipe, the recommended method, and the answer."""
    record = chart.show("compared", evaluations, metric=_metric(evaluations, view), sentence=sentence)
    if record is not None and record.recommended:
        st.markdown(plain(record.recommended))
    if answer(evaluations):
        st.markdown(f"**{plain(answer(evaluations))}**")


def _offered(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return the metrics that apply to some of the evaluations."""
    known = {key for one in evaluations.values() for key in one.applicable(METRICS_COMPARED)}
    return [key for key in METRICS_COMPARED if key in known]


def _metric(evaluations: Mapping[str, Evaluation], view: Recipe) -> str:
    """Return the metric in the picture: the Recipe's, or the first if that one does not apply."""
    chosen, offered = view.setting("compared.metric"), _offered(evaluations)
    return str(chosen if chosen in offered else offered[0])


def metric(evaluations: Mapping[str, Evaluation], view: Recipe) -> None:
    """Draw the choice of the metric in the picture."""
    controls.choice("compared.metric", view, _metric(evaluations, view), _offered(evaluations))


def numbers(evaluations: Mapping[str, Evaluation]) -> None:
    """Draw the table and the diagrams."""
    grid(
        formatted_side_by_side(evaluations, tables.MAIN),
        hide_index=True,
        key="side_by_side_table",
        alt="Metrics by settings",
    )
    explained = {clipped_sentence(each.metrics) for each in evaluations.values()} - {""}
    if explained:
        with headings.details():
            st.caption(explained.pop())
    downloads.table("Metrics (CSV)", lambda: side_by_side_table(evaluations), "side_by_side.csv")
    _together(evaluations)
    if len(evaluations) > 1:
        headings.heading("Diagrams")
    tables.diagrams(evaluations)


def _together(evaluations: Mapping[str, Evaluation]) -> None:
    """Draw the scores of all classes together, if there are three or more; the table above is of one view of them."""
    wholes = {name: one.whole for name, one in evaluations.items() if one.whole is not None}
    if not wholes:
        return
    if any(one.of_confidence for one in evaluations.values()):
        st.caption("The confidence is the probability that each model's predicted class is right.")
    headings.heading("All classes together")
    grid(
        formatted_scores_side_by_side(wholes),
        hide_index=True,
        key="joint_side_by_side",
        alt="Scores of all classes, by settings",
    )
    scores = pd.concat(
        {name: joint.metrics for name, joint in wholes.items()}, names=["recipe", "calibrator"]
    )
    downloads.table("Scores (CSV)", lambda: scores, "scores.csv", index=True)


def everything(recipe: Recipe, evaluations: Mapping[str, Evaluation]) -> None:
    """Draw the buttons of the report and of all files, which are made when a button is pressed."""
    theme, files, draws = current.theme(), state.files(), downloads.draws()
    recipes = {name: evaluation.recipe for name, evaluation in evaluations.items()}
    known, frames = at_random(evaluations), state.frames()

    validated = {name: one for name in evaluations if (one := known_optimism(evaluations[name]))}
    centres = {name: known_centres(one) for name, one in evaluations.items()}

    def problems() -> dict[str, list[Problem]]:
        return {name: sources.data_problems(one, frames) for name, one in recipes.items()}

    def report(theme: Theme) -> bytes:
        return report_html(evaluations, theme, files, known, problems(), validated, centres)

    source = python_source(recipes, files)
    _first_page(recipe)
    with st.container(horizontal=True, key="report"):
        downloads.button(
            "Report (HTML)", lambda: report(theme), "report.html", "text/html", "report_html", type="primary"
        )
        if draws:
            downloads.button(
                "Report (PDF)",
                lambda: print_pdf(report(LIGHT).decode()),
                "report.pdf",
                "application/pdf",
                "report_pdf",
            )
        images = ("svg", "png") if draws else ()
        downloads.button(
            "All charts and numbers (ZIP)",
            lambda: bundle(evaluations, theme, files, images, problems=problems()),
            "calibration.zip",
            "application/zip",
            "report_zip",
        )
        downloads.button("Python source", lambda: source, "reproduce.py", "text/x-python", "report_source")
    st.caption(
        "The report is a single file for the reviewers of a model. The report opens offline and contains no "
        "data. The ZIP also contains every chart with its numbers, the predictions on the test set and "
        "every fitted "
        "calibrator." + ("" if draws else " PDF, SVG and PNG need Chromium on the server.")
    )
    with st.expander("Python source"):
        st.code(source, language="python")


def _first_page(recipe: Recipe) -> None:
    """Draw the optional texts of the report's first page."""
    left, right = st.columns([2, 1])
    for place, name, hint in (
        (left, "title", "Optional; by default, the names of the model and the data set"),
        (right, "author", "Optional"),
        (st.container(), "purpose", "Optional: what the report is for"),
    ):
        field = f"report.{name}"
        with place:
            state.control(
                st.text_input,
                field,
                recipe.setting(field) or "",
                SETTINGS[field].label,
                store=lambda text: text.strip() or None,
                placeholder=hint,
                help=SETTINGS[field].help,
                max_chars=LONGEST_TEXT,
            )


def at_random(evaluations: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Return the Evaluations under a random split of those Recipes for which the Reliability page has computed it."""
    recipes = {
        name: random_recipe(one.recipe) for name, one in evaluations.items() if one.recipe.split != "random"
    }
    known = {name: recipe for name, recipe in recipes.items() if is_fitted(recipe)}
    found = evaluations_of(known, kind="at_random") if known else {}
    return {name: one for name, one in (found or {}).items() if isinstance(one, Evaluation)}


def calibrator(evaluations: Mapping[str, Evaluation]) -> None:
    """Offer one fitted calibrator, as JSON and as a program."""
    names = list(evaluations)
    with st.container(key="one_calibrator"):
        name = names[0]
        if len(names) > 1:
            name = st.selectbox("Settings of the calibrator", names, key="calibrator_of", width=280)
        downloads.calibrator(evaluations[name], "compare")


INPUTS = {
    "score": "a score of the same model",
    "probability": "probabilities of the same model, from 0 to 1",
    "tree_scores": "the scores of all trees, one column per tree, in the order of the trees",
    "features": "probabilities of the same model, from 0 to 1, in a table that also contains the features",
    "fold_scores": "the scores of the fold models, one column per fold, in fold order",
}


def _read_calibrator(content: bytes, name: str, watch: Watch) -> SavedCalibrator:
    uploaded.check_ends(uploaded.calibrator, content, name, watch)
    return read_calibrator(content)


def saved() -> None:
    """Apply an uploaded calibrator to an uploaded table, and offer the calibrated copy."""
    left, right = st.columns(2, gap="large")
    with left:
        st.file_uploader(
            "A calibrator saved by this app (JSON)",
            key="calibrator_file",
            on_change=remember,
            args=("calibrator_file", _read_calibrator),
        )
        calibrator: SavedCalibrator | None = remembered("calibrator_file")
        if calibrator is not None:
            _describe(calibrator)
    with right:
        st.file_uploader(
            "A table with a score column: CSV, TSV, Parquet, Excel, ARFF or JSON records",
            key="scores_file",
            on_change=remember,
            args=("scores_file", _read_scores),
            help="The table stays in this session's memory and is never written to disk.",
        )
        table = remembered("scores_file")
        if calibrator is None or table is None:
            return
        columns = _columns(calibrator, number_columns(table))
    try:
        applied = calibrator.apply(table, columns)
    except InputError as error:
        st.warning(plain(error))
        return
    _show_applied(applied)


def _read_scores(content: bytes, name: str, watch: Watch) -> pd.DataFrame:
    return read_confined(content, name, fewest=1, watch=watch)


def _describe(calibrator: SavedCalibrator) -> None:
    rows = calibrator.calibration.get("rows")
    data = calibrator.made.get("data")
    st.markdown(
        f"**{plain(calibrator.label)}** for {INPUTS[calibrator.input]}. The calibrator gives the "
        f"probability of **{plain(class_named(calibrator.classes[1]))}**"
        + (" with p0 and p1." if calibrator.gives_interval else ".")
    )
    if isinstance(rows, int):
        st.caption(f"Fitted to {rows:,} calibration scores" + (f" of {plain(data)}." if data else "."))
    for note in calibrator.notes:
        st.caption(plain(note))


def _columns(calibrator: SavedCalibrator, names: list[str]) -> list[str]:
    """Draw the choice of the score column, or of as many columns as the calibrator needs."""
    if calibrator.columns > 1:
        return st.multiselect(
            f"The {calibrator.columns} score columns, in the order that the calibrator expects",
            names,
            default=names[: calibrator.columns],
            key="score_columns",
        )
    chosen = st.selectbox("Score column", names, key="score_column", placeholder="No column contains numbers")
    return [] if chosen is None else [chosen]


def _show_applied(applied: Applied) -> None:
    table = applied.table
    grid(
        tables.numbered_from_1(table.head(tables.PREVIEW_ROWS)),
        key="calibrated",
        alt="Your table with calibrated probabilities",
    )
    mean = number(float(table.iloc[:, -1].mean()))
    left_out = (
        f" {applied.unanswered:,} rows have no finite score, so they get no probability."
        if applied.unanswered
        else ""
    )
    st.caption(f"{len(table):,} rows; mean probability {mean}.{left_out}")
    for note in applied.notes:
        st.warning(plain(note))
    downloads.table("Calibrated table (CSV)", lambda: table, "calibrated.csv", key="calibrated_csv")
