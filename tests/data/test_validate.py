"""Each thing that can be wrong with a table is named, with its column and its remedy, and nothing else is."""

import numpy as np
import pandas as pd
import pytest

from calib.data import class_counts, read_table, tidy_labels, validate
from tests.saying import assert_says

N = 200
RNG = np.random.default_rng(0)
GOOD = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "z": RNG.normal(size=N),
        "colour": RNG.choice(["red", "green"], N),
        "target": np.where(RNG.random(N) < 0.4, "yes", "no"),
    }
)


def found(frame, target="target", **options):
    problems = validate(frame, target, **options)
    for problem in problems:
        assert problem.message.endswith(".")
        assert problem.remedy.endswith(".")
    return {(problem.severity, problem.column): problem for problem in problems}


def test_a_good_table_has_no_problems():
    assert validate(GOOD, "target") == []


@pytest.mark.parametrize(
    ("column", "values", "severity", "said"),
    [
        ("x", np.full(N, np.nan), "warning", "missing"),
        ("x", np.full(N, 3.0), "warning", "same value"),
        ("x", np.where(np.arange(N) < 2, np.inf, GOOD["x"]), "warning", "infinite or beyond ±1e+30: 2."),
        ("colour", [f"id{i}" for i in range(N)], "warning", "identifier"),
        ("patient_id", RNG.permutation(N) * 3, "warning", "identifier"),
        ("colour", [f"a few words and {a}" for a in RNG.integers(0, 10**6, N)], "warning", "free text"),
        ("day", pd.date_range("2020-01-01", periods=N), "info", "dates"),
        ("day", pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"), "info", "dates"),
        ("x", [*GOOD["x"].astype("str")[2:], "n/k", "n/k"], "warning", "2 rows without a number ('n/k')"),
        ("x", [*GOOD["x"][1:], "n/k"], "warning", "1 row without a number ('n/k')"),
        ("target", ["yes"] * N, "error", "only the label 'yes'"),
        ("target", [None] * N, "error", "no labels"),
        ("target", ["maybe", None, *GOOD["target"][2:]], "warning", "1 of 200 rows have no label"),
        ("target", np.where(np.arange(N) < 40, "maybe", GOOD["target"]), "info", "3 classes"),
        ("target", GOOD["x"], "error", "200 different values"),
        ("target", np.where(np.arange(N) < 2, "yes", "no"), "error", "2 rows; the split needs 3"),
        ("target", np.where(np.arange(N) < 12, "yes", "no"), "warning", "only 12 rows"),
    ],
)
def test_a_problem_is_named(column, values, severity, said):
    problems = validate(GOOD.assign(**{column: values}), "target")
    assert any(p.severity == severity and p.column == column and said in p.message for p in problems)
    if said not in ("1 of 200 rows have no label",):
        assert {p.column for p in problems} == {column}


def test_no_label_column_is_a_problem_and_no_exception():
    assert "perhaps 'target'" in found(GOOD, None)[("error", None)].remedy
    assert "'nothing'" in found(GOOD, "nothing")[("error", None)].message


def test_a_positive_class_that_is_no_label_is_a_problem():
    problem = found(GOOD, positive="maybe")[("error", "target")]
    assert "'maybe'" in problem.message
    assert "'no', 'yes'" in problem.remedy


def test_more_than_two_classes_are_predicted_together_unless_one_is_chosen():
    frame = GOOD.assign(target=np.where(np.arange(N) < 40, "maybe", GOOD["target"]))
    (together,) = validate(frame, "target")
    assert (together.severity, together.fixes) == ("info", ())
    assert_says(together.message, "3 classes", "'maybe', 'no', 'yes'", "together")
    (one,) = validate(frame, "target", "yes")
    assert "'yes' is predicted against the other classes" in one.message
    assert one.fix == {"positive": None}


def classes_of(**rows):
    """A table with so many rows of each class."""
    return pd.DataFrame({"target": [name for name, n in rows.items() for _ in range(n)]}).assign(
        x=lambda frame: RNG.normal(size=len(frame))
    )


@pytest.mark.parametrize(
    ("rows", "said", "drop", "join"),
    [
        ({"a": 40, "b": 35, "c": 9}, "1 of 3 classes has fewer than 10 rows: 'c' (9).", ("c",), ("c", "b")),
        ({"a": 40, "b": 35, "c": 33, "d": 6, "e": 4}, "'d' (6) and 'e' (4)", ("d", "e"), ("e", "d")),
        ({"a": 40, "b": 35, "c": 33, "d": 3, "e": 4}, "'d' (3) and 'e' (4)", ("d", "e"), ("d", "e", "c")),
        ({"a": 40, "other": 9, "c": 4, "d": 35}, "'c' (4) and 'other' (9)", ("c", "other"), ("c",)),
        ({"a": 40, "b": 9, "c": 4}, "'b' (9) and 'c' (4)", None, ("c", "b")),
        ({"a": 4, "b": 4, "c": 4}, "3 of 3 classes have", None, None),
    ],
)
def test_small_classes_are_named_and_can_be_excluded_or_merged(rows, said, drop, join):
    frame = classes_of(**rows)
    (problem,) = [p for p in validate(frame, "target") if p.severity == "warning"]
    assert said in problem.message
    options = [fix["data_params"] for fix, _ in problem.fixes]
    wanted = [{"drop_labels": drop}] if drop else []
    assert options == wanted + ([{"join_labels": join}] if join else [])
    for option in options:  # the click leaves at least two classes, and none that is small
        tidy, _ = tidy_labels(
            frame, "target", drop=option.get("drop_labels", ()), join=option.get("join_labels", ())
        )
        left = class_counts(tidy, "target")
        assert len(left) >= 2
        assert min(left.values()) >= 10


def test_of_classes_together_two_need_rows_for_every_part():
    assert "error" not in {p.severity for p in validate(classes_of(a=3, b=3, c=1), "target")}
    (error,) = [p for p in validate(classes_of(a=30, b=2, c=1), "target") if p.severity == "error"]
    assert "Only one class has at least 3 rows" in error.message


def test_classes_of_few_rows_are_named_where_all_are_predicted_together():
    (told, few) = validate(classes_of(a=90, b=29, c=30, d=10), "target")[::-1]
    assert (told.severity, few.severity) == ("info", "warning")
    assert_says(few.message, "2 of 4 classes", "fewer than 30 rows", "'b' (29) and 'd' (10)")
    assert [p.severity for p in validate(classes_of(a=90, b=29, c=30, d=10), "target", "c")] == ["info"]


def test_too_many_classes_can_be_merged_where_most_are_small():
    rows = {f"c{i:03d}": 12 for i in range(90)} | {f"d{i}": 3 for i in range(20)}
    refused, small, _ = validate(classes_of(**rows), "target")
    assert refused.severity == "error"
    assert "110 different values" in refused.message
    assert [len(*fix["data_params"].values()) for fix, _ in small.fixes] == [20, 20]
    assert validate(classes_of(**{f"c{i:03d}": 12 for i in range(110)}), "target")[1].fixes == ()


def test_the_rows_needed_are_those_of_the_split_asked_for():
    frame = GOOD.assign(target=np.where(np.arange(N) < 35, "yes", "no"))
    assert validate(frame, "target") == []
    assert "needs 40" in found(frame, rows_needed=40)[("error", "target")].message


def test_duplicates_are_counted():
    frame = pd.concat([GOOD, GOOD.head(7)])
    assert "7 of 207 rows" in found(frame)[("warning", None)].message


def test_columns_left_out_are_not_spoken_of():
    frame = GOOD.assign(key=[f"id{i}" for i in range(N)])
    assert validate(frame, "target", exclude=["key"]) == []
    assert "'kex'" in found(GOOD, exclude=["kex"])[("error", None)].message


def test_a_table_without_usable_columns_is_an_error():
    assert "No usable feature" in found(GOOD[["target"]])[("error", None)].message
    assert ("error", None) in found(GOOD, exclude=["x", "z", "colour"])


def test_duplicate_names_are_an_error():
    frame = pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "target"])
    assert "both called 'x'" in found(frame)[("error", None)].message


