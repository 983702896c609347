"""The net under the numbers: its cases reach every value of a Recipe and every figure, and it sees a change."""

import json
import math

import pytest

from calib.calibrators import CALIBRATORS
from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES
from calib.metrics.confidence_intervals import INTERVALS
from calib.models import MODELS
from calib.recipe import FIELDS, all_options
from calib.synthetic import SYNTHETIC
from scripts.drawn_cases import ARRAYS, K_CLASSES, OF_K, TWO_CLASSES, WOODS, cases, tables
from scripts.same_numbers import CLOSE, differences, numbers

CASES = list(cases())
RECIPES = [case["recipe"] for case in CASES if case["kind"] == "recipe"]


def values(name):
    return {json.dumps(recipe[name]) for recipe in RECIPES}


def of(kind):
    return [case for case in CASES if case["kind"] == kind]


def test_as_many_cases_of_each_kind_as_stated():
    assert (len(RECIPES), len(of("arrays"))) == (TWO_CLASSES + K_CLASSES, ARRAYS)
    assert len({json.dumps(case, sort_keys=True) for case in CASES}) == len(CASES)


@pytest.mark.whole_registry
@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_recipe_takes_each_of_its_values(name):
    field, taken = FIELDS[name], values(name)
    assert len(taken) > 1, f"{name} is always {taken}"
    if field.kind == "choice":
        allowed = [*field.choices, *([None] if field.optional else [])]
        assert {json.dumps(each) for each in allowed} <= taken
    if name == "calibrators":
        assert {key for recipe in RECIPES for key in recipe["calibrators"]} == set(CALIBRATORS.everything())


def stated(field):
    return {(name, json.dumps(value)) for recipe in RECIPES for name, value in recipe[field].items()}


@pytest.mark.whole_registry
def test_every_choice_of_a_model_and_of_a_calibrator_is_taken():
    wanted = {
        (p.name, json.dumps(each))
        for key, model in MODELS.items()
        if key != "given"  # a column of the table
        for p in model.parameters
        for each in p.choices or ()
    }
    assert wanted <= stated("params")
    options = {(name, json.dumps(each)) for name, p in all_options().items() for each in p.choices or ()}
    assert options <= stated("options")


@pytest.mark.whole_registry
def test_data_come_from_samples_from_all_synthetic_sets_and_from_every_table():
    taken = {recipe["data"] for recipe in RECIPES}
    assert {f"synthetic:{key}" for key in SYNTHETIC} <= taken
    uploads = taken | {recipe["test_data"] for recipe in RECIPES}
    assert {f"upload:{key}" for key in tables()} <= uploads


def test_k_classes_have_views_rates_segments_weights_and_clusters():
    woods = [recipe for recipe in RECIPES if recipe["data"] in ("upload:woods", "upload:k_scores")]
    for name in ("base_rates", "segment", "weight", "cluster", "period"):
        assert sum(bool(recipe[name]) for recipe in woods) >= 5, name
    assert {None, *WOODS} == {recipe["view_class"] for recipe in woods}


@pytest.mark.whole_registry
def test_every_figure_and_every_interval_is_reached_by_several_cases():
    drawn = [key for case in CASES for key in case.get("figures", [case.get("figure")])]
    for key in FIGURES:
        assert drawn.count(key) >= (10 if any(key in case.get("figures", ()) for case in CASES) else 1), key
    measured = [key for case in CASES for key in case.get("intervals", ())]
    assert min(measured.count(key) for key in INTERVALS) >= 50


@pytest.mark.whole_registry
def test_the_settings_of_experiments_are_allowed():
    for case in of("experiment"):
        assert EXPERIMENTS[case["experiment"]].check(case["settings"])


def first(wanted):
    return json.dumps(next(case for case in CASES if wanted(case)))


def test_a_recipe_of_k_classes_has_its_tables_verdict_and_figures_among_its_numbers():
    several = (
        numbers(json.dumps(case))
        for case in CASES
        if case.get("recipe", {}).get("data") == "upload:woods"
        and case["recipe"]["positive"] is None
        and {"isotonic", "venn_abers"} & set(case["recipe"]["calibrators"])
        and not case["recipe"]["segment"]
    )
    found = next(each for each in several if "finding" in each)
    assert isinstance(found["finding"], str)
    assert isinstance(found["choice"], str)
    for start in (
        "metric: brier",
        "frame: class",
        "joint metric",
        "joint by class",
        "figure ",
    ):
        assert any(name.startswith(start) for name in found), start
    assert any(" interval " in name for name in found)
    assert any(name.startswith(tuple(f"figure {key}" for key in OF_K)) for name in found)


@pytest.mark.parametrize("kind", ["arrays", "study", "experiment"])
def test_the_numbers_of_a_case_are_the_same_again(kind):
    case = first(lambda case: case["kind"] == kind and case.get("figure") != "depth")
    found = numbers(case)
    assert len(found) > 1
    assert differences(found, numbers(case)) == []


def test_a_change_beyond_rounding_is_found_and_one_by_rounding_is_not():
    before = {"p": 30.0, "q": math.nan, "finding": "negligible"}
    assert differences(before, before | {"p": 30 * (1 + CLOSE / 2)}) == []
    assert differences(before, before | {"p": 30.0 + 60 * CLOSE}) == ["p: 30.0 → 30.00000006"]
    assert len(differences(before, {"p": math.nan, "finding": "no sign", "more": 1.0})) == 4
