"""The whole of one or several evaluations to take along: report, ZIP, source, calibrators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from calib.evaluate import Evaluation
from calib.export import bundle, print_pdf, python_source, report_html
from pages.ui import frame, state, takeaway
from pages.ui.takeaway import button


def downloads(evaluations: Mapping[str, Evaluation]) -> None:
    """Everything, made when a button is pressed."""
    theme, files, draws = frame.theme(), state.files(), takeaway.draws()
    recipes = {name: evaluation.recipe for name, evaluation in evaluations.items()}
    report = partial(report_html, evaluations, theme, files)
    source = python_source(recipes, files)
    with st.container(horizontal=True, key="report"):
        button("Report (HTML)", report, "report.html", "text/html", "report_html", type="primary")
        if draws:
            button("Report (PDF)", lambda: print_pdf(report().decode()), "report.pdf", "application/pdf", "report_pdf")
        button(
            "All charts and numbers (ZIP)",
            partial(bundle, evaluations, theme, files, ("svg", "png") if draws else ()),
            "calibration.zip",
            "application/zip",
            "report_zip",
        )
        button("Python source", lambda: source, "reproduce.py", "text/x-python", "report_source")
    st.caption(
        "The report is one file that opens without a network: charts, tables, Recipes, versions and the data's digest, "
        "not the data. The ZIP adds each chart and its numbers, the predictions on the test rows, and every fitted "
        "calibrator." + ("" if draws else " PDF, SVG and PNG made here need a Chromium on the server.")
    )
    with st.expander("The Python source"):
        st.code(source, language="python")


def calibrator(evaluations: Mapping[str, Evaluation]) -> None:
    """One fitted calibrator as JSON."""
    names = list(evaluations)
    with st.container(horizontal=True, vertical_alignment="bottom", key="one_calibrator"):
        name = names[0]
        if len(names) > 1:
            name = st.selectbox("Of the Recipe", names, key="calibrator_of", width=280)
        takeaway.calibrators(evaluations[name], "compare")
