"""Tables and named queries of three real databases: the same rows, never changed, within limits, refused in words."""

import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
import pytest

from calib import check
from calib.data import DataError
from calib.data.database import Connection, connection, connections, digest_of
from calib.kernel.progress import Cancelled, Watch
from tests import postgres
from tests.databases import in_files
from tests.saying import assert_says
from tests.waiting import until

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "label": RNG.integers(0, 2, 3_000),
        "p": RNG.random(3_000),
        "site": RNG.choice(["a", "b's", None], 3_000),
    }
)
QUERIES = {
    "counted": "SELECT p, label, COUNT(*) AS count FROM scores GROUP BY p, label ORDER BY p, label",
    "none": "SELECT * FROM scores WHERE p > 2",
    "wrong": "SELECT nothing FROM nowhere",
}
LONG = {
    "duckdb": "SELECT sum(a.range * b.range) AS label, 1 AS p FROM range(10000000) a, range(10000000) b",
    "sqlite": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) AS label, 1 AS p FROM t",
    "postgresql": "SELECT 1 AS label, 0.5 AS p FROM pg_sleep(600)",
}  # fmt: skip
KINDS = tuple(LONG)
COPY = "COPY scores FROM STDIN"


def of_the_guide(kind: str) -> list[str]:
    guide = (Path(__file__).parents[2] / "docs" / "databases.md").read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", guide, re.DOTALL)


@pytest.fixture(scope="module")
def server():
    with postgres.server() as one:
        one.do("CREATE TABLE scores (label int, p double precision, site text)")
        with psycopg.connect(one.url) as opened, opened.cursor() as cursor, cursor.copy(COPY) as copy:
            for row in ROWS.itertuples(index=False):
                copy.write_row([int(row.label), row.p, None if pd.isna(row.site) else row.site])
        (block,) = of_the_guide("sql")
        names = {"predictions": "scores", "DATABASE warehouse": "DATABASE postgres", "'PASSWORD'": "'only'"}
        for name, here in names.items():
            block = block.replace(name, here)
        one.do(*filter(str.strip, block.split(";")))
        yield one


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    return in_files(tmp_path_factory.mktemp("data bases"), "scores", ROWS)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def made(kind, urls, request):
    """A connection of this kind, with other settings if asked."""
    if kind == "postgresql":
        one = request.getfixturevalue("server")
        urls = urls | {kind: f"postgresql://reader:only@127.0.0.1:{one.port}/postgres"}
    queries = QUERIES | {"long": LONG[kind]}
    return lambda **changes: Connection("warehouse", urls[kind], **{"queries": queries, **changes})


def test_tables_and_queries_are_listed_and_their_rows_are_those_that_are_there(made):
    one = made()
    assert one.tables() == [*QUERIES, "long", "scores"]
    frame = one.read("scores")
    for name in ROWS:
        read = [None if pd.isna(value) else value for value in frame[name]]
        assert read == [None if pd.isna(value) else value for value in ROWS[name]]
    counts = one.read("counted")
    assert counts["count"].sum() == len(ROWS)
    expected = ROWS.groupby(["p", "label"]).size()
    np.testing.assert_array_equal(counts["count"], expected)


def test_the_digest_is_of_what_was_seen(made):
    one = made()
    assert digest_of(one.read("scores")) == digest_of(one.read("scores"))
    assert digest_of(one.read("scores")) != digest_of(one.read("counted"))


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("nothing", {}, "has no query or table 'nothing'.*counted"),
        ("none", {}, "returned no rows"),
        ("wrong", {}, "wrong of warehouse could not be read"),
        ("scores", {"rows": 100}, "returns more than 100 rows.*GROUP BY"),
        ("long", {"seconds": 0.5}, "took longer than 0.5 seconds"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(made, name, changes, words):
    with pytest.raises(DataError, match=words):
        made(**changes).read(name)


def test_a_query_is_called_off_while_it_runs(made):
    watch, raised = Watch(), []

    def read():
        try:
            made().read("long", watch)
        except Cancelled as error:
            raised.append(error)

    running = threading.Thread(target=read)
    running.start()
    threading.Timer(0.5, watch.cancel.set).start()
    running.join(60)
    assert not running.is_alive()
    assert len(raised) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM scores",
        "DROP TABLE scores",
        "CREATE TABLE other (a int)",
        "ATTACH 'other.db' AS other",
        "COPY scores TO '/tmp/scores_of_calib.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
    ],
)
def test_nothing_is_written_and_no_other_file_is_read(made, statement):
    with pytest.raises(DataError):
        made(queries={"bad": statement}).read("bad")
    assert len(made().read("scores")) == len(ROWS)
    assert not Path("/tmp/scores_of_calib.csv").exists()


