"""The choice of a method on these rows: the one comparison behind advice, headline and titles.

The verdict (``verdict``) decides whether to calibrate. The Brier score, a proper score that is always finite, measures
the gain, by paired intervals on the test rows.

- The candidate is the method that lost least over many real tables: Platt scaling, or if it is not compared
  Venn–Abers; on a single tree, whose leaves tie many rows, Venn–Abers (docs/results.md). A method whose interval
  against the candidate lies below 0 replaces it; of several such methods, the one with the lowest score.
- If the model is miscalibrated the candidate is used. If its score is not below that of the uncalibrated model, the
  method with the lowest score replaces it; if all scores are clearly above it, no method helps.
- If no miscalibration, or a negligible one, was found, the candidate is used only if its score is lower, and by its
  interval may be lower by ``LITTLE`` of the uncertainty f (1 − f), with f the share of class 1. Otherwise the
  probabilities are kept.

A method is excluded if it is more extreme than its calibration rows justify: a probability nearer to 0 or 1 than
``JUSTIFIED_ROW_PART`` of a row. On other rows such certainty is wrong sooner or later, at an infinite log loss. For the
same reason an uncalibrated model that is so extreme is kept only if it is clearly better than the candidate; the leaves
of a single tree have few rows, and are never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.analysis.recommendation.verdict import MISCALIBRATED, verdict_of
from calib.calibrators import by_simplicity
from calib.evaluate import Evaluation
from calib.kernel.cache import once
from calib.metrics.base import TIE_DECIMALS
from calib.metrics.losses import log_losses, mean, squared_errors
from calib.metrics.paired_intervals import difference_interval
from calib.models import MODELS

START = ("platt", "venn_abers")  # the candidate is the first compared one of these
LITTLE = 0.02  # share of the uncertainty f (1 − f) below which a gain is not worth a calibrator
JUSTIFIED_ROW_PART = 0.01  # part of a calibration row; the rows do not justify probabilities nearer to 0 or 1


@dataclass(frozen=True, eq=False)
class Choice:
    """Recommended method, and the comparison of all methods.

    Attributes
    ----------
    choice
        The method, "none" to keep the probabilities.
    start
        The method that lost least over many real tables.
    table
        One line per method, in the evaluation's order, with columns

        - score: its Brier score; infinite: whether its log loss is; same: the simplest method with equal predictions
        - surest: smallest distance from 0 or 1, in calibration rows; sure: whether it is smaller than they justify
        - change, lower, upper: score − that of the uncalibrated model, with its 95 % interval; else NaN
        - gap, gap_lower, gap_upper: score − that of the choice, likewise
    miscalibrated
        Whether the verdict on the uncalibrated model is miscalibrated, and not negligibly.
    """

    choice: str
    start: str
    table: pd.DataFrame
    miscalibrated: bool = False

    @property
    def unhelped(self) -> bool:
        """Whether the model is miscalibrated and no compared method helps."""
        return self.miscalibrated and self.choice == "none"

    @property
    def compared(self) -> bool:
        """Whether the uncalibrated model is among the methods."""
        return "none" in self.table.index


def advise(evaluation: Evaluation) -> Choice:
    """Choose a method on the test rows, with the model and the calibrators as they were fitted.

    Raises
    ------
    ValueError
        If no calibrator could answer.

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
            "score": {
                key: round(mean(loss, evaluation.weight), TIE_DECIMALS) for key, loss in losses.items()
            },
            "infinite": {
                key: bool(np.isinf(log_losses(evaluation.y, p)).any()) for key, p in predicted.items()
            },
            "surest": {key: _surest(p) * _calibration_rows(evaluation, key) for key, p in predicted.items()},
            "same": {key: _simplest_equal(key, predicted) for key in predicted},
        }
    )
    gaps = ("gap", "gap_lower", "gap_upper")
    table.insert(3, "sure", table["surest"] < JUSTIFIED_ROW_PART)
    table = table.join(_against(evaluation, "none", ("change", "lower", "upper")))
    start = start_of(table, candidates(evaluation))
    to_start = _against(evaluation, start, gaps)
    wrong = "none" in table.index and verdict_of(evaluation).finding == MISCALIBRATED
    choice = choose(
        table,
        to_start["gap_upper"] < 0,
        start,
        miscalibrated=wrong,
        share=evaluation.share,
        own=not _is_tree(evaluation),
    )
    table = table.join(to_start if choice == start else _against(evaluation, choice, gaps))
    return Choice(choice, start, table, wrong)


