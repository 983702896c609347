"""Another file to judge on: columns meet by name, all that does not fit is told at once, and nothing is changed."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.data import FILE_PART, DataError, join_tables, read_table
from calib.data.roles import read_roles
from calib.sources import load, missing_files, with_role, with_test_file
from tests.saying import assert_any_says


def table(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x,
            "town": rng.choice(["Ulm", "Kiel"], n),
            "n": rng.integers(1, 9, n),
            "label": np.where(rng.random(n) < 1 / (1 + np.exp(-x)), "yes", "no"),
        }
    )


OLD, NEW = table(200, 0), table(90, 1)


def recipe(**fields):
    given = {"data": "upload:00aa", "file": "old.csv", "target": "label", "model": "naive_bayes"}
    return Recipe(**given | with_test_file("upload:00bb", "new.csv") | fields)


def loaded(new=NEW, **fields):
    return load(recipe(**fields), {"00aa": OLD, "00bb": new})


def test_the_test_rows_are_those_of_the_other_file_whatever_the_order_of_its_columns():
    new = NEW[["label", "n", "x", "town"]].assign(noise=1.0)
    data = loaded(new)
    evaluation = evaluate(recipe(), data)
    np.testing.assert_array_equal(evaluation.rows, np.arange(200, 290))
    np.testing.assert_array_equal(evaluation.y, (NEW["label"] == data.classes[1]).to_numpy())
    np.testing.assert_array_equal(data.X["x"], np.r_[OLD["x"], NEW["x"]])
    assert FILE_PART not in data.X
    assert [evaluation.flow[0][part].lines for part in ("train", "calibrate", "test")] == [133, 67, 90]
    assert data.test_file == "new.csv"
    assert any("noise" in note for note in data.notes)
    assert any("row 201" in note for note in data.notes)
    positives = int((pd.concat([OLD, NEW])["label"] == data.classes[1]).sum())
    positive = "Positive class", f"{data.classes[1]!r}", "by convention", f"{positives} rows"
    assert_any_says(data.notes, *positive)
    split = pd.concat([OLD, NEW], ignore_index=True).assign(set=["train"] * 200 + ["test"] * 90)
    same = Recipe(data="upload:00cc", target="label", model="naive_bayes", part="set", split="file")
    pd.testing.assert_frame_equal(evaluate(same, load(same, {"00cc": split})).metrics, evaluation.metrics)


def test_all_that_does_not_fit_is_told_in_one_message_with_the_remedy():
    new = NEW.drop(columns="town").assign(n=["some"] * 90, label=["yes", "maybe"] * 45)
    with pytest.raises(DataError) as told:
        loaded(new)
    said = str(told.value)
    for words in (
        "new.csv does not match old.csv",
        "no column 'town'",
        "'n' contains text, but numbers",
        "'maybe'",
    ):
        assert words in said
    assert "exclude" in said
    assert said.count("new.csv does not match") == 1


def test_what_is_left_out_need_not_be_there_and_labels_meet_as_they_are_merged():
    new = NEW.drop(columns="town").assign(label=NEW["label"].str.upper())
    data = loaded(new, exclude=("town",), data_params={"merge_labels": True})
    assert data.n == 290
    assert "town" not in data.X
    with pytest.raises(DataError, match="'NO', 'YES'|'YES', 'NO'"):
        loaded(new, exclude=("town",))


def test_predictions_made_elsewhere_calibrate_on_one_file_and_are_judged_on_the_other():
    old, new = (pd.DataFrame({"label": t["label"], "p": 1 / (1 + np.exp(-t["x"]))}) for t in (OLD, NEW))
    predictions = recipe(content="predictions", calibrators=("none", "platt"), weight=None)
    evaluation = evaluate(predictions, load(predictions, {"00aa": old, "00bb": new.assign(comment="x")}))
    np.testing.assert_allclose(evaluation.predictions["none"].p, new["p"], atol=1e-12)
    np.testing.assert_array_equal(np.sort(evaluation.calibration_scores), np.sort(old["p"]))


@pytest.mark.parametrize(
    ("here", "there", "kind"),
    [
        (["1", "2", "3"], ["1.5", "", "2"], "float64"),
        (["a", "b", "a"], ["b", "c", ""], "category"),
        (["2024-01-01", "2024-01-02", ""], ["2024-03-01", "2024-03-02", "2024-03-03"], "datetime64"),
        (["1", "2", "3"], ["", "", ""], "float64"),
    ],
)
def test_types_of_files_as_they_are_read_stay(here, there, kind):
    first, second = (
        read_table(
            ("x,z,label\n" + "".join(f"{x},{i},{i % 2}\n" for i, x in enumerate(column))).encode(), "a.csv"
        )
        for column in (here, there)
    )
    joined = join_tables(first, second, "label", ["x"])
    data = load(
        Recipe(data="upload:00aa", target="label", keep=("x",), **with_test_file("upload:00bb")),
        {"00aa": first, "00bb": second},
    )
    assert str(data.X["x"].dtype).startswith(kind)
    assert joined["label"].tolist() == ["0", "1", "0"] * 2
    assert read_roles(joined, {"part": FILE_PART}, "label").values["part"].tolist() == [0, 0, 0, 2, 2, 2]


def test_what_a_link_lacks_is_named_and_another_split_forgets_the_other_file():
    assert missing_files(recipe(), ()) == {"00aa": "old.csv", "00bb": "new.csv"}
    assert missing_files(recipe(), ("00aa",)) == {"00bb": "new.csv"}
    with pytest.raises(DataError, match="Upload new.csv again"):
        load(recipe(), {"00aa": OLD})
    assert Recipe.from_query(recipe().to_query()) == recipe()
    assert with_role(recipe(), "part", None)["test_data"] is None
    with pytest.raises(DataError, match="test_data"):
        loaded(split="random")
