"""Learn · Finite example: a line of points, split by hand, and the loss of each split."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments, finite_example

recipe = frame.open_page("pages/learn_finite_example.py")
experiments.show(recipe, "finite_example", finite_example.variations())
