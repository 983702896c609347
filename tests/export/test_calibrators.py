"""A calibrator that went through a file answers as before; what is no calibrator file is refused by the field."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from calib import Recipe, evaluate
from calib.calibrators import (
    CALIBRATORS,
    INPUT_TABLES,
    PPA,
    Beta,
    Histogram,
    Isotonic,
    Platt,
    Rank,
    Spline,
    Venn,
    VennAbers,
)
from calib.data import read_table
from calib.export import (
    calibrator_json,
    check_exportable,
    read_calibrator,
    safe_csv,
    write_calibrator,
    write_javascript,
    write_python,
)
from calib.export.calibrators import CALIBRATOR_FORMAT
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import InputError
from calib.placements.adjusted import Adjusted
from calib.placements.cross_validation import CrossFit
from calib.sources import load
from tests.saying import assert_says
from tests.test_joint_recipe import DATA as JOINT_DATA
from tests.test_joint_recipe import RECIPE as JOINT_RECIPE

GUIDE = Path(__file__).parents[2] / "docs" / "export.md"
VARIANTS = [
    *(method() for method in CALIBRATORS.values() if method.input not in INPUT_TABLES),
    *(Isotonic(between=between, regularise=True) for between in ("linear", "step", "nearest")),
    *(Venn(taxonomy, bins=7, merge="square") for taxonomy in ("label", "uniform", "quantile")),
    VennAbers(merge="midpoint"),
    PPA(variant="sigmoid"),
    Platt(on="log-odds"),
    Histogram(strategy="uniform", bins=7),
    Spline(knots=5, penalty=0.01),
]


def tied_scores(n=150, seed=0):
    """Scores in [0, 1] with ties and on the edges of bins, and labels that go with them."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 57, n) / 56
    return scores, (rng.random(n) < scores).astype(int)


def asked(scores):
    """Where a table may go wrong: at the scores, one float beside them, between and beyond them, and at bin edges."""
    edges = np.concatenate([np.arange(8) / 7, (np.arange(1, 8) - 1e-9) / 7, [0.5]])
    points = np.concatenate([scores, edges, (scores[1:] + scores[:-1]) / 2])
    near = np.concatenate([points, np.nextafter(points, -np.inf), np.nextafter(points, np.inf)])
    return np.clip(near, 0, 1)


@pytest.mark.parametrize("unfitted", VARIANTS, ids=repr)
def test_every_calibrator_comes_back_with_the_same_answers(unfitted):
    scores, y = tied_scores()
    fitted = unfitted.fit(scores, y)
    saved = read_calibrator(write_calibrator(fitted))
    queries = asked(scores)
    predictions = saved.predict(queries)
    np.testing.assert_array_equal(predictions.p, fitted.predict(queries))
    assert saved.gives_interval == fitted.gives_interval
    if fitted.gives_interval:
        np.testing.assert_array_equal(
            np.column_stack([predictions.p0, predictions.p1]), fitted.predict_interval(queries)
        )


@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=30))
def test_venn_abers_comes_back_for_any_small_set_with_ties_and_one_class(objects):
    scores, labels = np.array(objects, dtype=float).T
    fitted = VennAbers().fit(scores, labels.astype(int))
    queries = np.arange(-10, 11) / 2
    predictions = read_calibrator(write_calibrator(fitted)).predict(queries)
    np.testing.assert_array_equal(
        np.column_stack([predictions.p0, predictions.p1]), fitted.predict_interval(queries)
    )


def test_rank_comes_back_with_the_scores_of_every_tree():
    rng = np.random.default_rng(3)
    votes = rng.integers(0, 5, (60, 4)) / 4
    fitted = Rank().fit(votes, rng.integers(0, 2, 60))
    saved = read_calibrator(write_calibrator(fitted))
    assert (saved.input, saved.columns) == ("tree_scores", 4)
    new = rng.integers(0, 9, (50, 4)) / 8
    np.testing.assert_array_equal(saved.predict(new).p, fitted.predict(new))
    with pytest.raises(InputError, match=r"\b4 scores .*tree.*\b3\b"):
        saved.predict(new[:, :3])


