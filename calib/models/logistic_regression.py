"""Logistic regression on standardised features: well calibrated if the log-odds are nearly linear."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(C: float, random_state: int | None):
    return Pipeline(
        [
            ("scale", StandardScaler()),
            ("model", LogisticRegression(C=C, max_iter=1000)),
        ]
    )


ENTRY = ModelEntry(
    key="logistic_regression",
    label="Logistic regression",
    make=_make,
    parameters=(
        Parameter(
            "C",
            "Inverse penalty",
            "number",
            1.0,
            1e-4,
            1e4,
            help="Inverse of the regularisation strength. Smaller values pull all probabilities towards the "
            "base rate.",
        ),
    ),
    help="This model is the reference for calibration; it is hard to beat if the boundary between the "
    "classes is a plane.",
)
