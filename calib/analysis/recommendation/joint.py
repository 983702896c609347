"""The recommended calibrator for three or more classes together, by their Brier score on the test rows.

The candidate is the first compared method of ``START``, the methods that lost least over twelve real data sets
(docs/results.md). Another method, or the uncalibrated model, replaces it if the 95 % interval of its difference in
Brier score, summed over the classes, lies below 0. A method that gave the true class a probability
of 0 does not replace it, because its log loss is infinite.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from calib.calibrators import name_of
from calib.evaluate import Evaluation
from calib.kernel.cache import once
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.kernel.wording import briefly, capital, number, values_and_change
from calib.metrics.confidence import mean_interval
from calib.metrics.losses import class_log_losses, class_squared_errors

START = ("structured_matrix", "structured_vector", "platt")
TRIED = (  # a test compares it with docs/results.md
    "In our benchmark (660 cases from 12 data sets) this advice was 0.0094 Brier score worse than the best method in "
    "hindsight. Always using structured matrix scaling was 0.0300 worse."
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
    choice = best_or_start(rows, losses, never, start)
    means = {key: rows.mean(losses[key]) for key in dict.fromkeys((choice, start, *losses))}
    score = f"Brier score of all classes {number(means[choice])}"
    if "none" in losses and choice != "none":
        gain = mean_interval(rows, losses[choice] - losses["none"])
        score = "Brier score of all classes {} → {}, {}".format(
            *values_and_change(means["none"], means[choice], *gain)
        )
    if choice == start:
        reason = f"{score}. No other method is clearly better."
    else:
        loss = briefly(means[start], means[choice], digits=3)[0]
        reason = f"{score}. It is clearly better than {name_of(start)} ({loss})."
    answer = f"Use {name_of(choice)}." if choice != "none" else "Leave the probabilities as they are."
    if choice == start and start in never:
        reason = f"{capital(name_of(start))} gave the true class a probability of 0, but no other method is better."
    return JointAdvice(choice, start, answer, reason)


def best_or_start(rows: Rows, losses: Mapping[str, Array], never: Collection[str], start: str) -> str:
    """Return the method that replaces ``start``, or ``start``.

    Parameters
    ----------
    rows
        Whether the class that the model predicts is right, (n,): an interval needs rows of both kinds.
    losses
        Method → Brier loss of each row, (n,).
    never
        Methods that never replace another.
    start
        One of the methods.

    Examples
    --------
    >>> rows, sure = Rows(np.array([0, 1] * 20)), np.linspace(0.1, 0.2, 40)
    >>> best_or_start(rows, {"platt": sure + 0.3, "beta": sure, "none": sure - 0.1}, {"none"}, "platt")
    'beta'
    """
    better = [
        key
        for key, loss in losses.items()
        if key not in never and key != start and mean_interval(rows, loss - losses[start])[2] < 0
    ]
    return min(better, key=lambda key: float(rows.mean(losses[key])), default=start)
