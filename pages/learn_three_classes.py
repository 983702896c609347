"""Learn · Three classes: a confidence that is right while the classes are wrong, and what dividing by the sum does."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments

recipe = frame.open_page("pages/learn_three_classes.py")
experiments.show(recipe, "three_classes")
