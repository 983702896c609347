"""A Recipe round-trips through every form and refuses, by name, what it does not know."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import PARTS, Recipe

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)

RECIPES = st.builds(
    Recipe,
    data=TEXT,
    target=st.none() | TEXT,
    table=st.fixed_dictionaries(
        {},
        optional={
            "sheet": TEXT,
            "header": st.integers(0, 1000),
            "merge_labels": st.booleans(),
            "drop_labels": st.lists(TEXT, max_size=3),
            "scores": st.lists(TEXT, max_size=3).map(tuple),
        },
    ),
    positive=st.none() | TEXT,
    exclude=st.lists(TEXT, max_size=3).map(tuple),
    model=st.sampled_from([key for key in MODELS if key != "given"]),
    placement=st.sampled_from(list(PLACEMENTS)),
    calibration_size=st.floats(0.05, 0.9),
    seed=st.integers(0, 2**31 - 1),
    calibrators=st.lists(st.sampled_from(list(CALIBRATORS)), unique=True).map(tuple),
    merge=st.sampled_from(["log", "square", "midpoint"]),
    bins=st.integers(2, 100),
    binning=st.sampled_from(["uniform", "quantile"]),
    beside=st.lists(st.sampled_from(list(PLACEMENTS)), unique=True).map(tuple),
    row=st.none() | st.integers(1, 10**9),
    metric=st.sampled_from(["brier", "ece", "auc"]),
    depths=st.lists(st.sampled_from(["1", "7", "100", "max"]), unique=True).map(tuple),
    node=st.none() | st.integers(0, 10**6),
    lesson=st.sampled_from([None, "deep_trees:3"]),
    presenter=st.booleans(),
)


@given(RECIPES)
def test_query_json_and_python_give_the_same_recipe_back(recipe):
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert Recipe.from_json(recipe.to_json()) == recipe
    names = {"Recipe": Recipe}
    exec(recipe.to_python(), names)
    assert names["recipe"] == recipe


def test_settings_round_trip_and_are_checked_by_the_registry():
    recipe = Recipe(params={"n_estimators": 7, "max_depth": None}, options={"isotonic.between": "nearest"})
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert Recipe.from_json(recipe.to_json()) == recipe
    with pytest.raises(InputError, match=r"params.*'depth'"):
        Recipe(params={"depth": 3})
    with pytest.raises(InputError, match=r"params\.n_estimators"):
        Recipe(params={"n_estimators": 0})
    with pytest.raises(InputError, match=r"options\.isotonic\.between.*'linear'"):
        Recipe(options={"isotonic.between": "nearer"})


def test_another_model_starts_from_its_own_defaults():
    assert Recipe(params={"n_estimators": 7}).replace(model="naive_bayes").params == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "oracle"}, "model.*random_forest"),
        ({"placement": "nowhere"}, "placement.*split"),
        ({"calibrators": ("venn-abers",)}, "calibrators.*venn_abers"),
        ({"calibrators": "platt"}, "calibrators.*list"),
        ({"calibration_size": 1.5}, r"calibration_size.*0\.05.*0\.9"),
        ({"calibration_size": float("nan")}, "calibration_size"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"table": {"row": 3}}, "table.*'row'.*header"),
        ({"table": {"header": -1}}, r"table\.header"),
        ({"table": {"merge_labels": "yes"}}, r"table\.merge_labels"),
        ({"table": {"drop_labels": "unknown"}}, r"table\.drop_labels.*list"),
        ({"bins": 10.0}, "bins.*whole"),
        ({"binning": "fancy"}, "binning.*uniform.*quantile"),
        ({"merge": "mean"}, "merge.*log"),
        ({"interval": "platt"}, "interval.*venn_abers"),
        ({"beside": ("split", "sideways")}, "beside.*split.*sideways"),
        ({"row": 0}, "row.*whole number"),
        ({"row": "first"}, "row.*whole number"),
        ({"lesson": "deep_trees"}, "lesson.*name:1"),
        ({"lesson": "deep_trees:0"}, "lesson.*name:1"),
        ({"presenter": 1}, "presenter.*true or false"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(change, words):
    with pytest.raises(InputError, match=words):
        Recipe(**change)


@pytest.mark.parametrize("query", [{"bins": "many"}, {"bims": "5"}, {"params": "{"}, {"bins": "1"}, {"presenter": "1"}])
def test_a_broken_link_is_refused_by_the_name_of_the_field(query):
    with pytest.raises(InputError, match=next(iter(query))):
        Recipe.from_query(query)


@pytest.mark.parametrize("text", ["", "[]", '{"bins": "5"}', '{"modle": "svm"}'])
def test_a_broken_file_is_refused(text):
    with pytest.raises(InputError):
        Recipe.from_json(text)


def test_a_digest_changes_with_its_part_and_those_before_it_only():
    base = Recipe()
    changed = {"fit": base.replace(seed=1), "calibrate": base.replace(merge="square"), "view": base.replace(bins=7)}
    for i, part in enumerate(PARTS):
        differs = [base.digest(p) != changed[part].digest(p) for p in PARTS]
        assert differs == [j >= i for j in range(len(PARTS))]


def test_every_field_has_a_part_a_check_and_a_line_of_help():
    for spec in dataclasses.fields(Recipe):
        assert spec.metadata["part"] in PARTS
        assert callable(spec.metadata["check"])
        assert spec.metadata["help"].endswith(".")
