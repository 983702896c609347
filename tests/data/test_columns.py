"""Each column has the kind that a person would give it."""

import numpy as np
import pandas as pd
import pytest

from calib.data import columns, delimited, inspect, prepare, read_table, summarise_columns, validate
from calib.data.column_types import arrow, typed_frame
from calib.data.columns import identifier_name
from calib.kernel.cache import is_known

RNG = np.random.default_rng(0)
N = 200
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "while", "rain", "falls"]

KINDS = [
    ("number", RNG.normal(size=N), "x"),
    ("number", RNG.integers(0, 9, N), "rooms"),
    ("number", [1.0, np.nan] * 100, "one value and gaps"),
    ("number", np.arange(N)[:15], "too few to tell"),
    ("number", RNG.permutation(N) * 7, "sevens"),
    ("number", np.arange(N) + 0.5, "halves"),
    ("identifier", RNG.permutation(N) + 1000, "anything"),
    ("identifier", RNG.permutation(N) * 7, "patient_id"),
    ("identifier", [f"P{i:04d}" for i in range(N)], "code"),
    ("identifier", pd.Categorical([f"P{i:04d}" for i in range(N)]), "code"),
    ("constant", [3] * N, "x"),
    ("constant", ["a"] * N, "x"),
    ("empty", [np.nan] * N, "x"),
    ("boolean", RNG.random(N) < 0.5, "x"),
    ("boolean", pd.array([True, None] * 100, dtype="boolean"), "x"),
    ("date", pd.date_range("2020-01-01", periods=N), "x"),
    ("category", RNG.choice(["a", "b", "c"], N), "x"),
    ("category", RNG.choice([f"town {i}" for i in range(60)], N), "town"),
    ("category", pd.Categorical(RNG.choice(["1", "2"], N)), "x"),
    ("category", ["1", "2", "3", "4", "5a"] * 40, "grade"),
    ("category", ["a name of four words"] * 100 + ["another name of five words"] * 100, "x"),
    ("text", [" ".join(RNG.choice(WORDS, 8)) for _ in range(N)], "comment"),
    (
        "text",
        [f"{a} {b}" for a, b in zip(RNG.choice(WORDS, N), RNG.integers(0, 999, N), strict=True)],
        "address",
    ),
    ("mixed", [*map(str, RNG.normal(size=N - 2)), "broken", "n/k"], "x"),
]


@pytest.mark.parametrize(
    ("kind", "values", "name"), KINDS, ids=[f"{k}-{n}-{i}" for i, (k, _, n) in enumerate(KINDS)]
)
def test_kind(kind, values, name):
    column = pd.Series(values)
    found = inspect(column.astype("str") if column.dtype == object else column, name)
    assert found.kind == kind
    assert found.usable == (kind not in ("identifier", "constant", "empty", "text"))


def test_counts():
    found = inspect(pd.Series([1.0, np.inf, -np.inf, np.nan, 1.0]), "x")
    assert (found.missing, found.distinct, found.infinite) == (1, 3, 2)
    found = inspect(pd.Series([1e308, 2e30, 1e30, -3.0]), "x")
    assert (found.missing, found.distinct, found.infinite) == (0, 4, 2)
    found = inspect(pd.Series(pd.to_datetime([None, "1850-01-01", "2020-01-01", "1850-01-01", None])), "x")
    assert (found.missing, found.distinct) == (2, 2)
    found = inspect(pd.Series([*map(str, range(100)), "low", "low", "high", None], dtype="str"), "x")
    assert found.strays == {"low": 2, "high": 1}
    assert (found.missing, found.distinct) == (1, 102)


@pytest.mark.parametrize(
    "name", ["id", "ID", "Id", "patient_id", "PatientID", "customerId", "id_number", "Unnamed: 0", "row"]
)
def test_names_of_identifiers(name):
    assert identifier_name(name)


@pytest.mark.parametrize(
    "name", ["acid", "width", "identity", "idea", "x", "paid", "7", "", "grid_size", "candid"]
)
def test_names_of_other_columns(name):
    assert not identifier_name(name)


def test_a_column_of_texts_is_inspected_once_however_often_its_table_is_asked(monkeypatch):
    lines = [f"w{i % 30},g{i % 7},{i % 2}" for i in range(60)]
    frame = read_table("\n".join(["a,b,y", *lines]).encode(), "t.csv")
    looked, inspect_text = [], columns._inspect_text
    monkeypatch.setattr(columns, "_inspect_text", lambda *one: looked.append(one[1]) or inspect_text(*one))
    validate(frame, "y"), summarise_columns(frame), prepare(frame, "y")
    assert sorted(looked) == ["a", "b"]


@pytest.mark.parametrize("few", [0, 40])
def test_texts_are_given_their_places_as_pandas_does_and_once_where_they_are_few(few, monkeypatch):
    monkeypatch.setattr(columns, "FEW_CODES", few)
    cells = ["?" if i % 11 == 0 else f"w{i * i % 37}" for i in range(300)]
    frame = typed_frame(read_table("\n".join(["a,y", *(f"{cell},1" for cell in cells)]).encode(), "t.csv"))
    worked, narrow = [], columns._narrow
    monkeypatch.setattr(columns, "_narrow", lambda column: worked.append(1) or narrow(column))
    for _ in range(2):
        codes, values = columns.coded(frame["a"])
    expected = pd.factorize(np.array([None if cell == "?" else cell for cell in cells], dtype=object))
    assert codes.tolist() == expected[0].tolist()
    assert list(values) == list(expected[1])
    assert len(worked) == (1 if few else 2)


@pytest.mark.parametrize(
    "spelt",
    [("u", "v", "w"), ("u", "?", "w"), ("u", " u", "v"), ("u", '" ? "', "v")],
    ids=["plain", "a gap", "two are one once trimmed", "a gap once trimmed"],
)
def test_levels_of_a_long_text_are_found_once_and_have_the_codes_that_pandas_gives(spelt, monkeypatch):
    order = np.random.default_rng(0).integers(0, 3, 20_000)
    text = "a,y\n" + "".join(f"{spelt[i]},{i % 2}\n" for i in order)
    monkeypatch.setattr(delimited, "LONG_TEXT", 0)
    column = read_table(text.encode(), "t.csv")["a"]
    assert is_known(arrow(column), "coded")
    codes, values = columns.coded(column)
    texts = np.array([None if spelt[i].strip('" ') == "?" else spelt[i].strip() for i in order], dtype=object)
    expected = pd.factorize(texts)
    np.testing.assert_array_equal(codes, expected[0])
    assert list(values) == list(expected[1])
    changed = column.copy()
    changed[0] = "new"
    assert columns.coded(changed)[1].tolist()[0] == "new"


def test_what_is_written_into_a_column_of_texts_is_seen():
    frame = read_table(b"a,y\n" + b"u,0\nv,1\n" * 20, "t.csv")
    assert inspect(frame["a"]).distinct == 2
    frame.loc[3, "a"] = "w"
    assert inspect(frame["a"]).distinct == 3
    frame["a"] = [str(i) for i in range(len(frame))]
    assert typed_frame(frame)["a"].tolist() == list(range(len(frame)))


@pytest.mark.parametrize("rows", [40, 800_000])
def test_a_table_that_was_read_can_be_written_into(rows):
    frame = read_table(b"a,b,y\n" + b"1.5,22.5,0\n2.5,33.5,1\n" * (rows // 2), "t.csv")
    frame.loc[0, "a"] = 7.0
    assert frame["a"].tolist()[:2] == [7.0, 2.5]
