"""Explore · Watch: is the model still calibrated, day by day?"""

import streamlit as st

import pages.ui.everything
from pages.ui import chart, evaluations, frame, headings
from pages.ui.explore import watch

recipe = frame.open_page("pages/explore_watch.py")
watch.controls(recipe)
evaluation = evaluations.evaluation(recipe).on_every_row()

frame.refusals(evaluation)
found = watch.found(evaluation, recipe)
if found is None:
    st.stop()

place = headings.finding()
with place.words:
    watch.headline(found)
with place.picture:
    chart.show("watch_evidence", found, sentence=place.sentence)
chart.show("watch_moved", found)
chart.show("watch_periods", found)
watch.table(found)
frame.notes(evaluation.notes)
