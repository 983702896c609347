"""What the two long experiments with forests share in words: the forests, the measures, where results come from."""

from __future__ import annotations

from calib.experiments.base import view_of
from calib.kernel.records import Parameter

PAPER = "Shaker and Hüllermeier, Random forest calibration (2025)"
BASELINES = {"rf_d": "RF_d", "rf_opt": "RF_opt", "rf_large": "RF_large", "ct": "CT"}
FORESTS = ("rf_d", "rf_opt", "rf_large", "ct")
"""What the glossary says of them."""
BASES = {"tuned": "Tuned forest", "default": "Default forest"}
MEASURES = {
    "tce": "TCE",
    "ece": "ECE",
    "brier": "Brier score",
    "excess": "CL + GL",
    "irreducible": "IL",
    "accuracy": "Accuracy",
    "group_entropy": "Entropy of the predictions",
    "bin_entropy": "Entropy over 20 bins",
}
"""TCE: mean of (p − π)². CL + GL: the Brier score beyond that of π on the same labels. Entropies in bits."""

RESULTS = Parameter(
    "results",
    "Results",
    "choice",
    "shipped",
    choices=("shipped", "anew"),
    help="With the paper's settings and seed 0 the results computed beforehand, at once; or computed here and now.",
    extra={"names": {"shipped": "Made beforehand", "anew": "Compute here"}},
)


def measure(*figures: str) -> Parameter:
    """What the lines show."""
    return Parameter(
        "measure",
        "Measure",
        "choice",
        "tce",
        choices=tuple(MEASURES),
        help="TCE, CL + GL and IL need the true probabilities; the others can also be computed on real data.",
        extra=view_of(*figures, names=MEASURES),
    )


def base(*figures: str) -> Parameter:
    """Which calibrated forest the lines belong to."""
    return Parameter(
        "base",
        "Calibrated",
        "choice",
        "tuned",
        choices=tuple(BASES),
        help="The forest under the calibrators: with RF_opt's settings, as in the paper, or scikit-learn's defaults.",
        extra=view_of(*figures, names=BASES),
    )
