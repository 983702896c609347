"""The interval methods of one or several evaluations, in the words of the papers: Venn–Abers, inductive, cross, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calib.analysis.clusters import sampling_effect
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel.records import Predictions
from calib.placements import PLACEMENTS

KINDS = {
    "split": "inductive",
    "cv": "cross",
    "train": "simplified",
    "full": "full",
    "oob": "out of bag",
    "oob_whole": "out of bag, whole ensemble",
}


@dataclass(frozen=True, eq=False)
class Series:
    """One interval method in one placement, on the test rows.

    ``calibration_size`` rows stand behind an answer, ``design_effect`` rows are worth one without clusters,
    and each test row is one of ``counts`` (m,), where its weight is more than that.
    """

    calibrator: str
    placement: str
    predictions: Predictions
    calibration_size: int
    design_effect: float
    counts: np.ndarray | None = None

    @property
    def name(self) -> str:
        return f"{label_of(self.calibrator)}, {kind_of(self.placement)}"


def kind_of(placement: str) -> str:
    """What the papers call an interval method in this placement, or the placement's own name.

    >>> kind_of("cv")
    'cross'
    """
    return KINDS.get(placement) or PLACEMENTS[placement].label.lower()


def series_of(evaluations: Evaluation | Sequence[Evaluation]) -> list[Series]:
    """Every method with intervals in these evaluations, the same calibrator's placements together."""
    many = [evaluations] if isinstance(evaluations, Evaluation) else list(evaluations)
    found = [
        Series(
            key,
            e.recipe.placement,
            each,
            max(1, e.calibration_size // len(e.flow)),
            sampling_effect(e, key),
            e.counts,
        )
        for e in many
        for key, each in e.predictions.items()
        if each.lower is not None
    ]
    order = list(dict.fromkeys(s.calibrator for s in found))
    return sorted(found, key=lambda s: order.index(s.calibrator))
