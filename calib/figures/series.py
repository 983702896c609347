"""The interval methods of one or several evaluations, with the papers' names: inductive, cross, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calib.analysis.clusters import sampling_effect
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.placements import PLACEMENTS

PREDICTOR_KINDS = {
    "split": "inductive",
    "cv": "cross",
    "train": "simplified",
    "full": "full",
    "oob": "out of bag",
    "oob_whole": "out of bag, whole ensemble",
}


@dataclass(frozen=True, eq=False)
class Series:
    """One interval method with one kind of calibration data, on the test rows.

    ``calibration_size`` is the number of calibration rows of a probability, ``design_effect`` the number of rows
    worth one without clusters, and ``counts`` (m,) the rows that each test row represents, if its weight is larger.
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
    """Return the papers' name of an interval method with these calibration data, or the name of the placement.

    >>> kind_of("cv")
    'cross'
    """
    return PREDICTOR_KINDS.get(placement) or PLACEMENTS[placement].label.lower()


def series_of(evaluations: Evaluation | Sequence[Evaluation]) -> list[Series]:
    """Return every method with intervals in these evaluations, with the placements of a calibrator together.

    Raises
    ------
    InputError
        If there is none.
    """
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
    if not found:
        raise InputError(
            "No method with intervals can be fitted here, because Venn and Venn–Abers need "
            "calibration scores."
        )
    order = list(dict.fromkeys(s.calibrator for s in found))
    return sorted(found, key=lambda s: order.index(s.calibrator))
