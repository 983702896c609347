"""Move a finished Evaluation to a deployment base rate: a step of its own, after the calibrators."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from calib.evaluate.fitting import Fitted
from calib.evaluate.notes import unweighted_notes
from calib.evaluate.record import Evaluation
from calib.kernel.base_rate import BaseRate, class_weights
from calib.kernel.checks import InputError
from calib.kernel.wording import number
from calib.placements import Placement
from calib.placements.adjusted import Adjusted


def at_base_rate(found: Evaluation, fitted: Fitted, stated: float) -> Evaluation:
    """Move an Evaluation to a deployment base rate; each fold starts from the rate at which its calibrators are right.

    The true probabilities move from their own mean over the whole table.
    """
    sizes = [len(part.test) for part in fitted.parts]
    weight = class_weights(found.y, stated, found.weight)
    predictions, calibrators, ratios = {}, {}, set()
    for key, made in found.calibrators.items():
        rates = [rate_change(part.placed, one, stated) for part, one in zip(fitted.parts, made, strict=True)]
        ratio = np.repeat([rate.ratio for rate in rates], sizes)
        ratios |= set(ratio)
        predictions[key] = found.predictions[key].adjusted(ratio, weight)
        calibrators[key] = tuple(Adjusted(one, rate) for one, rate in zip(made, rates, strict=True))
    posterior, truth = found.posterior, fitted.dataset.posterior
    if posterior is not None and truth is not None:
        posterior = BaseRate(float(np.average(truth, weights=fitted.dataset.weight)), stated).adjust(
            posterior
        )
    return replace(
        found,
        recipe=found.recipe.replace(base_rate=stated),
        predictions=MappingProxyType(predictions),
        calibrators=MappingProxyType(calibrators),
        posterior=posterior,
        weight=weight,
        notes=tuple(
            dict.fromkeys(
                (_adjusted_note(found, stated, weight, ratios), *found.notes, *unweighted_notes(weight))
            )
        ),
        before=found,
    )


def rate_change(placed: Placement, made: Any, stated: float) -> BaseRate:
    """Return the change from the base rate of the calibration rows to the deployment base rate."""
    fitted = placed.base_rate(made)
    if not 0 < fitted < 1:
        raise InputError(
            "base_rate: all calibration rows with a positive weight are of one class, so there is no base rate to "
            "adjust. Use more rows or other weights, or leave base_rate unset."
        )
    return BaseRate(fitted, stated)


def _adjusted_note(found: Evaluation, stated: float, weight: np.ndarray, ratios: set[float]) -> str:
    ends = dict.fromkeys(number(end) for end in (min(ratios, default=1.0), max(ratios, default=1.0)))
    return (
        f"At a deployment base rate of {stated:.3g} instead of {found.share:.3g} in the test rows, all odds are "
        f"multiplied by {' to '.join(ends)}. The {found.judged_by} are weighted by class, so their means are only as "
        f"precise as means over {round(float(weight.sum())):,} rows. This is correct only if deployment "
        "differs from this table only in the base rate."
    )
