"""Number of trees: the first trees of one forest against the true probabilities, and its errors by their number.

Shaker and Hüllermeier (2025), appendix C.2, Figure 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calib.experiments.base import Experiment
from calib.experiments.shared.gaussian_plane import (
    COVARIANCES_OF_CLASSES,
    DEPTH,
    LEAF,
    RF_PAPER,
    STOCKS,
    TRAINING_ROWS,
    Grow,
    PredictionErrors,
    SettingCurve,
    SideBySide,
    cloud,
    columns,
    grow,
    grown_for,
)
from calib.experiments.shared.setting_curves import CURVES_BY_SETTING, Lines, curve_panels
from calib.experiments.shared.truth_panels import TRUTH_PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief
from calib.metrics import true_calibration_error

COUNTS = (5, 50, 500)  # numbers of trees in the paper's Figure 8
AT_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)


def at_counts(settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow) -> SideBySide:
    """Evaluate the first 5, 50 and 500 trees of one forest, and the reader's number of trees.

    Parameters
    ----------
    settings
        Settings of EXPERIMENTS["tree_count"].
    """
    watch.step(0.0, "trees")
    grown = grown_for(settings, random_state, grow, model="forest", trees=STOCKS[-1])
    shown = tuple(
        PredictionErrors(
            f"{k:,} tree{'s' * (k > 1)}", grown.plane.posterior, grown.first(k).p(settings["leaf"])
        )
        for k in sorted({*COUNTS, settings["trees"]})
    )
    return SideBySide(shown, len(shown), settings)


def curve_by_count(
    settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow
) -> SettingCurve:
    """Compute TCE, bias and scatter of the first k trees, and the mean TCE of single trees; ``trees`` is recorded."""
    watch.step(0.0, "trees")
    grown = grown_for(settings, random_state, grow, model="forest", trees=STOCKS[-1])
    votes, posterior = grown.votes(settings["leaf"]), grown.plane.posterior
    total, rows = np.zeros_like(posterior), []
    for k, vote in enumerate(votes, start=1):
        total += vote
        if k in AT_COUNTS:
            errors = PredictionErrors("", posterior, total / k)
            rows.append({"tce": errors.tce, "bias": errors.bias, "scatter": errors.scatter})
    alone = float(np.mean([true_calibration_error(posterior, vote) for vote in votes]))
    curve = columns(rows) | {"alone": np.full(len(rows), alone)}
    return SettingCurve(AT_COUNTS, {"forest": curve}, settings["trees"], settings)


FAR_LESS = 1 / 3  # of the first gain, below which the second gain is called far less


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Compare the gain from 5 to 50 trees with the gain from 50 to 500."""
    tce = {errors.name.split()[0]: errors.tce for errors in found.shown}
    few, some, many = (tce[f"{count:,}"] for count in COUNTS)
    first, second = few - some, some - many
    values = [f"{brief(each)} with {count}" for each, count in zip((few, some, many), COUNTS, strict=True)]
    title = f"TCE is {values[0]} trees, {values[1]} and {values[2]}"
    answer = 2 if second < FAR_LESS * first else 3 if second > first / FAR_LESS else 1
    return against_truth(found.shown, found.columns, cloud, title, answer if first > 0 else None)


def prepare_curve(found: SettingCurve) -> Lines:
    """Prepare TCE along the number of trees, and the mean TCE of single trees."""
    curve = found.curves["forest"]
    tce = curve["tce"]
    enough = found.values[int(np.argmax(tce <= 2 * tce[-1]))]
    return curve_panels(
        found,
        {"The first trees of one forest": {"TCE": tce, "bias²": curve["bias"], "scatter": curve["scatter"]}},
        "Trees",
        f"Mean TCE falls from {brief(curve['alone'][0])} for a single tree to {brief(tce[-1])} for all "
        f"{found.values[-1]}; the first {enough} trees have at most twice the lower value",
        "Lines show TCE and its two parts by number of trees. Only scatter falls, and not to zero: averaging "
        "removes the errors in which trees differ, but not the errors that they share. Each step to the "
        "right multiplies the number of trees by about the same factor.",
        ringed="none",
    )


EXPERIMENT = Experiment(
    key="tree_count",
    page="labs",
    lab="CL and GL",
    name="Number of trees",
    question="With 50 fully grown trees instead of 5, a forest's probabilities come closer to the true "
    "probabilities. How much is gained by using 500 trees instead of 50?",
    answers=("About the same again", "Far less", "Far more"),
    right=2,
    why=(
        "The part of the error that more trees can remove falls in proportion to 1/T for T trees. Therefore "
        "the step from 50 to 500 trees gains only about a tenth as much as the step from 5 to 50.",
        "The part of the error that more trees can remove falls in proportion to 1/T for T trees. The first 50 trees "
        "remove nearly all of this part.",
        "The gain does not grow: the step to 500 trees gains at most a fifth as much as the step to 50.",
    ),
    no_turn="The error from disagreement between trees falls with their number, for every kind of tree.",
    parameters=(
        Parameter(
            "trees",
            "Trees",
            "choice",
            100,
            choices=(1, 2, 5, 10, 20, 50, 100, 200, 500),
            help="Number of trees in an additional forest, which consists of the first trees.",
        ),
        DEPTH,
        LEAF,
        cloud("tree_count"),
        TRAINING_ROWS,
        COVARIANCES_OF_CLASSES,
    ),
    simulation=at_counts,
    notice=(
        "More trees narrow the cloud, but only towards the prediction of an infinite forest. The part of the TCE "
        "that more trees can remove falls in proportion to 1/T for T trees. This part is about half of the "
        "TCE with 5 trees, and at most an eighth with 50.",
        "The error that remains at 500 trees is not due to chance between trees, because all trees were "
        "trained on the same data. Choose shallower trees: at depth 4, less than half of this error remains. "
        "More rows do not remove this error. In twenty draws, using 2,000 rows instead of 1,000 changed this "
        "error by −15 % to +21 %, and by almost nothing on average.",
        "The forest's TCE is the mean TCE of its trees minus their disagreement. If all trees agreed, a forest would "
        "gain nothing.",
    ),
    formulas=(
        r"p = \frac1T \sum_t p_t",
        r"(p-\pi)^2 = \frac1T\sum_t (p_t-\pi)^2 - \frac1T\sum_t (p_t-p)^2",
        r"\mathrm{E}\,\text{TCE}_T = \text{TCE}_\infty + \frac{V}{T}",
    ),
    source=f"{RF_PAPER}, appendix C.2 and Figure 8. The second formula is the ambiguity decomposition of Krogh and "
    "Vedelsby (1995).",
    also={"tree_count_curve": curve_by_count},
    plays="trees",
)


FIGURES = (
    FigureEntry(
        "tree_count",
        "Predicted against true probabilities, for different numbers of trees",
        prepare,
        *TRUTH_PANELS,
    ),
    FigureEntry("tree_count_curve", "TCE by number of trees", prepare_curve, *CURVES_BY_SETTING),
)
