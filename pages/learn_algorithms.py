"""Learn · Algorithms: pool-adjacent-violators and the cumulative-sum diagram, one move at a time."""

from pages.ui import frame, learn, steps

recipe = frame.open_page("pages/learn_algorithms.py")
learn.show(recipe, "algorithms", pictures=steps.pictures)
