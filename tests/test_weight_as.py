"""Whole weights: counts of rows, or how much a row counts. What a table says of them holds in every number after it."""

import json

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.__main__ import main
from calib.analysis.decision import decide
from calib.analysis.recommendation.advice import recommend
from calib.analysis.validation import CALIBRATION_METRICS, OVERALL_METRICS, flow, net_benefits, performance
from calib.data import DataError, prepare, prepare_predictions, validate
from calib.data.roles import read_roles
from calib.data.table import Table
from calib.export import report_html
from calib.figures import formatted_costs
from calib.figures.validation import formatted_flow
from calib.kernel.checks import InputError
from calib.kernel.weights import are_whole, importance_weights
from calib.kernel.wording import percent
from calib.sources import load, problems, with_role
from tests.saying import assert_any_says, assert_says

RNG = np.random.default_rng(11)
N = 900
X = RNG.normal(size=N).round(3)
W = RNG.choice([1, 3, 9], N)
Y = np.where(RNG.random(N) < 1 / (1 + np.exp(-X)), "yes", "no")
TABLE = pd.DataFrame({"x": X, "z": RNG.normal(size=N).round(3), "sampling_weight": W, "target": Y})
RECIPE = Recipe(
    data="upload:00",
    target="target",
    model="logistic_regression",
    weight="sampling_weight",
    calibrators=("none", "platt", "isotonic"),
)


def evaluated(table=TABLE, **changes):
    recipe = RECIPE.replace(**changes)
    return evaluate(recipe, load(recipe, {"00": table}))


def scaled(factor):
    return TABLE.assign(sampling_weight=W * factor)


@pytest.fixture(scope="module")
def weighed():
    return evaluated()


@pytest.fixture(scope="module")
def counted():
    return evaluated(weight_as="counts")


@pytest.mark.parametrize("factor", [1.01, 7, 1 / 3])
def test_intervals_of_the_report_do_not_depend_on_the_unit_of_sampling_weights(weighed, factor):
    """Weights of 1, 3, 9 and the same times 1.01 say the same."""
    other = evaluated(scaled(factor))
    for of in (lambda e: performance(e, OVERALL_METRICS + CALIBRATION_METRICS), net_benefits, flow):
        pd.testing.assert_frame_equal(of(weighed), of(other), rtol=1e-6, atol=1e-9)
    assert weighed.size_text == other.size_text
    assert recommend(weighed) == recommend(other)


def test_counts_give_what_repeating_the_rows_gives_and_weights_what_they_are_worth(weighed, counted):
    tested = W[weighed.rows]
    worth = tested.sum() ** 2 / (tested @ tested)  # Kish
    assert weighed.size_text == f"{len(tested):,} test rows (effective number {worth:,.0f})"
    assert counted.size_text == f"{tested.sum():,} test rows in {len(tested):,} lines"
    width = {
        name: performance(e, ("brier",)).eval("upper - lower").iloc[0]
        for name, e in (("weighed", weighed), ("counted", counted))
    }
    # Of a mean, both from the same rows: the widths are as the roots of the numbers of rows
    ratio = np.sqrt(tested.sum() / (tested.sum() ** 2 / (tested @ tested)))
    assert width["weighed"] / width["counted"] == pytest.approx(ratio, rel=0.15)


def test_weights_of_a_part_of_the_rows_are_never_counts_by_accident():
    """0.5, 1 and 2 are on Kish's scale already, and the test rows hold only 1 and 2."""
    weight = np.r_[np.full(160, 0.5), np.ones(60), np.full(20, 2.0)]
    assert weight.sum() == pytest.approx(weight @ weight)
    part = np.where(weight < 1, "train", "test")
    p = RNG.random(len(weight)).round(3)
    table = pd.DataFrame({"p": p, "target": (RNG.random(len(p)) < p) + 0, "w": weight, "set": part})
    recipe = Recipe(
        data="upload:00", content="predictions", target="target", weight="w", part="set", split="file"
    ).replace(calibrators=("none", "platt"))
    for factor in (1, 2, 1.01):  # twice as much: 1, 2 and 4 are whole, and no name says that they are counts
        found = evaluate(recipe, load(recipe, {"00": table.assign(w=weight * factor)}))
        assert found.size_text == "80 test rows (effective number 71)"  # 100² / 140


