"""Explore · Compare and report: Recipes kept under names, laid side by side, and everything to take along."""

import streamlit as st

from pages.ui import applying, comparing, frame, keeping, reports

recipe = frame.open_page("pages/explore_compare.py")

keeping.keep(recipe)
results = comparing.results(keeping.compared(recipe), recipe)
if results:
    comparing.show(results)
    st.header("Take along", anchor=False)
    reports.downloads(results)
    reports.calibrator(results)
st.header("Use a saved calibrator", anchor=False)
applying.saved()
