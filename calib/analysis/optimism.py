"""Optimism of a random split: the loss that it promises, compared with that of an honest split.

If rows of one customer or of one week resemble each other, a random test set contains relatives of the training
rows, and its loss is too low. The optimism is the mean loss on the honest test set minus
that on a random one, with model and calibrators fitted for each. The two sets count as independent: the
squared half-widths of the two means' intervals add up (Zou & Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel.wording import change_or_clipped, number, with_clipped, with_interval
from calib.metrics import METRICS
from calib.metrics.confidence import mean_interval
from calib.metrics.losses import log_losses, squared_errors
from calib.recipe import Recipe, with_split

ROW_LOSSES = {"brier": squared_errors, "log_loss": log_losses}


@dataclass(frozen=True, eq=False)
class Optimism:
    """Losses of the chosen split and of a random split.

    Attributes
    ----------
    table
        One line per calibrator and metric: calibrator, metric, honest, random, value (honest − random), lower,
        upper (the ends of its 95 % interval, NaN if a loss is infinite), honest_clipped, random_clipped (the clipped
        log losses).
    """

    table: pd.DataFrame

    def sentence(self, calibrator: str) -> str:
        """State the Brier score that a random split gives for one calibrator."""
        lines = self.table[(self.table["calibrator"] == calibrator) & (self.table["metric"] == "brier")]
        if lines.empty:
            return ""
        line = lines.iloc[0]
        gap = with_interval(line.value, line.lower, line.upper)
        scores = f"a Brier score of {number(line.random)} instead of {number(line.honest)}"
        verdict = f"no clear difference ({gap})"
        if line.lower > 0:
            verdict = f"too optimistic by {gap}"
        if line.upper < 0:
            verdict = f"too pessimistic ({gap})"
        return f"For {label_of(calibrator)} a random split would have given {scores}: {verdict}."

    def formatted(self) -> pd.DataFrame:
        """Format for readers, one line per calibrator and metric."""
        return pd.DataFrame(
            {
                "Calibrator": [label_of(key) for key in self.table["calibrator"]],
                "Metric": [METRICS[key].label for key in self.table["metric"]],
                "Honest split": self._losses("honest"),
                "Random split": self._losses("random"),
                "Optimism": list(
                    map(
                        change_or_clipped,
                        map(number, self.table["value"]),
                        self.table["value"],
                        self.table["honest_clipped"] - self.table["random_clipped"],
                    )
                ),
                "95 % interval": [
                    "–" if np.isnan(low) else f"[{number(low)}, {number(high)}]"
                    for low, high in zip(self.table["lower"], self.table["upper"], strict=True)
                ],
            }
        )

    def _losses(self, split: str) -> list[str]:
        """Return a column of losses; infinite ones with the clipped loss beside them."""
        values = self.table[split]
        finite = self.table[f"{split}_clipped"].where(np.isinf(values))
        return list(map(with_clipped, map(number, values), finite))


def random_recipe(recipe: Recipe) -> Recipe:
    """Return the Recipe with a random split; a split in time with folds keeps their number."""
    return recipe.replace(**with_split(recipe, "random"))


def optimism(honest: Evaluation, random: Evaluation) -> Optimism:
    """Compute the optimism of a random split, for every calibrator in both evaluations.

    Parameters
    ----------
    honest, random
        Evaluations of one Recipe on the same data, the second of ``random_recipe``.
    """
    lines = []
    for key in honest.predictions:
        if key not in random.predictions:
            continue
        for metric, loss in ROW_LOSSES.items():
            one, other = (
                mean_interval(each.sample, loss(each.y, each.predictions[key].p)) for each in (honest, random)
            )
            with np.errstate(invalid="ignore"):  # ∞ − ∞ has no value
                value = float(np.subtract(one[0], other[0]))
                below = float(np.hypot(one[0] - one[1], other[2] - other[0]))
                above = float(np.hypot(one[2] - one[0], other[0] - other[1]))
            finite = [np.nan, np.nan]
            if metric == "log_loss":
                clipped = "log_loss_clipped"
                finite = [float(each.measured([clipped])[clipped][key]) for each in (honest, random)]
            lines.append((key, metric, one[0], other[0], value, value - below, value + above, *finite))
    columns = ["calibrator", "metric", "honest", "random", "value", "lower", "upper"]
    return Optimism(pd.DataFrame(lines, columns=[*columns, "honest_clipped", "random_clipped"]))
