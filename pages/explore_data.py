"""Explore · Data: upload a table, check how it was read, and go on to its diagram; further settings under More."""

import streamlit as st

import pages.ui.everything
from pages.ui import evaluations, frame, headings, lesson_layout, server_tables, state
from pages.ui.explore import data

recipe = frame.open_page("pages/explore_data.py")

with lesson_layout.words():
    data.uploader(recipe)
    server_tables.choose(recipe)
    understood, more = st.container(key="understood"), data.more(recipe)

if state.missing_uploads():
    st.stop()
with understood:
    if recipe.data.startswith("synthetic:"):
        evaluations.dataset(recipe)
        data.synthetic_settings(recipe)
        next_step, below = st.container(), []
    else:
        headings.heading("Label and columns")
        first = st.container()  # for the reading, or the question
        data.reading(recipe, more)
        as_brought = data.raw(data.unscored(recipe))
        data.choices(recipe, as_brought, more)
        data.learn_rows(recipe)
        evaluations.draw_sample(recipe)
        next_step = st.container()  # above the problems, so that a phone shows it
        data.inputs_of_model(recipe, as_brought)
        with first:
            question = data.how_read(recipe)
        below = data.problems(recipe, data.raw(recipe), question)
    found = evaluations.dataset(recipe)
    data.compare_for_classes(recipe, found)
    with next_step:
        data.go_on(below)
    data.overview(found)
data.tables_of(recipe, found)
