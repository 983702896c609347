"""Explore · Groups: compare groups of a column, search for miscalibrated groups, and estimate the grouping loss."""

import streamlit as st

import pages.ui.everything
from pages.ui import evaluations, frame
from pages.ui.explore import groups

recipe = frame.open_page("pages/explore_groups.py")
evaluations.needs_rows(recipe, "This page groups test rows by the values in their columns.")
evaluation = evaluations.evaluation(groups.whole(recipe))

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info(
        "None of the chosen calibrators can be fitted to these scores. Choose another calibrator in the "
        "sidebar."
    )
    st.stop()

groups.view(evaluation, recipe)
frame.notes(evaluation.notes)
