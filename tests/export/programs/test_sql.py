"""The select list is read alike whatever the column's name and type, its numbers as the doubles that were meant."""

import sqlite3

import duckdb
import numpy as np
import pytest

from calib.calibrators import PPA, Beta, CenteredIsotonic, Isotonic, Platt, Uncalibrated, VennAbers
from calib.export import write_sql
from calib.export.programs.sql import RESERVED_BY_SQL, identifier, literal
from calib.kernel.base_rate import BaseRate
from calib.placements.adjusted import Adjusted
from tests.export.programs.engines import answers


def every_kind_of_double():
    """Random bits, random numbers of [0, 1], decimals, powers of two, and the ends."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    parts = [
        bits[np.isfinite(bits)],
        rng.random(20_000),
        rng.integers(0, 10**6, 5000) / 10**6,
        2.0 ** np.arange(-1074, 1024),
    ]
    return np.concatenate(
        [*parts, [0.0, 5e-324, np.finfo(float).max, -np.finfo(float).max, np.nextafter(1, 2)]]
    )


def test_sqlite_and_duckdb_read_every_number_as_the_double_that_was_meant():
    values = every_kind_of_double()
    lite, duck = sqlite3.connect(":memory:"), duckdb.connect()
    for block in np.array_split(values, 100):
        rows = ", ".join(f"({literal(value)})" for value in block)
        predicted = np.array([value for (value,) in lite.execute(f"SELECT column1 FROM (VALUES {rows})")])
        tiny = (np.abs(block) < 1e-290) & (block != 0)  # of which SQLite may read the neighbour
        np.testing.assert_array_equal(predicted[~tiny], block[~tiny])
        assert (np.abs(predicted[tiny] - block[tiny]) < 1e-305).all()
        np.testing.assert_array_equal(
            [v for (v,) in duck.execute(f"SELECT * FROM (VALUES {rows})").fetchall()], block
        )


@pytest.mark.parametrize(
    "name", ["Score", "model score", 'said "p"', "order", "select", "größe", "1st", "a;b--c"]
)
def test_a_name_is_quoted_where_it_must_be(name):
    fitted = Isotonic(between="step").fit([0.2, 0.5], [0, 1])
    quoted = '"' + name.replace('"', '""') + '"'
    assert identifier(name) == quoted
    for base in (sqlite3.connect(":memory:"), duckdb.connect()):
        base.execute(f"CREATE TABLE t ({quoted} DOUBLE PRECISION)")
        base.execute("INSERT INTO t VALUES (0.5)")
        assert base.execute(f"SELECT {write_sql(fitted, name)} FROM t").fetchall() == [(1.0,)]


def test_a_plain_name_that_no_column_has_is_an_error_and_no_text():
    fitted = Isotonic(between="step").fit([0.2, 0.5], [0, 1])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (other REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(f"SELECT {write_sql(fitted)} FROM t")


def test_all_words_that_duckdb_reserves_are_quoted():
    found = duckdb.sql(
        "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    ).fetchall()
    assert {word for (word,) in found} <= RESERVED_BY_SQL


DECIMALS = [f"{k / 1000:.3f}" for k in range(0, 1001)]


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        (sqlite3, "REAL"),
        (sqlite3, "TEXT"),
        (sqlite3, "NUMERIC"),
        (sqlite3, ""),
        (duckdb, "DOUBLE"),
        (duckdb, "DECIMAL(9, 3)"),
    ],
)
@pytest.mark.parametrize(
    "unfitted",
    [VennAbers(), *(pytest.param(one, marks=pytest.mark.soak) for one in (Platt(), Beta(), Isotonic()))],
    ids=repr,
)
def test_columns_of_decimals_and_texts_are_read_as_doubles(engine, kind, unfitted):
    """Scores on three decimals, all of them breakpoints or beside one: a comparison of decimals would go wrong."""
    scores = np.array([float(text) for text in DECIMALS])
    fitted = unfitted.fit(scores, np.arange(1001) * 7 % 1001 > np.arange(1001)[::-1])
    base = engine.connect(":memory:")
    base.execute(f"CREATE TABLE t (place INTEGER, score {kind})")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(DECIMALS)))
    predicted = answers(base.execute(f"SELECT {write_sql(fitted)} FROM t ORDER BY place").fetchall())
    exact = fitted.gives_interval
    np.testing.assert_allclose(predicted[:, -1], fitted.predict(scores), rtol=0, atol=0 if exact else 1e-12)


def test_single_precision_is_taken_for_the_double_that_it_is():
    scores = np.random.default_rng(0).random(500).astype(np.float32)
    fitted = VennAbers().fit(scores, scores > 0.5)
    base = duckdb.connect()
    base.execute("CREATE TABLE t (place INTEGER, score REAL)")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(scores.tolist())))
    predicted = answers(base.execute(f"SELECT {write_sql(fitted)} FROM t ORDER BY place").fetchall())
    np.testing.assert_array_equal(predicted[:, :2], fitted.predict_interval(scores))


@pytest.mark.parametrize("text", ["", "n/a"])
def test_a_text_that_is_no_number_has_no_answer_in_sqlite(text):
    fitted = Isotonic(between="step").fit([0.2, 0.5], [0, 1])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (score TEXT)")
    base.executemany("INSERT INTO t VALUES (?)", [(text,), ("0.5",), (None,)])
    assert base.execute(f"SELECT {write_sql(fitted)} FROM t").fetchall() == [(None,), (1.0,), (None,)]


def tiny_cases():
    """(fitted, scores) where what is nearer to 0 than 1e-290 makes a difference that can be seen."""
    rng = np.random.default_rng(4)
    small = np.append(0.0, 10.0 ** -rng.uniform(285, 306, 300))
    sides, y = np.append(small, -small), rng.integers(0, 2, 602)
    near = np.array([0.0, 3e-301, 4e-301, 1.2e-308, 0.5, 1.0])
    labels = np.array([0, 1, 0, 1, 0, 1])
    return [
        (Platt().fit(sides, y), sides),
        (Isotonic().fit(small, rng.random(301) < 0.5), small),
        (CenteredIsotonic().fit(near, labels), np.append(small, near)),
        (Isotonic().fit([1.2e-308, 0.5, 1.0], [0, 0, 1]), np.nextafter(1.2e-308, [0, 1])),
        (PPA().fit([0.1, 0.3, 0.6, 0.9], [0, 0, 1, 0]), small),
        (PPA("sigmoid").fit([0.1, 0.3, 0.6, 0.9], [0, 0, 1, 0]), small),
        (Adjusted(Uncalibrated().fit([0.1], [0]), BaseRate(0.5, 0.01)), small),
    ]


@pytest.mark.parametrize("engine", [sqlite3, duckdb])
@pytest.mark.parametrize("case", range(7))
def test_scores_next_to_0_are_not_taken_for_0(engine, case):
    fitted, scores = tiny_cases()[case]
    base = engine.connect(":memory:")
    base.execute("CREATE TABLE t (place INTEGER, score DOUBLE PRECISION)")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(scores.tolist())))
    found = answers(base.execute(f"SELECT {write_sql(fitted)} FROM t ORDER BY place").fetchall())[:, -1]
    np.testing.assert_allclose(found, fitted.predict(scores), rtol=1e-9, atol=1e-306)
