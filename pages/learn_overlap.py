"""Learn · Overlap: two classes moved apart step by step, and where calibration helps a forest."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import experiments, overlap

recipe = frame.open_page("pages/learn_overlap.py")
experiments.show(recipe, "overlap", overlap.variations())
