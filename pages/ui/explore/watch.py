"""What the Watch page shows beside its charts: what happened, what to do, and the numbers of each period."""

from __future__ import annotations

import streamlit as st

from calib.analysis.watch.over_time import OverTime, over_time
from calib.analysis.watch.table import CHANGED, DO
from calib.analysis.watch.watcher import shown_moment
from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.export import safe_csv
from calib.export.calibrators import write_calibrator
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.memo import once
from calib.kernel.wording import brief, number
from calib.recipe import Recipe
from pages.ui import headings, state
from pages.ui.tables import download
from pages.ui.text import plain


def controls(recipe: Recipe) -> None:
    """Error rate and horizon."""
    alpha, horizon = SETTINGS["watch.alpha"], SETTINGS["watch.horizon"]
    with st.container(horizontal=True):
        state.control(
            st.number_input,
            "watch.alpha",
            float(recipe.setting("watch.alpha")),
            alpha.label,
            min_value=alpha.low,
            max_value=alpha.high,
            format="%g",
            width=260,
            help=alpha.help,
        )
        state.control(
            st.number_input,
            "watch.horizon",
            int(recipe.setting("watch.horizon")),
            horizon.label,
            min_value=int(horizon.low or 1),
            max_value=int(horizon.high or 366),
            width=200,
            help=horizon.help,
        )


def found(evaluation: Evaluation, recipe: Recipe) -> OverTime | None:
    """What watching the first calibrator shows; None, with the reason, if there is nothing to watch."""
    if not evaluation.predictions:
        st.info("There is nothing to watch: choose a calibrator in the sidebar that works on these scores.")
        return None
    if evaluation.dataset.time is None:
        st.info(
            "No column has the role time, so rows count in the order of the table. Choose it on the Data page."
        )
    key = next(iter(evaluation.predictions))
    alpha, horizon = float(recipe.setting("watch.alpha")), int(recipe.setting("watch.horizon"))
    try:
        return once(
            evaluation, ("watch", key, alpha, horizon), lambda: over_time(evaluation, key, alpha, horizon)
        )
    except InputError as error:
        st.info(plain(error))
        return None


def headline(seen: OverTime) -> None:
    """What changed and what to do, then evidence, level, Brier score and slope with intervals valid at every look."""
    watched, alarm = seen.watched, seen.watched.found
    if alarm is None:
        st.markdown("No alarm. Nothing needs to be done.")
    else:
        st.markdown(
            f"The change probably began at **{shown_moment(alarm.since_moment, seen.kind)}** "
            f"({shown_moment(alarm.earliest_moment, seen.kind)} to {shown_moment(alarm.latest_moment, seen.kind)}). "
            f"{CHANGED[alarm.cause]} **{DO[alarm.advice]}**"
        )
    with headings.rows():
        st.metric("Evidence now", brief(watched.now), help=f"The alarm is at {watched.threshold:g}.")
        for label, (low, value, high), what in (
            ("Observed − predicted", watched.level, "Mean over all rows so far; 0 if the level is right."),
            ("Brier score", watched.brier, "Mean over all rows so far."),
            ("Slope", watched.slope, "Of the log-odds; 1 if the model is neither over- nor underconfident."),
        ):
            if value == value:
                st.metric(
                    label,
                    number(value),
                    f"[{number(low)}, {number(high)}]",
                    delta_color="off",
                    delta_arrow="off",
                    help=f"{what} The interval holds at every look.",
                )
    if watched.clipped:
        st.caption(f"{watched.clipped:,} predictions of 0 or 1 were clipped to 0.000001 from the end.")
    if alarm is not None:
        _offer(seen)


def _offer(seen: OverTime) -> None:
    """The fitted calibrator that the advice names, to download."""
    try:
        fitted = seen.fit()
    except InputError as error:
        st.caption(plain(error))
        return
    label = CALIBRATORS[fitted.key].label
    download(
        f"{label}, fitted since the change (JSON)",
        lambda: write_calibrator(fitted, classes=seen.evaluation.dataset.classes).encode(),
        "recalibration.json",
        "application/json",
    )


def table(seen: OverTime) -> None:
    """The numbers of each period."""
    headings.heading("Periods")
    st.dataframe(
        seen.periods.round(4),
        width="stretch",
        hide_index=True,
        key="watch_table",
        alt="Numbers of each period",
    )
    download("Periods (CSV)", lambda: safe_csv(seen.periods), "periods.csv")
