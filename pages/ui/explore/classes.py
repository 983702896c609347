"""Three or more classes: the scores of all together, one line per class, and the diagrams of the worst."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from calib.analysis.recommendation.advice import recommend
from calib.analysis.recommendation.joint import START, TRIED, advise_joint
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.evaluate.joint import PARTS, SCORES, JointEvaluation
from calib.export import safe_csv
from calib.figures.classes import (
    WORST,
    formatted_changes,
    formatted_classes,
    formatted_intervals,
    formatted_scores,
    kernel_tested,
)
from calib.kernel.wording import class_named
from pages.ui import chart, headings, state, tables
from pages.ui.grid import grid
from pages.ui.text import plain
from pages.ui.widget import shown

KERNEL = (
    "It compares pairs of rows with similar predictions, of at most 500 rows. Its p-value ranks the observed labels "
    "among labels drawn from the probabilities."
)


def show(evaluation: Evaluation) -> None:
    """Draw the scores of all classes together, then those of each; a click shows one class on every page."""
    if evaluation.joint is None:
        return
    joint, key = evaluation.joint, _each(evaluation)
    headings.heading(f"All {len(joint.names)} classes together")
    grid(formatted_scores(joint), width="stretch", key="joint_scores", alt="Scores of all classes")
    st.caption(
        f"{evaluation.size_text}. ★ marks the best value of a column; small differences may be sampling variability."
    )
    if len(joint.predictions) > 1:
        first = name_of(next(iter(joint.predictions)))
        st.markdown(f"**Difference from {first}**, with its 95 % interval")
        grid(formatted_changes(joint), width="stretch", key="joint_changes", alt="Differences and intervals")
        st.caption("● marks a clear difference: its interval excludes 0.")
    _advised(evaluation)
    _scores(joint, key)


def _each(evaluation: Evaluation) -> str:
    """Draw one line per class of a calibrator, and return the calibrator."""
    headings.heading("One class at a time")
    joint, key = evaluation.joint, _calibrator(evaluation)
    table = joint.by_class(key)
    _table(table)
    st.caption(
        f"{label_of(key)}, largest gap first. The gap is the mean prediction minus the observed share, in percentage "
        "points, with its 95 % interval. Select a class to see it on every page."
    )
    with st.container(horizontal=True):
        tables.download("Classes (CSV)", lambda: safe_csv(table, index=True), "classes.csv")
        tables.download("Scores (CSV)", lambda: safe_csv(joint.metrics, index=True), "scores.csv")
    if joint.classes == 3 and key != "none":
        chart.show("simplex", evaluation, calibrator=key)
    _worst(evaluation, key, list(table.index[:WORST]))
    return key


def _scores(joint: JointEvaluation, key: str) -> None:
    """Draw the scores of one calibrator with their intervals and explanations."""
    tested = kernel_tested(joint, key)
    if tested:
        st.markdown(plain(tested))
    with st.expander(f"{label_of(key)}: scores with 95 % intervals, and their definitions"):
        grid(
            formatted_intervals(joint, key),
            width="stretch",
            hide_index=True,
            key="joint_intervals",
            alt="Intervals of scores",
        )
        st.caption(
            "Intervals of calibration errors are wide, so that they include the true error in the same bins. "
            "“Bias-corrected” is the root mean squared gap in these bins without the part expected by chance."
        )
        table = pd.concat([joint.intervals(key), joint.parts(key)])
        tables.download("Intervals (CSV)", lambda: safe_csv(table, index=True), "score_intervals.csv")
        for label, meaning in [*((one.label, one.help) for one in SCORES.values()), *PARTS.values()]:
            st.markdown(f"**{label}**: {meaning}")
        if tested:
            st.markdown(f"**Kernel test**: {KERNEL}")


def _advised(evaluation: Evaluation) -> None:
    """Offer the best method of our benchmark if it is not chosen; of one class, draw the method for all classes too."""
    found, keys = advise_joint(evaluation.joint), tuple(evaluation.recipe.calibrators)
    if set(keys) - {"none"} and not evaluation.of_confidence:
        st.markdown(f"**{plain(found.answer)}** {plain(found.reason)}")
        st.caption(TRIED)
    if START[0] not in keys:
        st.button(
            f"Add {name_of(START[0])}",
            on_click=lambda: state.update(calibrators=(*keys, START[0])),
            key="add_joint",
            help="The best starting method in our benchmark of three or more classes.",
        )


def _calibrator(evaluation: Evaluation) -> str:
    """Draw the choice of the calibrator whose classes are listed; the recommended one by default."""
    keys = list(evaluation.predictions)
    choice = recommend(evaluation).choice
    name = "reliability.classes_of"
    chosen = evaluation.recipe.setting(name)
    begin = chosen if chosen in keys else choice if choice in keys else keys[0]
    return state.control(st.selectbox, name, begin, "Calibrator", keys, format_func=label_of, width=280)


def _table(table: Any) -> None:
    def chosen() -> None:
        rows = st.session_state["classes"].selection.rows
        if rows:
            state.update(view_class=str(table.index[rows[0]]))

    grid(
        formatted_classes(table),
        width="stretch",
        hide_index=True,
        key="classes",
        on_select=chosen,
        selection_mode="single-row",
        alt="One line per class",
    )


def _worst(evaluation: Evaluation, key: str, names: list[str]) -> None:
    """Draw small diagrams of the classes with the largest gaps, with the uncalibrated model behind."""
    with st.expander("Diagrams of the classes with the largest gaps"):
        if not shown(st.toggle, "worst_classes", False, lambda _: None, "Draw the diagrams"):
            return
        joint = evaluation.joint
        views = {
            class_named(name): joint.of(joint.column(name)).with_view(evaluation.recipe) for name in names
        }
        behind = [name for name in ("none",) if name in evaluation.predictions and name != key]
        tables.diagrams(views, [[*behind, key]] * len(views))


def note(evaluation: Evaluation) -> None:
    """Say in one line what is shown."""
    if evaluation.joint is None:
        return
    if evaluation.of_confidence:
        st.caption("Shown: how often the predicted class is right, by its probability (the confidence).")
    else:
        st.caption(f"Shown: {plain(class_named(evaluation.dataset.classes[1]))} against all other classes.")
