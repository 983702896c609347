"""Learn · Validity: the guarantees of Venn predictors, simulated where the truth is known."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_validity.py")
experiments.show(recipe, "validity")