def test_one_class_beta_keeps_its_infinite_intercept_in_strict_json():
    fitted = Beta().fit([0.2, 0.7], [1, 1])
    text = write_calibrator(fitted)
    assert json.loads(text, parse_constant=pytest.fail)["map"]["c"] == "Infinity"
    assert read_calibrator(text).predict([0.4]).p.tolist() == [1.0]


@pytest.fixture(scope="module")
def predictions():
    recipe = Recipe(
        data="sample:predictions", content="predictions", calibrators=("none", "beta", "venn_abers")
    )
    return evaluate(recipe, load(recipe))


def test_an_evaluations_calibrator_answers_as_on_the_page_and_says_what_it_is(predictions):
    for key, predicted in predictions.predictions.items():
        saved = read_calibrator(calibrator_json(predictions, key))
        np.testing.assert_array_equal(saved.predict(predictions.scores).p, predicted.p)
        assert saved.classes == predictions.dataset.classes
        assert saved.made["digest"] == predictions.dataset.digest
        assert saved.calibration["rows"] == len(predictions.calibration_y)
        assert Recipe.from_json(json.dumps(saved.made["recipe"])) == predictions.recipe


def test_cross_calibration_needs_a_score_from_each_fold_and_merges_them_as_the_placement_does():
    data = load(Recipe(data="sample:breast_cancer"))
    recipe = Recipe(
        data="sample:breast_cancer",
        model="naive_bayes",
        placement="cv",
        cv=3,
        calibrators=("venn_abers", "platt"),
    )
    evaluation = evaluate(recipe, data)
    saved = read_calibrator(calibrator_json(evaluation, "venn_abers"))
    assert (saved.input, saved.columns) == ("fold_scores", 3)
    assert "each fold" in saved.notes[0]
    scores = np.random.default_rng(0).random((20, 3))
    placed = CrossFit()
    tests = type("Tests", (), {"by_fold": scores.T, "scores": scores[:, 0]})()
    expected = placed.predict(evaluation.calibrators["venn_abers"][0], tests)
    np.testing.assert_array_equal(saved.predict(scores).p, expected.p)
    np.testing.assert_array_equal(saved.predict(scores).lower, expected.lower)
    assert read_calibrator(calibrator_json(evaluation, "platt")).columns == 1


@pytest.mark.parametrize("placement", ["split", "oob", "cv"])
@pytest.mark.parametrize("on", ["log-odds", "score"])
def test_platts_file_says_what_it_was_fitted_on_and_gives_the_same_for_a_table_of_scores(placement, on):
    """The formula of the format, written out again, on the predictions as they are downloaded."""
    recipe = Recipe(
        data="sample:breast_cancer",
        params={"n_estimators": 30},
        placement=placement,
        calibrators=("none", "platt"),
        options={"platt.on": on},
    )
    evaluation = evaluate(recipe, load(recipe))
    content = calibrator_json(evaluation, "platt")
    value, table = json.loads(content), read_table(safe_csv(evaluation.frame()), "predictions.csv")
    s = table["score"].to_numpy()
    if on == "log-odds":
        assert value["input"] == {"of": "probability", "columns": 1}
        clip = value["map"]["clip"]
        assert (s < clip).any()
        s = logit(np.clip(s, clip, 1 - clip))
    else:
        assert value["input"]["of"] == "score"
        assert "clip" not in value["map"]
    p = 1 / (1 + np.exp(value["map"]["A"] * s + value["map"]["B"]))
    np.testing.assert_allclose(p, evaluation.predictions["platt"].p, atol=1e-12)
    applied = read_calibrator(content).apply(table, ["score"])
    np.testing.assert_array_equal(applied.table["p"], evaluation.predictions["platt"].p)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("beta", "extrapolated"),
        ("isotonic", "clamped"),
        ("venn_abers", "clamped"),
        ("venn", "taken from their category, or [0, 1] if the category has no calibration rows"),
        ("histogram", "clamped"),
        ("quadratic", "extrapolated linearly in log-odds, or clamped where the curve falls at its end"),
        ("none", None),
    ],
)
def test_scores_outside_those_of_the_fit_are_counted_and_what_becomes_of_them_is_said(key, words):
    recipe = Recipe(data="sample:predictions", content="predictions", calibrators=(key,))
    evaluation = evaluate(recipe, load(recipe))
    seen = evaluation.calibration_scores
    value = json.loads(calibrator_json(evaluation, key))
    ends = [value["calibration"].pop(name) for name in ("lowest", "highest")]
    assert ends == [seen.min(), seen.max()]
    value["calibration"] |= {"lowest": 0.2, "highest": 0.8}  # so that there is room outside
    scores = np.array([0.1, 0.2, 0.5, 0.8, 0.9])
    said = read_calibrator(json.dumps(value)).apply(pd.DataFrame({"s": scores}), ["s"]).notes
    if words is None:
        assert said == ()
        return
    assert len(said) == 1
    assert_says(said[0], "2 of 5 scores", "outside", "0.2 to 0.8", words)
    kept = read_calibrator(json.dumps(value)).apply(pd.DataFrame({"s": scores[1:4]}), ["s"])
    assert kept.notes == ()
    value["calibration"] = {}
    assert read_calibrator(json.dumps(value)).apply(pd.DataFrame({"s": scores}), ["s"]).notes == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lowest": 0.9, "highest": 0.1}, "highest"),
        ({"lowest": "a", "highest": 1}, "lowest"),
        ({"lowest": 0}, "highest"),
    ],
)
def test_a_range_that_is_none_is_refused(changes, words):
    value = json.loads(write_calibrator(Isotonic().fit([0.1, 0.8], [0, 1]), calibration=changes))
    with pytest.raises(InputError, match=f"calibration.{words} must be"):
        read_calibrator(json.dumps(value))


