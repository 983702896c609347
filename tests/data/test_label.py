"""Labels, classes and the choice of the positive one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.data import DataError, class_counts, guess_target, target_candidates, tidy_labels
from calib.data.label import NO, YES, alternative_spellings, choose_classes, labels, match
from calib.data.table import note_reading
from tests.saying import assert_says, says


def test_labels_are_counted_in_sorted_order():
    frame = pd.DataFrame({"y": [10, 2, 2, -1, 10, 10]})
    assert list(class_counts(frame, "y").items()) == [("-1", 1), ("2", 2), ("10", 3)]
    frame = pd.DataFrame({"y": ["b", "a", "10", " a "]})
    assert list(class_counts(frame, "y").items()) == [("10", 1), ("a", 2), ("b", 1)]
    frame = pd.DataFrame({"y": ["other", "10", "9", "-1", "+", "Z"]})  # numbers by value, then words
    assert list(class_counts(frame, "y")) == ["-1", "9", "10", "+", "Z", "other"]


def test_gaps_are_no_labels():
    frame = pd.DataFrame({"y": ["a", None, "?", "", "NA", "b", np.nan]})
    assert labels(frame, "y").isna().tolist() == [False, True, True, True, True, False, True]
    assert class_counts(frame, "y") == {"a": 1, "b": 1}
    assert class_counts(pd.DataFrame({"y": [1.0, None, 0.0]}), "y") == {"0": 1, "1": 1}


def test_labels_of_any_type_have_a_spelling():
    assert class_counts(pd.DataFrame({"y": [True, False, True]}), "y") == {"False": 1, "True": 2}
    assert class_counts(pd.DataFrame({"y": pd.Categorical(["u", "v", None])}), "y") == {"u": 1, "v": 1}
    assert class_counts(pd.DataFrame({"y": [[1], [2], [1]]}), "y") == {"[1]": 2, "[2]": 1}
    assert class_counts(pd.DataFrame({1: ["a", "b"]}), "1") == {"a": 1, "b": 1}


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6))
def test_the_rarest_class_is_positive_and_ties_go_to_the_later_label(sizes):
    counts = {f"c{i}": size for i, size in enumerate(sizes)}
    rarest = min(sizes)
    expected = max(name for name, size in counts.items() if size == rarest)
    classes = choose_classes(counts)
    assert classes.positive == classes.names[1] == expected
    negative = classes.names[0]
    assert negative == f"not {expected}" if len(sizes) > 2 else negative in counts and negative != expected
    assert repr(expected) in classes.note


@given(st.lists(st.integers(1, 30), min_size=3, max_size=100))
def test_three_and_more_classes_are_taken_together_if_none_is_chosen(sizes):
    counts = {f"c{i}": size for i, size in enumerate(sizes)}
    if len(sizes) > 50 and sum(sizes) < 5 * len(sizes):
        return
    classes = choose_classes(counts, joint=True)
    assert classes.together == tuple(counts)
    assert classes.names == choose_classes(counts).names
    assert choose_classes(counts, "c1", joint=True).together == ()
    assert f"All {len(sizes)} classes" in classes.note


def test_two_classes_are_never_taken_together():
    assert choose_classes({"a": 3, "b": 7}, joint=True) == choose_classes({"a": 3, "b": 7})


def test_a_chosen_class_is_positive():
    assert choose_classes({"no": 3, "yes": 7}, "yes").names == ("no", "yes")
    assert choose_classes({"no": 3, "yes": 7}, "no").names == ("yes", "no")
    assert choose_classes({"a": 3, "b": 7, "c": 1}, "b").names == ("not b", "b")


@pytest.mark.parametrize(("names", "said"), [("12", True), ("01", False), ("10", True), ("ab", False)])
def test_where_a_label_reads_like_the_other_class_the_note_says_what_class_1_means(names, said):
    """Of 1 and 2 the pages' class 1 is 2; of 0 and 1, where 0 is the rarer one, it is 0."""
    note = choose_classes({names[0]: 7, names[1]: 3}).note
    assert says(note, "class 1", "class 0", f"{names[0]!r}") == said


