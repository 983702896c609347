"""Learn · Calibration-set size: how many objects a calibrator needs."""

from calib.simulations import calibration_size
from pages.ui import forests, frame, learn

recipe = frame.open_page("pages/learn_calibration_size.py")
learn.show(recipe, "calibration_size", compute=forests.in_parts(calibration_size), below=forests.mixture_drawn)
