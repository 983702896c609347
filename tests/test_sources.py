"""A Recipe's data field names exactly one thing, and what cannot be had is refused with the remedy."""

import importlib
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, check, evaluate
from calib.data import SAMPLES, DataError, Table, TableFile, read_table
from calib.kernel.checks import InputError
from calib.sources import (
    classes_together,
    data_problems,
    digest,
    load,
    load_table,
    source,
    with_labels,
    with_test_file,
)
from calib.synthetic import SYNTHETIC
from tests.saying import assert_any_says

sources = importlib.import_module("calib.sources")

TABLE = pd.DataFrame(
    {
        "age": [31, 40, 22, 58, 44, 37] * 5,
        "town": ["Ulm", "Bonn", "Kiel"] * 10,
        "bought": ["no", "yes", "no", "no", "maybe", "no"] * 5,
    }
)
KEY = "0123456789abcdef"


def upload(**fields) -> Recipe:
    return Recipe(data=f"upload:{KEY}", **fields)


@pytest.mark.skipif(shutil.which("b2sum") is None, reason="no b2sum to compare with")
@pytest.mark.parametrize("content", [b"", b"a,b", bytes(range(256)) * 100])
def test_the_digest_is_blake2_of_the_bytes(content):
    said = subprocess.run(["b2sum", "--length", "64"], input=content, capture_output=True, check=True)
    assert digest(content) == said.stdout.split()[0].decode()


def test_one_changed_bit_gives_another_digest():
    assert digest(b"a,b") != digest(b"a,c")


@pytest.mark.parametrize("key", SAMPLES)
def test_every_sample_is_loaded_with_its_own_label_and_positive_class(key):
    content = "predictions" if SAMPLES[key].predictions else "features"
    dataset = load(Recipe(data=f"sample:{key}", content=content))
    assert dataset.joint == (SAMPLES[key].positive is None)
    assert dataset.joint or dataset.classes[1] == SAMPLES[key].positive
    assert dataset.predictions == SAMPLES[key].predictions
    assert SAMPLES[key].target not in dataset.X.columns


@pytest.mark.parametrize("key", SYNTHETIC)
def test_every_synthetic_set_is_drawn_with_the_recipe_s_seed(key):
    recipe = Recipe(data=f"synthetic:{key}", data_params={"n": 200})
    one, two, other = load(recipe), load(recipe), load(recipe.replace(seed=1))
    assert one.n == 200
    assert one.digest == two.digest != other.digest
    assert ((one.posterior >= 0) & (one.posterior <= 1)).all()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("digits", "sample:KEY"),
        ("sample:", "sample:KEY"),
        ("file:/etc/passwd", "sample:KEY"),
        ("sample:../../etc/passwd", "digits"),
        ("sample:nothing", "digits"),
        ("synthetic:nothing", "gaussian"),
    ],
)
def test_what_is_no_source_is_refused_with_what_there_is(data, words):
    with pytest.raises(DataError, match=words):
        source(Recipe(data=data))


def test_a_colon_in_a_key_belongs_to_the_key():
    assert source(Recipe(data="upload:a:b")) == ("upload", "a:b")


def test_an_upload_that_is_not_at_hand_is_asked_for_by_its_digest():
    with pytest.raises(DataError, match=f"Upload .*digest {KEY}"):
        load(upload(target="bought"), {"another": TABLE})


def test_an_upload_needs_its_label_named():
    with pytest.raises(DataError, match="not chosen the label column"):
        load(upload(), {KEY: TABLE})


def test_the_recipe_s_label_class_and_columns_are_used():
    dataset = load(upload(target="bought", positive="maybe", exclude=("town",)), {KEY: TABLE})
    assert dataset.classes[1] == "maybe"
    assert list(dataset.X.columns) == ["age"]
    assert dataset.y.sum() == 5
    again = load(upload(target="town", positive="Ulm"), {KEY: TABLE})
    assert (again.classes[1], int(again.y.sum())) == ("Ulm", 10)


def test_predictions_are_taken_as_scores_when_the_recipe_says_so():
    table = pd.DataFrame({"label": ["no", "yes"] * 20, "p": [0.2, 0.7] * 20})
    dataset = load(upload(target="label", content="predictions"), {KEY: table})
    assert dataset.predictions
    assert list(dataset.X.columns) == ["p"]


def test_another_label_of_a_sample_drops_the_sample_s_positive_class():
    frame, target, positive = load_table(Recipe(data="sample:loans", target="purpose"), {})
    assert (target, positive) == ("purpose", None)
    assert "purpose" in frame.columns
    assert load_table(Recipe(data="sample:loans", positive="paid"), {})[2] == "paid"
    assert load_table(Recipe(data="sample:loans"), {})[2] == "default"


def test_loading_twice_never_changes_the_uploaded_table():
    before = TABLE.copy(deep=True)
    for _ in range(2):
        load(upload(target="bought"), {KEY: TABLE})
    pd.testing.assert_frame_equal(TABLE, before)


