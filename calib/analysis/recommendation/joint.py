"""The recommended calibrator for three or more classes together, by their Brier score on the test rows.

The rule is that of two classes (``rule``), for the Brier score summed over the classes. The arena of three or more
classes expects a difference from automatic calibration for each method of ``START``, the test rows say another one, and
the weighted mean of both decides. Any other method, and the uncalibrated model, must be clearly better than the start,
the first compared method of ``START``. A method that gave the true class a probability of 0 does not replace it,
because its log loss is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calib.analysis.recommendation.arena import prior_of_classes
from calib.analysis.recommendation.rule import START_OF_CLASSES as START
from calib.analysis.recommendation.rule import calibration_rows, gaps_from, lowest_expected
from calib.calibrators import name_of
from calib.evaluate import Evaluation
from calib.kernel.cache import once
from calib.kernel.wording import briefly, capital, number, values_and_change
from calib.metrics.confidence import mean_interval
from calib.metrics.losses import class_log_losses, class_squared_errors

TRIED = (  # a test compares it with docs/results.md
    "In our benchmark (348 cases from 18 data sets) this advice was 0.0033 Brier score worse than the best method in "
    "hindsight. Always using automatic calibration was 0.0035 worse."
)


@dataclass(frozen=True)
class JointAdvice:
    """The recommended method for all classes together.

    Attributes
    ----------
    choice
        The method; "none" is the uncalibrated model.
    start
        The candidate.
    answer
        One sentence.
    reason
        The reason, with the scores.
    """

    choice: str
    start: str
    answer: str
    reason: str


def advise_joint(whole: Evaluation) -> JointAdvice:
    """Choose a method for all classes together on the test rows.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> recipe = Recipe(model="naive_bayes", calibrators=("none", "structured_matrix"), cv=2)
    >>> advise_joint(evaluate(recipe, load_sample("all_digits")).whole).choice
    'structured_matrix'
    """
    return once(whole, "advise", lambda: _advise(whole))


def _advise(whole: Evaluation) -> JointAdvice:
    y, predictions = whole.y, whole.distributions
    losses = {key: class_squared_errors(y, P) for key, P in predictions.items()}
    never = {key for key, P in predictions.items() if np.isinf(class_log_losses(y, P)).any()}
    start = next((key for key in START if key in losses), next(iter(losses)))
    rows = whole.sample
    size = calibration_rows(whole, next(iter(whole.calibrators), ""))
    uncertainty = 1 - sum(rows.mean(y == k) ** 2 for k in np.unique(y))
    gaps, before = gaps_from(rows, losses, start), prior_of_classes(size)
    choice = lowest_expected(gaps, never, before, start, uncertainty)
    means = {key: rows.mean(losses[key]) for key in dict.fromkeys((choice, start, *losses))}
    score = f"Brier score of all classes {number(means[choice])}"
    if "none" in losses and choice != "none":
        gain = mean_interval(rows, losses[choice] - losses["none"])
        score = "Brier score of all classes {} → {}, {}".format(
            *values_and_change(means["none"], means[choice], *gain)
        )
    if choice == start:
        reason = f"{score}. No other method is expected to be better."
    else:
        loss = briefly(means[start], means[choice], digits=3)[0]
        reason = f"{score}. It is expected to be better than {name_of(start)} ({loss} on these rows)."
    answer = f"Use {name_of(choice)}." if choice != "none" else "Leave the probabilities as they are."
    if choice == start and start in never:
        reason = f"{capital(name_of(start))} gave the true class a probability of 0, but no other method is better."
    return JointAdvice(choice, start, answer, reason)
