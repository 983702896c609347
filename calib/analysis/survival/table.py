"""Risks of an event by a horizon from a table: which column has the times, the events and the risks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from calib.analysis.survival.check import MOST_CODES, SurvivalEvaluation, check_survival
from calib.kernel.checks import InputError
from calib.kernel.wording import quoted

TIME = ("time", "futime", "follow_up", "followup", "duration")  # usual names, by which columns are found
EVENT = ("event", "status")
RISK = re.compile(r"(risk|surv)", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\D*$")


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


@dataclass(frozen=True)
class SurvivalColumns:
    """Columns and codes of a table with times and events; None if unknown.

    Attributes
    ----------
    duration, event
        Column of the time, and of what happened then.
    risks
        Columns of the predictions, by one or several horizons.
    codes
        Codes of the events.
    cause, censored
        Code of the event of interest, and of censoring.
    means
        What the predictions are: "risk" or "survival".
    horizon
        Time up to which events count.
    """

    duration: str | None
    event: str | None
    risks: tuple[str, ...]
    codes: tuple[str, ...]
    cause: str | None
    censored: str | None
    means: str | None
    horizon: float | None

    @property
    def missing(self) -> list[str]:
        """Names of what must be chosen."""
        needed = {
            "time": self.duration,
            "event": self.event,
            "predictions": self.risks,
            "event of interest": self.cause
            or self.codes == (self.censored,),  # no event: refused by ``check``
            "meaning of the predictions": self.means,
            "horizon": self.horizon,
        }
        return [name for name, value in needed.items() if not value]

    @property
    def risk(self) -> str:
        """Column of the predictions by the horizon."""
        return horizons(self.risks).get(self.horizon or 0, self.risks[0])

    def check(
        self, frame: pd.DataFrame, risks: Sequence[str] | None = None, **roles: str | None
    ) -> SurvivalEvaluation:
        """Check the risks by the horizon; see ``check_survival``.

        Parameters
        ----------
        risks
            Columns of several risks by the horizon; by default ``risk`` alone.
        roles
            Columns of sample_weight, cluster and censoring_groups.

        Raises
        ------
        InputError
            If a column is missing, and as ``check_survival``.
        """
        happened = column(frame, self.event or "")

        def risk(name: str) -> pd.Series:
            return 1 - column(frame, name) if self.means == "survival" else column(frame, name)

        return check_survival(
            column(frame, self.duration or ""),
            happened,
            risk(self.risk) if risks is None else {name: risk(name) for name in risks},
            self.horizon or 0,
            cause=_code(happened, self.cause or "1"),
            censored=None if self.censored is None else _code(happened, self.censored),
            **{role: None if name is None else column(frame, name) for role, name in roles.items()},
        )


def survival_columns(
    frame: pd.DataFrame, label: str | None = None, positive: str | None = None, **stated: Any
) -> SurvivalColumns:
    """Return the stated columns and codes of a table, and find the others by their usual names.

    Parameters
    ----------
    label, positive
        Label column and positive class, which are the event and its code by default.
    stated
        Fields of ``SurvivalColumns``.

    Examples
    --------
    >>> frame = pd.DataFrame({"time": [2.0, 3.0], "status": [1, 0], "risk_1": [0.1, 0.2], "risk_5": [0.4, 0.5]})
    >>> found = survival_columns(frame)
    >>> found.duration, found.event, found.cause, found.censored, found.horizon, found.risk
    ('time', 'status', '1', '0', 5.0, 'risk_5')
    """
    columns = list(map(str, frame.columns))
    by_name = {name.lower(): name for name in columns}
    time, event = (next((by_name[n] for n in names if n in by_name), None) for names in (TIME, EVENT))
    event = stated.get("event") or (label if label in columns else event)
    risks = tuple(stated.get("risks") or (name for name in columns if RISK.match(name)))
    codes = _codes_of(frame, event)
    cause = stated.get("cause") or positive or "1"
    turned = any(name.lower().startswith("surv") for name in risks)  # risk or survival is asked
    return SurvivalColumns(
        stated.get("duration") or time,
        event,
        risks,
        codes,
        cause if cause in codes else None,
        stated.get("censored") or likely_censored(codes),
        stated.get("means") or (None if turned else "risk"),
        stated.get("horizon") or max(horizons(risks), default=None),
    )


def censored_as_negative(frame: pd.DataFrame, label: str, positive: str | None) -> int:
    """Return how many rows an evaluation of the label counts as negative, though they are censored; 0 if unclear.

    The table must have a column of times and, beside the label's codes, a word for censoring or risks by horizons.

    >>> frame = pd.DataFrame({"time": [2.0, 3.0, 4.0], "status": ["relapse", "censored", "death"], "p": 0.5})
    >>> censored_as_negative(frame, "status", "relapse")
    1
    """
    found = survival_columns(frame, label, positive)
    named = found.censored is not None and (not found.censored[0].isdigit() or bool(horizons(found.risks)))
    if not (found.duration and found.event == label and named):
        return 0
    return int((frame[label].astype(str) == found.censored).sum())


def _codes_of(frame: pd.DataFrame, event: str | None) -> tuple[str, ...]:
    """Return the codes of a column as text, in order; one more than allowed at most."""
    if event not in frame:
        return ()
    kinds = frame[event].dropna().unique()[: MOST_CODES + 1].tolist()
    return tuple(sorted(f"{kind:g}" if isinstance(kind, float) else str(kind) for kind in kinds))


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
        raise InputError(f"The column {events.name!r} contains numbers, but the code is {text!r}.") from None
