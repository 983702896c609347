"""The ECE of a calibrated model on the test rows of an evaluation, as a sentence to show beside every ECE."""

from __future__ import annotations

from calib.analysis.differences import reference_of
from calib.evaluate import Evaluation
from calib.kernel.cache import once
from calib.kernel.wording import briefly
from calib.metrics.chance import chance_range


def chance_sentence(evaluation: Evaluation) -> str:
    """State the ECE range by chance for the model's own predictions; "" without predictions or with one cluster."""
    if not evaluation.predictions:
        return ""
    recipe, predictions = evaluation.recipe, evaluation.predictions[reference_of(evaluation.predictions)]
    low, high = once(
        predictions,
        ("chance", recipe.bins, recipe.binning),
        lambda: chance_range(evaluation.sample, predictions.p, recipe.bins, recipe.binning),
    )
    if low != low:
        return ""
    return "On these rows a calibrated model would show an ECE of {} to {}.".format(*briefly(low, high))