@pytest.mark.parametrize("weights", [[1, 3, 9], [2, 4], [0.5, 1, 2], [1, 2, 3], [3, 3, 3, 1]])
def test_weights_of_importance_are_whole_nowhere_and_on_kishs_scale(weights):
    found = importance_weights(np.repeat(np.array(weights, dtype=float), 40))
    assert (found != np.floor(found)).all()
    assert found.sum() == pytest.approx(found @ found)
    np.testing.assert_allclose(found / found[0], np.repeat(weights, 40) / weights[0], rtol=1e-14)


@pytest.mark.parametrize("value", [1, 2, 0.5])
def test_equal_weights_of_importance_are_no_weights(value):
    table = TABLE.assign(sampling_weight=value)
    data = prepare(table, "target", roles={"weight": "sampling_weight"})
    assert data.weight is None
    assert_any_says(data.notes, "'sampling_weight'", "equal", "once")
    alone = prepare(table.drop(columns="sampling_weight"), "target")
    assert data.digest == alone.digest


@pytest.mark.parametrize(
    ("name", "weight_as", "counts"),
    [
        ("n", None, True),
        ("row_count", None, True),
        ("freq", None, True),
        ("n", "importance", False),
        ("sampling_weight", None, False),
        ("survey_weights", "counts", True),
        ("weight", None, False),
        ("weight", "counts", True),
    ],
)
def test_the_recipe_says_what_whole_weights_are_else_their_name(name, weight_as, counts):
    data = prepare_predictions(
        pd.DataFrame({"p": [0.1, 0.7, 0.8, 0.4], "y": [0, 1, 1, 0], name: [1, 2, 4, 2]}),
        "y",
        roles={"weight": name},
        weight_as=weight_as,
    )
    assert are_whole(data.weight) is counts
    assert data.weight.sum() == pytest.approx(9 if counts else 81 / 25)
    told = f"Counts in {name!r}: 9 rows in 4 lines." if counts else None
    assert (told or f"Weights in {name!r}: 4 rows (effective number 3), total weight 9.") in data.notes


@pytest.mark.parametrize(
    ("weight", "values", "message"),
    [
        ("w", [1, 2.5, 4], "weight_as: 'w' cannot count rows, because row 2 contains 2.5. Choose"),
        (None, [1, 2, 4], "weight_as is 'counts', but no column has the role “weight”"),
    ],
)
def test_counts_that_cannot_be_are_refused(weight, values, message):
    table = pd.DataFrame({"p": [0.1, 0.7, 0.8], "y": [0, 1, 1], "w": values})
    with pytest.raises(DataError, match=message):
        read_roles(table, {"weight": weight}, "y", weight_as="counts")
    assert any(
        message.partition(" Choose")[0] in p.message
        for p in validate(table, "y", weight_as="counts", roles={"weight": weight})
    )
    with pytest.raises(InputError, match="weight_as must .*'counts', 'importance'"):
        Recipe(weight_as="rows")


@pytest.mark.parametrize(
    ("name", "buttons"),
    [
        ("sampling_weight", ["Use as weights", "Use as counts"]),
        ("weight", ["Use as weights", "Use as counts"]),
        ("count", ["Use as counts", "Use as weights"]),
    ],
)
def test_both_meanings_are_offered_with_what_follows_from_each(name, buttons):
    table = TABLE.rename(columns={"sampling_weight": name})
    (problem,) = [p for p in validate(table, "target") if p.column == name]
    lines, rows = f"{N:,}", f"{W.sum():,}"
    assert f"Counts: {rows} rows in {lines} lines." in problem.message
    assert f"Weights: {lines} rows (effective number {W.sum() ** 2 / (W @ W):,.0f})." in problem.message
    assert [action for _, action in problem.fixes] == buttons
    assert {action: fix for fix, action in problem.fixes} == {
        "Use as counts": {"weight": name, "weight_as": "counts"},
        "Use as weights": {"weight": name, "weight_as": "importance"},
    }


