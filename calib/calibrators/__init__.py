"""Calibrators: maps from a model's score to the probability of class 1, one file a method, one registry."""

from calib.calibrators.base import IntervalCalibrator, ScoreCalibrator
from calib.calibrators.beta import Beta
from calib.calibrators.isotonic import Isotonic
from calib.calibrators.merge import MERGE_RULES, merge_pair
from calib.calibrators.none import Uncalibrated
from calib.calibrators.platt import Platt
from calib.calibrators.ppa import PPA
from calib.calibrators.rank import Rank
from calib.calibrators.temperature import Temperature
from calib.calibrators.venn import Venn
from calib.calibrators.venn_abers import VennAbers

CALIBRATORS: dict[str, type[ScoreCalibrator]] = {
    method.key: method for method in (Uncalibrated, Platt, Isotonic, Beta, Temperature, Venn, VennAbers, PPA, Rank)
}


def label_of(key: str) -> str:
    """The name of a calibrator in running text."""
    return CALIBRATORS[key].label if key in CALIBRATORS else key


__all__ = [
    "CALIBRATORS",
    "MERGE_RULES",
    "PPA",
    "Beta",
    "IntervalCalibrator",
    "Isotonic",
    "Platt",
    "Rank",
    "ScoreCalibrator",
    "Temperature",
    "Uncalibrated",
    "Venn",
    "VennAbers",
    "label_of",
    "merge_pair",
]
