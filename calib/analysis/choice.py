"""Which of the methods compared to use on these rows: the one comparison that advice, headline and titles rest on.

Methods are judged by the Brier score, a proper score that is always finite. A change is always "method − uncalibrated"
on the same test rows, with the paired t interval that every table shows. To be used, a method's interval must lie below
0; of those the lowest Brier score is taken. Whether a method passes depends on it and on the uncalibrated model alone,
so that adding another, equal or worse, never moves the choice to a higher score. There is no correction for the number
tried: calibrators of one model err together, and for a model that is right any of seven is recommended in about 4 of
100 data sets (a test counts).

An infinite log loss, a probability of 0 or 1 that was wrong, counts against a method: one without it is taken instead
where its Brier score is not higher by more than sampling variability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from calib.analysis.differences import paired_interval
from calib.calibrators import complexity_of
from calib.evaluate import Evaluation
from calib.metrics.scoring import log_losses, mean, squared_errors

ROUNDING = 12  # decimals: losses that differ by less are the same


@dataclass(frozen=True, eq=False)
class Choice:
    """The method to use, and every method's comparison.

    choice : the method · table : a line a method, in the evaluation's order
        score : its Brier score · infinite : whether its log loss is · same : the simplest method with equal predictions
        change, lower, upper : score − that of the uncalibrated model, with its 95 % interval; NaN where there is none
        gap, gap_lower, gap_upper : score − that of the choice, likewise
        chance : two-sided p-value of the gap (paired t), 1 for the choice
    """

    choice: str
    table: pd.DataFrame

    @property
    def compared(self) -> bool:
        """Whether the uncalibrated model is among the methods."""
        return "none" in self.table.index


def advise(evaluation: Evaluation) -> Choice:
    """The choice on the test rows: the model and the calibrators stay as they were fitted.

    Raises ValueError where no calibrator could answer.

    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "isotonic")), load_sample("digits"))
    >>> advise(evaluation).choice
    'isotonic'
    """
    if not evaluation.predictions:
        raise ValueError("there is no calibrator to advise on")
    said = {key: each.p for key, each in evaluation.predictions.items()}
    losses = {key: squared_errors(evaluation.y, p) for key, p in said.items()}
    table = pd.DataFrame(
        {
            "score": {key: round(mean(loss, evaluation.weight), ROUNDING) for key, loss in losses.items()},
            "infinite": {key: bool(np.isinf(log_losses(evaluation.y, p)).any()) for key, p in said.items()},
            "same": {key: _simplest_equal(key, said) for key in said},
        }
    )
    table = table.join(_against(losses, "none", ("change", "lower", "upper"), evaluation.weight))
    choice = _choose(table, losses, evaluation.weight)
    table = table.join(_against(losses, choice, ("gap", "gap_lower", "gap_upper"), evaluation.weight))
    table["chance"] = _chance(table["gap"], table["gap_upper"], evaluation.size)
    return Choice(choice, table)


def _simplest_equal(key: str, said: dict[str, np.ndarray]) -> str:
    return min((other for other, p in said.items() if np.allclose(p, said[key], rtol=0, atol=1e-12)), key=complexity_of)


def _against(
    losses: dict[str, np.ndarray], reference: str, names: Sequence[str], weight: np.ndarray | None
) -> pd.DataFrame:
    """The mean difference of every method's losses to those of the reference, with its interval."""
    if reference not in losses:
        return pd.DataFrame(np.nan, list(losses), names)
    lines = {key: paired_interval(loss, losses[reference], weight) for key, loss in losses.items()}
    return pd.DataFrame.from_dict(lines, orient="index", columns=list(names))


def _choose(table: pd.DataFrame, losses: dict[str, np.ndarray], weight: np.ndarray | None) -> str:
    """The lowest score of the usable; where its log loss is infinite, the lowest of those whose is not."""
    usable = table[_usable(table)]
    best = _lowest(usable)
    finite = usable[~usable["infinite"]]
    if not table.infinite[best] or finite.empty:
        return best
    spared = _lowest(finite)
    _, lower, _ = paired_interval(losses[spared], losses[best], weight)
    return best if lower > 0 else spared


def _usable(table: pd.DataFrame) -> pd.Series:
    """The uncalibrated model; what is better than it; where its log loss is infinite, what is finite and not worse."""
    if "none" not in table.index:
        return pd.Series(True, table.index)
    usable = table["upper"] < 0
    if table.infinite["none"]:
        usable |= ~table["infinite"] & ~(table["lower"] > 0)
    usable["none"] = True
    return usable


def _lowest(table: pd.DataFrame) -> str:
    """Of equal scores the simplest."""
    return min(table.index, key=lambda key: (table.score[key], complexity_of(key)))


def _chance(gap: pd.Series, upper: pd.Series, n: int) -> pd.Series:
    """Two-sided p-values of paired differences from the half-width of their 95 % intervals."""
    freedom = max(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap.abs() / ((upper - gap) / student.ppf(0.975, freedom))
    return pd.Series(np.where(gap == 0, 1.0, 2 * student.sf(t, freedom)), gap.index)
