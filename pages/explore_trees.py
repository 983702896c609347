"""Explore · Trees: the effect of depth on the probabilities of a tree and a forest, and the calibrated tree."""

import pages.ui.everything
from pages.ui import evaluations, frame, headings
from pages.ui.explore import trees

recipe = frame.open_page("pages/explore_trees.py")
evaluations.needs_features(recipe, trees.FEATURES_NEEDED)
evaluations.needs_rows(recipe, "This page grows trees and evaluates each tree on all test rows.")
together = evaluations.shows_all_classes(recipe)
if not together:
    recipe = evaluations.of_one_class(
        recipe, "This page grows trees for two classes, so choose one class against the rest."
    )

grown = trees.depth_sweep(recipe)
with trees.curves(recipe, grown):
    trees.metric(recipe, grown)
trees.not_grown(recipe, grown)
if together:
    trees.about_all_classes()
    evaluations.of_one_class(recipe, "Diagrams and the drawing of the tree show one class against the rest.")
trees.losses(recipe, grown)

headings.part("Diagrams at chosen depths")
trees.diagrams(recipe, grown)

headings.part("The tree itself")
tree = trees.chosen(recipe, grown)
trees.picture(recipe, tree)
trees.rules(tree)
frame.notes(grown.data.notes)
