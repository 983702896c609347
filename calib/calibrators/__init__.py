"""Calibrators: maps from a model's score to the probability of class 1, one file per method, one registry."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calib.calibrators.merge import MERGE, MERGE_RULES, merge_pair
from calib.calibrators.registry import CALIBRATORS, INPUT_TABLES, JOINT
from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.calibrators.auto import Auto
    from calib.calibrators.base import IntervalCalibrator, ScoreCalibrator, count_outside
    from calib.calibrators.beta import Beta
    from calib.calibrators.by_class import OneVsRest, Pairwise, joint_calibrator, one_class
    from calib.calibrators.centered_isotonic import CenteredIsotonic
    from calib.calibrators.histogram import Histogram
    from calib.calibrators.isotonic import Isotonic
    from calib.calibrators.joint import JointCalibrator, Unchanged
    from calib.calibrators.logistic import Logistic
    from calib.calibrators.multicalibration import Multicalibration
    from calib.calibrators.none import Uncalibrated
    from calib.calibrators.offset import Offset
    from calib.calibrators.platt import Platt
    from calib.calibrators.ppa import PPA
    from calib.calibrators.quadratic import Quadratic
    from calib.calibrators.rank import Rank
    from calib.calibrators.scaling import (
        Dirichlet,
        MatrixScaling,
        StructuredMatrix,
        StructuredVector,
        VectorScaling,
    )
    from calib.calibrators.spline import Spline
    from calib.calibrators.step_pairs import StepPairs
    from calib.calibrators.temperature import JointTemperature, Temperature
    from calib.calibrators.venn import Venn
    from calib.calibrators.venn_abers import VennAbers
    from calib.calibrators.venn_multicalibration import VennMulticalibration

lazy.attach(__name__)

register = CALIBRATORS.register


def label_of(key: str) -> str:
    """Return the name of a calibrator for tables, legends and controls; ``name_of`` is for sentences.

    Parameters
    ----------
    key : str
        Key of ``CALIBRATORS``; any other text is returned unchanged.
    """
    return CALIBRATORS[key].label if key in CALIBRATORS else key


def name_of(key: str) -> str:
    """Return the name of a calibrator within a sentence; ``calib.kernel.wording.capital`` begins a sentence with it.

    Parameters
    ----------
    key : str
        Key of ``CALIBRATORS``; any other text is returned unchanged.

    Examples
    --------
    >>> [name_of(key) for key in ("none", "platt", "isotonic", "venn", "venn_abers", "my model")]
    ['the uncalibrated model', 'Platt scaling', 'isotonic regression', 'the Venn predictor', 'Venn–Abers', 'my model']
    """
    return CALIBRATORS[key].name or CALIBRATORS[key].label if key in CALIBRATORS else key


def interval_methods() -> dict[str, type[ScoreCalibrator]]:
    """Return the calibrators that give intervals of a score alone, by key."""
    found = CALIBRATORS.items()
    return {
        key: method for key, method in found if method.gives_interval and method.input not in INPUT_TABLES
    }


def complexity_of(key: str) -> float:
    """Return the rank of a calibrator in order of simplicity; ∞ if it declares none.

    Parameters
    ----------
    key : str
        Key of ``CALIBRATORS``.
    """
    return CALIBRATORS[key].complexity if key in CALIBRATORS else math.inf


def by_simplicity(key: str) -> tuple[float, str]:
    """Return what sorts calibrators from simple to complex; of equally complex ones, the key decides.

    Without it, the order in which a person chose them would.
    """
    return complexity_of(key), key


__all__ = [
    "CALIBRATORS",
    "INPUT_TABLES",
    "JOINT",
    "MERGE",
    "MERGE_RULES",
    "PPA",
    "Auto",
    "Beta",
    "CenteredIsotonic",
    "Dirichlet",
    "Histogram",
    "IntervalCalibrator",
    "Isotonic",
    "JointCalibrator",
    "JointTemperature",
    "Logistic",
    "MatrixScaling",
    "Multicalibration",
    "Offset",
    "OneVsRest",
    "Pairwise",
    "Platt",
    "Quadratic",
    "Rank",
    "ScoreCalibrator",
    "Spline",
    "StepPairs",
    "StructuredMatrix",
    "StructuredVector",
    "Temperature",
    "Uncalibrated",
    "Unchanged",
    "VectorScaling",
    "Venn",
    "VennAbers",
    "VennMulticalibration",
    "by_simplicity",
    "complexity_of",
    "count_outside",
    "interval_methods",
    "joint_calibrator",
    "label_of",
    "merge_pair",
    "name_of",
    "one_class",
    "register",
]
