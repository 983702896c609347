"""Explore · Reliability: every chosen calibrator against the uncalibrated model, and what to make of it."""

import streamlit as st

from pages.ui import frame, tables, work
from pages.ui.explore import reliability

recipe = frame.open_page("pages/explore_reliability.py")
evaluation = work.evaluation(recipe)

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info("Nothing to draw: choose a calibrator in the sidebar that can answer here.")
    st.stop()

tables.headline(evaluation)
wide = evaluation.recipe.layout == "side"
picture, words = st.columns([0.64, 0.36], gap="large") if not wide else (st.container(), st.container())
with picture:
    reliability.diagram(evaluation)
with words:
    reliability.advice(evaluation)

reliability.details(evaluation)
frame.notes(evaluation.notes)
