"""Rows of a table of predictions to monitor, with missing labels allowed, and the findings in sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.watch.change import FittedCorrection, WithEnds, correct
from calib.analysis.watch.history import NEW_ALARM, STILL, History, ReadRows
from calib.analysis.watch.watcher import Alarm, Impossible
from calib.data.class_tables import cells, class_tables, to_probabilities
from calib.data.column_types import typed_frame
from calib.data.columns import clip_rounding
from calib.data.errors import DataError
from calib.data.label import coded_labels
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import json_numbers
from calib.kernel.read_as import ReadAs, ScoreReading
from calib.kernel.wording import counted, number, percent

DO = {
    "nothing": "No action is needed.",
    "offset": "Fit a new offset to the rows since the change.",
    "recalibration": "Recalibrate on the rows since the change.",
    "refit": "Refit the model: it has lost much of its discrimination, which recalibration cannot restore.",
    "limit": "Avoid predictions of exactly 0 and 1: recalibrating the other predictions does not correct "
    "them.",
}
SELECTED = "Its 95 % interval takes into account that the alarm selected these rows."
SLOW_CHANGE = "A slow change may have begun earlier."
MOST_SAID, LEAST_SAID = 1e5, 1e-3
MOST_TIMES = 100_000  # times the level of the alarm


def evidence_words(log: float) -> str:
    """Write evidence, given as a natural logarithm; very large or small evidence becomes a power of ten.

    >>> evidence_words(0.0), evidence_words(361.3), evidence_words(np.log(0.5e-4)), evidence_words(np.inf)
    ('1.00', '1e157', '1e-4', 'infinite')
    """
    if np.log(LEAST_SAID) <= log < np.log(MOST_SAID):
        return number(float(np.exp(log)))
    return f"1e{np.floor(log / np.log(10) + 0.5):.0f}" if np.isfinite(log) else "infinite"


def far_beyond(log: float, threshold: float) -> bool:
    """Tell whether the evidence is so far beyond the level of the alarm that its size says nothing more."""
    return bool(np.isfinite(log) and log > np.log(MOST_TIMES * threshold))


def evidence_in_words(log: float, threshold: float) -> str:
    """Write evidence as a number; far beyond the level of the alarm, in words.

    >>> evidence_in_words(361.3, 20), evidence_in_words(2.0, 20)
    ('more than 100,000 times the alarm level', '7.39')
    """
    far = f"more than {MOST_TIMES:,} times the alarm level"
    return far if far_beyond(log, threshold) else evidence_words(log)


def impossible_in_words(impossible: Impossible) -> str:
    """State how many labels a prediction of 0 or 1 excluded.

    >>> impossible_in_words(Impossible(row=7, moment=7, happened=1, failed=0))
    'For 1 row the model predicted 0 %, but the event happened.'
    """
    said = {
        "0 %, but the event happened": impossible.happened,
        "100 %, but the event did not happen": impossible.failed,
    }
    parts = [f"for {counted(rows, 'row')} the model predicted {what}" for what, rows in said.items() if rows]
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}."


def change_in_words(alarm: Alarm) -> str:
    """Describe what changed, and in which direction."""
    if alarm.cause == "level":
        return f"The level changed: events became {'more' if alarm.shift > 0 else 'less'} frequent than predicted."
    if alarm.cause == "slope":
        return f"The slope changed: the model became {'under' if alarm.slope > 1 else 'over'}confident."
    return "The shape of the calibration curve changed."


@dataclass(frozen=True, eq=False)
class WatchedRows:
    """Labels (NaN if missing), probabilities, times and keys of a table's rows, and how the table was read."""

    y: Array
    p: Array
    when: Array | None
    key: Array | None
    read_as: ReadAs


