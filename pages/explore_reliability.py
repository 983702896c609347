"""Explore · Reliability: diagrams for every chosen calibrator against the uncalibrated model, and the metric table."""

import streamlit as st

from pages.ui import chart, frame, tables, work

recipe = frame.open_page("pages/explore_reliability.py")
evaluation = work.evaluation(recipe)

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info("Nothing to draw: choose a calibrator in the sidebar that can answer here.")
    st.stop()

tables.headline(evaluation)
if evaluation.recipe.layout == "side":
    tables.side_by_side(evaluation)
else:
    chart.show("reliability", evaluation)

tables.metrics(evaluation)
frame.notes(evaluation.notes)
