"""Learn · Calibration-set size: how many objects a calibrator needs."""

from pages.ui import frame
from pages.ui.learn import calibration_size, experiments, long_runs

recipe = frame.open_page("pages/learn_calibration_size.py")
experiments.show(recipe, "calibration_size", compute=long_runs.compute, below=calibration_size.mixture_drawn)
