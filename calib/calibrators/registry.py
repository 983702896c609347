"""Registry of calibrators by key, in the order of tables and menus; a new calibrator needs a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel.lazy import Entries, first_use
from calib.kernel.registry import Registry

if TYPE_CHECKING:
    from calib.calibrators.base import ScoreCalibrator
    from calib.calibrators.joint import JointCalibrator

CALIBRATORS_PACKAGE = "calib.calibrators"

INPUT_TABLES = ("tree_scores", "features")
"""Inputs of several columns per row."""

_ONLY_JOINT = {
    "vector": "scaling:VectorScaling",
    "structured_vector": "scaling:StructuredVector",
    "structured_matrix": "scaling:StructuredMatrix",
    "dirichlet": "scaling:Dirichlet",
    "matrix": "scaling:MatrixScaling",
    "pairwise": "by_class:Pairwise",
}

JOINT: Entries[type[JointCalibrator]] = Entries(
    CALIBRATORS_PACKAGE,
    {"temperature": "temperature:JointTemperature", **_ONLY_JOINT, "auto": "auto:JointAuto"},
)
"""Key → calibrator of K classes together, the simplest first; "temperature" and "auto" are also two-class ones."""

CALIBRATORS: Registry[type[ScoreCalibrator]] = Registry(
    CALIBRATORS_PACKAGE,
    Entries(
        CALIBRATORS_PACKAGE,
        {
            "none": "none:Uncalibrated",
            "platt": "platt:Platt",
            "isotonic": "isotonic:Isotonic",
            "beta": "beta:Beta",
            "temperature": "temperature:Temperature",
            "venn": "venn:Venn",
            "venn_abers": "venn_abers:VennAbers",
            "ppa": "ppa:PPA",
            "rank": "rank:Rank",
            "offset": "offset:Offset",
            "logistic": "logistic:Logistic",
            "quadratic": "quadratic:Quadratic",
            "spline": "spline:Spline",
            "centered_isotonic": "centered_isotonic:CenteredIsotonic",
            "histogram": "histogram:Histogram",
            "auto": "auto:Auto",
            "multicalibration": "multicalibration:Multicalibration",
            "venn_multicalibration": "venn_multicalibration:VennMulticalibration",
        },
    ),
    check=first_use(f"{CALIBRATORS_PACKAGE}.contract", "check_calibrator"),
    origin=lambda method: method,
    unlisted=Entries(CALIBRATORS_PACKAGE, _ONLY_JOINT),
)
