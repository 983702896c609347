"""The numbers of a validation report: the flow of rows, and every measure of performance with its interval.

The items are those of TRIPOD+AI for studies that evaluate a model (Collins et al. 2024, *BMJ* 385):
participants and events in each part, discrimination, calibration, clinical utility, sample size. Values are
those of ``Evaluation.measured``, intervals those of ``calib.metrics.confidence_intervals``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from calib.analysis.clusters import design_effect
from calib.analysis.decision import FALSE_ALARM, MISS, benefit_steps, benefits, threshold
from calib.analysis.differences import reference_of
from calib.analysis.recommendation.advice import recommend
from calib.analysis.sample_size import SampleSize, sample_size
from calib.evaluate import Evaluation, RowCount, row_info
from calib.kernel.checks import InputError
from calib.metrics.confidence_intervals import mean_interval

OVERALL_METRICS = ("auc", "brier", "brier_skill", "log_loss", "accuracy")
CALIBRATION_METRICS = ("observed_expected", "in_the_large", "slope", "intercept", "ici", "ece")
FLOW_STEPS = {"train": "Train the model", "calibrate": "Calibrate", "test": "Test"}
MORE_THRESHOLDS = 3  # thresholds in the table of net benefit, beside that of the costs
OF_COSTS = threshold(FALSE_ALARM, MISS)


def flow(evaluation: Evaluation) -> pd.DataFrame:
    """Return the flow of rows from the table to the test set: one row per step, columns step, lines, rows and events.

    ``lines`` of the table represent ``rows``, which are equal without weights. With folds, the training and
    calibration rows are means over the folds, and every test row is counted once. Events are rows of class 1; NaN
    if they are not known.
    """
    return pd.DataFrame(_steps(evaluation), columns=["step", "lines", "rows", "events"])


def _steps(evaluation: Evaluation) -> Iterator[tuple[str, float, float, float]]:
    data, folds = evaluation.dataset, evaluation.flow
    weights = row_info(data).weights
    if data.read is not None:
        yield "Read", data.read, np.nan, np.nan
        yield "Left out", data.read - data.n, np.nan, np.nan
    # Only test rows tell whether a prediction is right
    yield (
        "Kept",
        data.n,
        float(weights.sum()),
        np.nan if evaluation.of_confidence else float(weights @ data.y),
    )
    for part, label in FLOW_STEPS.items():
        if part not in folds[0]:  # predictions that are evaluated on all rows
            continue
        of_folds = (
            "" if len(folds) == 1 else ", all folds" if part == "test" else f", mean of {len(folds)} folds"
        )
        every = np.array([fold[part] for fold in folds], dtype=float).reshape(-1, len(RowCount._fields))
        yield label + of_folds, *(every.sum(axis=0) if part == "test" else every.mean(axis=0))
    if len(folds) == 1 and "unused" in folds[0] and folds[0]["unused"].lines:
        yield "Not used", *folds[0]["unused"]


def performance(evaluation: Evaluation, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Return columns metric, calibrator, value, lower, upper, with 95 % intervals.

    Parameters
    ----------
    metrics
        Keys of ``calib.metrics.confidence_intervals.INTERVALS``.
    """
    lines = [
        (metric, key, found.value, found.low, found.high)
        for metric in evaluation.applicable(metrics)
        for key in evaluation.predictions
        for found in [evaluation.estimate(metric, key)]
    ]
    return pd.DataFrame(lines, columns=["metric", "calibrator", "value", "lower", "upper"])


def net_benefits(
    evaluation: Evaluation, of_costs: float = OF_COSTS, low: float = 0.0, high: float = 1.0
) -> pd.DataFrame:
    """Return columns threshold, rule, value, lower, upper: every calibrator, and acting on all rows.

    The thresholds are that of the costs, ``of_costs``, and some between ``low`` and ``high``. The net benefit is a
    mean over rows, and has the interval of one.
    """
    at = np.unique(np.r_[np.linspace(low, high, MORE_THRESHOLDS + 2)[1:-1], of_costs])
    rules = {key: each.p for key, each in evaluation.predictions.items()} | {
        "all": np.ones(len(evaluation.y))
    }
    lines = []
    for t in at:
        for rule, p in rules.items():
            benefit = (p > t) * benefits(evaluation.y, t)
            lines.append((t, rule, *mean_interval(evaluation.sample, benefit, steps=benefit_steps(t))))
    return pd.DataFrame(lines, columns=["threshold", "rule", "value", "lower", "upper"])


def rows_needed(evaluation: Evaluation, of_costs: float = OF_COSTS) -> tuple[str, SampleSize]:
    """Return (recommended method, rows needed to validate it) at the threshold of the costs.

    Raises
    ------
    InputError
        If the number cannot be estimated, as for test rows of one class.
    """
    if evaluation.y.min() == evaluation.y.max():
        raise InputError(
            "All test rows are in one class, so the number of rows needed cannot be estimated. Use rows of both "
            "classes."
        )
    key = recommend(evaluation).choice or reference_of(evaluation.predictions)
    predictions = evaluation.predictions[key]
    return key, sample_size(
        predictions.y,
        predictions.p,
        of_costs,
        sample_weight=predictions.weight,
        design_effect=design_effect(evaluation, key),
        counts=evaluation.counts,
    )
