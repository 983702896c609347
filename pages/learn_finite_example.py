"""Learn · Finite example: a line of points, cut by hand, and what every way to cut it costs."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments, finite_example

recipe = frame.open_page("pages/learn_finite_example.py")
experiments.show(recipe, "finite_example", finite_example.own())
