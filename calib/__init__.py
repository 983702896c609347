"""Calibration Explorer's engine: calibrators, placements, metrics, synthetic data and figures, without Streamlit."""

from calib.calibrated import CalibratedClassifier
from calib.data import load_sample
from calib.evaluate import Evaluation, Fitted, calibrate, evaluate, fit
from calib.experiments import EXPERIMENTS  # which declares what a Recipe may hold for the Learn pages
from calib.kernel.records import Dataset, Predictions
from calib.kernel.version import __version__
from calib.recipe import Recipe
from calib.settings import PAGE_SETTINGS  # which declares those of the other pages

__all__ = [
    "EXPERIMENTS",
    "PAGE_SETTINGS",
    "CalibratedClassifier",
    "Dataset",
    "Evaluation",
    "Fitted",
    "Predictions",
    "Recipe",
    "__version__",
    "calibrate",
    "evaluate",
    "fit",
    "load_sample",
]
