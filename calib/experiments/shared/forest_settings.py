"""Words and settings that the two long experiments with forests share: forests, measures and results."""

from __future__ import annotations

from calib.experiments.base import view_of
from calib.kernel.records import Parameter

BASELINES = {
    "rf_d": "Default forest on all rows",
    "rf_opt": "Tuned forest on all rows",
    "rf_large": "Forest of 500 trees on all rows",
    "ct": "Curtailed forest on all rows",
}
"""The paper's RF_d, RF_opt, RF_large and CT."""
FOREST_TERMS = ("rf_d", "rf_opt", "rf_large", "ct")
"""Keys of their glossary entries."""
BASES = {"tuned": "Tuned forest", "default": "Default forest"}
FOREST_MEASURES = {
    "tce": "TCE",
    "ece": "ECE",
    "brier": "Brier score",
    "excess": "CL + GL",
    "irreducible": "IL",
    "accuracy": "Accuracy",
    "group_entropy": "Entropy of the predictions",
    "bin_entropy": "Entropy over 20 bins",
}
"""Measures: TCE is the mean of (p − π)²; CL + GL is the Brier score minus that of π; entropies are in bits."""

RESULTS = Parameter(
    "results",
    "Results",
    "choice",
    "shipped",
    choices={"shipped": "Stored", "anew": "Compute now"},
    help="Use stored results (for the paper's settings and seed 0), or compute the results now.",
)


def measure_setting(*figures: str) -> Parameter:
    """Return the setting that chooses the measure of the lines."""
    return Parameter(
        "measure",
        "Measure",
        "choice",
        "tce",
        choices=FOREST_MEASURES,
        help="TCE, CL + GL and IL need the true probabilities; the other measures can also be computed from "
        "real data.",
        extra=view_of(*figures),
    )


def base(*figures: str) -> Parameter:
    """Return the setting that chooses the calibrated forest."""
    return Parameter(
        "base",
        "Calibrated",
        "choice",
        "tuned",
        choices=BASES,
        help="Forest to calibrate: tuned, as in the paper, or with scikit-learn's default settings.",
        extra=view_of(*figures),
    )
