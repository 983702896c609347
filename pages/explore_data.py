"""Explore · Data: bring a table, choose its label and columns, and read what is wrong with it."""

import streamlit as st

import pages.ui.everything
from pages.ui import evaluations, frame, stage, state
from pages.ui.explore import data

recipe = frame.open_page("pages/explore_data.py")

with stage.words():
    with st.expander("Bring your own data", expanded=True, key="bring"):
        data.uploader(recipe)
    with st.expander("Fetch from OpenML"):
        data.openml()
    if not recipe.data.startswith("synthetic:"):
        data.other_file(recipe)
        data.own_model(recipe)

if state.missing_uploads():
    st.stop()
if recipe.data.startswith("synthetic:"):
    evaluations.dataset(recipe)
    data.synthetic_settings(recipe)
else:
    data.reading(recipe)
    as_brought = data.raw(data.unscored(recipe))
    data.choices(recipe, as_brought)
    data.inputs_of_model(recipe, as_brought)
    data.problems(recipe, data.raw(recipe))
data.overview(recipe, evaluations.dataset(recipe))
