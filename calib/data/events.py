"""Find the columns of a table of events and trials, by their names and values."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from calib.data.columns import as_float, is_number

EVENT_NAMES = re.compile(
    r"(?i)(n_?|num_?|number_?of_?)?(events?|success(es)?|hits?|positives?|deaths?|defaults|responders|conversions?|"
    r"clicks|wins|failures|cases|affected|diseased|ones|k)(_?(count|n))?"
)
TRIALS = re.compile(
    r"(?i)(n_?|num_?|number_?of_?)?(trials?|n|total|totals|size|exposed|at_?risk|attempts|impressions|visits|"
    r"patients|subjects|population|denominator|persons|people|obs|observations|count|rows)(_?(count|n))?"
)


def events_and_trials(typed: pd.DataFrame, target: str | None = None) -> tuple[str, str] | None:
    """Return the columns that count events and trials, by name and values, or None.

    >>> events_and_trials(pd.DataFrame({"p": [0.1, 0.5], "events": [1, 4], "trials": [9, 8]}))
    ('events', 'trials')
    """
    wholes = {
        str(name): values for name, column in typed.items() if (values := whole_counts(column)) is not None
    }
    for events, ones in wholes.items():
        if target is not None and events != target:
            continue
        for trials, total in wholes.items():
            named = EVENT_NAMES.fullmatch(events) and TRIALS.fullmatch(trials)
            if named and events != trials and ones.max() > 1 and (ones <= total).all():
                return events, trials
    return None


def whole_counts(column: pd.Series) -> np.ndarray | None:
    """Return the known values of a column of whole numbers of at least 0, with missing values as 0; or None."""
    if not is_number(column) or pd.api.types.is_bool_dtype(column.dtype):
        return None
    values = np.nan_to_num(as_float(column), nan=0.0, posinf=-1.0)
    fits = len(values) and values.min() >= 0 and (values == np.floor(values)).all()
    return values if fits else None
