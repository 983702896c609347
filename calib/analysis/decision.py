"""Decisions to act or not to act if a false alarm and a miss have different costs.

Acting on a row of probability p has the expected cost c_fa (1 − p), not acting c_miss p. Acting is cheaper
if p lies above the threshold t = c_fa / (c_fa + c_miss) (Elkan 2001). Probabilities that are too high or too low put
rows on the wrong side of it: expected and realised costs differ, and calibrated probabilities
cost less. The net benefit of a threshold is TP/n − FP/n · t/(1 − t) (Vickers & Elkin 2006): the share of
rows rightly acted on, less the false alarms at the price that the threshold gives them.

If events are rare, other metrics say something of them, and predictions fill one corner of a diagram from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.differences import reference_of
from calib.analysis.selection import rows_frame
from calib.evaluate import Evaluation
from calib.evaluate.estimate import Difference, Estimate
from calib.kernel import checks
from calib.kernel.binning import quantiles
from calib.kernel.records import Predictions
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import values_and_change
from calib.metrics.confidence_intervals import mean_interval
from calib.metrics.losses import mean

COST_RANGE = (0.001, 1_000_000)  # range of each cost
FALSE_ALARM, MISS = 1.0, 5.0  # default costs
CURVE_THRESHOLDS = np.arange(1, 100) / 100


def threshold(cost_false_alarm: float, cost_miss: float) -> float:
    """Return the probability above which acting is expected to cost less.

    >>> threshold(1, 4)
    0.2
    """
    return cost_false_alarm / (cost_false_alarm + cost_miss)


def expected_costs(p: np.ndarray, cost_false_alarm: float, cost_miss: float) -> np.ndarray:
    """Return each row's expected cost (m,) of the cheaper action, by its own probability (m,).

    >>> expected_costs(np.array([0.1, 0.5]), 1, 4)    # not acted on: 0.1 · 4; acted on: 0.5 · 1
    array([0.4, 0.5])
    """
    return np.minimum(cost_false_alarm * (1 - p), cost_miss * p)


def realised_costs(y: np.ndarray, act: np.ndarray, cost_false_alarm: float, cost_miss: float) -> np.ndarray:
    """Return the cost (m,) of each row with label y (m,), if ``act`` (m,) says whether it was acted on.

    >>> realised_costs(np.array([0, 0, 1, 1]), np.array([True, False, True, False]), 1, 4)
    array([1., 0., 0., 4.])
    """
    return np.where(act, cost_false_alarm * (1.0 - y), cost_miss * y)


def thresholds_within(lowest: float = 0.0, highest: float = 1.0) -> np.ndarray:
    """Return the thresholds (k,) of a decision curve within [0, 1], in steps of 1 % of the range, without 0 and 1.

    >>> thresholds_within(0.1, 0.2)[[0, 1, -1]]
    array([0.1  , 0.101, 0.2  ])
    """
    checks.in_range(lowest, "lowest", 0, 1)
    checks.in_range(highest, "highest", lowest, 1)
    if lowest == highest:
        raise checks.InputError(
            "The lowest and highest thresholds are equal. Choose a lower or a higher threshold for one end "
            "of the range."
        )
    if (lowest, highest) == (0, 1):
        return CURVE_THRESHOLDS
    return np.array([t for t in np.linspace(lowest, highest, 101) if 0 < t < 1])


def net_benefit(
    y: np.ndarray, p: np.ndarray, thresholds: np.ndarray = CURVE_THRESHOLDS, weight: np.ndarray | None = None
) -> np.ndarray:
    """Compute TP/n − FP/n · t/(1 − t) at each threshold t in (0, 1), for acting on rows with p > t.

    >>> net_benefit(np.array([0, 1, 1, 0]), np.array([0.9, 0.8, 0.1, 0.2]), np.array([0.5]))    # 1/4 − 1/4
    array([0.])
    """
    order = np.argsort(p)
    first = np.searchsorted(p[order], thresholds, side="right")  # first row that is acted on
    each = or_ones(weight, len(p))[order]
    above, hits = (np.append(np.cumsum(counts[::-1])[::-1], 0.0)[first] for counts in (each, each * y[order]))
    return (hits - (above - hits) * thresholds / (1 - thresholds)) / each.sum()


def benefits(y: np.ndarray, t: float) -> np.ndarray:
    """Return the change in net benefit from acting on each row: 1 for class 1, −t/(1 − t) for class 0."""
    return np.where(y == 1, 1.0, -t / (1 - t))


def benefit_steps(t: float) -> tuple[float, float]:
    """Return the absolute change in net benefit at a threshold from acting on a row of class 0 and of class 1."""
    return t / (1 - t), 1.0


def gain(evaluation: Evaluation, key: str, t: float) -> tuple[float, float, float]:
    """Return (mean, lower, upper) of a calibrator's net benefit at a threshold minus that of the better simple rule.

    The simple rules act on all rows or on none.
    """
    each, share = benefits(evaluation.y, t), evaluation.share
    rule = each if share > (1 - share) * t / (1 - t) else np.zeros_like(each)
    acted = each * (evaluation.predictions[key].p > t)
    return mean_interval(evaluation.sample, acted - rule, steps=benefit_steps(t))


def undecided(predictions: Predictions, t: float) -> np.ndarray:
    """Return bool (m,): whether the ends of each interval lie on different sides of t, so that they suggest different
    actions.

    An end on the threshold itself decides as below it.

    >>> lower, upper = np.array([0.1, 0.3, 0.5]), np.array([0.2, 0.6, 0.9])
    >>> undecided(Predictions(np.array([0, 1, 1]), np.zeros(3), lower, upper), 0.5)
    array([False,  True,  True])
    """
    lower, upper = _ends(predictions)
    return (lower > t) != (upper > t)


def _ends(predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    assert predictions.lower is not None, "this method gives no intervals"
    assert predictions.upper is not None
    return predictions.lower, predictions.upper


@dataclass(frozen=True, eq=False)
class Costed:
    """Costs per test row of deciding by each calibrator's probabilities.

    Attributes
    ----------
    table
        One line per calibrator: further columns, then expected and realised cost, and the difference of realised
        costs from ``reference``, each with _lower and _upper, the ends of its 95 % interval.
    """

    evaluation: Evaluation
    table: pd.DataFrame
    reference: str

    @property
    def cheapest(self) -> str:
        """Return the calibrator with the lowest realised cost, the first on a tie."""
        return str(self.table["realised"].idxmin())

    def cost(self, name: str, key: str) -> Estimate:
        """Return the "expected" or the "realised" cost of a calibrator, with its interval."""
        return Estimate(**self._known(name, key))

    def difference(self, key: str) -> Difference:
        """Return the realised cost of a calibrator minus that of the reference, with its interval."""
        return Difference(**self._known("difference", key), against=self.reference)

    def changed_cost(self, key: str, digits: int = 2) -> tuple[str, str]:
        """Format the realised costs of the reference and of a calibrator, in the decimals of their difference.

        ``digits`` are those of the difference.
        """
        before, after = (self.cost("realised", each).value for each in (self.reference, key))
        gap = self.difference(key)
        return values_and_change(before, after, gap.value, gap.low, gap.high, digits)[:2]

    def _known(self, name: str, key: str) -> dict[str, Any]:
        """Return the fields of an ``Estimate``."""
        one, columns = self.evaluation, {"value": name, "low": f"{name}_lower", "high": f"{name}_upper"}
        numbers = {end: float(self.table.loc[key, column]) for end, column in columns.items()}
        where = {"rows": one.size_text, "base_rate": one.recipe.base_rate}
        return {"metric": f"{name} cost", "calibrator": key, **where, **numbers}


@dataclass(frozen=True, eq=False)
class Decision(Costed):
    """Decisions to act, for one pair of costs.

    Attributes
    ----------
    table
        Its further columns are acted (share), false_alarms and misses (rows, or their total weight).
    never, always
        Realised costs per row of the two rules without a model.
    undecided
        Method with intervals → bool (m,), the test rows whose interval includes the threshold.
    """

    cost_false_alarm: float
    cost_miss: float
    threshold: float
    never: float
    always: float
    undecided: Mapping[str, np.ndarray]

    def undecided_share(self, method: str) -> float:
        """Return the weighted share of test rows that a method leaves undecided."""
        return mean(self.undecided[method].astype(float), self.evaluation.weight)

    def undecided_frame(self, method: str, most: int | None = None) -> pd.DataFrame:
        """Return the rows whose interval by ``method`` includes the threshold, widest first."""
        rows = np.flatnonzero(self.undecided[method])
        predictions = self.evaluation.predictions[method]
        lower, upper = _ends(predictions)
        rows = rows[np.argsort(-predictions.width[rows], kind="stable")][:most]
        table = rows_frame(self.evaluation, rows)
        table.insert(2, "lower end", lower[rows])
        table.insert(3, "upper end", upper[rows])
        return table


def decide(
    evaluation: Evaluation,
    *,
    cost_false_alarm: float = FALSE_ALARM,
    cost_miss: float = MISS,
) -> Decision:
    """Compute the costs of acting on every calibrator's probabilities on the test rows, for two costs.

    Intervals come from ``calib.metrics.confidence_intervals.mean_interval`` over the test rows.

    Raises
    ------
    InputError
        For costs outside ``COST_RANGE``.

    Examples
    --------
    >>> from calib import Recipe, evaluate, load_sample
    >>> evaluation = evaluate(Recipe(model="naive_bayes"), load_sample("digits"))
    >>> costs = decide(evaluation, cost_false_alarm=1, cost_miss=1).table.loc["none"]
    >>> # at equal costs each mistake costs one
    >>> bool(np.isclose(costs.realised, 1 - evaluation.metrics.loc["none", "accuracy"]))
    True
    """
    false_alarm = float(checks.in_range(cost_false_alarm, "cost_false_alarm", *COST_RANGE))
    miss = float(checks.in_range(cost_miss, "cost_miss", *COST_RANGE))
    t = threshold(false_alarm, miss)
    keys = list(evaluation.predictions)
    reference = reference_of(keys) if keys else "none"
    table = _costs_of(evaluation, false_alarm, miss, reference)
    share = evaluation.share
    intervals = {key: each for key, each in evaluation.predictions.items() if each.lower is not None}
    straddling = MappingProxyType({key: undecided(each, t) for key, each in intervals.items()})
    never, always = miss * share, false_alarm * (1 - share)
    return Decision(evaluation, table, reference, false_alarm, miss, t, never, always, straddling)


def _costs_of(evaluation: Evaluation, false_alarm: float, miss: float, reference: str) -> pd.DataFrame:
    """Return one line per calibrator: the rows acted on, the mistakes, and mean costs with their intervals."""
    y, weight, keys = evaluation.y, evaluation.weight, list(evaluation.predictions)
    told = evaluation.stated_weight if evaluation.unadjusted is None else weight
    p = [evaluation.predictions[key].p for key in keys]
    acted = [values > threshold(false_alarm, miss) for values in p]
    table = pd.DataFrame(
        {
            "acted": [mean(act, weight) for act in acted],
            "false_alarms": [_rows(act & (y == 0), told) for act in acted],
            "misses": [_rows(~act & (y == 1), told) for act in acted],
        },
        index=pd.Index(keys, name="calibrator"),
    )
    expected = [expected_costs(values, false_alarm, miss) for values in p]
    realised = [realised_costs(y, act, false_alarm, miss) for act in acted]
    return with_costs(table, evaluation, expected, realised, reference, (false_alarm, miss))


def with_costs(
    table: pd.DataFrame,
    evaluation: Evaluation,
    expected: Sequence[np.ndarray],
    realised: Sequence[np.ndarray],
    reference: str,
    steps: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Add mean costs with their intervals to a table by calibrator: expected, realised and difference.

    Parameters
    ----------
    expected, realised
        Costs of the test rows (m,), per calibrator.
    reference
        The calibrator whose realised costs are subtracted in the difference.
    steps
        As for ``mean_interval``, for realised costs and differences.
    """
    keys, rows = list(table.index), evaluation.sample
    against = [cost - realised[keys.index(reference)] for cost in realised]
    for name, costs in (("expected", expected), ("realised", realised), ("difference", against)):
        found = [mean_interval(rows, each, steps=None if name == "expected" else steps) for each in costs]
        if name == "difference" and keys:
            found[keys.index(reference)] = 0.0, 0.0, 0.0
        table[[name, f"{name}_lower", f"{name}_upper"]] = np.array(found).reshape(-1, 3)
    return table


