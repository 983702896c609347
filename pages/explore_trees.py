"""Explore · Trees: what depth does to the probabilities of a tree and a forest, and the calibrated tree itself."""

import streamlit as st

from pages.ui import frame
from pages.ui.explore import trees

recipe = frame.open_page("pages/explore_trees.py")
trees.needs_features(recipe)

growing = trees.growing(recipe)
trees.not_grown(recipe, growing)
trees.metric(recipe, growing)
trees.curves(recipe, growing)
trees.losses(recipe, growing)

st.header("Diagrams at chosen depths", anchor=False)
trees.diagrams(recipe, growing)

st.header("The tree itself", anchor=False)
tree = trees.chosen(recipe, growing)
trees.picture(recipe, tree)
trees.rules(tree)
frame.notes(growing.data.notes)
