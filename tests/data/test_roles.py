"""Roles of columns: what each may hold, what is left out, what is refused by its name, what is proposed and to whom."""

import numpy as np
import pandas as pd
import pytest

from calib.data import DataError, looks_like_predictions, prepare, prepare_predictions, read_table, validate
from calib.data.column_types import typed_frame
from calib.data.join import FILE_PART
from calib.data.roles import PARTS, SYNONYMS, propose_roles, read_roles
from calib.recipe import Recipe
from calib.sources import load, with_role
from tests.saying import assert_any_says

N = 60
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "when": pd.date_range("2024-01-01", periods=N),
        "who": [f"P{i:02d}" for i in np.arange(N) // 3],
        "times": RNG.integers(1, 5, N),
        "set": np.array(["train", "val", "test"])[np.arange(N) % 3],
        "target": np.where(RNG.random(N) < 0.4, "yes", "no"),
    }
)
ROLES = {"weight": "times", "time": "when", "cluster": "who", "part": "set"}


def test_columns_with_a_role_are_no_features_and_their_values_go_with_the_rows():
    table = TABLE.assign(target=TABLE["target"].mask(TABLE.index == 7))
    data = prepare(table, "target", roles=ROLES, weight_as="counts")
    kept = np.arange(N) != 7
    assert list(data.X) == ["x"]
    np.testing.assert_array_equal(data.weight, TABLE["times"][kept])
    np.testing.assert_array_equal(data.time, TABLE["when"][kept].to_numpy("datetime64[ns]"))
    np.testing.assert_array_equal(data.part, (np.arange(N) % 3)[kept])
    np.testing.assert_array_equal(data.cluster, (np.arange(N) // 3)[kept])
    assert not any("who" in note or "set" in note for note in data.notes)


def test_the_digest_tells_roles_apart():
    plain = prepare(TABLE.drop(columns=list(ROLES.values())), "target")
    digests = {plain.digest}
    for role, column in ROLES.items():
        own = TABLE[["x", "target", column]]
        digests.add(prepare(own, "target", roles={role: column}).digest)
    assert len(digests) == 5


@pytest.mark.parametrize("part", PARTS)
def test_every_word_for_a_part_is_understood_however_it_is_written(part):
    for word in SYNONYMS[part]:
        for spelt in (
            word,
            word.upper(),
            f" {word.title()} ",
            word.replace(" ", "-"),
            word.replace(" ", "_"),
        ):
            table = pd.DataFrame({"y": [0, 1], "set": [spelt, spelt]})
            assert read_roles(table, {"part": "set"}, "y").values["part"].tolist() == [PARTS.index(part)] * 2


def test_a_banks_words_for_parts_are_understood_and_proposed():
    table = TABLE.assign(set=np.array(["DEV", "cal", "OOT"])[np.arange(N) % 3])
    read = read_roles(typed_frame(table), {"part": "set"}, "target")
    np.testing.assert_array_equal(read.values["part"], np.arange(N) % 3)
    proposed = [each.fix for each in propose_roles(typed_frame(table), "target", {}, used=True)]
    assert {"part": "set", "split": "file", "evaluation": "holdout"} in proposed
    machine_learning = read_roles(pd.DataFrame({"y": [0, 1], "set": ["train", "dev"]}), {"part": "set"}, "y")
    assert machine_learning.values["part"].tolist() == [0, 1]


def test_where_another_file_is_judged_no_split_is_proposed():
    customers = [f"P{i:02d}" for i in np.arange(N) // 2]
    table = typed_frame(TABLE.rename(columns={"when": "date"}).assign(customer_id=customers))
    alone, beside, dated = (
        {each.column: each.fix for each in propose_roles(table, "target", given, used=True)}
        for given in ({}, {"part": FILE_PART}, {"time": "date"})
    )
    assert alone["customer_id"] == {"cluster": "customer_id", "split": "cluster"}
    assert alone["date"] == {"time": "date", "split": "time"}
    assert beside["customer_id"] == {"cluster": "customer_id"}
    assert "date" not in beside
    assert dated["customer_id"] == {"cluster": "customer_id"}  # a split in time stays


def test_another_word_is_refused_and_shown():
    table = TABLE.assign(set=TABLE["set"].replace("val", "fold 3"))
    with pytest.raises(DataError, match="part: 'set' .*'fold 3'.*train, calibrate or test"):
        prepare(table, "target", roles={"part": "set"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -2, 3], "weight: 'w' must contain .* at least 0, but row 2 contains -2"),
        ([1, np.inf, 3], "weight: 'w' must contain .* at least 0, but row 2 contains inf"),
        ([1, 1e308, 1e308], "weight: 'w' contains 1e\\+308, so the sum .* too large to be exact. Divide"),
        ([0, 0, 0], "weight: no weight in 'w' is above 0"),
        (["a", "b", "c"], "weight: 'w' contains values that are not numbers"),
    ],
)
def test_weights_that_are_none_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        read_roles(pd.DataFrame({"y": [0, 1, 1], "w": values}), {"weight": "w"}, "y")


def test_rows_without_a_weight_or_of_none_are_left_out_by_number():
    table = pd.DataFrame({"y": [0, 1, 1, 0], "p": [0.1, 0.7, 0.8, 0.4], "n": [3, np.nan, 0, 2]})
    data = prepare_predictions(table, "y", roles={"weight": "n"})
    assert data.weight.tolist() == [3, 2]
    assert data.row_numbers.tolist() == [1, 4]
    assert {
        "Excluded because the weight in 'n' is missing: 1 row (row 2).",
        "Excluded because the weight in 'n' is 0: 1 row (row 3).",
    } <= set(data.notes)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-03-01", "2024-01-15", "2023-12-31"], [2, 1, 0]),
        (["2024-03", "2024-01", "2023-12"], [2, 1, 0]),
        (["2024-03-01 10:00", "2024-03-01 09:00", "2024-02-29 23:59"], [2, 1, 0]),
        (["31.12.2024", "01.03.2024", "15.01.2024"], [2, 1, 0]),
        (["12/31/2024", "03/01/2024", "01/15/2024"], [2, 1, 0]),
        (["2024", "2021", "2019"], [2, 1, 0]),
    ],
)
def test_dates_are_ordered_as_a_person_reads_them(texts, expected):
    table = read_table(
        ("when,y,x\n" + "\n".join(f"{t},{i % 2},{i}" for i, t in enumerate(texts))).encode(), "t.csv"
    )
    time = read_roles(table, {"time": "when"}, "y").values["time"]
    assert np.argsort(np.argsort(time)).tolist() == expected


