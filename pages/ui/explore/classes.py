"""Three or more classes: the scores of all together, one line per class, and the diagrams of the worst."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from calib.analysis.recommendation.advice import TRIED_ON_CLASSES, recommend
from calib.analysis.recommendation.rule import START_OF_CLASSES
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.evaluate.classes import LOSS_DECOMPOSITION
from calib.figures.metrics import (
    WORST,
    formatted_changes,
    formatted_classes,
    formatted_intervals,
    formatted_scores,
    kernel_tested,
)
from calib.kernel.wording import class_named
from calib.metrics import class_metrics
from pages.ui import chart, downloads, headings, state, tables
from pages.ui.tables import grid
from pages.ui.text import plain

GAPS_CAPTION = (
    "Classes are sorted by the size of their gap (mean prediction minus observed share), with its 95 % "
    "interval. Select a class to see it on every page."
)
LINES, TABLE_HEIGHT = 8, 283  # a longer table of classes is scrolled within this height in pixels
CLASS_COLUMN_WIDTHS = {"Gap (% points)": 118, "Observed": 68, "Predicted": 70, "ECE": 62, "Rows": 60}
NAME_WIDTH = (52, 110)  # least and most width of the names of classes in pixels
SIGN_WIDTH = 8  # pixels of one sign
CALIBRATOR_FIELD = "reliability.classes_of"
KERNEL = (
    "The test compares pairs of rows with similar predictions, and uses at most 500 rows. The p-value shows "
    "how extreme the observed labels are, compared with labels drawn from the probabilities."
)


def each(evaluation: Evaluation) -> None:
    """Draw one line per class of a calibrator, beside the diagram; a click shows the class on every page."""
    if evaluation.whole is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        headings.heading("One class at a time", help=GAPS_CAPTION)
        key = _calibrator(evaluation)
    table = evaluation.whole.by_class(key)
    _table(table, evaluation.recipe.view_class)


def show(evaluation: Evaluation) -> None:
    """Draw the classes with the largest gaps, and the scores of all classes together."""
    if evaluation.whole is None:
        return
    whole, key = evaluation.whole, _chosen_calibrator(evaluation)
    _worst(evaluation, key)
    if whole.classes == 3 and key != "none":
        chart.show("simplex", evaluation, calibrator=key)
    headings.heading(f"All {len(whole.names)} classes together")
    grid(formatted_scores(whole), key="joint_scores", alt="Scores of all classes")
    st.caption(
        f"{evaluation.size_text}. ★ marks the best value in each column; small differences may be due to "
        "sampling variability."
    )
    downloads.table("Scores (CSV)", lambda: whole.metrics, "scores.csv", index=True)
    if len(whole.predictions) > 1:
        first = name_of(next(iter(whole.predictions)))
        st.markdown(f"**Difference from {first}**, with its 95 % interval")
        grid(formatted_changes(whole), key="joint_changes", alt="Differences and intervals")
        st.caption("● marks a clear difference: its interval excludes 0.")
    _advised(evaluation)
    _scores(whole, key)


def _scores(whole: Evaluation, key: str) -> None:
    """Draw the scores of one calibrator with their intervals and explanations."""
    tested = kernel_tested(whole, key)
    if tested:
        st.markdown(plain(tested))
    label = f"{label_of(key)}: scores with 95 % intervals, and their definitions"
    with st.expander(label, key="joint_definitions", on_change="rerun") as opened:
        if not opened.open:  # the intervals take up to half a second
            return
        grid(
            formatted_intervals(whole, key),
            hide_index=True,
            key="joint_intervals",
            alt="Intervals of scores",
        )
        st.caption(
            "Intervals of calibration errors are wide, because they are valid whatever the true gaps of the "
            "bins are. The bias-corrected error is the square root of the mean squared gap of the bins, after "
            "subtracting the part expected by chance. If only one class has errors, the "
            "interval of this error includes the true value in only 85 to 90 % of cases (1,000 rows)."
        )
        table = pd.concat([whole.intervals(key), whole.loss_parts(key)])
        downloads.table("Intervals (CSV)", lambda: table, "score_intervals.csv", index=True)
        for label, meaning in [
            *((one.label, one.help) for one in class_metrics().values()),
            *LOSS_DECOMPOSITION.values(),
        ]:
            st.markdown(f"**{label}**: {meaning}")
        if tested:
            st.markdown(f"**Kernel test**: {KERNEL}")


def _advised(evaluation: Evaluation) -> None:
    """Offer the best method of our benchmark if it is not chosen; of one class, draw the method for all classes too."""
    found, keys = recommend(evaluation.all_classes), tuple(evaluation.recipe.calibrators)
    if set(keys) - {"none"} and not evaluation.of_confidence:
        st.markdown(f"**{plain(found.answer)}** {plain(found.reasons[0])}")
        st.caption(TRIED_ON_CLASSES)
    if START_OF_CLASSES[0] not in keys:
        st.button(
            f"Add {name_of(START_OF_CLASSES[0])}",
            on_click=lambda: state.update(calibrators=(*keys, START_OF_CLASSES[0])),
            key="add_joint",
            help="This is the best default in our benchmark of data with three or more classes.",
        )


def _chosen_calibrator(evaluation: Evaluation) -> str:
    """Return the calibrator whose classes are listed; the recommended one by default."""
    keys = list(evaluation.predictions)
    choice = recommend(evaluation).choice
    chosen = evaluation.recipe.setting(CALIBRATOR_FIELD)
    return chosen if chosen in keys else choice if choice in keys else keys[0]


def _calibrator(evaluation: Evaluation) -> str:
    """Draw the choice of the calibrator whose classes are listed."""
    keys, begin = list(evaluation.predictions), _chosen_calibrator(evaluation)
    return state.control(
        st.selectbox,
        CALIBRATOR_FIELD,
        begin,
        "Calibrator",
        keys,
        format_func=label_of,
        label_visibility="collapsed",
        width=200,
    )


def _table(table: pd.DataFrame, shown: str | None) -> None:
    """Draw the table; the class shown is selected, and without a selection the confidence is shown."""
    names = list(map(str, table.index))
    begin = [names.index(shown)] if shown in names else []
    name = f"classes_{tables.slug(shown or '')}"  # a new table if the class was chosen elsewhere

    widths = {
        "Class": min(max(20 + SIGN_WIDTH * max(map(len, names)), NAME_WIDTH[0]), NAME_WIDTH[1]),
        **CLASS_COLUMN_WIDTHS,
    }

    def chosen() -> None:
        rows = st.session_state[name].selection.rows
        state.update(view_class=names[rows[0]] if rows else None)

    grid(
        formatted_classes(table),
        height="content" if len(names) <= LINES else TABLE_HEIGHT,
        hide_index=True,
        column_config={column: st.column_config.TextColumn(width=width) for column, width in widths.items()},
        key=name,
        on_select=chosen,
        selection_mode="single-row",
        selection_default={"selection": {"rows": begin}},
        alt="One line per class",
    )


def _worst(evaluation: Evaluation, key: str) -> None:
    """Draw small diagrams of the classes with the largest gaps when asked, with the uncalibrated model behind."""
    whole, table = evaluation.whole, evaluation.whole.by_class(key)
    with st.expander(
        "Diagrams of the classes with the largest gaps", key="worst", on_change="rerun"
    ) as opened:
        if opened.open:
            views = {class_named(name): whole.view(whole.class_number(name)) for name in table.index[:WORST]}
            behind = [name for name in ("none",) if name in evaluation.predictions and name != key]
            tables.diagrams(views, [[*behind, key]] * len(views), corner=False)
    downloads.table("Classes (CSV)", lambda: table, "classes.csv", index=True)


def note(evaluation: Evaluation) -> None:
    """Say in one line what is shown."""
    if evaluation.whole is None:
        return
    if evaluation.of_confidence:
        st.caption("Shown: the confidence in the predicted class.")
    else:
        st.caption(f"Shown: {plain(class_named(evaluation.dataset.classes[1]))} against all other classes.")
