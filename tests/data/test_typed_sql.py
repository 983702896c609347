"""Typed SQL reads tables of its database and nothing else: what tries more is refused, and nothing changes."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from calib.data import DataError
from calib.data.database import Connection, connections
from tests.postgres import server

RNG = np.random.default_rng(0)
READS = (
    "SELECT * FROM scores",
    "SELECT label, p FROM scores WHERE label % 2 = 0 OR p > 0.5 -- one\n",
    "WITH half AS (SELECT * FROM scores WHERE p < 0.5) SELECT label, avg(p) AS p FROM half GROUP BY label",
    "SELECT label, p FROM scores UNION ALL SELECT label, 1 - p FROM scores;",
)


@pytest.fixture
def scores() -> pd.DataFrame:
    return pd.DataFrame({"label": RNG.integers(0, 2, 200), "p": RNG.random(200)})


@pytest.fixture
def secret(tmp_path):
    (tmp_path / "secret.csv").write_text("label,p\n1,0.5\n", encoding="utf-8")
    return tmp_path / "secret.csv"


def typed(connection, sql):
    allowed, name = connection.with_typed(sql)
    return allowed.read(name)


def refused(connection, sql):
    with pytest.raises(DataError) as error:
        typed(connection, sql)
    return str(error.value)


DUCKDB = (
    "SELECT 1; SELECT 2",
    "DROP TABLE scores",
    "INSERT INTO scores VALUES (1, 0.5)",
    "WITH gone AS (DELETE FROM scores RETURNING *) SELECT * FROM gone",
    "COPY scores TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/other.duckdb'",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM query('COPY scores TO ''{folder}/out.csv''')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CREATE TEMP TABLE t AS SELECT 1",
    "SELECT nextval('numbers')",
    "SELECT getenv('HOME')",
    "EXPLAIN ANALYZE SELECT 1",
    "BEGIN",
    "SELEC",
    " ",
)
SQLITE = (
    "SELECT 1; SELECT 2",
    "SELECT 1 -- one\n; DROP TABLE scores",
    "DROP TABLE scores",
    "INSERT INTO scores VALUES (1, 0.5)",
    "WITH one AS (SELECT 1) INSERT INTO scores SELECT 1, 0.5 FROM one",
    "ATTACH '{folder}/other.sqlite' AS other",
    "VACUUM INTO '{folder}/out.sqlite'",
    "PRAGMA writable_schema = 1",
    "SELECT * FROM pragma_database_list",
    "SELECT load_extension('x')",
    "SELECT readfile('{secret}')",
    "SELECT writefile('{folder}/out', 'x')",
    "CREATE TEMP TABLE t (x)",
    "BEGIN",
    "EXPLAIN SELECT 1",
    "QUERY PLAN SELECT 1",
    "SELEC",
    "",
)
POSTGRES = (
    "SELECT 1; DROP TABLE scores",
    "COMMIT; DROP TABLE scores",
    "DROP TABLE scores",
    "WITH gone AS (DELETE FROM scores RETURNING *) SELECT * FROM gone",
    "SELECT * INTO other FROM scores",
    "SELECT * FROM scores FOR UPDATE",
    "COPY scores TO '/tmp/out.csv'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT nextval('numbers')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT set_config('role', 'owner', false)",
    "SELECT query_to_xml('DROP TABLE scores', true, false, '')",
    "SELECT query_to_xml('SELECT pg_read_file(''/etc/passwd'')', true, false, '')",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "CREATE TEMP TABLE t (x int)",
    "EXPLAIN ANALYZE DELETE FROM scores",
    "DO $$ BEGIN DELETE FROM scores; END $$",
    "SELEC",
    "",
)


def untouched(folder) -> bool:
    return not [path.name for path in folder.iterdir() if path.name.startswith(("out", "other"))]


def test_duckdb_reads_and_nothing_else(tmp_path, scores, secret):
    import duckdb

    with duckdb.connect(tmp_path / "d.duckdb") as made:
        made.execute("CREATE TABLE scores AS SELECT * FROM scores")
        made.execute("CREATE SEQUENCE numbers")
    with duckdb.connect(tmp_path / "e.duckdb") as made:
        made.execute("CREATE TABLE hidden AS SELECT 1 AS label")
    one = Connection("warehouse", f"duckdb:///{tmp_path}/d.duckdb", allow_sql=True)
    pd.testing.assert_frame_equal(typed(one, READS[0]), scores.astype(float), check_dtype=False)
    for sql in READS[1:]:
        assert len(typed(one, sql)) > 0
    for sql in (*DUCKDB, "SELECT * FROM read_duckdb('{folder}/e.duckdb')"):
        refused(one, sql.replace("{folder}", str(tmp_path)).replace("{secret}", str(secret)))
    assert untouched(tmp_path)
    assert len(typed(one, READS[0])) == 200


def test_sqlite_reads_and_nothing_else(tmp_path, scores, secret):
    with sqlite3.connect(tmp_path / "s.sqlite") as made:
        scores.to_sql("scores", made, index=False)
    one = Connection("warehouse", f"sqlite:///{tmp_path}/s.sqlite", allow_sql=True)
    pd.testing.assert_frame_equal(typed(one, READS[0]), scores.astype(float), check_dtype=False)
    for sql in READS[1:]:
        assert len(typed(one, sql)) > 0
    for sql in SQLITE:
        refused(one, sql.replace("{folder}", str(tmp_path)).replace("{secret}", str(secret)))
    assert untouched(tmp_path)
    assert len(typed(one, READS[0])) == 200


def test_postgresql_reads_and_nothing_else(scores):
    with server() as one:
        one.do(
            "CREATE TABLE scores (label int, p float8)",
            "INSERT INTO scores SELECT (random() < 0.5)::int, random() FROM generate_series(1, 200)",
            "CREATE SEQUENCE numbers",
            "CREATE ROLE reader LOGIN PASSWORD 'r'",
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader",  # more than it should have
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO reader",
            "CREATE ROLE of_files LOGIN PASSWORD 'r' IN ROLE pg_read_server_files",
            "CREATE ROLE granted LOGIN PASSWORD 'r'",
            "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO granted",
        )

        def of(role: str) -> Connection:
            return Connection(
                "warehouse", f"postgresql://{role}@127.0.0.1:{one.port}/postgres", allow_sql=True
            )

        for sql in READS:
            assert len(typed(of("reader:r"), sql)) > 0
        for sql in POSTGRES:
            refused(of("reader:r"), sql)
        assert len(typed(of("reader:r"), READS[0])) == 200
        typed(
            of("reader:r"), "SELECT lo_create(0)"
        )  # which some versions run even if the session can only read
        assert typed(of("reader:r"), "SELECT count(*) FROM pg_largeobject_metadata").iloc[0, 0] == 0
        for role in (one.url.partition("//")[2].partition("@")[0], "of_files:r", "granted:r"):
            assert "cannot read files of the server" in refused(of(role), READS[0])


def test_it_is_off_unless_the_connection_allows_it(tmp_path):
    given = '[connections.{name}]\nurl = "sqlite:///s"\n{more}\n'
    text = "".join(
        given.format(name=name, more=more)
        for name, more in (("off", ""), ("no", "allow_sql = false"), ("on", "allow_sql = true"))
    )
    (tmp_path / "secrets.toml").write_text(text, encoding="utf-8")
    found = connections((str(tmp_path / "secrets.toml"),))
    assert [one.allow_sql for one in found.values()] == [False, False, True]
    with pytest.raises(DataError, match="off does not allow typed SQL"):
        found["off"].with_typed("SELECT 1")
    (tmp_path / "secrets.toml").write_text(given.format(name="x", more='allow_sql = "yes"'), encoding="utf-8")
    with pytest.raises(DataError, match="allow_sql must be true or false"):
        connections((str(tmp_path / "secrets.toml"),))


def test_a_long_text_is_refused_before_it_is_parsed(tmp_path):
    sqlite3.connect(tmp_path / "s.sqlite").close()
    one = Connection("warehouse", f"sqlite:///{tmp_path}/s.sqlite", allow_sql=True)
    assert "more than 20,000 characters" in refused(one, "SELECT 1 " + " " * 20_000)
