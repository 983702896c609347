"""Support-vector machine: its score is the decision function, a distance from the boundary, not a probability."""

from __future__ import annotations

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(C: float, kernel: str, random_state: int | None):
    return Pipeline([("scale", StandardScaler()), ("model", SVC(C=C, kernel=kernel))])


ENTRY = ModelEntry(
    key="svm",
    label="Support-vector machine",
    make=_make,
    parameters=(
        Parameter(
            "C",
            "Inverse penalty",
            "number",
            1.0,
            1e-3,
            1e3,
            help="Larger values bend the boundary to fit more rows.",
        ),
        Parameter(
            "kernel",
            "Kernel",
            "choice",
            "rbf",
            choices=("rbf", "linear"),
            help="The boundary is curved (rbf) or straight (linear).",
        ),
    ),
    score="margin",
    help="This model gives margins; Platt scaling, isotonic regression or a Venn method turns them into "
    "probabilities.",
)
