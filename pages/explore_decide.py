"""Explore · Decide: two costs, the threshold they imply, what acting on it costs, and the cases it leaves open."""

import streamlit as st

from calib.decision import decide
from pages.ui import chart, costs, frame, work

recipe = frame.open_page("pages/explore_decide.py")
costs.controls(recipe)
evaluation = work.evaluation(recipe)

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info("Nothing to decide by: choose a calibrator in the sidebar that can answer here.")
    st.stop()

decision = decide(evaluation)
costs.headline(decision)
chart.show("costs", decision)
chart.show("net_benefit", decision)
costs.table(decision)
costs.undecided(decision, recipe)
frame.notes(evaluation.notes)
