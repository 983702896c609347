"""Explore · Watch: is the model still calibrated, day by day?"""

import streamlit as st

import pages.ui.everything
from pages.ui import chart, evaluations, frame, headings
from pages.ui.explore import watch

recipe = frame.open_page("pages/explore_watch.py")
evaluations.needs_rows(recipe, "This page monitors the test rows in chronological order.")
evaluation = evaluations.evaluation(watch.whole(recipe))

frame.refusals(evaluation)
found = watch.found(evaluation, recipe)
if found is None:
    st.stop()

pick = watch.picking(found)
place = headings.finding()
with place.picture:
    chart.show("watch_evidence", found, sentence=place.sentence, on_click=pick, hint=watch.PERIOD_HINT)
with place.words:
    watch.headline(found, evaluation)
    watch.controls(recipe)
chart.show("watch_moved", found, on_click=pick)
chart.show("watch_periods", found, on_click=pick)
watch.table(found)
frame.notes(evaluation.notes)