def misspelt(value: dict, path: str) -> str:
    """The same file with the last letter of one field's name missing."""
    *into, name = path.split(".")
    part = value
    for step in into:
        part = part[int(step) if step.isdecimal() else step]
    part[name[:-1]] = part.pop(name)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("calibrator", "path", "known"),
    [
        (Platt("log-odds"), "map.clip", ""),
        (Platt(), "base_rate", "base_rate"),
        (Platt(), "base_rate.stated", ""),
        (Platt(), "calibration.lowest", "lowest"),
        (Platt(), "notes", ""),
        (Platt(), "input.columns", ""),
        (Isotonic(), "map.between", ""),
        (VennAbers(), "map.p0.values", ""),
        (VennAbers(), "merge", ""),
    ],
    ids=str,
)
def test_a_misspelt_field_is_refused_and_never_as_if_it_were_not_there(calibrator, path, known):
    fitted = calibrator.fit([0.2, 0.4, 0.5, 0.7, 0.8], [0, 1, 0, 0, 1])
    calibration = {"rows": 5, "positives": 2, "lowest": 0.2, "highest": 0.8}
    text = write_calibrator(Adjusted(fitted, BaseRate(0.4, 0.01)), calibration=calibration)
    assert read_calibrator(text).base_rate == BaseRate(0.4, 0.01)
    *into, name = path.split(".")
    where = ".".join([*into, name[:-1]])
    told = (
        rf"{where} is not a known field\. Use one of these: .*\b{known}\b"
        if known
        else "is not a known|must be"
    )
    with pytest.raises(InputError, match=told):
        read_calibrator(misspelt(json.loads(text), path))


