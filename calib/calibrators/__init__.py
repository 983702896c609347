"""Calibrators: maps from a model's score to the probability of class 1, one file per method, one registry."""

import math
from typing import TypeVar

from calib.calibrators.auto import Auto
from calib.calibrators.base import MERGE, TABLES, IntervalCalibrator, ScoreCalibrator, count_outside
from calib.calibrators.beta import Beta
from calib.calibrators.by_class import FromTwoClasses, OneVsRest, Pairwise, one_class
from calib.calibrators.centered_isotonic import CenteredIsotonic
from calib.calibrators.contract import check_calibrator
from calib.calibrators.histogram import Histogram
from calib.calibrators.isotonic import Isotonic
from calib.calibrators.joint import JointCalibrator, Unchanged
from calib.calibrators.logistic import Logistic
from calib.calibrators.merge import MERGE_RULES, merge_pair
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
from calib.kernel.registry import Registry

Method = TypeVar("Method", bound=ScoreCalibrator)

JOINT: dict[str, type[JointCalibrator]] = {
    method.key: method
    for method in (
        JointTemperature,
        VectorScaling,
        StructuredVector,
        StructuredMatrix,
        Dirichlet,
        MatrixScaling,
    )
} | {"pairwise": Pairwise}
"""Key → calibrator of K classes together, the simplest first; "temperature" is also the key of a two-class one."""

CALIBRATORS: Registry[type[ScoreCalibrator]] = Registry(
    "calib.calibrators",
    (
        *(Uncalibrated, Platt, Isotonic, Beta, Temperature, Venn, VennAbers, PPA, Rank),
        *(
            Offset,
            Logistic,
            Quadratic,
            Spline,
            CenteredIsotonic,
            Histogram,
            Auto,
            Multicalibration,
            VennMulticalibration,
        ),
    ),
    check=check_calibrator,
    origin=lambda method: method,
    unlisted={key: method for key, method in JOINT.items() if key != "temperature"},
)

FromTwoClasses.methods = CALIBRATORS
register = CALIBRATORS.register


def joint_calibrator(calibrator: ScoreCalibrator | JointCalibrator) -> JointCalibrator:
    """Return the unfitted calibrator of K classes for a two-class one: each class against the rest.

    Temperature scaling has its own form for K classes, and the uncalibrated model is not changed.

    Examples
    --------
    >>> joint_calibrator(CALIBRATORS["isotonic"]()), joint_calibrator(CALIBRATORS["temperature"]())
    (OneVsRest(key=Isotonic()), JointTemperature())
    """
    if isinstance(calibrator, JointCalibrator):
        return calibrator
    if calibrator.key in ("none", "temperature"):
        return Unchanged() if calibrator.key == "none" else JointTemperature()
    return OneVsRest(calibrator)


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
    return {key: method for key, method in found if method.gives_interval and method.input not in TABLES}


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
    "JOINT",
    "MERGE",
    "MERGE_RULES",
    "PPA",
    "TABLES",
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
