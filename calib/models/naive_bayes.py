"""Gaussian naive Bayes: treats features as independent; if they are not, probabilities are too close to 0 and 1."""

from __future__ import annotations

from sklearn.naive_bayes import GaussianNB

from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def _make(var_smoothing: float, random_state: int | None):
    return GaussianNB(var_smoothing=var_smoothing)


ENTRY = ModelEntry(
    key="naive_bayes",
    label="Naive Bayes",
    make=_make,
    parameters=(
        Parameter(
            "var_smoothing",
            "Added variance",
            "number",
            1e-9,
            1e-12,
            1.0,
            help="Share of the largest feature variance that is added to all variances. More smoothing gives less "
            "extreme probabilities.",
        ),
    ),
    help="This fast model is a textbook example of overconfidence, because it counts the evidence of "
    "correlated features several times.",
)
