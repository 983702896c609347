"""The small table of the numbers that a lesson's step names, on the page and on its handout."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures import formatted_metrics
from calib.figures.classes import formatted_scores
from calib.figures.metrics import formatted_side_by_side
from calib.lessons import Step, parse_step
from calib.metrics import METRICS
from calib.recipe import Recipe


def named_numbers(
    step: Step, evaluation: Evaluation, evaluated: Callable[[Recipe], Evaluation]
) -> pd.DataFrame | None:
    """Return the numbers of a step, one row per calibrator or model; None if it names none.

    Parameters
    ----------
    evaluated
        Gives the evaluation of an earlier step, whose model the step compares with its own.
    """
    keys = [key for key in step.beside if key in tuple(METRICS)]
    scores = [METRICS[key].label for key in step.beside if key in METRICS.unlisted]
    named = step.picture.get("name", label_of("none"))
    if scores:
        return formatted_scores(evaluation.whole)[scores] if evaluation.whole is not None else None
    if not keys:
        return None
    if "against" not in step.picture:
        return formatted_metrics(evaluation, keys).rename(index={label_of("none"): named})
    lesson, number = parse_step(step.picture["against"])
    other = lesson.steps[number - 1]
    models = {other.picture["name"]: evaluated(other.recipe), named: evaluation}
    table = formatted_side_by_side(models, keys)
    return table.drop(columns="Calibrator").rename(columns={"": "Model"}).set_index("Model")
