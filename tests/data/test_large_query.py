"""Queries too large for memory on three real databases: the sample and the blocks are the rows, each once."""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psycopg
import pytest

from calib import Recipe, evaluate
from calib.data import DataError, draw_rows, large_query, open_query, reading_of
from calib.data import database as databases
from calib.data.database import Connection, digest_of
from calib.data.large_file import open_large
from calib.kernel.progress import Cancelled, Watch
from calib.sources import count_large, load
from tests import postgres
from tests.databases import in_files
from tests.waiting import LIMIT

RNG = np.random.default_rng(0)
N = 6_000
X = RNG.normal(size=(N, 3))
ROWS = pd.DataFrame(
    {
        "number": np.arange(N),
        "x": np.where(RNG.random(N) < 0.05, np.nan, X[:, 0]),
        "z": np.round(X[:, 1], 2),
        "kind": RNG.choice(["a", "b's", None], N),
        "owner": RNG.random(N) < 0.4,
        "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(RNG.integers(0, 300, N), unit="D"),
        "y": np.where(RNG.random(N) < 1 / (1 + np.exp(-X[:, 0] - 1)), "yes", "no"),
    }
)
FEATURES = "SELECT x, z, kind, owner, y FROM people ORDER BY number"
KINDS = ("duckdb", "sqlite", "postgresql")
QUERIES = {
    "features": FEATURES,
    "shuffled": "SELECT x, z, kind, owner, y FROM people ORDER BY random()",
    "predictions": "SELECT y AS label, round(z, 1) AS score FROM people; -- of the model",
    "mixed": "SELECT CASE WHEN number < 4000 THEN '1' ELSE 'many' END AS a, y FROM people ORDER BY number",
    "dates": "SELECT day, y FROM people ORDER BY number",
}
QUERIES["predictions"] = QUERIES["predictions"].partition(" --")[0]


@pytest.fixture(scope="module")
def server():
    with postgres.server() as one:
        one.do(
            "CREATE TABLE people (number int, x double precision, z numeric, kind text, owner boolean, day date, "
            "y text)"
        )
        copy = "COPY people FROM STDIN"
        with psycopg.connect(one.url) as opened, opened.cursor() as cursor, cursor.copy(copy) as into:
            for row in ROWS.itertuples(index=False):
                cells = [None if pd.isna(cell) else cell for cell in row]
                into.write_row([*map(plain, cells)])
        yield one


def plain(value):
    return value.date() if isinstance(value, pd.Timestamp) else getattr(value, "item", lambda: value)()


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("databases")
    of_sqlite = ROWS.assign(day=ROWS["day"].dt.strftime("%Y-%m-%d"))
    return in_files(folder, "people", ROWS, of_sqlite)


@pytest.fixture(params=KINDS)
def made(request, urls, monkeypatch):
    """A connection of each kind, whose rows come in small pieces."""
    monkeypatch.setattr(databases, "ROWS_AT_ONCE", 700)
    url = urls[request.param] if request.param in urls else request.getfixturevalue("server").url
    return lambda **changes: Connection("warehouse", url, **{"queries": QUERIES} | changes)


def test_the_evaluation_is_that_of_the_same_rows_in_memory(made):
    recipe = Recipe(
        **{"data": "database:warehouse/features@00", "target": "y", "model": "logistic_regression", "seed": 3}
        | {"calibrators": ("none", "platt", "isotonic", "venn_abers"), "data_params": {"learn_rows": 2_000}}
    )
    one = made()
    large = open_query(one, "features").measured()
    recipe = recipe.replace(data=f"database:warehouse/features@{large.digest}")
    found = evaluate(recipe, load(recipe, {large.digest: large}))
    assert found.size == 4_000
    whole = one.read("features")
    drawn = np.concatenate([chosen for _, chosen, _ in found_rest(recipe, large)])
    ordinary = recipe.replace(split="file", part="part", data_params={})
    marked = whole.assign(part=np.where(drawn, "train", "test"))
    expected = evaluate(ordinary, load(ordinary, {large.digest: marked}))
    np.testing.assert_allclose(found.metrics, expected.metrics, rtol=1e-9)
    assert found.verdict.finding == expected.verdict.finding


def found_rest(recipe, large):
    return load(recipe, {large.digest: large}).rest._passed(None, Watch())


