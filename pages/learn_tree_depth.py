"""Learn · Tree depth: depth, number of trees and leaf estimates against the true probabilities."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments, tree_depth

recipe = frame.open_page("pages/learn_tree_depth.py")
experiments.show(recipe, "tree_depth", tree_depth.variations())
