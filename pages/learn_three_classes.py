"""Learn · Three classes: a calibrated confidence with wrong class probabilities, and the effect of normalising."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_three_classes.py")
experiments.show(recipe, "three_classes")
