"""Parts of the Survival page beside its charts: the columns, the horizon, and the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.centres import centres as pool_centres
from calib.analysis.survival.check import MOST_CODES, SURVIVAL_METRICS, SurvivalEvaluation
from calib.analysis.survival.table import (
    check_survival_table,
    column,
    horizons,
    likely_censored,
    likely_columns,
)
from calib.kernel.checks import InputError
from calib.kernel.wording import alike, listed, number
from calib.metrics import METRICS
from calib.recipe import Recipe
from pages.ui import chart, controls, downloads, evaluations, headings, jobs, state, tables
from pages.ui.grid import grid
from pages.ui.text import plain

KEPT = 12  # results per session
LEADING = ("observed_expected", "slope", "ici", "brier", "auc")
NEW_CENTRE = (
    "In simulations the interval for a new centre held 90 % of new slopes with 5 or 10 centres that differ, and 93 % with "
    "30: with few centres read it as slightly too narrow."
)
LABELS = {"cause=": "“Event of interest”", "censored=": "“Censored”"}  # of messages → of the controls
SAMPLE = {
    "data": "sample:relapses",
    "content": "predictions",
    "target": "target",
    "cluster": "hospital",
    "calibrators": "none",
}


@dataclass(frozen=True)
class Chosen:
    """The table, and its columns and codes as chosen or found by their names; None if unknown."""

    frame: pd.DataFrame
    time: str | None
    event: str | None
    risks: tuple[str, ...]
    codes: tuple[str, ...]
    cause: str | None
    censored: str | None
    means: str | None
    horizon: float | None

    @property
    def complete(self) -> bool:
        return None not in (self.time, self.event, self.cause, self.means, self.horizon) and bool(self.risks)

    @property
    def risk(self) -> str:
        """Column of the risk by the horizon."""
        return horizons(self.risks).get(self.horizon or 0, self.risks[0])

    @property
    def competing(self) -> list[str]:
        return [code for code in self.codes if code not in (self.cause, self.censored)]


def chosen(recipe: Recipe) -> Chosen:
    """Return the columns and codes, as chosen or found by their names; end the page if there is no table."""
    try:
        frame, target, positive = evaluations.first_rows(recipe)
    except InputError as error:
        st.info(plain(f"{error} This page needs a table with times and events."))
        _sample()
        st.stop()
    names = list(map(str, frame.columns))
    found = likely_columns(names, recipe.target or target)
    stated = recipe.stated_settings(
        "survival", "time", "event", "risks", "cause", "censored", "means", "horizon"
    )
    given = {name: stated.get(name) or found[name] for name in found}
    codes = _codes(frame, given["event"])
    cause = stated.get("cause") or positive or ("1" if "1" in codes else None)
    several = horizons(given["risks"])
    surviving = any(name.lower().startswith("surv") for name in given["risks"])
    return Chosen(
        frame,
        **given,
        codes=codes,
        cause=cause if cause in codes else None,
        censored=stated.get("censored") or likely_censored(codes),
        means=stated.get("means") or (None if surviving else "risk"),
        horizon=stated.get("horizon") or max(several, default=None),
    )


def _codes(frame: pd.DataFrame, event: str | None) -> tuple[str, ...]:
    if event not in frame:
        return ()
    kinds = frame[event].dropna().unique()[: MOST_CODES + 1]
    return tuple(sorted(f"{kind:g}" if isinstance(kind, float) else str(kind) for kind in kinds.tolist()))


def _sample() -> None:
    st.page_link(
        "pages/explore_survival.py", label="Show a sample with censored patients", query_params=SAMPLE
    )


def ask(recipe: Recipe, known: Chosen) -> None:
    """Ask for what is missing: columns, the event of interest, the meaning of the predictions, or the horizon."""
    missing = {
        "time": known.time,
        "event": known.event,
        "predictions": known.risks,
        "event of interest": known.cause,
        "meaning of the predictions": known.means,
        "horizon": known.horizon,
    }
    asked = listed([name for name, value in missing.items() if not value])
    st.info(f"This page needs a table with times until an event. Choose the {asked}.")
    _sample()
    _controls(recipe, known)


def columns(recipe: Recipe, known: Chosen) -> None:
    """Draw the choice of the columns and codes, folded."""
    with st.expander("Columns and codes", key="survival_columns"):
        _controls(recipe, known)


def _controls(recipe: Recipe, known: Chosen) -> None:
    names = list(map(str, known.frame.columns))
    one = {"widget": st.selectbox, "placeholder": "Choose a column"}
    controls.choice("survival.time", recipe, known.time, names, **one)
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


def horizon(recipe: Recipe, known: Chosen) -> None:
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


def found(recipe: Recipe, known: Chosen) -> SurvivalEvaluation | None:
    """Return the evaluation at the horizon, or None with the reason on the page."""
    roles = {
        "sample_weight": recipe.weight,
        "cluster": recipe.cluster,
        "censoring_groups": recipe.setting("survival.within"),
    }
    told = (known.time, known.event, known.risk, known.horizon, known.cause, known.censored, known.means)
    key = (evaluations.data_key(recipe), *told, *roles.values())

    def make() -> SurvivalEvaluation:
        return check_survival_table(
            known.frame,
            *told[:4],
            cause=known.cause,
            censored=known.censored,
            survival=known.means == "survival",
            **roles,
        )

    made = jobs.cached("survival", KEPT, key, lambda: jobs.or_why(make))
    if isinstance(made, InputError):
        text = str(made)
        for name, label in LABELS.items():
            text = text.replace(name, label)
        st.error(plain(text))
        return None
    return made


def headline(made: SurvivalEvaluation) -> None:
    """Draw O/E, slope, ICI, Brier score and AUC with their intervals; the reasons are folded."""
    with headings.rows():
        for metric, line in made.table().loc[list(LEADING)].iterrows():
            value, *ends = alike(*line)
            tables.noted(METRICS[metric].label, value, f"[{', '.join(ends)}]", help=METRICS[metric].help)
    with headings.details():
        st.markdown(plain(made.verdict.sentence))


def table(made: SurvivalEvaluation) -> None:
    """Draw all metrics and the bins."""
    headings.heading(f"Metrics and groups of risk by {number(made.horizon)}")
    metrics = pd.DataFrame(
        {
            "Metric": [METRICS[metric].label for metric in SURVIVAL_METRICS],
            "Value [95 % interval]": [made.estimate(metric).text() for metric in SURVIVAL_METRICS],
        }
    )
    left, right = st.columns(2, gap="large")
    with left:
        grid(metrics, hide_index=True, key="survival_metrics", alt="Metrics at the horizon")
        st.caption("E50 and E90 have no interval, because no interval that was tried covers them.")
    with right:
        shown = made.bins().drop(columns=["left", "right"])
        percents = {name: st.column_config.NumberColumn(format="percent") for name in list(shown)[3:]}
        grid(shown, hide_index=True, key="survival_bins", column_config=percents, alt="Groups of risk")
        downloads.table("Groups (CSV)", made.bins, "survival_groups.csv")


def centres(recipe: Recipe, known: Chosen, made: SurvivalEvaluation) -> None:
    """Draw the calibration of each cluster, if a column has this role."""
    if recipe.cluster is None:
        st.caption("To compare centres, choose their column as “Cluster” on *Data*.")
        return
    names = pd.factorize(column(known.frame, recipe.cluster))[1]
    of_centres(made.evaluation, names[made.evaluation.cluster])


def of_centres(evaluation: Any, names: Any, key: str | None = None) -> None:
    """Draw the forest plot, the sentences and the curves of centres."""
    try:
        made = pool_centres(evaluation, names, key)
    except InputError as error:
        st.info(plain(error))
        return
    chart.show("centres", made)
    with headings.details("centres_details"):
        for sentence in made.sentences:
            st.markdown(plain(sentence))
        st.caption(NEW_CENTRE)
    chart.show("centre_curves", made)