@pytest.mark.parametrize(
    ("positive", "names", "meant"),
    [
        ("yes", ["no", "yes"], "yes"),
        (" YES ", ["no", "yes"], "yes"),
        (1, ["0", "1"], "1"),
        (1.0, ["0", "1"], "1"),
        ("1", ["0.0", "1.0"], "1.0"),
        (np.int64(1), ["-1", "+1"], "+1"),
        (True, ["FALSE", "TRUE"], "TRUE"),
        (np.True_, ["False", "True"], "True"),
        ("a", ["a", "A"], "a"),
    ],
)
def test_the_positive_class_is_found_as_spelt_or_as_meant(positive, names, meant):
    assert match(positive, names) == meant


@pytest.mark.parametrize(
    ("positive", "names"), [("maybe", ["no", "yes"]), ("Ä", ["a", "A"]), ("", ["0", "1"])]
)
def test_a_positive_class_that_is_no_label_is_refused_with_the_labels(positive, names):
    with pytest.raises(DataError, match=names[0]):
        match(positive, names)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({}, "no labels"),
        ({"a": 5}, "only the label 'a'"),
        ({str(i): 4 for i in range(51)}, "51 different values"),  # hardly any of them twice
        ({str(i): 50 for i in range(101)}, "101 different values"),
    ],
)
def test_labels_that_are_not_two_or_a_few_classes_are_refused(counts, said):
    with pytest.raises(DataError, match=said):
        choose_classes(counts)


def test_up_to_a_hundred_classes_of_some_rows_are_classes():
    counts = {str(i): 5 for i in range(100)}
    assert len(choose_classes(counts, joint=True).together) == 100
    assert choose_classes({**counts, "100": 5}, "7", most=1000).positive == "7"


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(DataError, match=r"no column 'z'.*'x'"):
        labels(pd.DataFrame({"x": [1]}), "z")


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ({"target": [0, 1], "x": [0, 1]}, "target"),
        ({"Class": ["a", "b"], "x": [0, 1]}, "Class"),
        ({"y_true": [0, 1], "p": [0.1, 0.9]}, "y_true"),
        ({"x": [0, 1], "diagnosis": ["M", "B"]}, "diagnosis"),
        ({"diagnosis": ["M", "B"] * 30, "x": np.arange(60.0)}, "diagnosis"),
        ({"grade": list("abc"), "sick": [1, 0, 1], "size": [1.5, 2.5, 3.5]}, "sick"),
        ({"target": [1, 1], "sick": [1, 0]}, "sick"),  # one value only is no label
        ({"x": [[1], [2]]}, "x"),
        ({"x": np.arange(60.0)}, None),
        ({"label": np.arange(400) % 80, "x": np.arange(400.0)}, "label"),  # many classes, but called so
        ({"label": np.arange(400) % 81, "x": np.arange(400.0)}, None),  # hardly any value is repeated
        ({"price": np.arange(400) % 80, "x": np.arange(400.0)}, None),
        ({"x": [1, 1]}, None),
        ({"lesion": [0, 1, 1], "surgery": [1, 0, 1], "outcome": [1, 2, 3]}, None),  # asked for
        ({"lesion": [0, 1, 1], "surgery": [1, 0, 1]}, None),
        ({"lesion": [0, 1, 1], "outcome": [1, 2, 3]}, None),
        ({"lesion": [0, 1, 1], "outcome": [1, 2, 1], "age": [5, 6, 7]}, "outcome"),
        ({"lesion": [0, 1, 1], "outcome": [1, 2, 1], "diagnosis": [1, 2, 1]}, None),
        ({"town": list("abc"), "grade": [1, 2, 3]}, None),
        ({"class": [0, 1], "label": [0, 1], "x": [0, 1]}, "label"),
        # two values spelt several ways are two values
        ({"sex": ["f", "m"] * 4, "back": ["yes", "Yes", "YES", "y", "no", "No", "n", None]}, None),
        ({"sex": ["f", "m"] * 2, "back": ["true", "1", "0", "unknown"]}, None),
        ({"sex": ["f", "m"] * 2, "outcome": ["yes", "y", "no", "n"]}, "outcome"),
    ],
)
def test_the_label_column_is_guessed(columns, target):
    assert guess_target(pd.DataFrame(columns)) == target


