"""The remedy of a refusal: DuckDB runs the query on the whole file, and its counts are those of rounded log-odds."""

import io

import duckdb
import numpy as np
import pandas as pd
import pytest

from calib.data import too_large as module
from calib.data.too_large import remedy_for

ROWS = 3_000


def judged(seed=0, **columns):
    rng = np.random.default_rng(seed)
    p = rng.random(ROWS).round(6)
    p[:4] = 0, 1, 1e-5, 1 - 1e-5
    return pd.DataFrame({"p": p, "label": (rng.random(ROWS) < p).astype(int)} | columns)


def parquet(table):
    file = io.BytesIO()
    table.to_parquet(file, index=False, row_group_size=500)
    return file.getvalue()


def as_csv(table):
    return table.to_csv(index=False).encode()


def near(p):
    """The probability whose log-odds have two decimals."""
    with np.errstate(divide="ignore"):
        odds = np.log(p / (1 - p))
    return np.where((p > 0) & (p < 1), 1 / (1 + np.exp(-odds.round(2))), p)


@pytest.mark.parametrize(("write", "ending"), [(as_csv, "csv"), (parquet, "parquet")])
def test_the_query_counts_the_rows_of_the_whole_file_by_its_own_columns(write, ending, tmp_path, monkeypatch):
    """By the ends of the file alone, which hold a part of its rows."""
    table = judged().rename(columns={"p": 'p of "A"'})
    path = tmp_path / f"it's large.{ending}"
    path.write_bytes(content := write(table))
    monkeypatch.setattr(module, "BYTES_OF_END", 4_000)
    found = remedy_for(content[:4_000], content[-4_000:], path.name)
    counts = duckdb.sql(found.query.replace("it''s", str(tmp_path / "it''s"))).df()
    expected = pd.Series(1, [near(table['p of "A"']).round(9), table["label"]]).groupby(level=[0, 1]).sum()
    got = pd.Series(counts["count"].to_numpy(), [counts['p of "A"'].round(9), counts["label"]]).sort_index()
    assert got.tolist() == expected.tolist()
    assert np.allclose(np.array(got.index.tolist()), np.array(expected.index.tolist()))
    assert got.sum() == ROWS


def test_several_scores_margins_and_a_column_called_count_have_their_places(tmp_path):
    rng = np.random.default_rng(1)
    table = judged(p_forest=rng.random(ROWS).round(4), margin=rng.normal(0, 3, ROWS).round(4))
    query = remedy_for(as_csv(table), b"", "a.csv").query
    assert query.startswith('SELECT "p", "p_forest", "margin", "label", COUNT(*) AS "count"')
    assert 'ROUND("margin", 2) AS "margin"' in query
    (tmp_path / "a.csv").write_bytes(as_csv(table))
    counts = duckdb.sql(query.replace("'a.csv'", f"'{tmp_path}/a.csv'")).df()
    assert counts["count"].sum() == ROWS


@pytest.mark.parametrize(
    "content",
    [
        as_csv(
            pd.DataFrame({"age": [31, 40, 52] * 20, "bmi": [21.5, 30.2, 25.0] * 20, "target": [0, 1, 1] * 20})
        ),
        as_csv(pd.DataFrame({"text": ["words"] * 9, "more": ["other words"] * 9})),
        b"PAR1 and nothing else",
        b"\x00\x01\x02" * 100,
    ],
)
def test_of_a_file_without_scores_a_sample_is_the_remedy(content):
    found = remedy_for(content, b"", "a.csv")
    assert found.query is None
    assert "sample of the rows" in found.advice
