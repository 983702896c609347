"""The small table of the numbers that a lesson's step names, on the page and in a live quiz."""

from __future__ import annotations

import pandas as pd

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures import formatted_metrics
from calib.lessons import Step


def named_numbers(step: Step, evaluation: Evaluation) -> pd.DataFrame | None:
    """Return the numbers of a step, one row per calibrator; None if it names none."""
    if not step.beside:
        return None
    named = step.picture.get("name", label_of("none"))
    return formatted_metrics(evaluation, list(step.beside)).rename(index={label_of("none"): named})
