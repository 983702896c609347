"""A Recipe round-trips through every form and refuses, by name, what it does not know."""

import dataclasses
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pages.ui.everything
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError, setting
from calib.kernel.declared import SETTINGS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import FIELDS, PHASES, Recipe, with_calibrators, with_model, with_split
from pages.ui import current
from tests.saying import says

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


def made(split, data_params, **fields):
    """A Recipe in which a gap stands only with the split that has one."""
    if split != "time":
        data_params = {name: value for name, value in data_params.items() if name != "gap"}
    return Recipe(split=split, data_params=data_params, **fields)


RECIPES = st.builds(
    made,
    data=TEXT,
    target=st.none() | TEXT,
    data_params=st.fixed_dictionaries(
        {},
        optional={
            "sheet": TEXT,
            "header": st.integers(0, 1000),
            "merge_labels": st.booleans(),
            "drop_repeated": st.booleans(),
            "drop_labels": st.lists(TEXT, max_size=3),
            "join_labels": st.lists(TEXT, max_size=3),
            "scores": st.lists(TEXT, max_size=3).map(tuple),
            "scores_as": st.sampled_from([None, "shares", "logits"]),
            "gap": st.floats(0, 1000),
        },
    ),
    split=st.sampled_from(["random", "time", "cluster", "file"]),
    weight=st.none() | TEXT,
    weight_as=st.sampled_from([None, "counts", "importance"]),
    time=st.none() | TEXT,
    cluster=st.none() | TEXT,
    part=st.none() | TEXT,
    positive=st.none() | TEXT,
    exclude=st.lists(TEXT, max_size=3).map(tuple),
    model=st.sampled_from([key for key in MODELS if key != "given"]),
    placement=st.sampled_from(list(PLACEMENTS)),
    calibration_size=st.floats(0.05, 0.9),
    seed=st.integers(0, 2**31 - 1),
    calibrators=st.lists(st.sampled_from(list(CALIBRATORS)), unique=True).map(tuple),
    merge=st.sampled_from(["log", "square", "midpoint"]),
    base_rate=st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True),
    bins=st.integers(2, 100),
    binning=st.sampled_from(["uniform", "quantile"]),
    settings=st.fixed_dictionaries(
        {},
        optional={
            "venn_abers.beside": st.lists(st.sampled_from(list(PLACEMENTS)), unique=True).map(tuple),
            "venn_abers.row": st.none() | st.integers(1, 10**9),
            "trees.metric": st.sampled_from(["brier", "ece", "auc"]),
            "trees.depths": st.lists(st.sampled_from(["1", "7", "100", "max"]), unique=True).map(tuple),
            "trees.node": st.none() | st.integers(0, 10**6),
            "reliability.group": TEXT,
            "reliability.selection": st.sampled_from(
                [(), ("none:0.0:0.5",), ("none:0.0:0.1", "platt:0.25:0.75")]
            ),
            "reliability.all_metrics": st.booleans(),
            "theorem.objects": st.sampled_from([5, 10, 20]),
        },
    ),
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


