"""Two-class views of an Evaluation: class k against the rest, or the predicted class and its probability (confidence).

Every diagram, table and interval takes a view. With two classes, the Evaluation is itself the view of class 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calib.evaluate.rows import RowCount, count_rows
from calib.kernel.checks import InputError, one_of
from calib.kernel.records import Dataset, Predictions
from calib.kernel.weights import or_ones
from calib.recipe import OF_ARRAYS

TOP = "top"


def two_class_view(found: Any, k: int | str, name: str | None) -> Any:
    """Return the view of an Evaluation; see ``Evaluation.view``."""
    one_of(k, (*range(found.classes), TOP), "k")
    view = _fitted(found, k) if name is None and found.chosen is not None else _existing(found, k, name)
    return replace(
        view, unadjusted=found.unadjusted and found.unadjusted.view(k, name), of_confidence=k == TOP
    )


def _fitted(whole: Any, k: int | str) -> Any:
    """View the calibrators of a Recipe; all are evaluated on the outcomes of the model's own predicted class."""
    chosen = whole.chosen if k == TOP else np.full(len(whole.y), k)
    each, y = np.arange(len(chosen)), (whole.y == chosen).astype(np.intp)
    scores, came = _shown(whole.calibration_scores, whole.calibration_y, k)
    return replace(
        whole,
        **_fields_of_confidence(whole, y) if k == TOP else _fields_of_class(whole, int(k)),
        y=y,
        scores=whole.scores[each, chosen],
        predictions=MappingProxyType(
            {key: _of_class(one, y, each, chosen) for key, one in whole.predictions.items()}
        ),
        calibration_scores=scores,
        calibration_y=came,
        whole=whole,
        chosen=None,
    )


def _fields_of_confidence(whole: Any, y: np.ndarray) -> dict[str, Any]:
    return {
        "recipe": whole.recipe.replace(view_class=None),
        "dataset": replace(whole.dataset, classes=_names(whole, TOP)),
        "calibrators": MappingProxyType({}),
        "flow": _right_rows(whole, y),
    }


def _fields_of_class(whole: Any, k: int) -> dict[str, Any]:
    names, data = _names(whole, k), whole.dataset
    return {
        "recipe": whole.recipe.replace(view_class=names[1]),
        "dataset": replace(data, classes=names, y=data.coded == k),
        "calibrators": MappingProxyType(_calibrators_of(whole.calibrators, k)),
        "flow": _rows_of_class(whole, k),
    }


def _shown(P: np.ndarray, y: np.ndarray, k: int | str) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability (m,) of class k, or of each row's most probable class, and whether that was right."""
    column = P.argmax(axis=1) if k == TOP else np.full(len(P), k)
    return P[np.arange(len(P)), column], (column == y).astype(np.intp)


def _existing(found: Any, k: int | str, name: str | None) -> Any:
    """View predictions alone, as if made elsewhere; the confidence is that of ``name``, or of the first."""
    P = found.distributions
    if not P:
        raise InputError("There are no predictions to view, because none of the calibrators could be fitted.")
    if k == TOP:
        name = next(iter(P)) if name is None else one_of(name, P, "name")
        P = {name: P[name]}
    columns = {key: _shown(each, found.y, k)[0] for key, each in P.items()}
    data = Dataset(
        found.dataset.name,
        pd.DataFrame(columns),
        _shown(next(iter(P.values())), found.y, k)[1],
        _names(found, k),
        notes=found.dataset.notes,
        predictions=True,
        weight=found.weight,
        cluster=found.cluster,
        beside=_beside(found),
        read_as=found.read_as,
    )
    return replace(
        found,
        recipe=OF_ARRAYS.replace(**found.recipe.fields_of("view")),
        dataset=data,
        rows=np.arange(data.n),
        y=data.y,
        scores=next(iter(columns.values())),
        predictions=MappingProxyType(
            {
                key: Predictions(data.y, p, weight=data.weight, cluster=data.cluster)
                for key, p in columns.items()
            }
        ),
        refused=MappingProxyType({}),
        calibrators=MappingProxyType({}),
        calibration_scores=np.empty(0),
        calibration_y=np.empty(0, dtype=np.intp),
        calibration_weight=None,
        posterior=None,
        probability=True,
        flow=({"test": count_rows(data.y, data.weight)},),
        whole=None,
        chosen=None,
        selected=False,
    )


def _names(found: Any, k: int | str) -> tuple[str, str]:
    return ("wrong", "right") if k == TOP else (f"not {found.names[int(k)]}", str(found.names[int(k)]))


def _beside(found: Any) -> dict[str, pd.Series]:
    """Return the columns by which the rows can be grouped, on these rows."""
    data = found.dataset
    columns = {**({} if data.predictions else dict(data.X.items())), **data.beside}
    lines = {name: found.rows if name in data.X else data.row_numbers[found.rows] - 1 for name in columns}
    return {str(name): columns[name].iloc[at].reset_index(drop=True) for name, at in lines.items()}


def _rows_of_class(whole: Any, k: int) -> tuple[Mapping[str, RowCount], ...]:
    """Return the counts of each fold, with the rows of class k."""
    return tuple(
        {part: one._replace(events=float(one.events[k])) for part, one in fold.items()} for fold in whole.flow
    )


def _right_rows(whole: Any, y: np.ndarray) -> tuple[Mapping[str, RowCount], ...]:
    """Return the counts of each fold, with its right test predictions if all test rows are used; others are unknown."""
    flow = [{part: one._replace(events=np.nan) for part, one in fold.items()} for fold in whole.flow]
    ends = np.cumsum([fold["test"].lines for fold in flow])
    if len(y) == ends[-1]:
        right = np.split(or_ones(whole.weight, len(y)) * y, ends[:-1])
        for fold, correct in zip(flow, right, strict=True):
            fold["test"] = fold["test"]._replace(events=float(correct.sum()))
    return tuple(flow)


def _of_class(one: Predictions, y: np.ndarray, each: np.ndarray, chosen: np.ndarray) -> Predictions:
    """Return the predictions of one class per row; rows of p sum to 1, and pairs of intervals are unchanged."""
    ends = {name: getattr(one, name) for name in ("p", "lower", "upper", "p0", "p1")}
    return replace(one, y=y, **{name: end[each, chosen] for name, end in ends.items() if end is not None})


def _calibrators_of(calibrators: Mapping[str, tuple[Any, ...]], k: int) -> dict[str, tuple[Any, ...]]:
    """Return the two-class calibrators of class k, if one was fitted for it in every fold."""
    from calib.calibrators import one_class

    found = {key: tuple(one_class(made, k) for made in each) for key, each in calibrators.items()}
    return {key: each for key, each in found.items() if all(made is not None for made in each)}
