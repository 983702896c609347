"""Calibration Explorer's engine: calibrators, placements, metrics, synthetic data and figures, without Streamlit.

A name is imported when it is first used, as in SPEC 1 of Scientific Python, so that ``import calib`` takes no time.
"""

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from calib.kernel.hooks import HOOKS
from calib.kernel.version import __version__

# Threads of a fit that wait for each other sleep after 1,000 turns instead of 300,000: as fast on an idle machine, and
# faster beside other work. It is read when scikit-learn is first imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

WHERE = {
    "calib.analysis.recommendation.advice": ("Recommendation",),
    "calib.analysis.recommendation.verdict": ("Verdict",),
    "calib.calibrated": ("CalibratedClassifier",),
    "calib.dashboard": ("explore",),
    "calib.data": ("load_sample",),
    "calib.evaluate": ("Evaluation", "Fitted", "JointEvaluation", "calibrate", "check", "evaluate", "fit"),
    "calib.experiments": ("EXPERIMENTS",),
    "calib.kernel.records": ("Dataset", "Predictions"),
    "calib.recipe": ("Recipe",),
    "calib.settings": ("PAGE_SETTINGS",),
}
"""Module → the names that it defines for ``from calib import …``."""

_MODULE = {name: module for module, names in WHERE.items() for name in names}

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


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Face(ModuleType):
    """Module whose function ``evaluate`` is not hidden by the package ``calib.evaluate`` when that is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _MODULE or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


def _first_use(module: str, name: str) -> Any:
    """Return a function that imports its module on the first call."""
    return lambda *args, **options: getattr(import_module(module), name)(*args, **options)


HOOKS.update(
    verdict=_first_use("calib.analysis.recommendation.verdict", "verdict_of"),
    recommendation=_first_use("calib.analysis.recommendation.advice", "recommendation"),
    figure=_first_use("calib.export.notebook", "figure"),
    plot=_first_use("calib.export.notebook", "plot"),
    html=_first_use("calib.export.notebook", "html"),
)
