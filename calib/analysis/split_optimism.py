"""Optimism of a random split: the loss that it promises, compared with that of an honest split.

If rows of one customer or of one week resemble each other, a random test set contains relatives of the training
rows, and its loss is too low. The optimism is the mean loss on the honest test set minus
that on a random one, with model and calibrators fitted for each. The two sets count as independent: the
squared half-widths of the two means' intervals add up (Zou & Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.evaluate.estimate import Difference, Estimate
from calib.kernel.wording import change_or_clipped, number, with_interval
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import mean_interval
from calib.metrics.losses import log_losses, squared_errors
from calib.recipe import Recipe, with_split

ROW_LOSSES = {"brier": squared_errors, "log_loss": log_losses}


class OfLoss(NamedTuple):
    """A mean loss of one calibrator on the chosen split and on a random split, and the first minus the second."""

    honest: Estimate
    random: Estimate
    difference: Difference


@dataclass(frozen=True)
class SplitOptimism:
    """Losses of the chosen split and of a random split, one per calibrator and metric."""

    found: tuple[OfLoss, ...]

    @property
    def table(self) -> pd.DataFrame:
        """Columns calibrator, metric, honest, random, value, lower, upper; the ends are NaN if a loss is infinite."""
        columns = ["calibrator", "metric", "honest", "random", "value", "lower", "upper"]
        lines = [
            (gap.calibrator, gap.metric, honest.value, random.value, gap.value, gap.low, gap.high)
            for honest, random, gap in self.found
        ]
        return pd.DataFrame(lines, columns=columns)

    def sentence(self, calibrator: str) -> str:
        """State the Brier score that a random split gives for one calibrator."""
        found = next((each for each in self.found if each.honest.is_of("brier", calibrator)), None)
        if found is None:
            return ""
        honest, random, gap = found
        shown = with_interval(gap.value, gap.low, gap.high)
        scores = f"a Brier score of {random.text()} instead of {honest.text()}"
        verdict = f"no clear difference ({shown})"
        if gap.clear:
            verdict = f"too optimistic by {shown}" if gap.value > 0 else f"too pessimistic ({shown})"
        return f"For {label_of(calibrator)} a random split would have given {scores}: {verdict}."

    def formatted(self) -> pd.DataFrame:
        """Format for readers, one line per calibrator and metric."""
        return pd.DataFrame(
            [
                {
                    "Calibrator": label_of(gap.calibrator),
                    "Metric": METRICS[gap.metric].label,
                    "Honest split": honest.text(),
                    "Random split": random.text(),
                    "Optimism": change_or_clipped(number(gap.value), gap.value, gap.clipped),
                    "95 % interval": "–" if isnan(gap.low) else f"[{number(gap.low)}, {number(gap.high)}]",
                }
                for honest, random, gap in self.found
            ]
        )


def random_recipe(recipe: Recipe) -> Recipe:
    """Return the Recipe with a random split; a split in time with folds keeps their number."""
    return recipe.replace(**with_split(recipe, "random"))


def split_optimism(honest: Evaluation, random: Evaluation) -> SplitOptimism:
    """Compute the optimism of a random split, for every calibrator in both evaluations.

    Parameters
    ----------
    honest, random
        Evaluations of one Recipe on the same data, the second of ``random_recipe``.
    """
    return SplitOptimism(
        tuple(
            _of_loss(honest, random, metric, key)
            for key in honest.predictions
            if key in random.predictions
            for metric in ROW_LOSSES
        )
    )


def _of_loss(honest: Evaluation, random: Evaluation, metric: str, key: str) -> OfLoss:
    """Compute the optimism in one mean loss of one calibrator."""
    loss = ROW_LOSSES[metric]
    one, other = (each.estimate(metric, key, interval=False) for each in (honest, random))
    (a, low, high), (b, least, most) = (
        mean_interval(each.sample, loss(each.y, each.predictions[key].p)) for each in (honest, random)
    )
    with np.errstate(invalid="ignore"):  # ∞ − ∞ has no value
        value = float(np.subtract(one.value, other.value))
        below, above = float(np.hypot(a - low, most - b)), float(np.hypot(high - a, b - least))
    finite = [each.value if isnan(each.clipped) else each.clipped for each in (one, other)]
    gap = Difference(
        metric,
        key,
        honest.size_text,
        honest.recipe.base_rate,
        value,
        value - below,
        value + above,
        finite[0] - finite[1],
        against="random split",
    )
    return OfLoss(one, other, gap)
