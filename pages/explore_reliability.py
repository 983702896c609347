"""Explore · Reliability: every chosen calibrator against the uncalibrated model, and what to make of it."""

import streamlit as st

from calib.analysis.advice import recommend
from pages.ui import evaluations, frame, tables
from pages.ui.explore import reliability

recipe = frame.open_page("pages/explore_reliability.py")
evaluation = evaluations.evaluation(recipe)

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info("Nothing to draw: choose a calibrator in the sidebar that can answer here.")
    st.stop()

top = st.container()
wide = recipe.setting("reliability.layout") == "side"
picture, words = st.columns([0.64, 0.36], gap="large") if not wide else (st.container(), st.container())
with picture:
    reliability.diagram(evaluation)
with words:
    reliability.advice(evaluation)
    reliability.claim(evaluation)

found = reliability.intervals(evaluation)
with top:  # last, so that intervals that take long keep nobody from the picture
    tables.headline(evaluation, recommend(evaluation).choice, found)
reliability.details(evaluation, found)
frame.notes(evaluation.notes)
