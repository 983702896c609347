"""Learn · Algorithms: pool-adjacent-violators and the cumulative-sum diagram, step by step."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import algorithms, experiments

recipe = frame.open_page("pages/learn_algorithms.py")
experiments.show(recipe, "algorithms", algorithms.variations())