def test_an_openml_set_is_fetched_by_its_number(monkeypatch):
    asked = []
    monkeypatch.setattr(sources, "fetch_openml", lambda key: asked.append(key) or Table(TABLE, "bought"))
    dataset = load(Recipe(data="openml:37", positive="yes"))
    assert asked == ["37"]
    assert dataset.classes[1] == "yes"


def test_a_synthetic_set_has_no_table_to_read():
    with pytest.raises(DataError, match="simulated .*not .*table"):
        load_table(Recipe(data="synthetic:gaussian"), {})


def test_the_same_bytes_make_the_same_dataset():
    content = TABLE.to_csv(index=False).encode()
    one, two = (
        load(upload(target="bought"), {KEY: read_table(content, name)}) for name in ("a.csv", "b.csv")
    )
    assert one.digest == two.digest


LABELS = [("y", "Yes"), ("y", "yes"), ("n", "no"), ("n", "NO"), ("?", "unknown")]
MESSY = ("made by us\n\nage,bought\n" + "".join(f"{i},{LABELS[i % 5][1]}\n" for i in range(40))).encode()


def test_what_a_recipe_says_of_reading_and_labels_is_done_and_said():
    key = digest(MESSY)
    recipe = Recipe(
        data=f"upload:{key}",
        target="bought",
        data_params={"header": 3, "merge_labels": True, "drop_labels": ["unknown"]},
    )
    by_file = load(recipe, {key: TableFile("messy.csv", MESSY)})
    by_table = load(recipe, {key: read_table(MESSY, "messy.csv")})
    assert by_file.digest == by_table.digest
    assert set(by_file.classes) in ({"Yes", "no"}, {"Yes", "NO"}, {"yes", "no"}, {"yes", "NO"})
    assert by_file.n == 32
    np.testing.assert_array_equal(
        by_file.y == by_file.y[0], [LABELS[i % 5][0] == "y" for i in range(40) if i % 5 < 4]
    )
    for words in ("in line 3", "is treated as", "'unknown' is treated as missing: 8 rows", "Positive class"):
        assert any(words in note for note in by_file.notes), words
    assert (
        load(Recipe.from_query(recipe.to_query()), {key: TableFile("messy.csv", MESSY)}).digest
        == by_file.digest
    )


def test_a_table_read_in_another_way_is_refused_with_the_remedy():
    key = digest(MESSY)
    with pytest.raises(DataError, match=r"data_params.header is 4.*read_table\(…, header=4\)"):
        load(
            Recipe(data=f"upload:{key}", target="0", data_params={"header": 4}),
            {key: read_table(MESSY, "messy.csv")},
        )


def test_remarks_on_how_a_file_was_read_stand_among_the_notes():
    content = b"a;target\n1,5;x\n2,5;y\n3,5;x\n"
    key = digest(content)
    notes = load(Recipe(data=f"upload:{key}", target="target"), {key: read_table(content, "t.csv")}).notes
    assert "Columns are separated by semicolons." in notes
    assert_any_says(notes, "'a'", "decimal commas")


def test_chosen_scores_are_the_scores():
    table = pd.DataFrame({"y": [0, 1] * 20, "p": [0.2, 0.7] * 20, "age": [200, 300] * 20})
    recipe = upload(target="y", content="predictions")
    assert list(load(recipe, {KEY: table}).X) == ["p"]
    assert list(load(recipe.replace(data_params={"scores": ["age"]}), {KEY: table}).X) == ["age"]


def test_columns_left_out_are_no_scores_either():
    rows = np.arange(40)
    frame = pd.DataFrame({"y": rows % 2, "score_a": rows / 40, "score_b": 1 - rows / 41})
    asked = upload(content="predictions", target="y", exclude=("score_b",))
    assert list(load(asked, {KEY: frame}).X.columns) == ["score_a"]
    assert list(load(asked.replace(exclude=()), {KEY: frame}).X.columns) == ["score_a", "score_b"]
    with pytest.raises(DataError, match="exclude: no score column is left"):
        load(asked.replace(exclude=("score_a", "score_b")), {KEY: frame})


def test_how_a_file_is_read_is_nothing_to_say_of_a_sample():
    with pytest.raises(DataError, match="data_params.header .*reading a file.*sample:digits"):
        load(Recipe(data="sample:digits", data_params={"header": 3}))


def test_labels_merged_into_one_class_are_one_class_in_every_file():
    first = pd.DataFrame({"y": list("aabbccdd") * 3, "x": np.arange(24) % 7})
    recipe = Recipe(data="upload:00", target="y", data_params={"join_labels": ["c", "d"]})
    made = load(recipe, {"00": first})
    assert made.names == ("a", "b", "other")
    assert_any_says(made.notes, "'c' and 'd'", "'other'", "12 rows")
    second = pd.DataFrame({"y": list("aabbce"), "x": np.arange(6)})
    both = recipe.replace(
        **with_test_file("upload:11"), data_params={"join_labels": ["c", "d", "e"]}
    )  # of a label that only the other file holds, too
    joined = load(both, {"00": first, "11": second})
    assert joined.names == ("a", "b", "other")
    assert (joined.labels[joined.part == 2] == [0, 0, 1, 1, 2, 2]).all()


