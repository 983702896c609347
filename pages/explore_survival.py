"""Explore · Survival: are risks of an event by a horizon right, if some rows are censored?"""

import streamlit as st

import pages.ui.everything
from pages.ui import chart, frame, headings
from pages.ui.explore import survival

recipe = frame.open_page("pages/explore_survival.py")
chosen = survival.chosen(recipe)
if not chosen.complete:
    survival.ask(recipe, chosen)
    st.stop()

place = headings.finding()
with place.words:
    survival.horizon(recipe, chosen)
    numbers = st.container()
    survival.columns(recipe, chosen)
found = survival.found(recipe, chosen)
if found is None:
    st.stop()
with place.picture:
    chart.show("survival", found, sentence=place.sentence)
with numbers:
    survival.headline(found)
survival.table(found)
survival.centres(recipe, chosen, found)
