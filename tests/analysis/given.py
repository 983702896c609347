"""Evaluations of given predictions, without a model, and rows whose true probability is known."""

from types import MappingProxyType

import numpy as np
import pandas as pd

from calib import Recipe
from calib.evaluate import Evaluation
from calib.kernel.records import Dataset, Predictions


def given_evaluation(y, predicted, calibration_y=None, **recipe) -> Evaluation:
    """An Evaluation of given predictions; enough calibration rows unless they are given."""
    y = np.asarray(y)
    calibration_y = np.tile([0, 1], 500) if calibration_y is None else np.asarray(calibration_y)
    return Evaluation(
        recipe=Recipe(**recipe),
        dataset=Dataset("made", pd.DataFrame({"x": np.zeros(len(y))}), y, ("no", "yes")),
        rows=np.arange(len(y)),
        y=y,
        scores=np.zeros(len(y)),
        predictions=MappingProxyType({key: Predictions(y, np.asarray(p)) for key, p in predicted.items()}),
        refused=MappingProxyType({}),
        calibrators=MappingProxyType({}),
        calibration_scores=np.zeros(len(calibration_y)),
        calibration_y=calibration_y,
        posterior=None,
        probability=True,
        notes=(),
        seconds=0.0,
    )


def known_truth(seed, n, distort=lambda p: p):
    """(y, the truth, what the model says, the generator)."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(1.2, 1.2, n)
    return (rng.random(n) < truth).astype(int), truth, distort(truth), rng


def jitter(p, rng, size):
    return np.clip(p + rng.normal(scale=size, size=len(p)), 0.001, 0.999)
