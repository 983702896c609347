"""Records: what a digest notices, what cannot be changed, and what a record without intervals refuses."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from calib.kernel.checks import InputError
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


def test_an_array_is_a_table_and_the_words_for_parts_are_their_numbers():
    values, part = np.arange(6.0).reshape(3, 2), ["test", "train", "calibrate"]
    data = Dataset("x", values, Y.tolist(), part=part, cluster=["b", "a", "b"], weight=[1, 2, 0.5])
    same = Dataset("x", pd.DataFrame(values, columns=["x1", "x2"]), Y, part=np.array([2, 0, 1]))
    assert data.X.equals(same.X)
    assert data.part.tolist() == same.part.tolist()
    assert data.cluster[0] == data.cluster[2] != data.cluster[1]
    assert data.weight.tolist() == [1, 2, 0.5]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"X": np.arange(3.0)}, r"X must be a DataFrame, or an array .*\(n, d\).*, but has shape \(3,\)"),
        ({"X": np.zeros((2, 2))}, "X has 2, y has 3"),
        ({"y": [0, 1]}, "X has 3, y has 2"),
        ({"y": ["no", "yes", "no"]}, "y must contain only the labels 0 and 1, but contains 'no'"),
        (
            {"part": ["test", "train", "holdout"]},
            r"part must contain 0 \(train\).*these words, but contains 'holdout'",
        ),
        ({"part": [0, 1, 3]}, r"part must contain 0 \(train\), 1 \(calibrate\), 2 \(test\).*'3'"),
        ({"part": ["test"]}, "y has 3, part has 1"),
        ({"weight": [1, -1, 1]}, "weight must not be negative"),
        ({"weight": [1, np.nan, 1]}, "weight must be finite"),
        ({"weight": [[1, 1, 1]]}, r"weight must be one-dimensional"),
        ({"time": ["may", "june", "july"]}, "time must be numbers or dates"),
        ({"time": [1.0, np.nan, 2.0]}, "time must not be missing"),
        ({"cluster": [1, 2]}, "y has 3, cluster has 2"),
        ({"posterior": [0.1, 0.2, 1.2]}, r"posterior must lie in \[0, 1\]"),
    ],
    ids=str,
)
def test_what_is_no_dataset_is_refused_in_one_sentence(fields, words):
    with pytest.raises(InputError, match=words):
        Dataset(**{"name": "x", "X": X, "y": Y} | fields)


def test_widths_and_pairs_are_those_of_methods_with_intervals():
    said = Predictions(
        Y, np.full(3, 0.5), np.full(3, 0.25), np.full(3, 0.75), np.full(3, 0.75), np.full(3, 0.25)
    )
    assert said.width.tolist() == [0.5] * 3
    assert said.pairs.tolist() == [[0.75, 0.25]] * 3
    for name in ("width", "pairs"):
        with pytest.raises(ValueError, match="no intervals"):
            getattr(Predictions(Y, np.full(3, 0.5)), name)
