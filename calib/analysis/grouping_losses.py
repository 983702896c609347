"""Grouping loss of an Evaluation by several partitions, and the possible gain of a better model in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.audit.of_evaluation import table_of
from calib.analysis.grouping import FEWEST_GROUPING_ROWS, PARTITIONS, GroupingLoss, grouping_loss
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import number, with_interval

PARTITION_NAMES = {"tree": "Tree", "k-means": "k-means", "columns": "One column"}


@dataclass(frozen=True, eq=False)
class GroupingLosses:
    """Lower bounds of the grouping loss of one calibrator's predictions, one per partition.

    Attributes
    ----------
    brier
        Brier score of the same predictions on all test rows.
    """

    evaluation: Evaluation
    calibrator: str
    columns: tuple[str, ...]
    losses: tuple[GroupingLoss, ...]
    brier: float

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of ``grouping_losses`` that were given."""
        return {"columns": self.columns} if self.columns else {}

    @property
    def best(self) -> GroupingLoss:
        """The partition with the largest low end of its interval, then the largest bound."""
        return max(self.losses, key=lambda each: (each.interval[0], each.lower))

    @property
    def level(self) -> float:
        """Level of each of several tests that together err in 5 of 100 tables (Bonferroni)."""
        return 0.05 / len(self.losses)

    def to_frame(self) -> pd.DataFrame:
        """Return one line per partition: its parts, lower bound with interval, p-value, regions and rows."""
        return pd.DataFrame(
            {
                "partition": each.partition,
                "explained": each.explained,
                "bias": each.bias,
                "induced": each.induced,
                "lower_bound": each.lower,
                "interval_low": each.interval[0],
                "interval_high": each.interval[1],
                "p_value": each.p_value,
                "regions": each.regions,
                "rows": each.rows,
            }
            for each in self.losses
        )


def partition_name(key: str) -> str:
    """Name a partition as the pages do."""
    return PARTITION_NAMES.get(key, key)


def grouping_losses(
    evaluation: Evaluation, calibrator: str, columns: Sequence[str] = (), watch: Watch | None = None
) -> GroupingLosses:
    """Bound the grouping loss of a calibrator's predictions from below by every partition.

    Parameters
    ----------
    columns
        Columns that define regions; by default all of ``columns_of``.

    Raises
    ------
    InputError
        For an unknown calibrator or column, weights, clusters, a deployment base rate, and fewer than 100 rows.
    """
    checks.one_of(calibrator, evaluation.predictions, "calibrator")
    _check(evaluation)
    table, watch = table_of(evaluation, columns), watch or Watch()

    def losses() -> tuple[GroupingLoss, ...]:
        return tuple(
            _loss(evaluation, calibrator, table, key) for key in watch.loop(list(PARTITIONS), "partition")
        )

    found = cached_result(evaluation, ("grouping_losses", calibrator, tuple(columns)), losses)
    p = evaluation.predictions[calibrator].p
    return GroupingLosses(
        evaluation, calibrator, tuple(columns), found, float(np.mean((p - evaluation.y) ** 2))
    )


def _check(evaluation: Evaluation) -> None:
    if evaluation.recipe.base_rate is not None:
        raise InputError(
            "The grouping loss can only be measured at the table’s base rate. Remove the deployment base "
            "rate."
        )
    if evaluation.weight is not None:
        raise InputError(
            "The grouping loss cannot be estimated from weighted rows. Clear the column under “Weight or "
            "count”."
        )
    if evaluation.cluster is not None:
        raise InputError("The grouping loss needs independent rows. Clear the column under “Cluster”.")
    if len(evaluation.y) < FEWEST_GROUPING_ROWS:
        raise InputError(
            f"The grouping loss needs at least {FEWEST_GROUPING_ROWS} test rows, but there are {len(evaluation.y)}."
        )


def _loss(evaluation: Evaluation, calibrator: str, table: pd.DataFrame, partition: str) -> GroupingLoss:
    return grouping_loss(
        evaluation.y,
        evaluation.predictions[calibrator].p,
        table,
        random_state=evaluation.recipe.seed,
        partition=partition,
    )


def finding(found: GroupingLosses) -> str:
    """Summarise the result of all partitions."""
    best, clearest = found.best, min(found.losses, key=lambda each: each.p_value)
    if best.interval[0] or clearest.p_value > found.level:
        return gain_of(best)
    return (
        f"There is grouping loss (p = {number(clearest.p_value)}), but its size is uncertain. These regions explain at "
        f"most {number(max(each.interval[1] for each in found.losses))} of the Brier score."
    )


def gain_of(found: GroupingLoss) -> str:
    """State the gain in Brier score that a better model could have and no calibrator can."""
    low, high = found.interval
    if not low:
        return f"No grouping loss was found. These regions explain at most {number(high)} of the Brier score."
    bound = with_interval(found.lower, low, high)
    return (
        f"A better model could lower the Brier score by at least {bound}. No calibrator can do so, because "
        "this part is grouping loss."
    )


def gain_sentence(evaluation: Evaluation, calibrator: str, columns: Sequence[str] = ()) -> str:
    """State the possible gain of a better model by a tree's regions; "" if the grouping loss is not computed here."""
    try:
        _check(evaluation)
    except InputError:
        return ""
    return gain_of(_loss(evaluation, calibrator, table_of(evaluation, columns), "tree"))
