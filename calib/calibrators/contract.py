"""Contract that a plug-in calibrator must meet before it is registered, as far as it can be checked quickly."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from calib.calibrators.base import INPUT_READERS, IntervalCalibrator, ScoreCalibrator
from calib.calibrators.registry import INPUT_TABLES
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.registry import check_named

ROWS_OF_CONTRACT = 40


def check_calibrator(method: Any) -> None:
    """Refuse, by name, any class that is not a calibrator or fails on a small example."""
    if not (isinstance(method, type) and issubclass(method, ScoreCalibrator)):
        raise InputError(f"{method!r} is not a class that derives from calib.calibrators.ScoreCalibrator.")
    check_named(method, method.__name__)
    if not isinstance(getattr(method, "source", None), str):
        raise InputError(
            f"{method.__name__}: source must be a string that cites the method's paper or says where the "
            "method comes from."
        )
    checks.one_of(method.input, INPUT_READERS, f"{method.__name__}: input")
    if method.gives_interval != issubclass(method, IntervalCalibrator):
        raise InputError(
            f"{method.__name__}: a calibrator with intervals must derive from IntervalCalibrator."
        )
    _check_options(method)
    _check_answers(method)


def _check_options(method: type[ScoreCalibrator]) -> None:
    declared = {option.name: option.default for option in method.parameters}
    taken = {name: option.default for name, option in inspect.signature(method).parameters.items()}
    if taken != declared:
        raise InputError(
            f"{method.__name__}: parameters must list every option of __init__ with its default."
        )


def _check_answers(method: type[ScoreCalibrator]) -> None:
    p = (np.arange(ROWS_OF_CONTRACT) + 0.5) / ROWS_OF_CONTRACT
    y = (p > 0.5) != (np.arange(ROWS_OF_CONTRACT) % 5 == 0)
    scores = np.column_stack([p, p**2, np.sqrt(p)]) if method.input in INPUT_TABLES else p
    try:
        fitted = method().fit(scores, y)
        answers = [fitted.predict(scores)]
        if isinstance(fitted, IntervalCalibrator):
            p0, p1 = fitted.predict_interval(scores).T
            answers = [p0, *answers, p1]
    except Exception as error:
        raise InputError(
            f"{method.__name__} fails on {ROWS_OF_CONTRACT} rows of two classes: {type(error).__name__}: {error}."
        ) from error
    if not all(_are_probabilities(answer) for answer in answers) or (np.diff(answers, axis=0) < 0).any():
        raise InputError(
            f"{method.__name__}: predict must return one probability per score, from 0 to 1 and within the interval."
        )


def _are_probabilities(p: Any) -> bool:
    array = np.asarray(p)
    return (
        array.shape == (ROWS_OF_CONTRACT,)
        and array.dtype.kind == "f"
        and bool(((array >= 0) & (array <= 1)).all())
    )