def test_a_label_that_is_in_doubt_is_among_the_candidates():
    frame = pd.DataFrame(
        {"x": np.arange(60.0), "smokes": [0, 1] * 30, "outcome": [1, 2, 3] * 20, "sick": ["n", "y"] * 30}
    )
    assert target_candidates(frame) == ["outcome", "smokes", "sick"]
    assert target_candidates(frame[["x"]]) == []
    assert target_candidates(pd.DataFrame({"town": list("abc"), "grade": [1, 2, 3]})) == ["town", "grade"]
    few = pd.DataFrame(
        {"name": range(42), "share": [i % 22 for i in range(42)], "papers": [i % 6 for i in range(42)]}
    )
    assert target_candidates(few) == ["papers"], (
        "of 42 rows 22 different values are no classes, though below 50"
    )


@pytest.mark.parametrize(
    ("names", "merged"),
    [
        (["yes", "y", "Y", "no", "n"], {"y": "yes", "Y": "yes", "n": "no"}),
        (["true", "1", "0", "unknown"], {"1": "true"}),
        (["1", "1.0", "0"], {"1.0": "1"}),
        (["yes", "y", "-", "no"], {"y": "yes"}),  # a dash may be a gap
        (["y", "yes"], {}),  # one side alone says nothing of the other
        (["y", "n", "maybe", "yes"], {}),
        (["-1", "0", "1"], {}),
        (["M", "m", "f"], {"m": "M"}),
    ],
)
def test_words_for_yes_and_no_are_spellings_of_one_label(names, merged):
    counts = {name: len(names) - i for i, name in enumerate(names)}
    assert alternative_spellings(counts) == merged


def test_no_word_of_a_convention_says_both_yes_and_no():
    assert not NO & YES


def test_tidy_labels_change_the_label_alone():
    frame = pd.DataFrame({"y": ["A", "a", "a", "b", None], "x": [1, 2, 3, 4, 5]})
    before = frame.copy(deep=True)
    tidy, notes = tidy_labels(frame, "y", merge=True, drop=["b"])
    assert class_counts(tidy, "y") == {"a": 3}
    merged, dropped = notes
    assert_says(merged, "'A'", "'a'")
    assert_says(dropped, "'b'", "missing", "1 row")
    pd.testing.assert_series_equal(tidy["x"], before["x"])
    pd.testing.assert_frame_equal(frame, before)
    with pytest.raises(DataError, match=r"'c' does not occur.*'b'"):
        tidy_labels(frame, "y", drop=["c"])


def test_labels_are_joined_into_one_class_called_other():
    frame = pd.DataFrame({"y": ["a", "b", "B", "c", None, "d", "a"]})
    tidy, notes = tidy_labels(frame, "y", merge=True, drop=["d"], join=["B", "c", "d"])
    assert tidy["y"].fillna("").tolist() == ["a", "other", "other", "other", "", "", "a"]
    assert_says(notes[-1], "'B' and 'c'", "'other'", "3 rows")
    with pytest.raises(DataError, match="'z' does not occur.*cannot be merged.*'b'"):
        tidy_labels(frame, "y", join=["z"])
    there = pd.DataFrame({"y": ["Other", "a", "b"]})
    assert tidy_labels(there, "y", join=["b"])[0]["y"].tolist() == ["Other", "a", "Other"]


def test_numbers_keep_the_spelling_of_the_file():
    frame = pd.DataFrame({"y": [1.0, 2.0, 9.0]})
    note_reading(frame, spelling={"y": {1.0: "1.0", 2.0: "2.0", 9.0: "9.0"}})
    tidy, _ = tidy_labels(frame, "y", drop=["9.0"])
    assert class_counts(tidy, "y") == {"1.0": 1, "2.0": 1}
