"""Risks of an event by a horizon from a table: which column has the times, the events and the risks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from calib.analysis.survival.check import SurvivalEvaluation, check_survival
from calib.kernel.checks import InputError
from calib.kernel.wording import quoted

TIME = ("time", "futime", "follow_up", "followup", "duration")  # usual names, by which columns are found
EVENT = ("event", "status")
RISK = re.compile(r"(risk|surv)", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\D*$")


def likely_columns(columns: Sequence[str], label: str | None = None) -> dict[str, Any]:
    """Return the columns that have usual names: time, event (the label by default) and risks.

    >>> likely_columns(["age", "time", "status", "risk_1", "risk_5"])
    {'time': 'time', 'event': 'status', 'risks': ('risk_1', 'risk_5')}
    """
    by_name = {name.lower(): name for name in columns}
    time, event = (next((by_name[n] for n in names if n in by_name), None) for names in (TIME, EVENT))
    return {
        "time": time,
        "event": label if label in columns else event,
        "risks": tuple(name for name in columns if RISK.match(name)),
    }


def horizons(risks: Sequence[str]) -> dict[float, str]:
    """Return each horizon with its column, from the last number of the names; empty if that is unclear.

    >>> horizons(["risk_5", "risk_1"]), horizons(["risk"])
    ({1.0: 'risk_1', 5.0: 'risk_5'}, {})
    """
    found = {float(number[1]): name for name in risks if (number := LAST_NUMBER.search(name))}
    return dict(sorted(found.items())) if len(found) == len(risks) else {}


def likely_censored(codes: Sequence[str]) -> str | None:
    """Return the code of censoring: 0, or a word such as censored.

    >>> likely_censored(["relapse", "Censored"]), likely_censored(["0", "1"]), likely_censored(["a"])
    ('Censored', '0', None)
    """
    return next((code for code in codes if code in ("0", "0.0") or code.lower().startswith("cens")), None)


def check_survival_table(
    frame: pd.DataFrame,
    time: str,
    event: str,
    risks: Mapping[str, str] | str,
    horizon: float,
    *,
    cause: str = "1",
    censored: str | None = "0",
    survival: bool = False,
    **columns: str | None,
) -> SurvivalEvaluation:
    """Check risks by a horizon from the columns of a table; see ``check_survival``.

    Parameters
    ----------
    time, event, risks
        Names of columns; several risks by name.
    cause, censored
        Codes as text.
    survival
        Whether the columns of risks hold probabilities of survival.
    columns
        Columns of sample_weight, cluster and censoring_groups.

    Raises
    ------
    InputError
        If a column is missing, and as ``check_survival``.
    """
    happened = column(frame, event)

    def risk(name: str) -> pd.Series:
        return 1 - column(frame, name) if survival else column(frame, name)

    return check_survival(
        column(frame, time),
        happened,
        risk(risks) if isinstance(risks, str) else {key: risk(name) for key, name in risks.items()},
        horizon,
        cause=_code(happened, cause),
        censored=None if censored is None else _code(happened, censored),
        **{role: None if name is None else column(frame, name) for role, name in columns.items()},
    )


def column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return a column; raise InputError with the names of the columns if it is missing."""
    if name not in frame:
        raise InputError(f"There is no column {name!r}. The columns are {quoted(list(frame.columns), 20)}.")
    return frame[name]


def _code(events: pd.Series, text: str) -> Any:
    """Return a code as the column holds it: a number if it holds numbers."""
    if not pd.api.types.is_numeric_dtype(events):
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"The column {events.name!r} holds numbers, but the code is {text!r}.") from None