def test_dates_that_can_be_read_two_ways_are_refused_with_the_remedy():
    table = read_table(b"when,y,x\n03/04/2024,0,1\n05/06/2024,1,2\n", "t.csv")
    with pytest.raises(DataError, match="day or the month .*first.*2024-05-31"):
        prepare(table, "y", roles={"time": "when"})
    said = [problem.message for problem in validate(table, "y", roles={"time": "when"})]
    assert_any_says(said, "day or the month", "first")


def test_what_is_no_date_is_shown():
    table = TABLE.assign(when=["2024-01-01"] * (N - 1) + ["soon"])
    with pytest.raises(DataError, match=rf"time: 'when' .*dates or numbers.*row {N}\b.*'soon'"):
        prepare(table, "target", roles={"time": "when"})


def test_a_row_without_a_cluster_is_its_own_and_one_without_a_time_or_part_is_left_out():
    table = TABLE.assign(
        who=TABLE["who"].mask(TABLE.index.isin([0, 1])), set=TABLE["set"].mask(TABLE.index == 4)
    )
    table["when"] = table["when"].mask(table.index == 5)
    data = prepare(table, "target", roles={key: ROLES[key] for key in ("time", "cluster", "part")})
    assert data.n == N - 2
    assert len(np.unique(data.cluster)) == 20 + 2
    assert sum("Excluded because the" in note for note in data.notes) == 2


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"time": "day"}, "time: column 'day' was not found"),
        ({"time": "target"}, "time: column 'target' already has the role label"),
        ({"time": "when", "cluster": "when"}, "cluster: column 'when' already has the role time"),
    ],
)
def test_a_column_has_one_role(roles, message):
    with pytest.raises(DataError, match=message):
        prepare(TABLE, "target", roles=roles)