def _rows(which: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the number of some rows, or their total weight if weights are not counts."""
    each = or_ones(weight, len(which))
    total = float(each @ which)
    return round(total) if are_whole(each) else total


RARE_SHARE = 0.05
LEADING_METRICS = ("brier", "ece", "log_loss")
LEADING_IF_RARE = ("log_loss", "brier", "observed_expected", "average_precision")
LEAST_GAIN = 0.05  # relative to the net benefit of a perfect rule, which is the share of class 1
THRESHOLDS = np.geomspace(1e-7, 0.99, 500)


def leading_metrics(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the four metrics to show first.

    Accuracy is not among them if the minority class has fewer than 5 % of the rows, because a model that never
    predicts it is nearly always right.

    >>> from calib import check
    >>> [leading_metrics(check([0] * n + [1] * m, [0.5] * (n + m)))[-1] for n, m in ((99, 1), (50, 50), (1, 99))]
    ['average_precision', 'accuracy', 'auc']
    """
    if evaluation.share < RARE_SHARE:
        return LEADING_IF_RARE
    return (*LEADING_METRICS, "auc" if evaluation.share > 1 - RARE_SHARE else "accuracy")


def small_median(evaluation: Evaluation) -> float | None:
    """Return the median prediction (the middle one over calibrators) if it is below 5 %, else None."""
    if not evaluation.predictions:
        return None
    half = np.array([0.5])
    medians = [float(quantiles(each.p, half, each.weight)[0]) for each in evaluation.predictions.values()]
    middle = float(np.median(medians))
    return middle if middle < RARE_SHARE else None


def thresholds_in_use(evaluation: Evaluation) -> float | None:
    """Return the upper end of useful thresholds if predictions are small: 1, 2 or 5 at some decimal place.

    Beyond it no calibrator has a twentieth of the net benefit of a perfect rule. It is at least twice the
    share of class 1, up to which acting on all rows competes. None if predictions are not small.
    """
    if small_median(evaluation) is None:
        return None
    share, weight = evaluation.share, evaluation.weight
    each = [net_benefit(evaluation.y, one.p, THRESHOLDS, weight) for one in evaluation.predictions.values()]
    gained = THRESHOLDS[np.max(each, axis=0) >= LEAST_GAIN * share]
    return _rounded_up(max(2 * share, gained.max(initial=THRESHOLDS[0])))


def _rounded_up(value: float) -> float:
    """Round up to the next of 1, 2 and 5 at any decimal place, at most 1.

    >>> _rounded_up(0.0031), _rounded_up(0.02), _rounded_up(0.6)
    (0.005, 0.02, 1.0)
    """
    places = -math.floor(math.log10(value))
    ends = (round(step * 10.0**-places, places) for step in (1, 2, 5, 10))
    return min(1.0, next(end for end in ends if end >= value))