def test_a_server_that_is_killed_in_mid_query_is_said_and_nothing_hangs():
    with postgres.server() as one:
        one.do("CREATE TABLE scores (label int, p double precision)")
        reader = Connection("warehouse", one.url, {"long": LONG["postgresql"]})
        found = []

        def read():
            try:
                reader.read("long")
            except DataError as error:
                found.append(str(error))

        running = threading.Thread(target=read)
        running.start()
        with psycopg.connect(one.url, autocommit=True) as other:
            busy = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            until(lambda: other.execute(busy).fetchone()[0], "the query runs")
        one.kill()
        running.join(60)
        assert not running.is_alive()
        (message,) = found
        assert_says(message, "warehouse", "lost", "Try again")
        with pytest.raises(DataError, match="warehouse does not respond"):
            reader.read("long")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////nowhere/none.sqlite", "database file 'none.sqlite' was not found"),
        ("duckdb:////nowhere/none.duckdb", "database file 'none.duckdb' was not found"),
        ("oracle://me:secret@host/x", "uses the database system 'oracle'.*duckdb, sqlite, postgresql"),
        ("me:secret", "is not an SQLAlchemy URL"),
        ("postgresql://me:secret@127.0.0.1:1/x", "does not respond"),
    ],
)
def test_an_address_that_leads_nowhere_is_said_without_its_password(url, words):
    with pytest.raises(DataError, match=words) as error:
        Connection("warehouse", url).read("scores")
    assert "secret" not in str(error.value)
    assert "secret" not in repr(Connection("warehouse", url))


SECRETS = """
[connections.warehouse]
url = "sqlite:///w.sqlite"
rows = 50
seconds = 1.5
[connections.warehouse.queries]
month = "SELECT * FROM scores"
[connections.parts]
dialect = "postgresql"
username = "reader"
host = "127.0.0.1"
port = 5432
database = "scores"
"""


def test_connections_are_those_of_the_secrets(tmp_path):
    (tmp_path / "secrets.toml").write_text(SECRETS, encoding="utf-8")
    found = connections((str(tmp_path / "none.toml"), str(tmp_path / "secrets.toml")))
    assert list(found) == ["warehouse", "parts"]
    warehouse = found["warehouse"]
    assert (warehouse.rows, warehouse.seconds, dict(warehouse.queries)) == (
        50,
        1.5,
        {"month": "SELECT * FROM scores"},
    )
    assert found["parts"].url["drivername"] == "postgresql"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[connections", "cannot be read"),
        ("connections = 3", "connections must be a table"),
        ('connections = ["w"]', "connections must be a table"),
        ('[connections.w]\nurl = "x"\nrows = nan', r"connections\.w\.rows must be a number above 0"),
        ('[connections.w]\nurl = "x"\nrows = inf', r"connections\.w\.rows must be a number above 0"),
        ('[connections.w]\nurl = "x"\nseconds = nan', r"connections\.w\.seconds must be a number above 0"),
        (
            f'[connections.w]\nurl = "x"\nseconds = {"9" * 4000}',
            r"connections\.w\.seconds must be a number above 0",
        ),
        (f'[connections.w]\nurl = "x"\nseconds = {"9" * 5000}', "cannot be read"),
        ("[connections]\nw = 3", r"connections\.w in the secrets must be a table"),
        ("[connections.w]\nrows = 3", r"connections\.w in the secrets has no url"),
        ('[connections.w]\nurl = "x"\nrows = "many"', r"connections\.w\.rows must be a number above 0"),
        ('[connections.w]\nurl = "x"\nqueries = {a = 1}', r"connections\.w\.queries must map names"),
    ],
)
def test_broken_secrets_are_refused_by_name(tmp_path, content, words):
    (tmp_path / "s.toml").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        connections((str(tmp_path / "s.toml"),))


def test_an_old_line_that_allowed_typed_sql_is_told_once_and_the_connection_kept(tmp_path, caplog):
    path = tmp_path / "s.toml"
    path.write_text('[connections.once]\nurl = "sqlite:///w.sqlite"\nallow_sql = true', encoding="utf-8")
    for _ in range(2):
        assert list(connections((str(path),))) == ["once"]
    (said,) = caplog.messages
    assert_says(said, "connections.once.allow_sql", "no effect", "connections.once.queries")


def test_an_unknown_connection_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(DataError, match="Connection 'warehouse' is not defined"):
        connection("warehouse")


def test_a_frame_of_dask_is_counted_on_its_workers_as_the_guide_shows():
    """A scheduler and two workers of their own on loopback; what comes back are the counts alone."""
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    rows = pd.DataFrame({"label": ROWS["label"], "score": ROWS["p"].round(2)})
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        names = {"frame": dask.from_pandas(rows, npartitions=5)}
        exec(compile(of_the_guide("python")[0], "databases.md", "exec"), names)
    single = check(rows["label"], rows["score"])
    assert len(names["counts"]) < len(rows)
    np.testing.assert_allclose(names["result"].metrics, single.metrics, rtol=1e-9)
    assert names["result"].verdict.finding == single.verdict.finding
