"""Explore · Reliability: each chosen calibrator against the uncalibrated model, with a recommendation."""

import streamlit as st

import pages.ui.everything
from calib.analysis.recommendation.advice import recommend
from pages.ui import evaluations, frame, headings, jobs, reading_question, tables
from pages.ui.explore import classes, reliability

recipe = frame.open_page("pages/explore_reliability.py")
reliability.to_groups(recipe)
evaluation = evaluations.evaluation(recipe)

if not recipe.data.startswith("sample:"):  # whose classes are known
    reading_question.line(recipe, evaluation.dataset)
frame.refusals(evaluation)
if not evaluation.predictions:
    st.info(
        "None of the chosen calibrators can be fitted to these scores. Choose another calibrator in the "
        "sidebar."
    )
    st.stop()

with jobs.place_of_progress():
    reliability.compare(evaluation)
tables.named(evaluation)
place = headings.finding(beside=recipe.setting("reliability.layout") != "side")
with place.picture:
    reliability.diagram(evaluation, place.sentence)
with place.words:
    classes.note(evaluation)
    reliability.apart(evaluation)
    reliability.recommended(evaluation)
    classes.each(evaluation)
    numbers = st.container()
    reliability.reasons(evaluation)
    reliability.claim(evaluation)

with jobs.place_of_progress():
    found = reliability.intervals(evaluation)
with numbers:  # last, so that intervals that take long keep nobody from the picture
    tables.headline(evaluation, recommend(evaluation).choice, found)
classes.show(evaluation)
reliability.details(evaluation, found)
reliability.to_report()
frame.notes(evaluation.notes)
