"""Turn a Recipe and a Dataset into an Evaluation: fit the model, calibrate, adjust to a base rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.evaluate.chain import calibrate, evaluate, fit_calibrator, make_calibrator
    from calib.evaluate.check import check
    from calib.evaluate.cost import FEWEST_ESTIMATED, announcement, expected_cost, expected_seconds
    from calib.evaluate.fitting import (
        Fitted,
        FittedFold,
        check_dataset,
        fit,
        fit_rows,
        fits_every_row,
        make_estimator,
        row_info,
        split,
    )
    from calib.evaluate.record import Evaluation
    from calib.evaluate.rows import RowCount, score_column

lazy.attach(__name__)


__all__ = [
    "FEWEST_ESTIMATED",
    "Evaluation",
    "Fitted",
    "FittedFold",
    "RowCount",
    "announcement",
    "calibrate",
    "check",
    "check_dataset",
    "evaluate",
    "expected_cost",
    "expected_seconds",
    "fit",
    "fit_calibrator",
    "fit_rows",
    "fits_every_row",
    "make_calibrator",
    "make_estimator",
    "row_info",
    "score_column",
    "split",
]
