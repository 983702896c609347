"""Every refusal names the input, what it got and what is allowed; what is right comes back unchanged."""

import numpy as np
import pandas as pd
import pytest

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            [0.5, np.nan],
            r"s must be finite, but 1 of 2 values are not \(the first is missing \(NaN\), at position 1",
        ),
        ([np.inf, 0.5, -np.inf], r"2 of 3 values are not \(the first is infinite, at position 0"),
        ([[0.5]], r"s must be one-dimensional, but has shape \(1, 1\)"),
        (0.5, "one-dimensional"),
        (None, "one-dimensional"),
        (["0.5"], "s must be numbers, but at least one value is not: the type is <U3"),
        ([0.5, "high"], "s must be numbers"),
        (np.array([0.5, "high"], dtype=object), "s must be numbers"),
        ([1 + 2j], "s must be numbers.*complex"),
        (pd.to_datetime(["2020-01-01"]), "s must be numbers.*datetime"),
        (pd.array([0.5, None], dtype="Float64"), "s must be"),
        ([[1], [1, 2]], "s must be numbers"),
    ],
)
def test_score_vector_refuses(values, said):
    with pytest.raises(InputError, match=said):
        checks.score_vector(values, "s")


@pytest.mark.parametrize(
    "values", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8), pd.Series([1, 2], [5, 4])]
)
def test_score_vector_is_float64(values):
    array = checks.score_vector(values)
    assert (array.dtype, array.tolist()) == (np.float64, [1, 2])


def test_probabilities_lie_in_the_unit_interval_ends_included():
    assert checks.probability_vector([0, 1, 0.5]).tolist() == [0, 1, 0.5]
    with pytest.raises(InputError, match=r"p must .*\[0, 1\].*\b2 of 3 .*-0.1"):
        checks.probability_vector([0.5, -0.1, 1.5], "p")
    with pytest.raises(InputError, match=r"shape \(n, 2\).*\(3,\)"):
        checks.probability_pairs([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "labels", [[0, 1], [False, True], [0.0, 1.0], np.array([0, 1], dtype=object), pd.Series([0, 1])]
)
def test_labels_0_and_1_are_taken_whatever_their_type(labels):
    y = checks.binary_labels(labels)
    assert (y.dtype, y.tolist()) == (np.intp, [0, 1])


@pytest.mark.parametrize(
    ("labels", "first"),
    [
        ([0, 2], "2"),
        ([-1, 1], "-1"),
        ([0, 0.5], "0.5"),
        (["0", "1"], "0"),
        ([0, None], "None"),
        ([0, np.nan], "nan"),
    ],
)
def test_other_labels_are_refused_never_mapped(labels, first):
    with pytest.raises(InputError, match=f"y must .*0 and 1,? .*'{first}'.*Map"):
        checks.binary_labels(labels)


def test_lengths_are_named():
    checks.same_length(a=[1], b=[2], c=None)
    with pytest.raises(InputError, match="a has 1, b has 2"):
        checks.same_length(a=[1], b=[1, 2])


def test_one_class_is_refused_with_those_who_can_answer():
    with pytest.raises(InputError, match=r"Platt needs.*only class 1 \(2 rows\).*Venn–Abers"):
        checks.both_classes(np.array([1, 1]), "Platt")


@pytest.mark.parametrize(
    ("value", "allowed"), [("b", ["a"]), (1, [True]), (True, [1]), (1.0, [1]), (None, ["a"]), ([], ["a"])]
)
def test_a_choice_is_one_of_those_allowed_in_value_and_type(value, allowed):
    with pytest.raises(InputError, match="x must be one of"):
        checks.one_of(value, allowed, "x")
    assert checks.one_of(allowed[0], allowed, "x") is allowed[0]


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        (0, {"low": 1, "high": 5}, "x must be a number from 1 to 5, but is 0"),
        (5, {"low": 1, "high": 5, "open_ends": True}, "strictly between 1 and 5"),
        (0, {"low": 1}, "of at least 1"),
        (1, {"low": 1, "open_ends": True}, "above 1"),
        (2.0, {"integer": True}, "a whole number, but is 2.0"),
        (True, {}, "a number, but is True"),
        (np.nan, {}, "but is nan"),
        ("3", {}, "but is '3'"),
        (None, {}, "but is None"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(value, options, said):
    with pytest.raises(InputError, match=said):
        checks.in_range(value, "x", **options)


def test_settings_take_defaults_and_refuse_what_is_unknown():
    known = (
        Parameter("depth", "Depth", "integer", 3, 1, 9, optional=True),
        Parameter("fast", "Fast", "boolean", False),
    )
    assert checks.settings({"depth": None}, known, "Tree") == {"depth": None, "fast": False}
    with pytest.raises(InputError, match="Tree has no setting 'dept'.*depth, fast"):
        checks.settings({"dept": 3}, known, "Tree")
    with pytest.raises(InputError, match="depth must .*from 1 to 9, .*10"):
        checks.settings({"depth": 10}, known, "Tree")
    with pytest.raises(InputError, match="fast must .*False, True"):
        checks.settings({"fast": 1}, known, "Tree")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            [[0.5], [np.nan]],
            r"X must be finite. Missing or infinite values: 1, the first at index \[1, 0\]",
        ),
        ([0.5], r"shape \(n, d\)"),
        ([["a"]], "X must be numbers"),
    ],
)
def test_matrix_refuses(values, said):
    with pytest.raises(InputError, match=said):
        checks.matrix(values, "X")


def test_covariances_are_numbers_variances_or_matrices():
    assert checks.covariance(2, 2, "cov").tolist() == [[2, 0], [0, 2]]
    assert checks.covariance([1, 2], 2, "cov").tolist() == [[1, 0], [0, 2]]
    for wrong in ([1, 2, 3], [[1, 2], [2, 1]], [[1, 0.5], [0, 1]], -1, [[np.nan]]):
        with pytest.raises(InputError, match="cov must be"):
            checks.covariance(wrong, 2, "cov")


def test_a_table_of_results_has_no_gaps():
    table = pd.DataFrame({"A": [0.1, 0.2], "B": [np.nan, np.inf]}, index=["iris", "spect"])
    with pytest.raises(InputError, match="Missing: 1, .*iris, .*B"):
        checks.results_table(table, "table")
    assert checks.results_table(table.fillna(0.3), "table")[1, 1] == np.inf
    with pytest.raises(InputError, match="at least 2 methods"):
        checks.results_table([[1.0]], "table")


@pytest.mark.parametrize("weights", [[1, -1], [0, 0], [1], [np.nan, 1]])
def test_weights_are_not_negative_and_sum_to_something(weights):
    with pytest.raises(InputError, match="sample_weight"):
        checks.weight_vector(weights, 2)
    assert checks.weight_vector(None, 2).tolist() == [1, 1]


def test_of_a_message_as_long_as_a_file_the_beginning_and_the_remedy_are_said():
    said = str(InputError(f"There is no column {'x' * 1_000_000}. Choose another."))
    assert said.startswith("There is no column x")
    assert said.endswith("x. Choose another.")
    assert len(said) < 2010