def test_another_model_starts_from_its_own_defaults_where_that_is_asked_for_and_nothing_is_dropped_unasked():
    recipe = Recipe(params={"n_estimators": 7})
    assert recipe.replace(**with_model(recipe, "naive_bayes")).params == ()
    assert recipe.replace(**with_model(recipe, "random_forest")).params == recipe.params
    with pytest.raises(InputError, match=r"params: 'n_estimators' is not a known.*var_smoothing"):
        recipe.replace(model="naive_bayes")


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
        ({"data_params": {"row": 3}}, "data_params.*'row'.*header"),
        ({"data_params": {"header": -1}}, r"data_params\.header"),
        ({"data_params": {"merge_labels": "yes"}}, r"data_params\.merge_labels"),
        ({"data_params": {"drop_labels": "unknown"}}, r"data_params\.drop_labels.*list"),
        ({"bins": 10.0}, "bins.*whole"),
        ({"binning": "fancy"}, "binning.*uniform.*quantile"),
        ({"merge": "mean"}, "merge.*log"),
        ({"settings": {"venn_abers.interval": "platt"}}, r"venn_abers\.interval.*venn_abers"),
        ({"settings": {"venn_abers.beside": ("split", "sideways")}}, r"venn_abers\.beside.*split.*sideways"),
        ({"settings": {"venn_abers.row": 0}}, r"venn_abers\.row.*whole number"),
        ({"settings": {"trees.row": "first"}}, r"trees\.row.*whole number"),
        (
            {"settings": {"trees.depths": ("9" * 5_000,)}},
            r"trees\.depths.*from 1 to 100 or 'max', but include '999.* …",
        ),
        ({"settings": {"trees.depths": ("0",)}}, r"trees\.depths.*from 1 to 100 or 'max'"),
        ({"settings": {"trees.node": -1}}, r"trees\.node"),
        ({"settings": {"trees.colour": "red"}}, r"trees\.colour.*trees\.depth"),
        ({"settings": {"depth": 3}}, r"'depth'.*page\.setting"),
        ({"settings": {"reliability.selection": ("none:0.5:0.2",)}}, r"reliability\.selection.*low < high"),
        ({"settings": {"reliability.selection": "none:0:1"}}, r"reliability\.selection.*list"),
        ({"settings": {"reliability.all_metrics": 1}}, r"reliability\.all_metrics"),
        ({"settings": {"decide.cost_miss": 0}}, r"decide\.cost_miss.*0\.001"),
        ({"settings": {"compared.metric": "colour"}}, r"compared\.metric.*brier"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(change, words):
    with pytest.raises(InputError, match=words):
        Recipe(**change)


@pytest.mark.parametrize(
    "query",
    [
        {"bins": "many"},
        {"bims": "5"},
        {"params": "{"},
        {"bins": "1"},
        {"trees.depth": "x"},
        {"settings": "{}"},
        {"bins": ["10", "20"]},
        {"bins": []},
        {"exclude": "[" * 5000},
        {"params": "[" * 5000},
        {"trees.depth": "[" * 5000},
        {"trees.depth": ["2", "3"]},
    ],
)
def test_a_broken_link_is_refused_by_the_name_of_the_field(query):
    with pytest.raises(InputError, match=next(iter(query))) as refused:
        Recipe.from_query(query)
    assert len(str(refused.value)) < 1000


def test_a_link_may_say_the_same_twice():
    assert Recipe.from_query({"bins": ["30", "30"], "seed": ["1"]}) == Recipe(bins=30, seed=1)


def test_of_a_value_that_is_very_long_a_message_shows_the_beginning():
    for text in (f'{{"model": {"9" * 4000}}}', f'{{"seed": {"9" * 4000}}}', f'{{"model": "{"x" * 4000}"}}'):
        with pytest.raises(InputError, match=r"(9{100}|x{99}) …\.$"):
            Recipe.from_json(text)


@pytest.mark.parametrize("text", ["", "[" * 5000, "[]", '{"bins": "5"}', '{"modle": "svm"}'])
def test_a_broken_file_is_refused(text):
    with pytest.raises(InputError):
        Recipe.from_json(text)


def test_a_digest_changes_with_its_phase_and_those_before_it_only():
    base = Recipe()
    changed = {
        "data": base.replace(positive="a"),
        "fit": base.replace(seed=1),
        "calibrate": base.replace(merge="square"),
        "view": base.replace(bins=7),
    }
    for i, phase in enumerate(PHASES):
        differs = [base.digest(p) != changed[phase].digest(p) for p in PHASES]
        assert differs == [j >= i for j in range(len(PHASES))]


def test_every_field_has_a_phase_a_check_and_a_line_of_help():
    for spec in dataclasses.fields(Recipe):
        assert spec.metadata["phase"] in PHASES
        assert FIELDS[spec.name].label
        assert FIELDS[spec.name].help.endswith(".")


def test_every_setting_has_a_label_and_a_line_of_help():
    assert [name for name, each in SETTINGS.items() if not each.label or not each.help.endswith(".")] == []


# Beside the 26
CONTRACT = {
    "split",
    "weight",
    "weight_as",
    "time",
    "cluster",
    "part",
    "base_rate",
    "period",
    "segment",
    "test_data",
    "test_file",
    "onnx",
    "onnx_file",
}


def test_the_recipe_holds_what_is_shared_and_nothing_of_a_single_page_nor_of_the_app():
    fields = {spec.name for spec in dataclasses.fields(Recipe)}
    assert len(fields) <= 28 + len(CONTRACT & fields)
    declared = {name.partition(".")[2] for name in SETTINGS if name.partition(".")[0] in EXPLORE}
    assert declared & fields == set()
    assert fields.isdisjoint({"lesson", "step", "presenter"})


EXPLORE = {page.key for section in ("Explore", "Study") for page in current.PAGES[section]} | {"compared"}


def allowed(parameter):
    """The names that a list of names may hold, or one of any."""
    return tuple(parameter.offered()) or (parameter.extra.get("example", "oob"),)


def in_range(n, parameter):
    low, high = parameter.low, parameter.high
    return (low is None or low <= n) and (high is None or n <= high)


def test_every_setting_of_an_explore_page_is_in_a_link_once_it_is_not_as_by_default():
    names = [name for name in SETTINGS if name.partition(".")[0] in EXPLORE - {"compare"}]
    assert {
        "reliability.all_metrics",
        "reliability.group_diagrams",
        "venn_abers.fold",
        "compared.metric",
    } <= set(names)
    for name in names:
        assert Recipe(settings={name: SETTINGS[name].default}).to_query() == {}
        other = {
            "boolean": lambda p: not p.default,
            "choice": lambda p: next(c for c in p.offered() if c != p.default),
            "names": lambda p: {"selection": ("none:0.0:0.5",), "depths": ("7",)}.get(p.name, allowed(p)[:1]),
            "text": lambda p: "a,b",
            "moves": lambda p: "0.2:0>0.7:1",
            "integer": lambda p: next(n for n in (7, p.low, p.high) if in_range(n, p) and n != p.default),
            "number": lambda p: min(7.5, (p.high or 15) / 2),
        }[SETTINGS[name].kind](SETTINGS[name])
        recipe = Recipe(settings={name: other})
        assert list(recipe.to_query()) == [name]
        assert Recipe.from_query(recipe.to_query()) == recipe
        assert (
            recipe.setting(name)
            == getattr(recipe.page(name.partition(".")[0]), name.partition(".")[2])
            == other
        )


def test_single_settings_are_replaced_by_their_dotted_names():
    recipe = Recipe(settings={"trees.depth": 5}, options={"isotonic.between": "nearest"})
    changed = recipe.replace(
        **{"trees.row": 3, "options.platt.on": "score", "params.n_estimators": 9}, bins=5
    )
    assert changed.settings == (("trees.depth", 5), ("trees.row", 3))
    assert dict(changed.options) == {"isotonic.between": "nearest", "platt.on": "score"}
    assert dict(changed.params) == {"n_estimators": 9}
    assert changed.replace(**{"trees.depth": SETTINGS["trees.depth"].default}).settings == (("trees.row", 3),)


def test_settings_of_pages_are_known_and_checked_where_no_page_is_loaded():
    program = """
import sys
from calib.recipe import Recipe
recipe = Recipe(settings={"trees.depths": ["1", "max"], "trees.row": 3, "reliability.group": "3"})
assert Recipe.from_query(recipe.to_query()) == recipe == Recipe.from_json(recipe.to_json())
print(recipe.to_query())
for name, value in (("decide.cost_mis", 9), ("decide.cost_miss", "nine"), ("deside.cost_miss", 9)):
    ways = (
        lambda: Recipe(settings={name: value}),
        lambda: Recipe.from_query({name: str(value)}),
        lambda: Recipe.from_json('{"settings": {"%s": %s}}' % (name, repr(value).replace("'", '"'))),
    )
    for way in ways:
        try:
            way()
        except ValueError as error:
            print(error)
assert not any(name.split(".")[0] in ("pages", "streamlit") for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, *refused = done.stdout.splitlines()
    assert "'trees.row': '3'" in first
    misspelt, wrong, nowhere = refused[:3], refused[3:6], refused[6:]
    assert len(misspelt) == len(wrong) == len(nowhere) == 3
    assert all("decide.cost_mis'" in line and "decide.cost_miss," in line for line in misspelt)
    assert all(says(line, "decide.cost_miss", "0.001", "nine") for line in wrong)
    assert all("deside.cost_miss" in line and "decide" in line for line in nowhere)


WRONG_IN_ANY_FORM = [
    ({"target": ["a"]}, "target must be a non-empty string"),
    ({"target": 5}, "target must be a non-empty string"),
    ({"positive": ["yes"]}, "positive must be a non-empty string"),
    ({"positive": True}, "positive must be a non-empty string"),
    *[
        ({name: {"a": 1}}, f"{name} must be a non-empty string")
        for name in ("file", "weight", "time", "cluster", "part")
    ],
    *[
        ({name: 1.5}, f"{name} must be a non-empty string")
        for name in ("score", "test_data", "test_file", "onnx", "onnx_file")
    ],
    ({"data_params": {"gap": 30}}, r"data_params\.gap.*split='time'.*'random'"),
    ({"split": "cluster", "cluster": "who", "data_params": {"gap": 1}}, r"data_params\.gap.*'cluster'"),
    ({"data": "synthetic:gaussian", "data_params": {"gap": 30}}, "data_params.*'gap' is not a known"),
    ({"data": "synthetic:gaussian", "data_params": {"clusters": 3}}, "data_params.*'clusters'.*n, d"),
    ({"data": "synthetic:gaussian", "data_params": {"n": 1}}, r"data_params\.n must be a whole number"),
    ({"data": "synthetic:gaussian", "data_params": {"n": "many"}}, r"data_params\.n must be a whole number"),
    ({"options": {"venn.bins": 5}}, r"options: 'venn\.bins'.*'venn'.*not among the calibrators none, auto"),
    ({"calibrators": (), "options": {"platt.on": "score"}}, "options.*not among the calibrators"),
    ({"calibrators": ("venn",), "options": {"venn.bins": 5}}, r"options\.venn\.bins.*taxonomy = 'uniform'"),
    (
        {"model": "decision_tree", "params": {"m": 7.0}},
        r"params\.m has an effect only with params\.leaf = 'm'",
    ),
    ({"settings": {"nowhere.depth": 3}}, r"'nowhere\.depth' is not a known.*decide"),
    ({"settings": {"run.repeats": 0}}, r"run\.repeats"),
    ({"settings": {"results.paper": "mine"}}, r"results\.paper.*auto"),
]


@pytest.mark.parametrize(("fields", "words"), WRONG_IN_ANY_FORM, ids=str)
def test_what_would_have_no_effect_or_is_of_another_type_is_refused_in_python_and_from_a_file(fields, words):
    with pytest.raises(InputError, match=words):
        Recipe(**fields)
    with pytest.raises(InputError, match=words):
        Recipe.from_json(json.dumps(fields))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"options": '{"venn.bins":5}'}, "venn.*not among"),
        ({"data_params": '{"gap":5}'}, "gap.*split='time'"),
        ({"params": '{"max_depth":4,"max_depth":5}'}, "params: 'max_depth' is given twice"),
        ({"decide.cost_mis": "9"}, "decide.cost_mis' is not a known"),
    ],
    ids=str,
)
def test_so_it_is_in_a_link(query, words):
    with pytest.raises(InputError, match=words):
        Recipe.from_query(query)


@pytest.mark.parametrize(
    "text",
    ['{"seed": 1, "seed": 2}', '{"settings": {"trees.row": 1, "trees.row": 2}}', '{"seed": 1, "seed": 1}'],
)
def test_a_name_that_a_file_gives_twice_is_refused_by_its_name(text):
    with pytest.raises(InputError, match="The Recipe: '(seed|trees.row)' is given twice"):
        Recipe.from_json(text)
    with pytest.raises(InputError, match="params: 'max_depth' is given twice"):
        Recipe(params=[("max_depth", 1), ("max_depth", 2)])


def test_a_class_may_be_named_by_a_whole_number_and_an_option_that_matters_is_taken():
    assert Recipe(positive=1).positive == "1"
    matters = Recipe(calibrators=("venn",), options={"venn.taxonomy": "uniform", "venn.bins": 5})
    assert dict(matters.options)["venn.bins"] == 5
    assert Recipe(split="time", time="day", data_params={"gap": 3}).data_params == (("gap", 3.0),)


def test_another_split_or_other_calibrators_drop_their_options_and_lost_names_them():
    before = Recipe(
        time="day",
        split="time",
        data_params={"gap": 3, "header": 2},
        calibrators=("none", "isotonic", "platt"),
        options={"isotonic.between": "nearest", "platt.on": "score"},
    )
    after = before.replace(**with_split(before, "random"), **with_calibrators(before, ("none", "platt")))
    assert (after.data_params, after.options) == ((("header", 2),), (("platt.on", "score"),))
    assert before.lost(after, asked=("split", "calibrators")) == {
        "data_params.gap": 3.0,
        "options.isotonic.between": "nearest",
    }


def test_settings_of_a_synthetic_set_that_nobody_knows_have_their_names():
    recipe = Recipe(data="synthetic:nowhere", data_params={"n": 5})
    assert recipe.label("data_params.n") == "n"
    assert recipe.parameter("data_params.n").in_words(5) == "5"


@pytest.mark.parametrize("spec", dataclasses.fields(Recipe), ids=lambda spec: spec.name)
def test_the_default_of_a_field_is_a_value_that_it_allows(spec):
    """Defaults are not checked each time a Recipe is made."""
    check = spec.metadata["check"] or (lambda value, name: setting(value, FIELDS[name], name))
    assert check(spec.default, spec.name) == spec.default