def test_what_a_file_holds_beside_its_fields_is_refused_and_what_made_it_is_free():
    value = json.loads(write_calibrator(Platt().fit([0.2, 0.8], [0, 1]), made={"by": "me"}))
    assert read_calibrator(json.dumps(value)).made == {"by": "me"}
    with pytest.raises(InputError, match=r"base_rat\b.*not .*known .*base_rate"):
        read_calibrator(json.dumps(value | {"base_rat": None}))
    with pytest.raises(InputError, match="'version' is given twice"):
        read_calibrator(json.dumps(value)[:-1] + ', "version": 1}')
    with pytest.raises(InputError, match="calibration must be one of 'rows'"):
        write_calibrator(Platt().fit([0.2, 0.8], [0, 1]), calibration={"row": 2})


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"evaluation": "folds", "folds": 2}, "platt", "one per fold"),
        (
            {"placement": "oob", "model": "random_forest", "params": {"n_estimators": 10}},
            "rank",
            "Rank calibration with out-of-bag scores",
        ),
        ({"placement": "none"}, "platt", "needs calibration scores"),
        ({}, "beta", "not among"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(changes, key, words):
    recipe = Recipe(
        data="sample:breast_cancer",
        calibrators=("none", "platt", "rank"),
        **{"model": "naive_bayes"} | changes,
    )
    evaluation = evaluate(recipe, load(recipe))
    with pytest.raises(InputError, match=words):
        check_exportable(evaluation, key)


def test_out_of_bag_says_that_the_table_keeps_the_rows_which_the_evaluation_leaves_out():
    recipe = Recipe(
        data="sample:breast_cancer", placement="oob", params={"n_estimators": 20}, calibrators=("venn_abers",)
    )
    evaluation = evaluate(recipe, load(recipe))
    saved = read_calibrator(calibrator_json(evaluation, "venn_abers"))
    assert "uses all rows" in saved.notes[0]
    pairs = evaluation.calibrators["venn_abers"][0].predict_interval(evaluation.scores)
    np.testing.assert_array_equal(saved.predict(evaluation.scores).p1, pairs[:, 1])


# The loader in the guide


def guide_blocks(words: str) -> list[str]:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.S)
    return [block for block in blocks if words in block]


@pytest.mark.parametrize(
    "unfitted", [VennAbers(), Venn(), Venn("quantile", bins=5), Venn("uniform", bins=9)], ids=repr
)
def test_the_loader_in_the_guide_gives_the_same_pairs(unfitted, tmp_path):
    (block,) = guide_blocks("def load_calibrator")
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    assert not re.search(r"numpy|pandas|calib\b(?!rator)", block)
    names: dict = {}
    exec(block, names)
    scores, y = tied_scores(seed=5)
    fitted = unfitted.fit(scores, y)
    (tmp_path / "venn_abers.json").write_text(write_calibrator(fitted), encoding="utf-8")
    pair = names["load_calibrator"](tmp_path / "venn_abers.json")
    queries = asked(scores)
    assert [pair(score) for score in queries.tolist()] == list(
        map(tuple, fitted.predict_interval(queries).tolist())
    )


# Applied to a table


def test_a_table_gets_its_probabilities_beside_it_and_rows_without_a_score_stay_empty(predictions):
    saved = read_calibrator(calibrator_json(predictions, "venn_abers"))
    frame = read_table(b"id,score,p0,note\n1,0.2,a,=1+1\n2,,b,x\n3,0.9,c,y\n", "new.csv")
    applied = saved.apply(frame, ["score"])
    assert applied.unanswered == 1
    assert list(applied.table.columns) == ["id", "score", "p0", "note", "p0 (calibrated)", "p1", "p"]
    pairs = predictions.calibrators["venn_abers"][0].predict_interval([0.2, 0.9])
    np.testing.assert_array_equal(applied.table.loc[[0, 2], ["p0 (calibrated)", "p1"]], pairs)
    assert applied.table.loc[1, ["p0 (calibrated)", "p1", "p"]].isna().all()
    back = pd.read_csv(io.BytesIO(safe_csv(applied.table)))
    np.testing.assert_array_equal(back["p1"], applied.table["p1"])
    assert back["note"][0] == "'=1+1"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["note"], "not a numeric column"),
        (["absent"], "not a numeric column"),
        ([], "needs 1 score column"),
        (["empty"], "No row"),
    ],
)
def test_a_column_that_holds_no_scores_is_refused(predictions, columns, words):
    saved = read_calibrator(calibrator_json(predictions, "venn_abers"))
    frame = pd.DataFrame({"score": [0.5, 0.6], "note": ["a", "b"], "empty": [np.nan, np.inf]})
    with pytest.raises(InputError, match=words):
        saved.apply(frame, columns)


def test_probabilities_outside_the_unit_interval_are_refused_not_clipped(predictions):
    saved = read_calibrator(calibrator_json(predictions, "beta"))
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        saved.apply(pd.DataFrame({"margin": [0.5, 1.7]}), ["margin"])


# What is no calibrator file


