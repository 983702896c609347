"""Explore · Survival: are risks of an event by a horizon right, if some rows are censored?"""

import streamlit as st

import pages.ui.everything
from pages.ui import chart, frame, headings
from pages.ui.explore import survival

recipe = frame.open_page("pages/explore_survival.py")
table, columns = survival.chosen(recipe)

place = headings.finding()
with place.words:
    survival.horizon(recipe, columns)
    numbers = st.container()
    survival.columns(recipe, table, columns)
found = survival.found(recipe, table, columns)
if found is None:
    st.stop()
with place.picture:
    chart.show("survival", found, sentence=place.sentence)
with numbers:
    survival.headline(found)
survival.table(found)
survival.centres(recipe, table, found)
