"""Learn · Tree depth: depth, number of trees and leaf estimates against the true probabilities."""

from pages.ui import frame, growing, learn

recipe = frame.open_page("pages/learn_tree_depth.py")
learn.show(recipe, "tree_depth", below=growing.along, grow=growing.forests())