def document(**changes):
    """A good file of Venn–Abers with some fields changed; None takes one away."""
    value = json.loads(write_calibrator(VennAbers().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])))
    for path, new in changes.items():
        *parents, name = path.split("__")
        target = value
        for parent in parents:
            target = target[parent]
        target.pop(name) if new is None else target.__setitem__(name, new)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "other"}, "format must be one of"),
        ({"version": 2}, "version must be one of 1"),
        ({"version": True}, "version"),
        ({"method": "magic"}, "method must be one of"),
        ({"method": "platt"}, "method must be one of 'venn'"),
        ({"merge": None}, "merge must be one of"),
        ({"input__of": "tree_scores"}, "input.of must be one of 'score', 'probability'"),
        ({"input__columns": 3}, "input.columns must be one of 1"),
        ({"classes": ["a"]}, "classes must name two classes"),
        ({"notes": [1]}, "notes must be a list of strings"),
        ({"map": []}, "map must be an object"),
        ({"map__kind": "code"}, "map.kind must be one of"),
        ({"map__p0": None}, "map.p0 must be an object"),
        ({"map__p0__breaks": [0.9, 0.1]}, "map.p0.breaks must increase"),
        ({"map__p0__breaks": [0.1, "0.9"]}, "map.p0.breaks must be a list of numbers"),
        ({"map__p0__breaks": [0.1, True]}, "map.p0.breaks must be a list of numbers"),
        ({"map__p1__values": [0.5]}, "map.p1.values must contain"),
        ({"map__p1__breaks": [], "map__p1__values": [1.5]}, r"map.p1.values must lie in \[0, 1\]"),
        ({"map__p1__breaks": [], "map__p1__values": [0.0]}, "map.p0 must not exceed p1"),
        ({"map__p1__breaks": [10**400]}, "map.p1.breaks must contain only finite numbers"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_field_is_refused_by_its_name(changes, words):
    with pytest.raises(InputError, match=words):
        read_calibrator(document(**changes))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not valid JSON"),
        (b"\x80\x04\x95", "not valid JSON"),
        (b"[1]", "must be an object"),
        (b'{"format": NaN}', "contains NaN"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b" " * (64 * 2**20 + 1), "at most"),
    ],
    ids=["empty", "pickle", "list", "nan", "deep", "digits", "huge"],
)
def test_what_is_no_such_file_gives_one_sentence(content, words):
    with pytest.raises(InputError, match=words):
        read_calibrator(content)


