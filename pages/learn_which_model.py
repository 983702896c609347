"""Learn · Model comparison: forest, support-vector machine and logistic regression against true probabilities."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments, which_model

recipe = frame.open_page("pages/learn_which_model.py")
experiments.show(recipe, "which_model", which_model.variations())