def watched_rows(
    frame: pd.DataFrame,
    target: str,
    positive: str | None,
    score: str,
    time: str | None,
    key: str | None = None,
) -> WatchedRows:
    """Read predictions to monitor; a single class and missing labels are allowed.

    Parameters
    ----------
    positive
        The positive class as the file spells it; None means 1, for labels 0 and 1.
    key
        The column of keys, one per row.

    Raises
    ------
    InputError
        For an unknown column, a missing probability, or a positive class that cannot be inferred.
    """
    typed = typed_frame(frame)
    for role, name in {"target": target, "score": score, "time": time, "key": key}.items():
        if name is not None and name not in typed.columns:
            raise InputError(
                f"{role}: column {name!r} was not found. The columns are "
                f"{', '.join(map(str, typed.columns))}."
            )
    label = coded_labels(frame, target)
    there, names = label.there, list(label.counts)
    why = "convention" if positive is None else "stated"
    if positive is None:
        if not set(names) <= {"0", "1"}:
            raise InputError(
                f"positive: the labels are {', '.join(names)}. Set the positive class in the Recipe, so "
                f"that every run uses the same class."
            )
        positive = "1"
    y = np.where(there, label.are(positive), np.nan)
    numbers = pd.to_numeric(typed[score], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    p = checks.probability_vector(clip_rounding(numbers), f"column {score!r}")
    read_as = ReadAs(target, positive, why, (ScoreReading((score,), "probability", positive),), tuple(names))
    return WatchedRows(y, p, _times(typed, time), _keys(typed, key), read_as)


def watched_rows_of_classes(
    frame: pd.DataFrame,
    target: str,
    view_class: str | None,
    model: str | None,
    time: str | None,
    scores_as: str | None = None,
    key: str | None = None,
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
    key
        See ``watched_rows``.

    Raises
    ------
    InputError
        For an unknown class, model or column, a missing probability, or rows that do not sum to 1.
    """
    typed, label = typed_frame(frame), coded_labels(frame, target)
    tables = class_tables(
        typed, list(label.counts), [name for name in typed if name not in (target, time, key)]
    )
    if tables is None:
        return None
    model = checks.one_of(next(iter(tables.columns)) if model is None else model, tables.columns, "score")
    P = cells(typed, tables.columns[model])
    there = np.isfinite(P).all(axis=1)
    if not there.all():
        raise InputError(
            f"The probability of at least one class is missing in {counted(int((~there).sum()), 'row')}."
        )
    to_probabilities(P, there, model, scores_as, columns=tables.columns[model])
    if view_class is None:
        chosen = P.argmax(axis=1)
    else:
        chosen = np.full(len(P), tables.names.index(checks.one_of(view_class, tables.names, "view_class")))
    y = np.where(label.there, label.among(tables.names) == chosen, np.nan)
    kind, of = ("right", "the most probable class") if view_class is None else ("probability", view_class)
    read_as = ReadAs(target, view_class, "named", (ScoreReading((model,), kind, of),), tables.names)
    return WatchedRows(y, P[np.arange(len(P)), chosen], _times(typed, time), _keys(typed, key), read_as)


def _keys(typed: pd.DataFrame, key: str | None) -> Array | None:
    if key is not None and key not in typed:
        raise InputError(
            f"key: column {key!r} was not found. The columns are {', '.join(map(str, typed.columns))}."
        )
    return None if key is None else typed[key].to_numpy(dtype=object)


def _times(typed: pd.DataFrame, time: str | None) -> Array | None:
    if time is None:
        return None
    if time not in typed:
        raise InputError(
            f"time: column {time!r} was not found. The columns are {', '.join(map(str, typed.columns))}."
        )
    column = typed[time]
    if column.isna().any():
        raise DataError(
            f"{counted(int(column.isna().sum()), 'row')} have no {time}.",
            "Fill in the missing values, or remove the rows with missing values.",
        )
    return column.to_numpy()


@dataclass(frozen=True, eq=False)
class WatchFindings:
    """What one look at a history found.

    Attributes
    ----------
    history, read
        After the table was read, and what the table brought.
    correction
        The recalibration that the advice names, fitted to the rows since the change; None without an alarm of the bets.
    refused
        Why there is no correction although there is such an alarm; else "".
    """

    history: History
    read: ReadRows
    correction: FittedCorrection | None
    refused: str = ""


def find(history: History, read: ReadRows) -> WatchFindings:
    """Look at a history: after an alarm of the bets, fit the correction."""
    found = history.watch().found
    if found is None:
        return WatchFindings(history, read, None)
    rows = history.since(found.since)
    try:
        return WatchFindings(history, read, correct(rows["y"].to_numpy(), rows["p"].to_numpy(), found.advice))
    except InputError as error:
        return WatchFindings(history, read, None, str(error))


def watch_sentences(finding: WatchFindings) -> list[str]:
    """Describe a look in plain words: what was read, evidence, alarm, change, correction and excluded rows."""
    watched = finding.history.watch()
    lines = [
        *_read_in_words(finding),
        f"{counted(watched.rows, 'row')} {'counts' if watched.rows == 1 else 'count'}. Evidence against calibration: "
        f"{evidence_in_words(watched.log_now, watched.threshold)}. The alarm is raised at {watched.threshold:g}.",
        *_alarm_in_words(finding),
        *(_change_sentences(finding) if watched.found is not None else []),
    ]
    for name, ends in _intervals(watched.level, watched.brier, watched.slope).items():
        if ends[1] == ends[1]:
            lines.append(
                f"{name}: {_with_ends(ends)} ({percent(1 - watched.alpha)} interval, valid however "
                "often you look)."
            )
    if watched.waiting:
        lines.append(
            f"{counted(watched.waiting, 'row')} {'waits' if watched.waiting == 1 else 'wait'} for labels. Supply "
            "them again with their labels."
        )
    if watched.clipped:
        lines.append(
            f"{counted(watched.clipped, 'prediction')} closer to 0 or 1 than 0.000001 were clipped to this "
            f"distance."
        )
    return lines


def _read_in_words(finding: WatchFindings) -> list[str]:
    read, kept = finding.read, finding.history
    lines = [f"Read: {counted(read.new, 'new row')}."]
    if read.known:
        again = read.known - read.completed - read.corrected
        lines = ["No new rows were read."] if not kept.changed else lines
        lines += [f"{counted(again, 'row')} {'was' if again == 1 else 'were'} read before."] if again else []
    if read.completed:
        lines.append(f"Labels that were missing before were added to {counted(read.completed, 'row')}.")
    if read.corrected:
        lines.append(
            f"The label of {counted(read.corrected, 'row')} has changed. The evidence was recomputed from "
            f"the stored rows."
        )
    if read.repeated:
        lines.append(f"{counted(read.repeated, 'row')} of the table occurred twice and were counted once.")
    if read.outdated:
        lines.append(f"{counted(read.outdated, 'row')} from before the restart were excluded.")
    if kept.start is not None:
        lines.append(
            f"Only rows from {kept.started()} onwards are counted, because monitoring was restarted then."
        )
    return [" ".join(lines)]


def _alarm_in_words(finding: WatchFindings) -> list[str]:
    kept, watched = finding.history, finding.history.watch()
    if watched.alarm is None:
        return ["No alarm: no action is needed."]
    lines = [{NEW_ALARM: "New alarm.", STILL: "Still in alarm."}[kept.status]]
    at, impossible, found = kept.at, watched.impossible, watched.found
    if impossible is not None:
        lines += [
            f"{impossible_in_words(impossible)} The first was {at} {kept.shown(impossible.moment)}. This "
            "cannot happen if the model is calibrated.",
            DO["limit"],
        ]
    if found is not None:
        lines.append(f"Alarm {at} {kept.shown(found.moment)}, after {counted(found.rows, 'row')}.")
    return lines


def _change_sentences(finding: WatchFindings) -> list[str]:
    """Describe the change and its correction; refused without an alarm of the bets."""
    kept, found = finding.history, finding.history.watch().found
    assert found is not None
    began, earliest, latest = map(
        kept.shown, (found.since_moment, found.earliest_moment, found.latest_moment)
    )
    lines = [
        f"If the change was sudden, it probably began {kept.at} {began} (95 % interval: {earliest} to {latest}).",
        SLOW_CHANGE,
        change_in_words(found),
        DO[found.advice],
    ]
    if finding.correction is None:
        return [*lines, finding.refused]
    return [*lines, *correction_sentences(finding.correction)]


def correction_sentences(correction: FittedCorrection) -> list[str]:
    """State the gap since the change, and the correction with its interval."""
    (low, a, high), slope = correction.intercept, correction.slope
    gap = (
        f"Since then, in {counted(correction.rows, 'row')}: observed {correction.observed:.4f}, predicted "
        f"{correction.predicted:.4f}, difference {_with_ends(correction.gap)}. {SELECTED}"
    )
    if correction.calibrator.key == "offset":
        factor = ", ".join(f"{each:.3f}" for each in np.exp([low, high]))
        return [
            gap,
            f"Offset: add {_with_ends(correction.intercept)} to the log-odds, which multiplies the odds by "
            f"{np.exp(a):.3f} [{factor}].",
        ]
    return [
        gap,
        f"Recalibration: log-odds = {_with_ends(correction.intercept)} + {_with_ends(slope)} times the log-odds of "
        "the model.",
    ]


def _intervals(level: WithEnds, brier: WithEnds, slope: WithEnds) -> dict[str, WithEnds]:
    return {
        "Observed minus predicted since the start": level,
        "Brier score since the start": brier,
        "Slope since the start": slope,
    }


def _with_ends(ends: WithEnds) -> str:
    low, estimate, high = ends
    return f"{estimate:.4f} [{low:.4f}, {high:.4f}]"


def as_record(finding: WatchFindings) -> dict[str, Any]:
    """Return every number of the sentences as a record for other programs; infinity is the word "Infinity"."""
    kept, read, watched = finding.history, finding.read, finding.history.watch()
    found, impossible = watched.found, watched.impossible
    ends = {"level": watched.level, "brier": watched.brier, "slope": watched.slope}
    return {
        "status": kept.status,
        "rows": watched.rows,
        "waiting": watched.waiting,
        "clipped": watched.clipped,
        "read": asdict(read),
        "restarted": None if kept.start is None else kept.started(),
        "evidence": json_numbers(watched.now),
        "log10_evidence": json_numbers(watched.log_now / np.log(10)),
        "threshold": watched.threshold,
        "alarm": None if found is None else kept.shown(found.moment),
        "alarm_rows": None if found is None else found.rows,
        "since": None if found is None else kept.shown(found.since_moment),
        "since_interval": None
        if found is None
        else [kept.shown(found.earliest_moment), kept.shown(found.latest_moment)],
        "cause": watched.cause,
        "direction": None if found is None else change_in_words(found),
        "advice": watched.advice,
        "impossible": None
        if impossible is None
        else {**asdict(impossible), "moment": kept.shown(impossible.moment)},
        "since_the_start": {name: _record(each) for name, each in ends.items() if each[1] == each[1]},
        "since_the_change": None if finding.correction is None else _since_record(finding.correction),
        "correction": None if finding.correction is None else _correction_record(finding.correction),
        "no_correction": finding.refused or None,
    }


def _record(ends: WithEnds) -> dict[str, Any]:
    low, estimate, high = ends
    return {"estimate": json_numbers(estimate), "low": json_numbers(low), "high": json_numbers(high)}


def _since_record(correction: FittedCorrection) -> dict[str, Any]:
    names = ("rows", "observed", "predicted")
    return {**{name: getattr(correction, name) for name in names}, "gap": _record(correction.gap)}


def _correction_record(correction: FittedCorrection) -> dict[str, Any]:
    odds = [float(np.exp(each)) for each in correction.intercept]
    offset = correction.calibrator.key == "offset"
    return {
        "method": correction.calibrator.key,
        "intercept": _record(correction.intercept),
        "slope": None if offset else _record(correction.slope),
        "odds_factor": _record((odds[0], odds[1], odds[2])) if offset else None,
    }