@pytest.mark.parametrize(
    ("fitted", "changes", "words"),
    [
        (
            Spline().fit([0.1, 0.8, 0.3, 0.6], [0, 1, 1, 0]),
            {"knots": [-1, 0, 1], "values": [1e308, -1e308, 0]},
            "map.values must have a finite slope",
        ),
        (Beta().fit([0.1, 0.8, 0.3, 0.6], [0, 1, 1, 0]), {"clip": 0.1}, "map.clip"),
        (Beta().fit([0.1, 0.8, 0.3, 0.6], [0, 1, 1, 0]), {"a": -1.0}, "map.a"),
        (Isotonic().fit([1, 2], [0, 1]), {"values": [1.0, 0.0]}, "map.values must not decrease"),
        (Isotonic().fit([1, 2], [0, 1]), {"scores": [], "values": []}, "map.scores must not be empty"),
        (Isotonic().fit([1, 2], [0, 1]), {"between": "cubic"}, "map.between"),
        (PPA().fit([0.6, 0.7], [1, 0]), {"r": 2.0}, "map.r"),
        (PPA().fit([0.6, 0.7], [1, 0]), {"r": 10**400}, "map.r"),
        (Platt(on="log-odds").fit([0.1, 0.8], [0, 1]), {"clip": None}, "map.clip"),
        (Platt(on="log-odds").fit([0.1, 0.8], [0, 1]), {"clip": 0.7}, "map.clip"),
        (Rank().fit([[0.1], [0.2]], [0, 1]), {"trees": []}, "map.trees"),
        (Rank().fit([[0.1], [0.2]], [0, 1]), {"trees": [{"votes": [0.1], "counts": [1e9]}]}, "counts"),
        (Rank().fit([[0.1], [0.2]], [0, 1]), {"trees": [{"votes": [0.1], "counts": [0.5]}]}, "counts"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_number_of_another_kind_of_map_is_refused_too(fitted, changes, words):
    value = json.loads(write_calibrator(fitted))
    value["map"] |= changes
    with pytest.raises(InputError, match=words):
        read_calibrator(json.dumps(value))


def test_the_format_names_itself_and_every_number_keeps_its_digits():
    scores, y = tied_scores(seed=9)
    fitted = VennAbers().fit(scores / 3, y)
    value = json.loads(write_calibrator(fitted))
    assert value["format"] == CALIBRATOR_FORMAT
    assert set(value["map"]["p1"]["breaks"]) <= set(fitted.thresholds_.tolist())
    assert value["map"]["p1"]["values"] == sorted(set(fitted.p1_.tolist()))


def test_files_and_programs_say_that_platt_scaling_was_fitted_on_log_odds():
    recipe = Recipe(data="sample:predictions", content="predictions", calibrators=("platt",))
    evaluation = evaluate(recipe, load(recipe))
    content, sentence = (
        calibrator_json(evaluation, "platt"),
        "Platt scaling: fitted on the log-odds of the scores.",
    )
    saved = read_calibrator(content)
    assert sentence in saved.notes
    scores, y = evaluation.calibration_scores, evaluation.calibration_y
    clip = json.loads(content)["map"]["clip"]
    moved = logit(np.clip(scores, clip, 1 - clip))
    np.testing.assert_allclose(saved.predict(scores).p, Platt().fit(moved, y).predict(moved), atol=1e-9)
    for source in (saved, evaluation.calibrators["platt"][0]):
        for program in (write_python(source), write_javascript(source)):
            assert sentence in program.split("calibrate")[0]
    assert "log-odds" not in write_python(Platt().fit(moved, y))


K_KEYS = [key for key, method in CALIBRATORS.everything().items() if method.input not in INPUT_TABLES]


@pytest.mark.parametrize("key", K_KEYS)
@pytest.mark.parametrize("view", [None, "grignolino"])
def test_calibrators_of_k_classes_come_back_with_the_same_answers(key, view):
    evaluation = evaluate(JOINT_RECIPE.replace(calibrators=("none", key), view_class=view), JOINT_DATA)
    whole = evaluation.whole
    saved = read_calibrator(calibrator_json(evaluation, key))
    found = saved.predict(whole.scores)
    np.testing.assert_array_equal(found.p, evaluation.whole.predictions[key].p)
    assert saved.classes == JOINT_DATA.names
    if whole.predictions[key].p0 is not None:
        np.testing.assert_array_equal(found.p0, whole.predictions[key].p0)
    table = pd.DataFrame(whole.scores, columns=["a", "b", "c"])
    applied = saved.apply(table, ["a", "b", "c"]).table
    np.testing.assert_array_equal(applied["p_grignolino"], found.p[:, 1])


def test_a_file_of_k_classes_is_refused_by_its_field():
    text = calibrator_json(
        evaluate(JOINT_RECIPE.replace(calibrators=("none", "vector", "isotonic")), JOINT_DATA), "vector"
    )
    for change, said in (
        (('"columns": 3', '"columns": 4'), "columns"),
        (('"present": [0, 1, 2]', '"present": [0, 1, 3]'), "present"),
        (('"present": [0, 1, 2]', '"present": [0, 1]'), "map.W must contain 2 lists"),
        (('"kind": "softmax"', '"kind": "softmix"'), "kind"),
        (('"method": "vector"', '"method": "isotonic"'), "method"),
    ):
        assert change[0] in text
        with pytest.raises(InputError, match=said):
            read_calibrator(text.replace(*change))


def test_a_calibrator_of_several_folds_models_is_not_saved_for_k_classes():
    found = evaluate(JOINT_RECIPE.replace(placement="cv", cv=3), JOINT_DATA)
    with pytest.raises(InputError, match="Choose placement='split'"):
        calibrator_json(found, "venn_abers")
    assert read_calibrator(calibrator_json(found, "structured_matrix")).columns == 3