def _surest(p: np.ndarray) -> float:
    """Return the smallest distance of a probability from 0 or 1."""
    return float(np.minimum(p, 1 - p).min())


def _calibration_rows(evaluation: Evaluation, key: str) -> float:
    """Return the calibration rows of one fit of the calibrator; without any, the test rows."""
    rows = evaluation.calibration_size / max(len(evaluation.calibrators.get(key, ())), 1)
    return rows or evaluation.size


def _simplest_equal(key: str, predicted: dict[str, np.ndarray]) -> str:
    equal = (other for other, p in predicted.items() if np.allclose(p, predicted[key], rtol=0, atol=1e-12))
    return min(equal, key=by_simplicity)


def _against(evaluation: Evaluation, reference: str, names: Sequence[str]) -> pd.DataFrame:
    """Return the mean difference of every method's losses from those of the reference, with its interval."""
    predicted = {key: each.p for key, each in evaluation.predictions.items()}
    if reference not in predicted:
        return pd.DataFrame(np.nan, list(predicted), names)
    lines = {
        key: difference_interval("brier", evaluation.sample, p, predicted[reference])
        for key, p in predicted.items()
    }
    return pd.DataFrame.from_dict(lines, orient="index", columns=list(names))


def candidates(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the candidates for this model, in order of preference.

    >>> from calib import Recipe, evaluate, load_sample
    >>> candidates(evaluate(Recipe(model="decision_tree"), load_sample("digits")))
    ('venn_abers', 'platt')
    """
    return START[::-1] if _is_tree(evaluation) else START


def _is_tree(evaluation: Evaluation) -> bool:
    return MODELS[evaluation.recipe.model].single_tree


def start_of(table: pd.DataFrame, order: Sequence[str]) -> str:
    """Return the first of these, or else "none", with a finite log loss; else the method with the best score."""
    finite = table[~table["infinite"]]
    return next(
        (key for key in (*order, "none") if key in finite.index), _lowest(table if finite.empty else finite)
    )


def choose(
    table: pd.DataFrame,
    beats_start: pd.Series,
    start: str,
    *,
    miscalibrated: bool,
    share: float,
    own: bool,
    little: float = LITTLE,
) -> str:
    """Choose a method by the rules of this module.

    Parameters
    ----------
    table
        As in ``Choice``, without the gaps.
    beats_start
        Whether a method's interval against ``start`` lies below 0.
    start
        The candidate.
    miscalibrated
        Whether the uncalibrated model is miscalibrated, and not negligibly.
    share
        Share of class 1.
    own
        Whether an uncalibrated model that is more extreme than the rows justify may be kept if it is clearly
        better than the candidate.
    """
    sober = table[~table["infinite"] & ~table["sure"]]
    others = sober[sober.index != "none"]
    better = others[beats_start[others.index]]
    found = start if better.empty else _lowest(better)
    if "none" not in table.index:
        return found
    if not miscalibrated and "none" not in sober.index:
        stays = own and found == start and beats_start["none"] and not table.infinite["none"]
        return "none" if stays else found
    score, raw = table.score[found], table.score["none"]
    if miscalibrated and score >= raw:
        lower = others[others.score < raw]
        if not lower.empty:
            return _lowest(lower)
        return "none" if table.lower[found] > 0 and not table.infinite["none"] else found
    little_at_most = table.lower[found] > -little * share * (1 - share)  # False where no interval is known
    return found if miscalibrated or (score < raw and not little_at_most) else "none"


def _lowest(table: pd.DataFrame) -> str:
    """Return the calibrator with the lowest score; ties go to the simplest."""
    return min(table.index, key=lambda key: (table.score[key], by_simplicity(key)))