def test_labels_of_predictions_with_a_column_per_class_are_not_merged():
    """Without the columns added up, each would be read as a score of one class."""
    P = np.random.default_rng(0).dirichlet(np.ones(4), 40)
    frame = pd.DataFrame(P, columns=[f"p_{name}" for name in "abcd"]).assign(y=list("abcd") * 10)
    recipe = Recipe(
        data="upload:00", target="y", content="predictions", data_params={"join_labels": ["c", "d"]}
    )
    with pytest.raises(DataError, match="Classes cannot be merged here"):
        load(recipe, {"00": frame})
    single = frame[["y", "p_a"]]
    assert load(recipe.replace(positive="a"), {"00": single}).classes == ("not a", "a")


def test_predictions_of_all_classes_are_evaluated_as_the_arrays_that_they_are():
    """A file of two models, one of which holds logits; labels are matched by name in whatever order columns are."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1, 1], 600)
    label = np.array([rng.choice(3, p=row) for row in P])
    names = np.array(["cat", "dog", "fox"])
    frame = pd.DataFrame(
        {"net_fox": np.log(P[:, 2]) + 1, "net_cat": np.log(P[:, 0]) + 1, "net_dog": np.log(P[:, 1]) + 1}
    )
    frame = frame.assign(**{f"forest_{name}": P[:, k] for k, name in enumerate(names)}, label=names[label])
    recipe = Recipe(data="upload:00", content="predictions", target="label", calibrators=("none",))
    for score in (None, "forest", "net"):
        asked = recipe.replace(score=score)
        found = evaluate(asked, load(asked, {"00": frame}))
        rows = found.rows
        expected = check(label[rows], P[rows]).of("top")
        (p,) = expected.predictions.values()
        np.testing.assert_allclose(found.predictions["none"].p, p.p, atol=1e-12)
        np.testing.assert_array_equal(found.y, expected.y)
    with pytest.raises(InputError, match="score must .*net, forest, .*'net_fox'"):
        evaluate(recipe.replace(score="net_fox"), load(recipe, {"00": frame}))
    one = recipe.replace(positive="dog", score="forest_dog")
    found = evaluate(one, load(one, {"00": frame}))
    np.testing.assert_array_equal(found.predictions["none"].p, P[found.rows, 1])


def test_probabilities_that_do_not_sum_to_one_are_divided_as_the_recipe_says():
    frame = pd.DataFrame({"y": list("abc") * 8, "p_a": 2.0, "p_b": 1.0, "p_c": 1.0})
    recipe = Recipe(data="upload:00", content="predictions", target="y")
    with pytest.raises(DataError, match=r"not sum to 1 .*\b24 of 24 rows"):
        load(recipe, {"00": frame})
    (error,) = [p for p in data_problems(recipe, {"00": frame}) if p.severity == "error"]
    assert [action for _, action in error.fixes] == ["Divide each row by its sum", "These are logits"]
    for (fix, _), expected in zip(
        error.fixes, ([0.5, 0.25, 0.25], np.exp([2, 1, 1]) / np.exp([2, 1, 1]).sum()), strict=True
    ):
        np.testing.assert_allclose(load(recipe.replace(**fix), {"00": frame}).X, [expected] * 24)


def test_classes_can_be_taken_together_where_each_has_a_column():
    frame = pd.DataFrame({"y": list("abc") * 8, "p_a": 0.5, "p_b": 0.25, "p_c": 0.25, "x": range(24)})
    features, predictions = Recipe(data="upload:00"), Recipe(data="upload:00", content="predictions")
    assert classes_together(features, Table(frame, "y")) == ("a", "b", "c")
    assert classes_together(features, Table(frame.head(2), "y")) == ()
    assert classes_together(features, Table(frame)) == classes_together(features, Table(frame, "z")) == ()
    assert classes_together(predictions, Table(frame, "y")) == ("a", "b", "c")
    assert classes_together(predictions.replace(positive="a"), Table(frame, "y", "a")) == ("a", "b", "c")
    assert classes_together(predictions, Table(frame.drop(columns="p_c"), "y")) == ()
    assert classes_together(predictions.replace(exclude=["p_c"]), Table(frame, "y")) == ()
    assert classes_together(predictions.replace(weight="p_c"), Table(frame, "y")) == ()


def test_a_label_that_is_merged_or_excluded_is_no_class_to_look_at():
    recipe = Recipe(positive="a", base_rate=0.1, view_class="b")
    assert with_labels(recipe, "c") == {}
    assert with_labels(recipe, "b") == {"view_class": None}
    both = recipe.replace(**with_labels(recipe, "a", "b"))
    assert (both.positive, both.base_rate, both.view_class) == (None, None, None)
