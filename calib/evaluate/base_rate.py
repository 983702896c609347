"""Adjust a finished Evaluation to another base rate, or other shares of K classes, after the calibrators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from calib.evaluate.fitting import Fitted
from calib.evaluate.record import Evaluation
from calib.evaluate.rows import unweighted_notes
from calib.kernel.base_rate import BaseRate, BaseRates, change_between, class_weights
from calib.kernel.checks import InputError, short_repr
from calib.kernel.records import Dataset, Predictions
from calib.kernel.wording import class_named, listed, number
from calib.placements import Placement
from calib.placements.adjusted import Adjusted
from calib.recipe import Recipe

Stated = float | tuple[float, ...]
"""Base rate of class 1, or shares (K,) of K classes."""


def at_base_rate(found: Evaluation, fitted: Fitted, stated: Stated) -> Evaluation:
    """Adjust an Evaluation to a deployment base rate, or to shares of K classes.

    Each fold starts from the base rate of its calibration rows. The true probabilities, if known, are adjusted from
    their mean over the whole table.
    """
    # The table's own Evaluation gets the chosen classes too, so that both are evaluated on the same outcomes
    of_kind = (_of_classes if found.classes > 2 else _of_two)(found, fitted, stated)
    weight = class_weights(found.y, stated, found.weight)
    predictions, calibrators = _adjusted(
        found,
        fitted,
        weight,
        lambda placed, made: rate_change(placed.base_rate(made), stated, found.dataset),
    )
    adjusted = replace(
        found,
        predictions=predictions,
        calibrators=calibrators,
        weight=weight,
        unadjusted=replace(found, chosen=of_kind.get("chosen")),
        **of_kind,
    )
    note = f"{_change_note(found, stated, calibrators)} {_weighted(found, weight)}"
    return replace(adjusted, notes=tuple(dict.fromkeys((note, *found.notes, *unweighted_notes(weight)))))


def _of_two(found: Evaluation, fitted: Fitted, stated: Any) -> dict[str, Any]:
    """Return the fields of two classes at a deployment base rate."""
    posterior, truth = found.posterior, fitted.dataset.posterior
    if posterior is not None and truth is not None:
        own = float(np.average(truth, weights=fitted.dataset.weight))
        posterior = BaseRate(own, stated).adjust(posterior)
    return {"recipe": found.recipe.replace(base_rate=stated), "posterior": posterior}


def _of_classes(found: Evaluation, fitted: Fitted, stated: Any) -> dict[str, Any]:
    """Return the fields of K classes at stated shares, with the class that the model predicts at these shares."""
    data = found.dataset
    _check_present(found.y, data, "test row")
    chosen = [
        rate_change(part.placed.model_rate, stated, data).adjust(part.tests.scores).argmax(axis=1)
        for part in fitted.parts
    ]
    recipe = found.recipe.replace(base_rates=dict(zip(data.names, stated, strict=True)))
    return {"recipe": recipe, "chosen": np.concatenate(chosen)}


def _adjusted(
    found: Evaluation,
    fitted: Fitted,
    weight: np.ndarray,
    change: Callable[[Placement, Any], BaseRate | BaseRates],
) -> tuple[Mapping[str, Predictions], Mapping[str, tuple[Adjusted, ...]]]:
    """Return predictions and calibrators after the change that each fold's calibrator needs."""
    ends = np.cumsum([len(part.test) for part in fitted.parts])[:-1]
    predictions, calibrators = {}, {}
    for key, made in found.calibrators.items():
        rates = [change(part.placed, one) for part, one in zip(fitted.parts, made, strict=True)]
        folds = zip(rates, np.split(found.predictions[key].p, ends), strict=True)
        ratio = np.concatenate([np.broadcast_to(rate.odds_ratio(p), p.shape) for rate, p in folds])
        predictions[key] = found.predictions[key].adjusted(ratio, weight)
        calibrators[key] = tuple(Adjusted(one, rate) for one, rate in zip(made, rates, strict=True))
    return MappingProxyType(predictions), MappingProxyType(calibrators)


def stated_rate(recipe: Recipe, data: Dataset) -> Stated | None:
    """Return the base rate that a Recipe states, or the shares (K,) of the classes in order; None if it states none.

    Raises
    ------
    InputError
        If it states a base rate for K classes or shares for two, or does not name exactly the classes of the data.
    """
    given: Mapping[str, float] = dict(recipe.base_rates)
    if not data.joint:
        if given:
            raise InputError(
                "base_rates applies only to three or more classes together. For two classes, state base_rate."
            )
        return recipe.base_rate
    if recipe.base_rate is not None:
        raise InputError(
            "base_rate: with three or more classes together there is no single base rate. State the share of every "
            "class (base_rates), choose one class against the rest (positive), or remove base_rate."
        )
    for name in (*given, *data.names) if given else ():
        if name not in data.names or name not in given:
            raise InputError(
                f"base_rates must name each of the classes {listed(list(map(short_repr, data.names[:20])))} once. "
                f"{short_repr(name)} is {'missing' if name in data.names else 'not a class'}."
            )
    return tuple(given[name] for name in data.names) if given else None


def _check_present(y: np.ndarray, data: Dataset, noun: str) -> None:
    lacking = np.setdiff1d(np.arange(data.n_classes), y)
    if lacking.size:
        raise InputError(
            f"base_rates: no {noun} is in {class_named(data.names[lacking[0]])}, so its share cannot be adjusted. "
            "Merge or exclude this class, or use more rows."
        )


def rate_change(fitted: Any, stated: Stated, data: Dataset | None = None) -> BaseRate | BaseRates:
    """Return the change from the base rate of the calibration rows, or from their shares of K classes."""
    if data is not None and data.joint:
        _check_present(np.flatnonzero(fitted), data, "training or calibration row")
    elif not 0 < fitted < 1:
        raise InputError(
            "base_rate: all calibration rows with a positive weight are in one class, so there is no base "
            "rate to adjust. Use more rows or other weights, or leave base_rate unset."
        )
    return change_between(fitted, stated)


def _change_note(found: Evaluation, stated: Any, calibrators: Mapping[str, tuple[Adjusted, ...]]) -> str:
    if found.classes > 2:
        return (
            "For the deployment class shares, each probability is multiplied by the ratio of the new to the "
            "old share of its class. Each row is then divided by its sum."
        )
    ratios = {float(one.rate.odds_ratio(0.5)) for made in calibrators.values() for one in made} or {1.0}
    ends = dict.fromkeys(number(end) for end in (min(ratios), max(ratios)))
    return (
        f"The base rate is {found.share:.3g} in the test rows and {stated:.3g} in deployment. All odds are "
        f"multiplied by {' to '.join(ends)}, computed from the base rate of the calibration data."
    )


def _weighted(found: Evaluation, weight: np.ndarray) -> str:
    return (
        f"The {found.size_text} are weighted by class, so their means are only as precise as means over "
        f"{round(float(weight.sum())):,} unweighted rows. This weighting is correct only if deployment and "
        f"this table differ in nothing but the base rate."
    )
