"""Calibration Explorer's engine: calibrators, placements, metrics, synthetic data and figures, without Streamlit."""

import os
from importlib import import_module
from typing import Any

# Threads of a fit that wait for each other sleep after 1,000 turns instead of 300,000: as fast on an idle machine, and
# faster beside other work. It is read when scikit-learn is first imported, as the next lines do.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from calib.analysis.recommendation.advice import Recommendation, recommendation
from calib.analysis.recommendation.verdict import Verdict, verdict_of
from calib.calibrated import CalibratedClassifier
from calib.dashboard import explore
from calib.data import load_sample
from calib.evaluate import HOOKS, Evaluation, Fitted, JointEvaluation, calibrate, check, evaluate, fit
from calib.experiments import EXPERIMENTS  # declares the Recipe's fields of the Learn pages
from calib.kernel.records import Dataset, Predictions
from calib.kernel.version import __version__
from calib.recipe import Recipe
from calib.settings import PAGE_SETTINGS  # declares those of the other pages


def _drawn(name: str) -> Any:
    """Return a function of ``calib.export.notebook``, imported on the first call, because drawing loads slowly."""
    return lambda *args, **options: getattr(import_module("calib.export.notebook"), name)(*args, **options)


HOOKS.update(
    verdict=verdict_of,
    recommendation=recommendation,
    figure=_drawn("figure"),
    plot=_drawn("plot"),
    html=_drawn("html"),
)

__all__ = [
    "EXPERIMENTS",
    "PAGE_SETTINGS",
    "CalibratedClassifier",
    "Dataset",
    "Evaluation",
    "Fitted",
    "JointEvaluation",
    "Predictions",
    "Recipe",
    "Recommendation",
    "Verdict",
    "__version__",
    "calibrate",
    "check",
    "evaluate",
    "explore",
    "fit",
    "load_sample",
]
