"""Adjust a finished Evaluation to a deployment base rate, as a separate step after the calibrators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from calib.evaluate.fitting import Fitted
from calib.evaluate.notes import unweighted_notes
from calib.evaluate.record import Evaluation
from calib.kernel.base_rate import BaseRate, BaseRates, class_weights
from calib.kernel.checks import InputError, short_repr
from calib.kernel.records import Dataset, Predictions
from calib.kernel.wording import class_named, listed, number
from calib.placements import Placement
from calib.placements.adjusted import Adjusted
from calib.recipe import Recipe


def at_base_rate(found: Evaluation, fitted: Fitted, stated: float) -> Evaluation:
    """Adjust an Evaluation to a deployment base rate; each fold starts from the base rate of its calibration rows.

    The true probabilities, if known, are adjusted from their mean over the whole table.
    """
    weight = class_weights(found.y, stated, found.weight)
    predictions, calibrators = _adjusted(
        found, fitted, weight, lambda placed, made: rate_change(placed, made, stated)
    )
    posterior, truth = found.posterior, fitted.dataset.posterior
    if posterior is not None and truth is not None:
        posterior = BaseRate(float(np.average(truth, weights=fitted.dataset.weight)), stated).adjust(
            posterior
        )
    adjusted = replace(
        found,
        recipe=found.recipe.replace(base_rate=stated),
        predictions=predictions,
        calibrators=calibrators,
        posterior=posterior,
        weight=weight,
        before=found,
    )
    ratios = {float(one.rate.odds_ratio(0.5)) for made in calibrators.values() for one in made}
    return _noted(adjusted, _adjusted_note(found, stated, weight, ratios))


def at_base_rates(found: Evaluation, fitted: Fitted, stated: tuple[float, ...]) -> Evaluation:
    """Adjust an Evaluation of K classes to stated shares (K,) of the classes, as ``at_base_rate`` does."""
    data = found.dataset
    _check_present(found.y, data, "test row")
    weight = class_weights(found.y, stated, found.weight)
    predictions, calibrators = _adjusted(
        found, fitted, weight, lambda placed, made: _shares_change(placed.base_rate(made), stated, data)
    )
    chosen = predicted_at(fitted, stated)
    adjusted = replace(
        found,
        recipe=found.recipe.replace(base_rates=dict(zip(data.names, stated, strict=True))),
        predictions=predictions,
        calibrators=calibrators,
        weight=weight,
        before=replace(found, chosen=chosen),  # so that both are evaluated on the same outcomes
        chosen=chosen,
    )
    return _noted(
        adjusted,
        f"At the stated shares of the classes, each probability is multiplied by the ratio of its class's shares. Each "
        f"row is then divided by its sum. {_weighted(found, weight)}",
    )


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


def predicted_at(fitted: Fitted, stated: tuple[float, ...]) -> np.ndarray:
    """Return the class (m,) that the model predicts for each test row, at these shares of the classes."""
    parts = [
        _shares_change(part.placed.model_rate, stated, fitted.dataset)
        .adjust(part.tests.scores)
        .argmax(axis=1)
        for part in fitted.parts
    ]
    return np.concatenate(parts)


def _shares_change(fitted: np.ndarray, stated: tuple[float, ...], data: Dataset) -> BaseRates:
    _check_present(np.flatnonzero(fitted), data, "training or calibration row")
    return BaseRates(tuple(fitted), stated)


def stated_shares(recipe: Recipe, data: Dataset) -> tuple[float, ...] | None:
    """Return the shares (K,) that a Recipe states, in the order of the classes; None if it states none.

    Raises
    ------
    InputError
        If the named classes are not exactly those of the data, or a single base rate is stated.
    """
    if recipe.base_rate is not None:
        raise InputError(
            "base_rate: with three or more classes together there is no single base rate. State the share of every "
            "class (base_rates), choose one class against the rest (positive), or remove base_rate."
        )
    given: Mapping[str, float] = dict(recipe.base_rates)
    if not given:
        return None
    for name in (*given, *data.names):
        if name not in data.names or name not in given:
            raise InputError(
                f"base_rates must name each of the classes {listed(list(map(short_repr, data.names[:20])))} once. "
                f"{short_repr(name)} is {'missing' if name in data.names else 'not a class'}."
            )
    return tuple(given[name] for name in data.names)


def _check_present(y: np.ndarray, data: Dataset, noun: str) -> None:
    lacking = np.setdiff1d(np.arange(data.n_classes), y)
    if lacking.size:
        raise InputError(
            f"base_rates: no {noun} is in {class_named(data.names[lacking[0]])}, so its share cannot be adjusted. "
            "Merge or leave out this class, or use more rows."
        )


def _noted(found: Evaluation, note: str) -> Evaluation:
    assert found.weight is not None
    return replace(found, notes=tuple(dict.fromkeys((note, *found.notes, *unweighted_notes(found.weight)))))


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
        f"multiplied by {' to '.join(ends)}. {_weighted(found, weight)}"
    )


def _weighted(found: Evaluation, weight: np.ndarray) -> str:
    return (
        f"The {found.size_text} are weighted by class, so their means are only as "
        f"precise as means over {round(float(weight.sum())):,} rows. This is correct only if deployment "
        "differs from this table only in the base rate."
    )
