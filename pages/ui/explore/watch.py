"""Parts of the Watch page beside its charts: the change, the advice, and the numbers of each period."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from calib.analysis.watch.over_time import OverTime, over_time, unlabelled
from calib.analysis.watch.table import (
    DO,
    MOST_TIMES,
    SLOW_CHANGE,
    change_in_words,
    correction_sentences,
    evidence_words,
    far_beyond,
    impossible_in_words,
)
from calib.calibrators import CALIBRATORS
from calib.evaluate import Evaluation
from calib.export.calibrators import write_calibrator
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.kernel.segment import write_period
from calib.kernel.wording import counted, percent
from calib.recipe import DEFAULT_DATA, Recipe
from pages.ui import downloads, headings, state
from pages.ui.controls import one_calibrator, parameter_control
from pages.ui.tables import grid, noted
from pages.ui.text import plain
from pages.ui.waiting import in_background

PERIOD_HINT = "Click a mark to see only its period on the other pages."
SO_FAR = {
    "level": (
        "Observed − predicted",
        "Mean difference over all rows so far; it is 0 if the mean prediction is right.",
    ),
    "brier": ("Brier score", "Mean Brier score of all rows so far."),
    "slope": (
        "Slope",
        "Calibration slope on the log-odds scale; it is 1 if the model is neither overconfident nor "
        "underconfident.",
    ),
}
TIME_IS_ROW_ORDER = (
    "The program assumes that the rows are in chronological order. If a column contains dates, choose it "
    "under “Date or time” on *Data*."
)


def whole(recipe: Recipe) -> Recipe:
    """Return the Recipe without a period, because this page shows all periods."""
    return recipe.replace(period=None)


def picking(seen: OverTime) -> Callable[[Any], None]:
    """Return a function that filters every page by the period of a clicked mark."""
    ends = {
        str(line.period): write_period(line.begin, line.end)
        for line in seen.table[["period", "begin", "end"]].itertuples()
    }

    def pick(known: Any) -> None:
        period = next((ends[value] for value in known if isinstance(value, str) and value in ends), None)
        if period is not None:
            state.update(period=period)

    return pick


def controls(recipe: Recipe) -> None:
    """Draw the error rate, the horizon, and the treatment of rows without a label."""
    with st.expander("Settings", key="watch_settings"):
        for name in ("watch.alpha", "watch.horizon"):
            parameter_control(recipe.parameter(name), name, recipe.setting(name))
        skip = "watch.skip_unlabelled"
        declared = recipe.parameter(skip)
        state.control(st.checkbox, skip, recipe.setting(skip), declared.label, help=declared.help)


def found(evaluation: Evaluation, recipe: Recipe) -> OverTime | None:
    """Return the monitoring of one calibrator over time, or None with the reason on the page."""
    if not evaluation.predictions:
        st.info(
            "There are no probabilities to watch: choose a calibrator in the sidebar that can be fitted "
            "to these scores."
        )
        return None
    keys = list(evaluation.predictions)
    preferred = recipe.setting("watch.calibrator")
    key = preferred if preferred in keys else keys[0]
    options = recipe.stated_settings("watch", "alpha", "horizon", "skip_unlabelled")
    known = ("watch", key, *sorted(options.items()))
    try:
        what = f"Watching {counted(len(evaluation.rows), 'row')}"
        work = partial(over_time, evaluation, key, **options)
        return cached_result(
            evaluation, known, lambda: in_background(what, lambda watch: work(progress=watch))
        )
    except InputError as error:
        st.info(plain(error))
        controls(recipe)
        return None


def headline(seen: OverTime, evaluation: Evaluation) -> None:
    """Draw the change and the advice, then evidence, level, Brier score and slope with anytime-valid intervals."""
    watched, alarm = seen.watched, seen.watched.found
    if watched.impossible is not None:
        st.markdown(f"{impossible_in_words(watched.impossible)} **{DO['limit']}**")
    if watched.alarm is None:
        st.markdown("No action is needed.")
    if alarm is not None:
        at = "on" if seen.kind == "date" else "at"
        began = f"**{seen.shown(alarm.since_moment)}**"
        ends = f"{seen.shown(alarm.earliest_moment)} to {seen.shown(alarm.latest_moment)}"
        when = (
            f"If the change was sudden, it probably began {at} {began} (95 % interval: {ends}). {SLOW_CHANGE}"
        )
        if seen.from_the_start:
            when = f"The predictions may have been wrong from the start (95 % interval for a sudden change: {ends})."
        st.markdown(f"{change_in_words(alarm)} **{DO[alarm.advice]}**")
        corrected = _offer(seen)
        with headings.details():
            st.markdown(when)
            if corrected:
                st.caption(plain(corrected))
    one_calibrator("watch.calibrator", evaluation.recipe, seen.calibrator, evaluation.predictions)
    with headings.rows():
        value, note = evidence_words(watched.log_now), None
        if far_beyond(watched.log_now, watched.threshold):
            value, note = f"> {MOST_TIMES:,}", "× the alarm level"
        noted("Evidence now", value, note, help=f"The alarm is raised at {watched.threshold:g}.")
        for name, (label, what) in SO_FAR.items():
            value, _, ends = seen.so_far(name).text().partition(" ")
            if ends:
                noted(label, value, ends, help=what)
    by_row = seen.kind == "row"
    size = f"All {seen.evaluation.size_text}{' in the order of the table' if by_row else ''}"
    st.caption(
        f"{size}; {percent(1 - watched.alpha)} intervals, valid however often you look.",
        help=f"These numbers include the rows before a change. {TIME_IS_ROW_ORDER if by_row else ''}".strip(),
    )
    if by_row and seen.evaluation.recipe.data == DEFAULT_DATA:
        sample = {
            "data": "sample:drift_abrupt",
            "content": "predictions",
            "time": "day",
            "calibrators": "none",
        }
        st.page_link("pages/explore_watch.py", label="Show a sample with dates", query_params=sample)
    if watched.clipped:
        st.caption(
            f"{counted(watched.clipped, 'prediction')} of 0 or 1 clipped.",
            help="Predictions of exactly 0 and 1 were clipped to 0.000001 and 0.999999.",
        )
    waits = unlabelled(seen)
    if waits and seen.waiting:
        st.caption(f"{waits} If this label will never arrive, exclude rows without a label (Settings).")


def _offer(seen: OverTime) -> str:
    """Offer the correction that the advice names as a download; return its sentences, with its interval."""
    try:
        correction = seen.correction()
    except InputError as error:
        return str(error)
    fitted = correction.calibrator
    label = CALIBRATORS[fitted.key].label
    downloads.button(
        f"{label} since the change (JSON)",
        lambda: write_calibrator(
            fitted, classes=seen.evaluation.dataset.classes, notes=correction_sentences(correction)
        ).encode(),
        "recalibration.json",
        "application/json",
    )
    return " ".join(correction_sentences(correction))


def table(seen: OverTime) -> None:
    """Draw the numbers of each period."""
    headings.heading("Periods")
    named = seen.table.rename(columns=PERIOD_COLUMNS)
    grid(
        named,
        hide_index=True,
        key="watch_table",
        column_config={
            name: st.column_config.NumberColumn(format="%.3f")
            for name in named.columns
            if named[name].dtype.kind == "f"
        },
        alt="Numbers by period",
    )
    st.caption(
        "The band of a period is valid however often you look at the period. “Shift” is the largest "
        "difference between the cumulative score distributions of this period and the first period "
        "(Kolmogorov–Smirnov). Its p-value is valid for a single look only."
    )
    downloads.table("Periods (CSV)", lambda: named, "periods.csv")


PERIOD_COLUMNS = {
    "gap": "observed − predicted",
    "low": "band low",
    "high": "band high",
    "p10": "10th percentile of scores",
    "p50": "median score",
    "p90": "90th percentile of scores",
    "base_rate": "base rate (EM)",
    "moved": "shift",
    "moved_p": "p-value of shift",
}