def test_errors_come_first():
    frame = GOOD.assign(
        x=np.nan, target="yes", day=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D")
    )
    assert [p.severity for p in validate(frame, "target")] == ["error", "warning", "info"]


def test_a_file_with_all_its_troubles_at_once():
    text = "id,when,note,flat,empty,v,target\n" + "".join(
        f"{i},2020-01-{1 + i % 28:02d},{'word ' * (i % 7)}number {i},1,,{'inf' if i == 3 else i % 13},{'ab?'[i % 3]}\n"
        for i in range(90)
    )
    problems = {
        p.column: p.message
        for p in validate(read_table(text.encode(), "t.csv"), "target")
        if p.column != "target"
    }
    assert problems.keys() == {"id", "when", "note", "flat", "empty", "v"}


def test_labels_of_one_meaning_are_proposed_for_merging():
    spelt = GOOD["target"].astype(object).to_numpy(copy=True)
    spelt[:3], spelt[3:5], spelt[5:9], spelt[9] = "YES", "Yes", "unknown", "Unknown"
    frame = GOOD.assign(target=spelt)
    drop, merge = (p for p in validate(frame, "target") if p.fix and "data_params" in p.fix)
    assert (drop.severity, merge.severity) == ("error", "warning")
    assert_says(merge.message, "6 labels", "3")
    assert "'YES' = 'yes'" in merge.message
    assert "'Unknown' = 'unknown'" in merge.message
    assert merge.fix == {"data_params": {"merge_labels": True}}
    assert_says(drop.message, "unknown", "5 rows")
    assert set(drop.fix["data_params"]["drop_labels"]) == {"unknown", "Unknown"}
    for merged in (True, False):  # in either order of the clicks
        tidy, _ = tidy_labels(frame, "target", merged, drop.fix["data_params"]["drop_labels"])
        assert tidy["target"].isna().sum() == 5
        assert tidy["target"].nunique() == (2 if merged else 4)
    assert validate(tidy_labels(frame, "target", True, ["unknown"])[0].dropna(), "target") == []


