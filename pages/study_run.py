"""Study · Run: run a paper's protocol, or your own, on chosen data sets; a run can be stopped and continued."""

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
    run.continue_later(
        recipe
    )  # first: if the work is refused, the page ends there, and these are the remedies
with work:
    run.work(study)
