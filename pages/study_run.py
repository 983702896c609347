"""Study · Run: a paper's protocol, or your own, on chosen data sets; it can be stopped at any moment and go on."""

import streamlit as st

import pages.ui.everything
from pages.ui import frame
from pages.ui.study import choose, run

recipe = frame.open_page("pages/study_run.py")

protocol = choose.protocol(recipe)
sets = choose.data_sets(recipe, protocol)
study = choose.details(recipe, protocol, sets)
work, below = st.container(), st.container()
with below:
    run.take_along(recipe)  # first: where the work is refused the page ends, and here are the remedies
with work:
    run.work(study)
