"""Every figure: numbers first (``prepare``), ink second (``draw``)."""

from calib.figures.base import FigureEntry
from calib.figures.metrics import best_calibrator, formatted_metrics
from calib.figures.reliability import RELIABILITY
from calib.figures.theme import DARK, LIGHT, MARKS, THEMES, Theme, number

FIGURES: dict[str, FigureEntry] = {entry.key: entry for entry in (RELIABILITY,)}

__all__ = [
    "DARK",
    "FIGURES",
    "LIGHT",
    "MARKS",
    "THEMES",
    "FigureEntry",
    "Theme",
    "best_calibrator",
    "formatted_metrics",
    "number",
]
