"""Results of a study as rows: one per fold, with data set, setup and fold, then one column per metric."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.wording import counted, quoted
from calib.metrics import METRICS, Metric
from calib.metrics.registry import OF_CLASSES

KEYS = ("data", "setup", "repeat", "fold", "seed")


def _not_of_predictions(y: object, p: object) -> float:
    raise InputError(
        "The fitting time is measured during a study, so it cannot be computed from predictions."
    )


FIT_SECONDS = Metric(
    "fit_seconds",
    "Seconds to fit",
    _not_of_predictions,
    False,
    "Time for fitting and scoring. This time depends on the machine.",
)


def measures(joint: bool = False) -> Mapping[str, Metric]:
    """Return the metrics that a study can measure by key, or only those of three or more classes together.

    >>> "slope" in measures(), "slope" in measures(joint=True), "classwise_ece" in measures(joint=True)
    (True, False, True)
    """
    known = {**METRICS, **METRICS.unlisted}
    return {key: known[key] for key in (*OF_CLASSES, "log_loss_clipped")} if joint else known


def measure(key: str) -> Metric:
    """Describe a column of results: its label, and whether higher or lower is better.

    Parameters
    ----------
    key : str
        A metric, or "fit_seconds".

    Raises
    ------
    InputError
        For any other.

    Examples
    --------
    >>> measure("brier").higher_is_better, measure("fit_seconds").label
    (False, 'Seconds to fit')
    """
    if key == FIT_SECONDS.key:
        return FIT_SECONDS
    return measures()[checks.one_of(key, measures(), "metric")]


def measured(rows: pd.DataFrame) -> list[str]:
    """Return the metrics that have a value in some row, in the order of ``measures``, with the time last.

    Parameters
    ----------
    rows : DataFrame
        The rows of a study.

    Examples
    --------
    >>> measured(pd.DataFrame({"rmse": [0.3], "brier": [0.09], "auc": [np.nan]}))
    ['brier', 'rmse']
    """
    return [key for key in (*measures(), FIT_SECONDS.key) if key in rows and rows[key].notna().any()]


def check_rows(frame: pd.DataFrame, name: str = "The table") -> pd.DataFrame:
    """Return rows of a study with names as texts and metrics as numbers; other columns are left out.

    Parameters
    ----------
    frame : DataFrame
        A table like that of ``python -m calib study --csv``.
    name : str
        Its name in messages.

    Raises
    ------
    InputError
        For missing columns, for a metric that is not a number, and for a repeated fold.

    Examples
    --------
    >>> row = {"data": ["kc1"], "setup": ["VAP"], "repeat": [0], "fold": [3], "seed": [0]}
    >>> check_rows(pd.DataFrame(row | {"brier": [0.1], "error": [None]})).columns.tolist()
    ['data', 'setup', 'repeat', 'fold', 'seed', 'brier']
    """
    missing = [key for key in KEYS if key not in frame]
    known = [key for key in (*measures(), FIT_SECONDS.key) if key in frame]
    if missing or not known:
        lacks = f"has no column {quoted(missing)}" if missing else "has no column named after a metric"
        raise InputError(
            f"{name} {lacks}. The results of a study have the columns {', '.join(KEYS)}, one column per "
            "metric (such as brier or log_loss), and one row per fold. Upload the file that python -m "
            "calib study --csv wrote."
        )
    rows = pd.DataFrame({key: _texts(frame[key]) if key in KEYS[:2] else frame[key] for key in KEYS})
    unnamed = rows[list(KEYS)].isna().any(axis=1)
    if unnamed.any():
        raise InputError(
            f"{name}: row {int(np.argmax(unnamed)) + 1} has a missing value in one of the columns {', '.join(KEYS)}. "
            "Fill in the value."
        )
    twice = rows.duplicated()
    if twice.any():
        first = rows[twice].iloc[0]
        raise InputError(
            f"{name} contains several rows for {counted(int(twice.sum()), 'fold')}, such as {first.setup} "
            f"on {first.data}, repeat {first.repeat}, fold {first.fold}. Keep one row per fold."
        )
    return rows.assign(**{key: _numbers(frame[key], key, name) for key in known}).reset_index(drop=True)


def _texts(names: pd.Series) -> pd.Series:
    """Return names as texts: a set called 31 is read as a number, and must not become 31.0."""
    if pd.api.types.is_float_dtype(names) and (names.dropna() % 1 == 0).all():
        names = names.astype("Int64")
    return names.astype("object").where(names.notna()).map(str, na_action="ignore").astype("object")


def _numbers(values: pd.Series, key: str, name: str) -> pd.Series:
    """Return a metric's values as float64; ∞ may be spelt inf."""
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    wrong = numbers.isna() & values.notna()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name}: {key} must contain numbers, but row {row + 1} has {values.iloc[row]!r}. Write inf for "
            "an infinite value, and leave missing values empty."
        )
    return numbers
