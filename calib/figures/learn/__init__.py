"""The figures of the Learn pages; each takes what the simulation of the same key returns."""

from calib.figures.base import FigureEntry
from calib.figures.learn.theorem import THEOREM

LEARN_FIGURES: tuple[FigureEntry, ...] = (THEOREM,)
