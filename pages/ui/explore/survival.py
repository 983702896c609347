"""Parts of the Survival page beside its charts: the columns, the horizon, and the numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.centres import Centres
from calib.analysis.centres import centres as pool_centres
from calib.analysis.survival.check import SURVIVAL_METRICS, SurvivalEvaluation
from calib.analysis.survival.table import SurvivalColumns, column, horizons, survival_columns
from calib.evaluate import Evaluation
from calib.export.source import SURVIVAL_SETTINGS
from calib.export.survival import formatted_bins, formatted_survival, survival_html
from calib.kernel.checks import InputError
from calib.kernel.wording import alike, listed
from calib.metrics import METRICS
from calib.recipe import Recipe
from pages.ui import chart, controls, current, downloads, evaluations, headings, jobs, tables
from pages.ui.tables import grid
from pages.ui.text import plain

KEPT_RESULTS = 12  # results per session
LEADING_MEASURES = ("observed_expected", "slope", "ici", "brier", "auc")
TIMES_NEEDED = "This page needs a table with times until an event."
CENTRE_HELP = "The column that names the centre of each row, such as its hospital."
CONTROL_OF_MESSAGE = {
    "cause=": "“Event of interest”",
    "censored=": "“Censored”",
}  # of messages → of the controls
RELAPSES = {
    "data": "sample:relapses",
    "content": "predictions",
    "target": "target",
    "reliability.group": "hospital",
    "calibrators": "none",
}


def chosen(recipe: Recipe) -> tuple[pd.DataFrame, SurvivalColumns]:
    """Return the table with its columns and codes, as chosen or found by their names, or end the page."""
    try:
        frame, label, positive = evaluations.first_rows(recipe)
    except InputError as error:
        st.info(plain(f"{error} {TIMES_NEEDED}"))
        _sample()
        st.stop()
    known = survival_columns(frame, label, positive, **recipe.stated_settings("survival", *SURVIVAL_SETTINGS))
    if known.missing:
        st.info(plain(f"{TIMES_NEEDED} Choose the {listed(known.missing)}."))
        _sample()
        _controls(recipe, frame, known)
        st.stop()
    return frame, known


def _sample() -> None:
    st.page_link(
        "pages/explore_survival.py", label="Show a sample with censored patients", query_params=RELAPSES
    )


def columns(recipe: Recipe, frame: pd.DataFrame, known: SurvivalColumns) -> None:
    """Draw the choice of the columns and codes, folded."""
    with st.expander("Columns and codes", key="survival_columns"):
        _controls(recipe, frame, known)


def _controls(recipe: Recipe, frame: pd.DataFrame, known: SurvivalColumns) -> None:
    names = list(map(str, frame.columns))
    one = {"widget": st.selectbox, "placeholder": "Choose a column"}
    controls.choice("survival.duration", recipe, known.duration, names, **one)
    controls.choice("survival.event", recipe, known.event, names, **one)
    risks = [name for name in known.risks if name in names]
    controls.choice("survival.risks", recipe, risks, names, st.multiselect, placeholder="Choose columns")
    controls.choice("survival.means", recipe, known.means, required=False)
    code = {"widget": st.selectbox, "placeholder": "Choose a code"}
    for name in ("cause", "censored"):
        value = getattr(known, name)
        controls.choice(
            f"survival.{name}", recipe, value if value in known.codes else None, known.codes, **code
        )
    within = recipe.setting("survival.within")
    controls.choice(
        "survival.within", recipe, within, [None, *names], st.selectbox, format_func=lambda x: x or "All rows"
    )
    if not horizons(known.risks):
        controls.parameter_control(recipe.parameter("survival.horizon"), "survival.horizon", known.horizon)


def horizon(recipe: Recipe, known: SurvivalColumns) -> None:
    """Draw the slider of the horizons, if the columns hold risks by several."""
    offered = list(horizons(known.risks))
    if len(offered) > 1 and known.horizon in offered:
        controls.choice(
            "survival.horizon",
            recipe,
            known.horizon,
            offered,
            st.select_slider,
            format_func=lambda t: f"{t:g}",
        )


def found(recipe: Recipe, frame: pd.DataFrame, known: SurvivalColumns) -> SurvivalEvaluation | None:
    """Return the evaluation at the horizon, or None with the reason on the page."""
    roles = {
        "sample_weight": recipe.weight,
        "cluster": recipe.cluster,
        "censoring_groups": recipe.setting("survival.within"),
    }
    key = (evaluations.data_key(recipe), known, *roles.values())
    made = jobs.cached(
        "survival", KEPT_RESULTS, key, lambda: jobs.or_why(lambda: known.check(frame, **roles))
    )
    if isinstance(made, InputError):
        text = str(made)
        for name, label in CONTROL_OF_MESSAGE.items():
            text = text.replace(name, label)
        st.error(plain(text))
        return None
    return made


def headline(made: SurvivalEvaluation) -> None:
    """Draw O/E, slope, ICI, Brier score and AUC with their intervals; the reasons are folded."""
    with headings.rows():
        for metric, line in made.table().loc[list(LEADING_MEASURES)].iterrows():
            value, *ends = alike(*line)
            tables.noted(METRICS[metric].label, value, f"[{', '.join(ends)}]", help=METRICS[metric].help)
    with headings.details():
        st.markdown(plain(made.verdict.sentence))


def table(made: SurvivalEvaluation) -> None:
    """Draw the metrics that are not in the headline, and the bins."""
    headings.heading(f"More metrics and groups of risk by {made.horizon:g}")
    left, right = st.columns(2, gap="large")
    with left:
        more = [metric for metric in SURVIVAL_METRICS if metric not in LEADING_MEASURES]
        metrics = formatted_survival(made, more).rename_axis("Metric")
        grid(metrics.reset_index(), hide_index=True, key="survival_metrics", alt="Metrics at the horizon")
    with right:
        grid(formatted_bins(made), hide_index=True, key="survival_bins", alt="Groups of risk")
        downloads.table("Groups (CSV)", made.bins, "survival_groups.csv")


def centres(recipe: Recipe, frame: pd.DataFrame, made: SurvivalEvaluation) -> None:
    """Draw the calibration of each centre, and offer the report."""
    headings.part("Centres")
    name = choose_centres(recipe, list(map(str, frame.columns)))
    names = None if name is None else column(frame, name).astype(str).to_numpy()[made.known["row"]]
    found = None if names is None else of_centres(made.evaluation, names, (id(made), name))
    source = current.python()
    downloads.button(
        "Validation report (HTML)",
        lambda: survival_html(made, found, source=source),
        "survival_report.html",
        "text/html",
    )


def preferred_centres(recipe: Recipe) -> str | None:
    """Return the column of centres: the chosen one, or the clusters."""
    return recipe.setting("reliability.group") or recipe.cluster


def choose_centres(recipe: Recipe, names: Sequence[str]) -> str | None:
    """Draw the choice of the column of centres, by default the clusters, and return it."""
    preferred = preferred_centres(recipe)
    chosen = preferred if preferred in names else None
    how = {"widget": st.selectbox, "placeholder": "Choose a column"}
    controls.choice("reliability.group", recipe, chosen, names, label="Centres by", help=CENTRE_HELP, **how)
    if chosen is None:
        st.caption(CENTRE_HELP)
    return chosen


def of_centres(evaluation: Evaluation, names: Any, same: Hashable, key: str | None = None) -> Centres | None:
    """Draw the centres of an evaluation, computed once for equal ``same``; return them, or None with the reason."""
    made = jobs.cached(
        "centres", KEPT_RESULTS, same, lambda: jobs.or_why(pool_centres, evaluation, names, key)
    )
    if isinstance(made, InputError):
        st.info(plain(made))
        return None
    draw_centres(made)
    return made


def draw_centres(made: Centres, key: str = "centres") -> None:
    """Draw the forest plot, the sentences and the curves of centres."""
    chart.show("centres", made, key=key)
    with headings.details(f"{key}_details"):
        for sentence in made.sentences:
            st.markdown(plain(sentence))
    chart.show("centre_curves", made, key=f"{key}_curves")
