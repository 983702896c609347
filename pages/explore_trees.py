"""Explore · Trees: what depth does to the probabilities of a tree and a forest, and the calibrated tree itself."""

import pages.ui.everything
from pages.ui import evaluations, frame, headings
from pages.ui.explore import trees

recipe = frame.open_page("pages/explore_trees.py")
evaluations.needs_features(recipe, trees.WITHOUT_FEATURES)

growing = trees.growing(recipe)
trees.not_grown(recipe, growing)
trees.metric(recipe, growing)
trees.curves(recipe, growing)
trees.losses(recipe, growing)

headings.part("Diagrams at chosen depths")
trees.diagrams(recipe, growing)

headings.part("The tree itself")
tree = trees.chosen(recipe, growing)
trees.picture(recipe, tree)
trees.rules(tree)
frame.notes(growing.data.notes)
