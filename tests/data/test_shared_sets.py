"""Forty-three real sets go from file to matrix, with the class counts that their source states."""

import numpy as np
import pandas as pd
import pytest

from calib.data import class_counts, guess_target, prepare, preprocessor, read_table, validate
from calib.data.table import reading_of
from tests import shared

STATED = shared.data_sets()


@pytest.mark.parametrize("name", shared.swept())
def test_a_real_set_goes_from_file_to_matrix(name):
    path = shared.path(f"datasets/{name}.csv")
    stated = STATED[name]
    frame = read_table(path)
    assert frame.shape == (int(stated["rows"]), int(stated["features"]) + 1)
    assert reading_of(frame).notes == ()
    assert guess_target(frame) == "target"
    counts = {label: int(n) for label, n in (part.split("=") for part in stated["classes"].split("|"))}
    assert class_counts(frame, "target") == counts
    assert int(frame.drop(columns="target").isna().to_numpy().sum()) == int(stated["missing_cells"])
    assert not [problem for problem in validate(frame, "target") if problem.severity == "error"]

    data = prepare(frame, "target", stated["positive_class"])
    assert data.classes[1] == stated["positive_class"]
    assert data.y.sum() == counts[stated["positive_class"]]
    varying = [c for c in frame.columns if c != "target" and len(frame[c].unique()) > 1]
    assert data.X.columns.tolist() == varying  # nothing but constant columns is left out
    out = preprocessor(data.X).fit_transform(data.X)
    assert len(out) == len(frame)
    assert np.isfinite(out).all()

    by_pandas = pd.read_csv(path)
    numbers = [c for c in by_pandas.columns if by_pandas[c].dtype.kind in "if" and c != "target"]
    np.testing.assert_array_equal(
        frame[numbers].to_numpy(dtype=float), by_pandas[numbers].to_numpy(dtype=float)
    )
    assert not [
        c for c in frame.columns if c not in numbers and c != "target" and frame[c].dtype.kind in "if"
    ]
