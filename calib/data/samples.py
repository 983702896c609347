"""Small data sets to begin with, each chosen for what it shows, in ``sample_data/``; and those of openml.org."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from calib.data.errors import DataError
from calib.data.table import Table, note_reading
from calib.kernel.records import Dataset

CALIB = Path(__file__).resolve().parents[1]
IN_WHEEL = CALIB / "sample_data"
SAMPLES_FOLDER = IN_WHEEL if IN_WHEEL.is_dir() else CALIB.parent / "sample_data"


@dataclass(frozen=True)
class Sample:
    """File in ``sample_data/``: its title, positive class (None: all classes), why it is shown, its label column."""

    key: str
    label: str
    positive: str | None
    why: str
    predictions: bool = False
    target: str = "target"

    @property
    def file(self) -> str:
        return f"{self.key}.csv.gz"


SAMPLES: dict[str, Sample] = {
    sample.key: sample
    for sample in (
        Sample(
            "digits",
            "Handwritten digits: odd or even",
            "odd",
            "A random forest is nearly always right but very underconfident, so its reliability curve is S-shaped.",
        ),
        Sample(
            "all_digits",
            "Handwritten digits: all ten classes",
            None,
            "Ten classes are predicted together. Study one digit at a time, or the confidence in the "
            "predicted digit.",
        ),
        Sample(
            "breast_cancer",
            "Breast tumours: malignant or benign",
            "malignant",
            "This easy data set is small, and most probabilities are near 0 or 1, so the benefit of "
            "calibration depends on a few rows.",
        ),
        Sample(
            "rare_faults",
            "Rare faults (one row in twenty)",
            "fault",
            "The classes are imbalanced: accuracy is high even if the probabilities of the rare faults are "
            "wrong.",
        ),
        Sample(
            "loans",
            "Loans with gaps and categories",
            "default",
            "See how missing values are imputed, rare categories merged and dates encoded for a model.",
        ),
        Sample(
            "predictions",
            "Predictions of three models",
            "yes",
            "Only labels and scores: naive Bayes is overconfident, the forest is underconfident, and the "
            "SVM gives margins.",
            predictions=True,
        ),
        Sample(
            "dated",
            "Orders by date, with a rising return rate",
            "returned",
            "The return rate rises over time. A split by time reveals this change; a random split hides it. "
            "On the Data page, choose the column “ordered” under “Date or time”.",
        ),
        Sample(
            "customers",
            "Customers with many calls",
            "complaint",
            "Calls of one customer are similar. Compare a random split with a split by cluster, which keeps these "
            "calls together.",
        ),
        Sample(
            "counts",
            "A billion predictions as counts",
            "yes",
            "The table is the result of GROUP BY on a billion rows: score, label and count. On the Data "
            "page, choose the column “count” under “Weight or count”.",
            predictions=True,
        ),
        Sample(
            "drift_abrupt",
            "Predictions by day, with a sudden change",
            "yes",
            "A deployed model is calibrated for 300 days and then underestimates. On the Data page, choose "
            "the column “day” under “Date or time”, then open Watch.",
            predictions=True,
        ),
        Sample(
            "drift_slow",
            "Predictions by day, with a slow change",
            "yes",
            "A deployed model slowly becomes overconfident from day 200 onwards. On the Data page, choose "
            "the column “day” under “Date or time”, then open Watch.",
            predictions=True,
        ),
        Sample(
            "hidden_group",
            "Predictions with a hidden group",
            "yes",
            "The predictions are right on average, but too low for one row in twenty. Open Groups to see "
            "whose predictions are wrong.",
            predictions=True,
        ),
        Sample(
            "relapses",
            "Risks of a relapse, with censored patients",
            "relapse",
            "Predicted risks within one to five years, for patients of eight hospitals. Some die first, and "
            "many are censored. Open Survival.",
            predictions=True,
        ),
    )
}
DEFAULT_SAMPLE = "digits"


def sample_table(key: str) -> Table:
    """Return the table of a sample.

    Parameters
    ----------
    key : str
        Key of ``SAMPLES``.

    Raises
    ------
    DataError
        If the key is unknown or the file is missing.
    """
    if key not in SAMPLES:
        raise DataError(f"Sample {key!r} does not exist.", f"Choose one of {', '.join(SAMPLES)}.")
    sample = SAMPLES[key]
    return Table(_read(sample.file).copy(), sample.target, sample.positive)


@cache
def _read(file: str) -> pd.DataFrame:
    path = SAMPLES_FOLDER / file
    if not path.is_file():
        raise DataError(
            f"The sample file {file} is missing, although the wheel and the repository contain it.",
            "Install the wheel again, run from a clone of the repository, or use your own file.",
        )
    from calib.data.read import read_table  # here, because a Recipe only needs the names of samples

    return read_table(path)


def load_sample(key: str) -> Dataset:
    """Load a sample as a Dataset.

    Parameters
    ----------
    key
        Key of ``SAMPLES``.

    Raises
    ------
    DataError
        If the key is unknown or the file is missing.

    Examples
    --------
    >>> load_sample("digits").classes
    ('even', 'odd')
    """
    from calib.data.predictions import prepare_predictions
    from calib.data.prepare import prepare

    frame, sample = sample_table(key).frame, SAMPLES[key]
    make = prepare_predictions if sample.predictions else prepare
    return make(frame, sample.target, sample.positive, name=sample.label)


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
