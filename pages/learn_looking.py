"""Learn · Looking every week: what repeated looks do to an ordinary test, and what evidence does instead."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_looking.py")
experiments.show(recipe, "looking")
