"""Which of the methods compared to use on these rows: the one comparison that advice, headline and titles rest on.

Methods are judged by the Brier score, a proper score that is always finite, by paired intervals on the test
rows. The choice begins where, over many real tables, least was lost: with Platt, or where that is not
compared with Venn–Abers (docs/results.md: of all fixed choices Platt lost least in Brier score and in log
loss, whichever data set is left out). On a single tree, whose leaves tie many rows, it begins with Venn–Abers,
which lost least there, likewise. Another method is taken where its interval against that one lies below 0, of
several the lowest. And the probabilities are left as they are where that one does not lower their Brier
score beyond sampling variability and could not lower it by LITTLE. Where neither is compared, the choice
begins with the uncalibrated model.

No method is taken that was surer than its calibration rows allow: a probability nearer to 0 or 1 than SURE of
a row. On other rows such certainty is wrong sooner or later, at an infinite log loss. The uncalibrated model,
which learnt from other rows, may be surer where it is better than the start and nothing else is, unless it is
a single tree: a leaf rests on few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.calibrators import complexity_of
from calib.evaluate import Evaluation
from calib.kernel.memo import once
from calib.metrics.paired_intervals import difference_interval
from calib.metrics.scoring import log_losses, mean, squared_errors
from calib.models import MODELS

ROUNDING = 12  # decimals: losses that differ by less are the same
START = ("platt", "venn_abers")  # where the choice begins, the first that is compared
LITTLE = 0.005  # of Brier score: what is not worth a calibrator
SURE = 0.01  # of a calibration row: no probability nearer to 0 or 1 rests on the rows


@dataclass(frozen=True, eq=False)
class Choice:
    """The method to use, and every method's comparison.

    Attributes
    ----------
    choice
        The method.
    start
        Where the choice begins.
    table
        A line a method, in the evaluation's order, with columns

        - score: its Brier score; infinite: whether its log loss is; same: the simplest method with equal predictions
        - surest: how near it came to 0 or 1, in calibration rows; sure: whether nearer than they allow
        - change, lower, upper: score − that of the uncalibrated model, with its 95% interval; else NaN
        - gap, gap_lower, gap_upper: score − that of the choice, likewise
    """

    choice: str
    start: str
    table: pd.DataFrame

    @property
    def compared(self) -> bool:
        """Whether the uncalibrated model is among the methods."""
        return "none" in self.table.index


def advise(evaluation: Evaluation) -> Choice:
    """The choice on the test rows: the model and the calibrators stay as they were fitted.

    Raises
    ------
    ValueError
        Where no calibrator could answer.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "isotonic")), load_sample("digits"))
    >>> advise(evaluation).choice
    'isotonic'
    """
    if not evaluation.predictions:
        raise ValueError("there is no calibrator to advise on")
    return once(evaluation, "advise", lambda: _advise(evaluation))


def _advise(evaluation: Evaluation) -> Choice:
    predicted = {key: each.p for key, each in evaluation.predictions.items()}
    losses = {key: squared_errors(evaluation.y, p) for key, p in predicted.items()}
    table = pd.DataFrame(
        {
            "score": {key: round(mean(loss, evaluation.weight), ROUNDING) for key, loss in losses.items()},
            "infinite": {
                key: bool(np.isinf(log_losses(evaluation.y, p)).any()) for key, p in predicted.items()
            },
            "surest": {key: _surest(p) * _calibration_rows(evaluation, key) for key, p in predicted.items()},
            "same": {key: _simplest_equal(key, predicted) for key in predicted},
        }
    )
    gaps = ("gap", "gap_lower", "gap_upper")
    table.insert(3, "sure", table["surest"] < SURE)
    table = table.join(_against(evaluation, "none", ("change", "lower", "upper")))
    start = start_of(table, begins(evaluation))
    to_start = _against(evaluation, start, gaps)
    choice = choose(table, to_start["gap_upper"] < 0, start, own=not _is_tree(evaluation))
    table = table.join(to_start if choice == start else _against(evaluation, choice, gaps))
    return Choice(choice, start, table)


def _surest(p: np.ndarray) -> float:
    """How near a probability comes to 0 or 1."""
    return float(np.minimum(p, 1 - p).min())


def _calibration_rows(evaluation: Evaluation, key: str) -> float:
    """Of one fit of the calibrator; where there are none the test rows stand for them."""
    rows = evaluation.calibration_size / max(len(evaluation.calibrators.get(key, ())), 1)
    return rows or evaluation.size


def _simplest_equal(key: str, predicted: dict[str, np.ndarray]) -> str:
    equal = (other for other, p in predicted.items() if np.allclose(p, predicted[key], rtol=0, atol=1e-12))
    return min(equal, key=complexity_of)


def _against(evaluation: Evaluation, reference: str, names: Sequence[str]) -> pd.DataFrame:
    """The mean difference of every method's losses to those of the reference, with its interval."""
    predicted = {key: each.p for key, each in evaluation.predictions.items()}
    if reference not in predicted:
        return pd.DataFrame(np.nan, list(predicted), names)
    lines = {
        key: difference_interval("brier", evaluation.sample, p, predicted[reference])
        for key, p in predicted.items()
    }
    return pd.DataFrame.from_dict(lines, orient="index", columns=list(names))


def begins(evaluation: Evaluation) -> tuple[str, ...]:
    """Where the choice begins for its model: the first of these that is compared.

    >>> from calib import Recipe, evaluate, load_sample
    >>> begins(evaluate(Recipe(model="decision_tree"), load_sample("digits")))
    ('venn_abers', 'platt')
    """
    return START[::-1] if _is_tree(evaluation) else START


def _is_tree(evaluation: Evaluation) -> bool:
    return MODELS[evaluation.recipe.model].single_tree


def start_of(table: pd.DataFrame, order: Sequence[str]) -> str:
    """The first of these, or else the uncalibrated model, that was never certain and wrong; else the lowest."""
    finite = table[~table["infinite"]]
    return next(
        (key for key in (*order, "none") if key in finite.index), _lowest(table if finite.empty else finite)
    )


def choose(
    table: pd.DataFrame, beats_start: pd.Series, start: str, *, own: bool, little: float = LITTLE
) -> str:
    """What is better than the start beyond sampling variability, else the start, or nothing where that gains little.

    Parameters
    ----------
    table
        As in ``Choice``, without the gaps.
    beats_start
        Whether a method's interval against the start lies below 0.
    own
        Whether the uncalibrated model, though surer than the rows allow, is taken where nothing else beats the start.
    """
    better = table[beats_start & ~table["infinite"]]
    sober = better[~better["sure"]]
    if not sober.empty:
        return _lowest(sober)
    if "none" in better.index and own:
        return "none"
    none = table.loc["none"] if "none" in table.index else None
    if none is None or none.sure or none.infinite:
        return start
    gains_little = table.upper[start] >= 0 and table.lower[start] > -little  # not where no interval is known
    return "none" if gains_little else start


def _lowest(table: pd.DataFrame) -> str:
    """Of equal scores the simplest."""
    return min(table.index, key=lambda key: (table.score[key], complexity_of(key)))