def test_the_rows_in_blocks_are_those_of_one_reading_and_so_is_their_digest(made):
    large = open_query(made(), "features").measured()
    blocks = list(large.blocks(None, Watch()))
    assert len(blocks) > 5
    whole = made().read("features")
    for name in whole:
        read = pd.concat([block[name] for block in blocks]).tolist()
        assert [None if pd.isna(v) else v for v in read] == [None if pd.isna(v) else v for v in whole[name]]
    assert large.digest == digest_of(pd.concat(blocks, ignore_index=True))


def test_dates_stay_dates(made):
    large = open_query(made(), "dates").measured()
    days = pd.concat([block["day"] for block in large.blocks(["day"], Watch())])
    assert (days.to_numpy() == ROWS["day"].to_numpy()).all()


def test_rows_that_change_between_two_passes_are_said(made):
    large = open_query(made(), "shuffled").measured()
    with pytest.raises(DataError, match="changed while they were read.*ORDER BY"):
        draw_rows(large.blocks, "y", 1_000)


def test_values_of_another_type_than_the_first_rows_are_named(made):
    with pytest.raises(DataError, match="'a' was read as numbers.*('many'|'1' of type)"):
        open_query(made(), "mixed").measured()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": 5_000}, "returns more than 5,000 rows"),
        ({"seconds": 1e-9}, "took longer than 1e-09 seconds"),
    ],
)
def test_the_limits_hold_for_each_pass(made, changes, words):
    large = open_query(made(), "features").measured()
    limited = large_query.replace(large, connection=made(**changes))
    with pytest.raises(DataError, match=words):
        draw_rows(limited.blocks, "y", 1_000)


def test_only_the_time_of_the_database_counts(made, monkeypatch):
    """A model that scores slowly does not use up the time of the query."""
    scored = []  # seconds that the model takes, put forward on the clock
    monkeypatch.setattr(databases, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + sum(scored)))
    large = open_query(made(), "features").measured()
    rows = 0
    for block in large_query.replace(large, connection=made(seconds=LIMIT)).blocks(None, Watch()):
        scored.append(LIMIT)  # each of 9 blocks alone uses up the limit
        rows += len(block)
    assert rows == N


@pytest.mark.parametrize("after", [0, 3])
def test_a_draw_is_called_off_between_two_pieces(made, after):
    seen = []
    watch = Watch(lambda share, doing: (seen.append(doing), len(seen) > after and watch.cancel.set()))
    large = open_query(made(), "features").measured()
    with pytest.raises(Cancelled):
        draw_rows(large.blocks, "y", 1_000, watch=watch)
    assert len(seen) == after + 1
    assert "labels counted" in seen[0]


def test_predictions_are_counted_in_the_database_as_in_a_file(made, tmp_path):
    scored = pd.DataFrame({"label": ROWS["y"], "score": ROWS["z"].round(1)})
    read = made().read("predictions")
    read.to_parquet(tmp_path / "p.parquet")
    expected = open_large(tmp_path / "p.parquet").count("label", "score")
    limited = made(rows=1_000)  # of the counted lines
    with pytest.raises(DataError, match="returns more than 1,000 rows"):
        limited.read("predictions")
    large = open_query(limited, "predictions")
    recipe = Recipe(content="predictions", target="label")
    counts = count_large(recipe, large)[1]
    assert counts["count"].sum() == len(scored)
    for name in ("score", "count"):
        np.testing.assert_array_equal(counts[name], expected[name])
    assert counts["label"].tolist() == expected["label"].tolist()
    assert f"The database grouped {N:,} rows" in reading_of(counts).notes[0]


def test_a_query_is_read_three_times_with_its_label_counted_on_the_way(made, monkeypatch):
    """For its digest and labels, for the sample, and to score all other rows."""
    passes, pieces = [], Connection.pieces

    def counted(connection, *given):
        passes.append(given[0])
        return pieces(connection, *given)

    monkeypatch.setattr(Connection, "pieces", counted)
    large = open_query(made(), "features")
    head = len(passes)
    large = large.measured(target="y")
    recipe = Recipe(
        data=f"database:warehouse/features@{large.digest}.sample", target="y", model="naive_bayes"
    )
    recipe = recipe.replace(data_params={"learn_rows": 1_000})
    found = evaluate(recipe, load(recipe, {f"{large.digest}.sample": large}))
    assert len(passes) - head == 3
    other = open_query(made(), "features").measured()
    assert other.labels == {}
    expected = evaluate(recipe, load(recipe, {f"{large.digest}.sample": other}))
    pd.testing.assert_frame_equal(found.metrics, expected.metrics)


def test_a_column_of_too_many_values_is_not_counted_as_a_label(made):
    assert open_query(made(), "features").measured(target="x").labels == {}
