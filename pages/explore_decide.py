"""Explore · Decide: two costs, the threshold that they imply, its net benefit, and the rows left undecided."""

import streamlit as st

import pages.ui.everything
from calib.analysis import decision
from pages.ui import chart, evaluations, frame, headings
from pages.ui.explore import decide

recipe = frame.open_page("pages/explore_decide.py")
evaluation = evaluations.evaluation(recipe)

frame.refusals(evaluation)
if not evaluation.predictions:
    st.info(
        "None of the chosen calibrators can be fitted to these scores. Choose another calibrator in the "
        "sidebar."
    )
    st.stop()

if evaluation.of_confidence:
    decide.among_classes(evaluation)
    frame.notes(evaluation.notes)
    st.stop()

decided = decision.decide(evaluation, **recipe.stated_settings("decide", "cost_false_alarm", "cost_miss"))
place = headings.finding()
with place.words:
    decide.controls(recipe)
    decide.headline(decided)
with place.picture:
    chart.show("costs", decided, sentence=place.sentence)
decide.table(decided)
chart.show("net_benefit", decided, **recipe.stated_settings("decide", "lowest", "highest"))
decide.range_of_thresholds(evaluation)
decide.undecided(decided, recipe)
frame.notes(evaluation.notes)