def proposals(table, **roles):
    found = validate(table, "target", roles=roles)
    return {
        p.column: dict(p.fix) for p in found if p.fix and {"weight", "time", "cluster", "part"} & p.fix.keys()
    }


def test_likely_roles_are_proposed_and_none_is_taken():
    many = TABLE.loc[np.tile(np.arange(N), 3)].reset_index(drop=True).assign(x=RNG.normal(size=3 * N))
    many = many.rename(columns={"who": "patient_id", "times": "count"})
    many["patient_id"] = np.arange(3 * N) // 5 + 1000
    assert proposals(many) == {
        "count": {"weight": "count", "weight_as": "counts"},
        "when": {"time": "when", "split": "time"},
        "patient_id": {"cluster": "patient_id", "split": "cluster"},
        "set": {"part": "set", "split": "file", "evaluation": "holdout"},
    }
    assert set(prepare(many, "target").X) == {"x", "when", "patient_id", "count", "set"}
    assert "count" not in proposals(many, weight="count")
    assert proposals(TABLE[["x", "target"]]) == {}


def test_what_is_called_a_count_and_holds_fractions_is_none():
    halstead = TABLE[["x", "target"]].assign(n=np.arange(N) + 0.5)  # "n" of the software data, a length
    assert proposals(halstead) == {}
    assert proposals(halstead.rename(columns={"n": "w"})) == {"w": {"weight": "w"}}


def test_a_table_of_counts_is_predictions_and_its_count_is_proposed():
    counts = pd.DataFrame(
        {"score": np.repeat([0.1, 0.4, 0.8], 2), "label": [0, 1] * 3, "n": [90, 10, 60, 40, 25, 75]}
    )
    assert looks_like_predictions(counts)
    (problem,) = [p for p in validate(counts, "label", content="predictions") if p.column == "n"]
    assert "Counts: 300 rows in 6 lines." in problem.message
    assert problem.action == "Use as counts"
    recipe = Recipe(data="upload:0", content="predictions", target="label", weight="n")
    data = load(recipe, {"0": counts})
    assert list(data.X) == ["score"]
    assert data.weight.sum() == 300


def test_giving_a_role_takes_the_column_from_what_it_was():
    recipe = Recipe(
        time="a", cluster="b", split="time", exclude=("c", "d"), data_params={"scores": ("c", "e")}, score="c"
    )
    assert recipe.replace(**with_role(recipe, "cluster", "a")).split == "random"
    changed = recipe.replace(**with_role(recipe, "weight", "c"))
    assert (changed.weight, changed.exclude, dict(changed.data_params)) == ("c", ("d",), {"scores": ("e",)})
    assert (changed.score, changed.split) == (None, "time")
    assert recipe.replace(**with_role(recipe, "time", None)).split == "random"


@pytest.mark.parametrize(
    ("name", "values", "dated"),
    [
        ("wage-increase-first-year", [2.0, 4.5, 5.0, 3.7], False),  # of the data set Labor
        ("wage-increase-first-year", [2, 4, 5, 3], False),
        ("sales_last_year", [120, 45_000, 3_100, 7], False),
        ("year", [2019, 2020, 2021, 2024], True),
        ("year_of_admission", [1999, 2000, 2001, 2002], True),
        ("timestamp", [1.7e9, 1.7e9 + 0.5, 1.7e9 + 2, 1.7e9 + 7], True),
        ("date", [0.1, 0.25, 0.5, 0.75], True),
    ],
)
def test_a_year_is_a_year_of_the_calendar_and_not_an_amount_per_year(name, values, dated):
    table = pd.DataFrame({"x": np.arange(40) % 7, name: values * 10, "target": [0, 1] * 20})
    found = [p for p in validate(table, "target") if p.column == name]
    assert [p.fix for p in found] == ([{"time": name, "split": "time"}] if dated else [])


def test_a_risk_over_years_is_a_score_and_not_a_time():
    p = np.linspace(0.01, 0.9, 40)
    table = pd.DataFrame({"risk_in_year": p, "y": (np.arange(40) % 3 == 0) + 0})
    assert looks_like_predictions(table)
    assert list(prepare_predictions(table, "y").X) == ["risk_in_year"]
