"""Evaluations of given predictions, without a model, and rows whose true probability is known."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from calib import Recipe
from calib.evaluate import Evaluation


def given_evaluation(y, predicted, calibration_y=None, **recipe) -> Evaluation:
    """Return an Evaluation of given predictions as if calibrators had made them, by default with many calibration
    rows.
    """
    made = Evaluation.from_predictions(y, predicted or {"none": np.zeros(len(y))})
    calibration_y = np.tile([0, 1], 500) if calibration_y is None else np.asarray(calibration_y)
    return replace(
        made,
        recipe=Recipe(**recipe),
        dataset=replace(made.dataset, classes=("no", "yes")),
        predictions=made.predictions if predicted else MappingProxyType({}),
        calibration_scores=np.zeros(len(calibration_y)),
        calibration_y=calibration_y,
    )


def known_truth(seed, n, distort=lambda p: p):
    """Draw (y, true probabilities, predictions, generator)."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(1.2, 1.2, n)
    return (rng.random(n) < truth).astype(int), truth, distort(truth), rng


def jitter(p, rng, size):
    return np.clip(p + rng.normal(scale=size, size=len(p)), 0.001, 0.999)
