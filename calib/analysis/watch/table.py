"""Rows of a table of predictions to monitor, with missing labels allowed, and the findings in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.watch.watcher import Alarm, Watched, moment_in_words
from calib.data.class_tables import cells, class_tables, to_probabilities
from calib.data.column_types import typed_frame
from calib.data.errors import DataError
from calib.data.target import coded_labels
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import counted, number

DO = {
    "nothing": "Nothing needs to be done.",
    "offset": "Fit a new offset (intercept-only recalibration) to the rows since the change.",
    "recalibration": "Recalibrate with the rows since the change.",
    "refit": "Refit the model, because it has lost much of its discrimination, which recalibration cannot restore.",
}
SLOW = "A slow change may have begun earlier."
TOP, LEAST = 1e5, 1e-3
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def evidence_words(log: float) -> str:
    """Write evidence, given as a natural logarithm; very large or small evidence becomes a power of ten.

    >>> evidence_words(0.0), evidence_words(361.3), evidence_words(np.log(0.5e-4))
    ('1.00', '10¹⁵⁷', '10⁻⁴')
    """
    if np.log(LEAST) <= log < np.log(TOP):
        return number(float(np.exp(log)))
    return "10" + str(int(np.floor(log / np.log(10) + 0.5))).translate(RAISED)


def change_in_words(alarm: Alarm) -> str:
    """Describe what changed, and in which direction."""
    if alarm.cause == "level":
        return f"The level changed: events became {'more' if alarm.shift > 0 else 'less'} frequent than predicted."
    if alarm.cause == "slope":
        return f"The slope changed: the model became {'under' if alarm.slope > 1 else 'over'}confident."
    return "The shape of the calibration curve changed."


@dataclass(frozen=True, eq=False)
class WatchedRows:
    """Labels (NaN if missing), probabilities and times of a table's rows."""

    y: Array
    p: Array
    when: Array | None


def watched_rows(
    frame: pd.DataFrame, target: str, positive: str | None, score: str, time: str | None
) -> WatchedRows:
    """Read predictions to monitor; a single class and missing labels are allowed.

    Parameters
    ----------
    positive
        The positive class as the file spells it; None means 1, for labels 0 and 1.

    Raises
    ------
    InputError
        For an unknown column, a missing probability, or a positive class that cannot be inferred.
    """
    typed = typed_frame(frame)
    for role, name in {"target": target, "score": score, "time": time}.items():
        if name is not None and name not in typed.columns:
            raise InputError(
                f"{role}: there is no column {name!r} among {', '.join(map(str, typed.columns))}."
            )
    label = coded_labels(frame, target)
    there, names = label.there, list(label.counts)
    if positive is None:
        if not set(names) <= {"0", "1"}:
            raise InputError(
                f"positive: the labels are {', '.join(names)}. Name the positive class in the Recipe, so that it "
                "is the same every day."
            )
        positive = "1"
    y = np.where(there, label.are(positive), np.nan)
    p = checks.probability_vector(pd.to_numeric(typed[score], errors="coerce"), f"column {score!r}")
    return WatchedRows(y, p, _times(typed, time))


def watched_rows_of_classes(
    frame: pd.DataFrame,
    target: str,
    view_class: str | None,
    model: str | None,
    time: str | None,
    scores_as: str | None = None,
) -> WatchedRows | None:
    """Read predictions of three or more classes to monitor; return None if no columns are probabilities of the classes.

    Parameters
    ----------
    view_class
        Class that is monitored against the rest; None monitors the confidence: whether the most probable class came.
    model
        Name of the model if the table has several; the first by default.
    scores_as
        See ``to_probabilities``.

    Raises
    ------
    InputError
        For an unknown class, model or column, a missing probability, or rows that do not sum to 1.
    """
    typed, label = typed_frame(frame), coded_labels(frame, target)
    tables = class_tables(typed, list(label.counts), [name for name in typed if name not in (target, time)])
    if tables is None:
        return None
    model = checks.one_of(next(iter(tables.columns)) if model is None else model, tables.columns, "score")
    P = cells(typed, tables.columns[model])
    there = np.isfinite(P).all(axis=1)
    if not there.all():
        raise InputError(f"{counted(int((~there).sum()), 'row')} have no probability of every class.")
    to_probabilities(P, there, model, scores_as)
    if view_class is None:
        chosen = P.argmax(axis=1)
    else:
        chosen = np.full(len(P), tables.names.index(checks.one_of(view_class, tables.names, "view_class")))
    y = np.where(label.there, label.among(tables.names) == chosen, np.nan)
    return WatchedRows(y, P[np.arange(len(P)), chosen], _times(typed, time))


def _times(typed: pd.DataFrame, time: str | None) -> Array | None:
    if time is None:
        return None
    if time not in typed:
        raise InputError(f"time: there is no column {time!r} among {', '.join(map(str, typed.columns))}.")
    column = typed[time]
    if column.isna().any():
        raise DataError(
            f"{counted(int(column.isna().sum()), 'row')} have no {time}.",
            "Fill in the missing values, or remove these rows.",
        )
    return column.to_numpy()


def watch_sentences(watched: Watched, kind: str | None) -> list[str]:
    """Describe the result in plain words: evidence, alarm, cause, advice and excluded rows."""
    limit = f"{watched.threshold:g}"
    evidence = evidence_words(watched.log_now)
    lines = [
        f"{counted(watched.rows, 'row')}. Evidence against calibration: {evidence}. The alarm is raised at {limit}."
    ]
    found, at = watched.found, "on" if kind == "date" else "at"
    if found is None:
        lines.append("No alarm: nothing needs to be done.")
    else:
        began, earliest, latest = (
            moment_in_words(each, kind)
            for each in (found.since_moment, found.earliest_moment, found.latest_moment)
        )
        lines += [
            f"Alarm {at} {moment_in_words(found.moment, kind)}, after {counted(found.rows, 'row')}.",
            f"If the change was sudden, it probably began {at} {began} (95 % interval: {earliest} to {latest}). {SLOW}",
            change_in_words(found),
            DO[found.advice],
        ]
    for name, (low, mean, high) in {
        "Observed minus predicted": watched.level,
        "Brier score": watched.brier,
        "Slope": watched.slope,
    }.items():
        if mean == mean:
            lines.append(f"{name}: {mean:.4f} [{low:.4f}, {high:.4f}], valid at every look.")
    if watched.waiting:
        lines.append(
            f"{counted(watched.waiting, 'row')} wait for labels and were not kept. Supply them again with their labels."
        )
    if watched.clipped:
        lines.append(
            f"{counted(watched.clipped, 'prediction')} nearer than 0.000001 to 0 or 1 were clipped to this distance."
        )
    return lines


def as_record(watched: Watched, kind: str | None) -> Mapping[str, Any]:
    """Return the result as a record for other programs."""
    found = watched.found
    return {
        "rows": watched.rows,
        "evidence": watched.now,
        "alarm": None if found is None else moment_in_words(found.moment, kind),
        "since": None if found is None else moment_in_words(found.since_moment, kind),
        "cause": watched.cause,
        "advice": watched.advice,
    }
