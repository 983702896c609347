"""A Dataset holds the rows and columns it should, and its notes name all that it does not hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.data import DataError, prepare, read_table
from calib.kernel.wording import counted, quoted, row_numbers
from tests.saying import assert_any_says, assert_says

N = 60
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "id": np.arange(N) + 100,
        "x": RNG.normal(size=N),
        "k": RNG.integers(0, 9, N),
        "flag": RNG.random(N) < 0.5,
        "colour": RNG.choice(["red", "green"], N),
        "day": pd.date_range("2020-01-01", periods=N, freq="36h"),
        "flat": 1,
        "empty": np.nan,
        "note": [f"words and words and {i}" for i in RNG.integers(0, 10**6, N)],
        "target": np.where(np.arange(N) % 3 == 0, "yes", "no"),
    }
)


def test_columns_are_typed_and_what_is_left_out_is_listed():
    data = prepare(FRAME, "target")
    kinds = {name: str(kind) for name, kind in data.X.dtypes.items()}
    dates = kinds.pop("day")
    assert dates.startswith("datetime64")
    assert kinds == {"x": "float64", "k": "float64", "flag": "bool", "colour": "category"}
    for name in ("id", "flat", "empty", "note"):
        assert any(f"'{name}' is excluded" in note for note in data.notes)
    np.testing.assert_array_equal(data.X["x"], FRAME["x"])
    assert data.X["colour"].tolist() == FRAME["colour"].tolist()
    np.testing.assert_array_equal(data.y, FRAME["target"] == "yes")
    assert data.classes == ("no", "yes")
    assert not data.predictions


def test_columns_can_be_kept_and_left_out():
    data = prepare(FRAME, "target", keep=["id", "flat", "note"], exclude=["x", "day"])
    assert data.X.columns.tolist() == ["id", "k", "flag", "colour", "flat", "note"]
    assert any("Excluded at your request: day, x" in note for note in data.notes)
    with pytest.raises(DataError, match="'z'"):
        prepare(FRAME, "target", exclude=["z"])


def test_rows_without_a_label_are_left_out_and_the_others_keep_their_numbers():
    frame = FRAME.assign(target=FRAME["target"].mask(FRAME.index.isin([2, 5])))
    frame.index = np.arange(N)[::-1]  # positions count, not the index a table happens to have
    data = prepare(frame, "target")
    assert data.X.index.tolist() == [i for i in range(N) if i not in (2, 5)]
    np.testing.assert_array_equal(data.X["x"], FRAME["x"].drop([2, 5]))
    assert_any_says(data.notes, "Excluded", "label", "2 rows", "rows 3, 6")


def test_infinite_values_and_words_among_numbers_count_as_missing_and_are_listed():
    x = FRAME["x"].astype(object)
    x[[3, 4]], x[7] = np.inf, "n/k"
    data = prepare(FRAME.assign(x=x, k=FRAME["k"].astype(float).replace(0, -np.inf)), "target")
    assert np.flatnonzero(data.X["x"].isna()).tolist() == [3, 4, 7] or np.isinf(data.X["x"]).any()
    assert_any_says(data.notes, "'x':", "missing", "1 value", "'n/k'")
    zeros = int((FRAME["k"] == 0).sum())
    infinite = "'k':", "infinite", "±1e+30", "missing", f"{zeros} values"
    assert_any_says(data.notes, *infinite)
    assert np.isfinite(data.X["k"].dropna()).all()


def test_nothing_that_was_left_out_means_no_notes_but_the_choice_of_class():
    data = prepare(FRAME[["x", "colour", "target"]], "target")
    (note,) = data.notes
    assert_says(note, "Positive class", "'yes'", "20 rows")


@pytest.mark.parametrize(
    ("positive", "classes"),
    [(None, ("no", "yes")), ("no", ("yes", "no")), ("YES", ("no", "yes"))],
)
def test_two_classes(positive, classes):
    data = prepare(FRAME, "target", positive)
    assert data.classes == classes
    np.testing.assert_array_equal(data.y, FRAME["target"] == classes[1])


def test_more_classes_become_one_against_the_rest():
    target = np.array(["a", "b", "c"])[RNG.choice(3, N, p=[0.5, 0.3, 0.2])]
    data = prepare(FRAME.assign(target=target), "target", "b")
    assert data.classes == ("not b", "b")
    np.testing.assert_array_equal(data.y, target == "b")
    assert prepare(FRAME.assign(target=target), "target").classes == ("not c", "c")


@given(
    st.sampled_from([("0", "1"), ("g", "b")]),
    st.lists(st.booleans(), min_size=4, max_size=30).filter(lambda y: len(set(y)) == 2),
)
def test_the_conventional_class_is_one_and_without_a_convention_the_rarer_class(pair, drawn):
    n, labels = len(drawn), [pair[one] for one in drawn]
    data = prepare(pd.DataFrame({"x": np.linspace(0, 1, n) ** 2, "y": labels}), "y")
    later = max(pair)
    rarer = min(pair, key=lambda name: (labels.count(name), name != later))
    positive = "1" if "1" in pair else rarer
    assert data.classes[1] == positive
    assert data.read_as.why == ("convention" if "1" in pair else "minority")
    np.testing.assert_array_equal(data.y, np.array(labels) == positive)


def test_the_table_given_is_left_as_it_was():
    before = FRAME.copy(deep=True)
    data = prepare(FRAME, "target")
    pd.testing.assert_frame_equal(FRAME, before)
    assert not data.y.flags.writeable


def test_the_name_is_the_file_s():
    frame = read_table(b"x,target\n1.5,a\n2.5,b\n", "my.table.csv")
    assert prepare(frame, "target").name == "my"
    assert prepare(frame, "target", name="Mine").name == "Mine"


def test_truth_values_with_gaps_stay_truth_values():
    data = prepare(FRAME.assign(flag=[True, None, False] * 20), "target")
    assert str(data.X["flag"].dtype) == "boolean"
    assert data.X["flag"].isna().sum() == 20


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": "yes"}, "only the label 'yes'"),
        ({"target": np.arange(N) / 7}, "60 different values"),
        ({"target": [None] * N}, "no labels"),
    ],
)
def test_labels_that_are_no_two_classes_are_refused(change, said):
    with pytest.raises(DataError, match=said):
        prepare(FRAME.assign(**change), "target")


def test_a_table_with_nothing_to_learn_from_is_refused_with_the_reasons():
    with pytest.raises(DataError, match="'flat' is excluded.*same value.*another label"):
        prepare(FRAME[["flat", "target"]], "target")
    with pytest.raises(DataError, match="no column 'goal'"):
        prepare(FRAME, "goal")


def test_words_of_notes():
    assert [counted(1, "row"), counted(0, "row"), counted(12345, "value")] == [
        "1 row",
        "0 rows",
        "12,345 values",
    ]
    assert quoted(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' …"
    assert row_numbers(np.array([False, True])) == "row 2"
    assert row_numbers(np.ones(12, dtype=bool)) == "rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …"


def test_three_and_more_classes_are_labelled_together_and_the_rarest_against_the_rest():
    label = np.array(["10", "9", "b", None])[[0] * 20 + [1] * 30 + [2] * 9 + [3]]
    frame = FRAME[["x", "colour"]].assign(target=label)
    data = prepare(frame, "target")
    assert data.joint
    assert data.names == ("9", "10", "b")  # as class_counts orders them
    known = pd.Series(label).notna()
    np.testing.assert_array_equal(np.array(data.names)[data.labels], label[known])
    assert data.classes == ("not b", "b")
    np.testing.assert_array_equal(data.y, label[known] == "b")
    note = "All 3 classes are predicted together: '9' (30 rows), '10' (20 rows) and 'b' (9 rows)."
    assert data.notes[0] == note


def test_a_chosen_class_is_set_against_the_rest_and_two_labels_are_two_classes():
    frame = FRAME[["x", "colour"]].assign(target=np.arange(N) % 3)
    one = prepare(frame, "target", 1)
    assert (one.names, one.labels, one.classes) == ((), None, ("not 1", "1"))
    np.testing.assert_array_equal(one.y, np.arange(N) % 3 == 1)
    assert prepare(FRAME, "target").labels is None


def test_a_class_whose_rows_are_all_left_out_is_no_class():
    """Rows that a role excludes are not counted, and where two classes are left these are the two."""
    label, weight = np.arange(N) % 4, np.where(np.arange(N) % 4 == 3, np.nan, 1.5)
    frame = FRAME[["x", "colour"]].assign(target=label, w=weight)
    data = prepare(frame, "target", roles={"weight": "w"})
    assert data.names == ("0", "1", "2")
    assert data.labels.max() == 2
    assert "(15 rows)" in data.notes[0]
    two = prepare(frame.assign(w=np.where(label > 1, np.nan, 1.5)), "target", roles={"weight": "w"})
    assert (two.joint, two.classes) == (False, ("0", "1"))
    assert two.n == N // 2


def test_data_of_all_classes_and_of_one_against_the_rest_have_their_own_digests():
    frame = FRAME[["x", "colour"]].assign(target=np.arange(N) % 3)
    made = [prepare(frame, "target", positive).digest for positive in (None, "0", "1", "2")]
    assert len(set(made)) == 4