@pytest.mark.parametrize(
    ("name", "weight_as", "asked"),
    [
        ("weight", None, True),
        ("weight", "counts", False),
        ("n", None, False),
        ("sampling_weight", None, False),
    ],
)
def test_of_a_given_weight_it_is_asked_until_somebody_says_so(name, weight_as, asked):
    table = TABLE.rename(columns={"sampling_weight": name})
    found = validate(table, "target", roles={"weight": name}, weight_as=weight_as)
    assert any("Is each number a count of rows" in p.message for p in found) is asked
    ones = validate(table.assign(**{name: 1}), "target", roles={"weight": name})
    assert not any("Is each number" in p.message for p in ones)


def test_the_meaning_goes_with_the_column_into_links_files_and_source():
    recipe = RECIPE.replace(weight_as="counts")
    assert Recipe.from_query(recipe.to_query()) == Recipe.from_json(recipe.to_json()) == recipe
    held = {}
    exec(f"from calib import Recipe\n{recipe.to_python()}", held)
    assert held["recipe"] == recipe
    assert recipe.replace(**with_role(recipe, "weight", "z")).weight_as is None
    assert recipe.replace(**with_role(recipe, "time", "sampling_weight")).weight_as is None
    assert recipe.replace(**with_role(recipe, "time", "z")).weight_as == "counts"


def test_lines_stand_beside_rows_in_the_advice_and_the_report(counted, weighed):
    lines, rows = len(counted.y), W[counted.rows].sum()
    told = f"{rows:,} test rows in {lines:,} lines"
    assert counted.size_text == told
    report = report_html(counted).decode()
    assert f"{told}, " in report
    assert_says(report, f"{W.sum():,} rows in {N:,} lines", "2 columns")
    assert f"{weighed.size_text}, " in report_html(weighed).decode()
    table = formatted_flow(flow(counted), "yes").set_index("Step")
    assert table.loc["Test", ["Lines (each may count as several rows)", "Rows"]].tolist() == [
        f"{lines:,}",
        f"{rows:,}",
    ]
    worth = formatted_flow(flow(weighed), "yes").set_index("Step")
    assert worth.loc["Test", "Rows"] == f"{lines:,}"


def test_the_command_line_takes_the_meaning_and_asks_for_it(tmp_path, capsys):
    table = TABLE.rename(columns={"sampling_weight": "weight"})
    table.to_csv(tmp_path / "t.csv", index=False)
    recipe = RECIPE.replace(weight="weight")
    for weight_as in (None, "counts"):
        path = tmp_path / "r.json"
        path.write_text(recipe.replace(weight_as=weight_as).to_json())
        assert main(["evaluate", str(path), str(tmp_path / "t.csv"), "--format", "json"]) == 0
        said = capsys.readouterr()
        asked = "Is each number a count of rows" in said.err
        assert asked is (weight_as is None)
        if asked:
            for answer in ("importance", "counts"):
                assert f'"weight": "weight", "weight_as": "{answer}"' in said.err
        expected = evaluated(table, weight="weight", weight_as=weight_as).metrics
        assert json.loads(said.out)["brier"]["platt"] == pytest.approx(expected.loc["platt", "brier"])


def test_what_a_page_warns_of_is_what_the_recipe_says():
    recipe = RECIPE.replace(weight=None)
    fixes = [fix for p in problems(recipe, Table(TABLE, "target")) for fix, _ in p.fixes]
    chosen = recipe.replace(**fixes[0])
    assert not any("counts" in p.message for p in problems(chosen, Table(TABLE, "target")))


@pytest.mark.parametrize("base_rate", [None, 0.1])
def test_exported_rows_have_the_weights_of_the_table_beside_those_with_which_they_count(base_rate):
    found = evaluated(scaled(1.37), base_rate=base_rate)
    table = found.frame()
    np.testing.assert_array_equal(table["weight"], W[table["row"] - 1] * 1.37)
    np.testing.assert_array_equal(table["effective_weight"], found.weight)
    costs = formatted_costs(decide(found))
    wrong = (found.predictions["none"].p > 1 / 6) & (found.y == 0)
    share = found.weight @ wrong / found.weight.sum()
    assert costs.loc["Uncalibrated", "False alarms"] == percent(share)


def test_exported_counts_are_those_of_the_test_rows(counted):
    table = counted.frame()
    np.testing.assert_array_equal(table["weight"], W[table["row"] - 1])
    assert "effective_weight" not in table
    assert formatted_costs(decide(counted))["Misses"].str.fullmatch(r"[\d,]+").all()
