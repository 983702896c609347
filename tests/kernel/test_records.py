"""Records: what a digest notices, what cannot be changed, and what a record without intervals refuses."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from calib.kernel.records import Dataset, Predictions

X = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": pd.Categorical(["u", "v", "u"])})
Y = np.array([0, 1, 1])


def test_labels_are_kept_apart_from_the_callers_and_cannot_be_changed():
    y = Y.copy()
    data = Dataset("three", X, y)
    y[:] = 0
    assert data.y.tolist() == [0, 1, 1]
    assert data.n == 3
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


@pytest.mark.parametrize(
    "change",
    [
        {"X": X.assign(a=[1.0, 2.0, 3.0])},
        {"X": X.rename(columns={"a": "c"})},
        {"X": X[["b", "a"]]},
        {"X": X.astype({"b": str})},
        {"X": X.iloc[[1, 0, 2]]},
        {"y": 1 - Y},
        {"classes": ("no", "yes")},
        {"posterior": np.array([0.5, 0.5, 0.5])},
        {"predictions": True},
    ],
)
def test_a_digest_notices_every_value_name_type_and_label(change):
    assert dataclasses.replace(Dataset("x", X, Y), **change).digest != Dataset("x", X, Y).digest


def test_a_digest_does_not_depend_on_the_name_or_the_index():
    assert Dataset("y", X.set_axis([7, 8, 9]), Y.astype(np.int8)).digest == Dataset("x", X, Y).digest


def test_widths_and_pairs_are_those_of_methods_with_intervals():
    said = Predictions(
        Y, np.full(3, 0.5), np.full(3, 0.25), np.full(3, 0.75), np.full(3, 0.75), np.full(3, 0.25)
    )
    assert said.width.tolist() == [0.5] * 3
    assert said.pairs.tolist() == [[0.75, 0.25]] * 3
    for name in ("width", "pairs"):
        with pytest.raises(ValueError, match="no intervals"):
            getattr(Predictions(Y, np.full(3, 0.5)), name)
