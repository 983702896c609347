"""Learn · Calibration-set size: how many rows a calibrator needs."""

import pages.ui.everything
from pages.ui import frame
from pages.ui.learn import calibration_size, experiments

recipe = frame.open_page("pages/learn_calibration_size.py")
experiments.show(recipe, "calibration_size", calibration_size.variations())