def test_of_an_identifier_that_is_kept_nobody_says_that_it_is_excluded():
    frame = GOOD.assign(code=[f"c{i}" for i in range(N)])
    (problem,) = validate(frame, "target")
    assert "The column is excluded." in problem.remedy
    assert validate(frame, "target", keep=["code"]) == []
    alone = validate(frame[["code", "target"]], "target", keep=["code"])
    assert [each.severity for each in alone] == []


@pytest.mark.parametrize("labels", [["none", "some"], ["-", "+"], ["unknown", "known"], ["No", "yes"]])
def test_two_labels_are_two_classes_whatever_they_are_called(labels):
    assert validate(GOOD.assign(target=np.where(GOOD["target"] == "yes", *labels)), "target") == []


@pytest.mark.parametrize(
    ("name", "values", "repeats"),
    [
        ("customer_id", RNG.integers(10_000, 10_080, N), True),
        ("customerID", [f"C{i:05d}" for i in RNG.integers(0, 80, N)], True),
        ("id", np.arange(N) // 2 + 1000, True),
        ("hospital_id", RNG.integers(0, 12, N), False),  # a dozen codes are a category
        ("number_of_calls", RNG.integers(0, 60, N), False),
        ("acid", RNG.integers(0, 80, N), False),
    ],
)
def test_a_key_whose_values_come_back_is_named_with_a_remedy(name, values, repeats):
    problems = [p for p in validate(GOOD.assign(**{name: values}), "target") if p.column == name]
    assert [p.fix for p in problems] == ([{"cluster": name, "split": "cluster"}] if repeats else [])
    if repeats:
        assert_says(problems[0].message, "both", "training", "test set")
        assert validate(GOOD.assign(**{name: values}), "target", roles={"cluster": name}) == []


def test_the_label_is_asked_for_with_the_candidates():
    frame = GOOD.rename(columns={"target": "lesion"}).assign(
        outcome=RNG.integers(1, 4, N), smokes=RNG.random(N) < 0.5
    )
    (problem,) = [p for p in validate(frame, None) if p.severity == "error"]
    assert "'outcome', 'colour', 'lesion', 'smokes'" in problem.remedy


def test_predictions_are_not_judged_as_features():
    frame = pd.DataFrame(
        {"y": GOOD["target"], "p": RNG.random(N), "q": (GOOD["target"] == "no") * 0.5 + 0.25}
    )
    problems = validate(frame, "y", content="predictions")
    assert [p.severity for p in problems] == ["warning", "warning", "info"]
    assert {p.column for p in problems} == {"p", "q", "p and q"}
    assert validate(frame, "y", content="predictions", scores=["nothing"])[0].severity == "error"
    assert any("separates the classes" in p.message for p in validate(frame, "y"))
