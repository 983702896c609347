"""Learn · Looking every week: repeated looks inflate the errors of an ordinary test; e-values stay valid."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_looking.py")
experiments.show(recipe, "looking")
