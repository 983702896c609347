"""Numbers on a page: the headline, the metric table, diagrams side by side."""

from __future__ import annotations

import streamlit as st

from calib.evaluate import Evaluation
from calib.export import safe_csv
from calib.figures import formatted_metrics, number
from calib.figures.base import label_of
from calib.metrics import METRICS
from pages.ui import chart

HEADLINE = ("ece", "brier", "log_loss", "accuracy")


def headline(evaluation: Evaluation) -> None:
    """The best calibrator's main numbers, each with its difference to the uncalibrated model."""
    table = evaluation.metrics
    others = [key for key in table.index if key != "none"] or list(table.index)
    best = table.loc[others, "ece"].idxmin()
    with st.container(horizontal=True, key="headline"):
        for name in HEADLINE:
            metric, value = METRICS[name], table.loc[best, name]
            delta = value - table.loc["none", name] if best != "none" and "none" in table.index else None
            st.metric(
                f"{metric.label} · {label_of(best)}",
                number(value),
                None if delta is None else f"{number(delta)} against uncalibrated",
                delta_color="normal" if metric.higher_is_better else "inverse",
                width=220,
                help=metric.help,
            )


def metrics(evaluation: Evaluation) -> None:
    """Every metric of every calibrator; the best of each column marked."""
    st.subheader("Metrics on the test rows", anchor=False)
    st.dataframe(formatted_metrics(evaluation), width="stretch", key="metrics", alt="Metric table")
    st.caption(
        f"{len(evaluation.y)} test rows, {evaluation.y.mean():.1%} of them {evaluation.dataset.classes[1]}. "
        "★ marks the best value of a column; a difference this small may be luck."
    )
    st.download_button(
        "Metrics (CSV)",
        lambda: safe_csv(evaluation.metrics, index=True),
        "metrics.csv",
        "text/csv",
        on_click="ignore",
        key="metrics_csv",
    )
    st.download_button(
        "Predictions (CSV)",
        lambda: safe_csv(evaluation.frame()),
        "predictions.csv",
        "text/csv",
        on_click="ignore",
        key="predictions_csv",
    )


def side_by_side(evaluation: Evaluation) -> None:
    """One diagram a calibrator, the uncalibrated model faint behind each."""
    keys = [key for key in evaluation.predictions if key != "none"] or list(evaluation.predictions)
    columns = st.columns(min(3, len(keys)))
    for i, key in enumerate(keys):
        with columns[i % len(columns)]:
            st.markdown(f"**{label_of(key)}**")
            shown = ("none", key) if "none" in evaluation.predictions and key != "none" else (key,)
            chart.show("reliability", evaluation, key=f"reliability_{key}", calibrators=shown)
