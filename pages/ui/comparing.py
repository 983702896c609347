"""Recipes side by side: one metric of all, the table, a reliability diagram each."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from calib.checks import InputError
from calib.evaluate import Evaluation
from calib.export import safe_csv, side_by_side_table
from calib.figures import formatted_side_by_side
from calib.metrics import METRICS
from calib.recipe import Recipe
from pages.ui import chart, frame, tables, work
from pages.ui.text import plain

METRICS_DRAWN = ("brier", "log_loss", "ece", "auc", "accuracy", "reliability")


def results(recipes: Mapping[str, Recipe], view: Recipe) -> dict[str, Evaluation]:
    """Evaluations by name, all under this page's view; what has none is said. Empty while they are fitted."""
    if not recipes:
        st.info("Choose at least one of the kept Recipes.")
        return {}
    found = work.side_by_side(recipes) or {}
    shown = {}
    for name, result in found.items():
        if isinstance(result, InputError):
            st.warning(f"**{plain(name)}** is not shown: {plain(result)}")
        elif result.predictions:
            shown[name] = result.with_view(view)
        else:
            frame.refusals(result)
    return shown


def show(evaluations: Mapping[str, Evaluation]) -> None:
    """Chart, table, diagrams."""
    metric = st.segmented_control(
        "Metric",
        METRICS_DRAWN,
        default=METRICS_DRAWN[0],
        format_func=lambda key: METRICS[key].label,
        key="compared_metric",
        required=True,
        persist_state="session",
    )
    chart.show("compared", evaluations, metric=metric)
    st.dataframe(
        formatted_side_by_side(evaluations, tables.MAIN),
        width="stretch",
        hide_index=True,
        key="side_by_side_table",
        alt="Metrics of all Recipes",
    )
    tables.download("Metrics (CSV)", lambda: safe_csv(side_by_side_table(evaluations)), "side_by_side.csv")
    if len(evaluations) > 1:
        st.subheader("Diagrams", anchor=False)
    tables.diagrams(evaluations)
