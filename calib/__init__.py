"""Calibration Explorer's engine: calibrators, placements, metrics, synthetic data and figures, without Streamlit.

A name is imported when it is first used, as in SPEC 1 of Scientific Python, so that ``import calib`` takes no time.
"""

import os
from typing import TYPE_CHECKING

from calib.kernel import lazy
from calib.kernel.version import __version__

if TYPE_CHECKING:
    from calib.analysis.optimism import validate
    from calib.analysis.recommendation.advice import Recommendation
    from calib.analysis.recommendation.verdict import Verdict
    from calib.analysis.survival.check import check_survival
    from calib.calibrated import CalibratedClassifier
    from calib.dashboard import explore
    from calib.data import load_sample
    from calib.evaluate import Evaluation, Fitted, calibrate, check, evaluate, fit
    from calib.experiments import EXPERIMENTS
    from calib.kernel.records import Dataset, Predictions
    from calib.recipe import Recipe
    from calib.settings import PAGE_SETTINGS

# Threads of a fit that wait for each other sleep after 1,000 turns instead of 300,000: as fast on an idle machine, and
# faster beside other work. It is read when scikit-learn is first imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

lazy.attach(__name__)

__all__ = [
    "EXPERIMENTS",
    "PAGE_SETTINGS",
    "CalibratedClassifier",
    "Dataset",
    "Evaluation",
    "Fitted",
    "Predictions",
    "Recipe",
    "Recommendation",
    "Verdict",
    "__version__",
    "calibrate",
    "check",
    "check_survival",
    "evaluate",
    "explore",
    "fit",
    "load_sample",
    "validate",
]
