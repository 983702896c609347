"""Explore · Compare and report: Recipes kept under names, laid side by side, and everything to take along."""

import streamlit as st

from pages.ui import frame
from pages.ui.explore import compare

recipe = frame.open_page("pages/explore_compare.py")

compare.keep(recipe)
results = compare.results(compare.compared(recipe), recipe)
if results:
    compare.show(results, recipe)
    st.header("Take along", anchor=False)
    compare.everything(results)
    compare.calibrator(results)
st.header("Use a saved calibrator", anchor=False)
compare.saved()
