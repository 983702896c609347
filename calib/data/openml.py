"""Download a data set of openml.org by its number, with a clear message if there is no network."""

from __future__ import annotations

import warnings

import pandas as pd

from calib.data.errors import DataError
from calib.data.table import Table, note_reading


def fetch_openml(data_id: int | str) -> Table:
    """Return a data set's table and label column. It is downloaded once and cached by scikit-learn.

    Parameters
    ----------
    data_id : int or str
        Number on openml.org.

    Raises
    ------
    DataError
        If the number is invalid, or the data set does not exist or cannot be reached.
    """
    import sklearn.datasets  # imported here, because it loads slowly and is rarely needed

    try:
        number = int(data_id)
    except (TypeError, ValueError):
        raise DataError(
            f"{data_id!r} is not the number of an OpenML data set.", "You can find the number on openml.org."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred")  # reported below if it persists
            bunch = sklearn.datasets.fetch_openml(
                data_id=number, as_frame=True, parser="liac-arff", n_retries=1
            )
    except OSError as error:
        raise DataError(
            f"OpenML could not be reached ({error}).",
            "Check your connection, or download the ARFF file in a browser and upload it here.",
        ) from None
    except (ValueError, KeyError) as error:
        raise DataError(
            f"OpenML data set {number} cannot be used ({str(error)[:160]}).", "Choose another number."
        ) from None
    if bunch.target is None or not isinstance(bunch.target, pd.Series):
        raise DataError(
            f"OpenML data set {number} does not have exactly one label column.",
            "Choose another data set, or upload the file of this data set.",
        )
    frame = note_reading(bunch.frame, name=str(bunch.details.get("name", number)))
    return Table(frame, str(bunch.target.name))
