"""Explore · Data: bring a table, choose its label and columns, and read what is wrong with it."""

import streamlit as st

from pages.ui import bring, frame, table, work

recipe = frame.open_page("pages/explore_data.py")

with st.expander("Bring your own data", expanded=True, key="bring"):
    bring.uploader(recipe)
with st.expander("Fetch from OpenML"):
    bring.openml()

if recipe.data.startswith("synthetic:"):
    table.synthetic_settings(recipe)
else:
    raw = table.raw(recipe)
    table.choices(recipe, raw)
    table.problems(recipe, raw)
data = work.dataset(recipe)
table.overview(recipe, data)
