"""Predictions counted where they are, held against the same rows counted by pandas, and every refusal by its words."""

import gzip
import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib.data import DataError, counting, delimited, large_file, open_large, read_table, reading_of
from calib.data.counting import COUNT
from calib.kernel.progress import Watch
from tests.saying import assert_says

RNG = np.random.default_rng(0)


def table(n: int = 5_000) -> pd.DataFrame:
    p = np.round(RNG.beta(0.5, 2, n), 3)
    return pd.DataFrame({"id": np.arange(n), "p": p, "label": (RNG.random(n) < p).astype(int)})


def as_csv(frame: pd.DataFrame, path: Path, **how) -> Path:
    frame.to_csv(path, index=False, **how)
    return path


def as_parquet(frame: pd.DataFrame, path: Path, **how) -> Path:
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=1_000, **how)
    return path


def by_pandas(frame: pd.DataFrame, label: str = "label", score: str = "p") -> pd.DataFrame:
    there = frame[[label, score]].replace([np.inf, -np.inf], np.nan).dropna()
    return there.value_counts().rename(COUNT).reset_index().sort_values([score, label]).reset_index(drop=True)


def same(counts: pd.DataFrame, expected: pd.DataFrame, label: str = "label", score: str = "p") -> None:
    np.testing.assert_allclose(counts[score], expected[score], rtol=1e-14)
    assert list(map(str, counts[label])) == list(map(str, expected[label]))
    assert list(counts[COUNT]) == list(expected[COUNT])


@pytest.mark.parametrize("write", [as_csv, as_parquet])
def test_the_counts_are_those_of_pandas(tmp_path, write):
    frame = table()
    counts = open_large(write(frame, tmp_path / "a [1]*?.data")).count("label", "p")
    expected = by_pandas(frame)
    same(counts.astype({"label": int}), expected)
    (note,) = reading_of(counts).notes
    assert_says(note, "in place", "5,000 rows", f"{len(expected):,} distinct", "score and label")


@pytest.mark.parametrize(("write", "folder"), [(as_csv, "c2=9/c1=0.5"), (as_parquet, "label=9/p=0.5")])
def test_a_column_is_the_files_own_whatever_the_folders_are_called(tmp_path, write, folder):
    (tmp_path / folder).mkdir(parents=True)
    frame = table()
    counts = open_large(write(frame, tmp_path / folder / "a.data")).count("label", "p")
    same(counts.astype({"label": int}), by_pandas(frame))


@pytest.mark.parametrize("kind", ["float32", "decimal", "int", "bool"])
def test_types_of_parquet_keep_their_values(tmp_path, kind):
    frame = table()
    if kind == "float32":
        frame["p"] = frame["p"].astype(np.float32)
    if kind == "int":
        frame["p"] = (1000 * frame["p"]).astype(int)
    if kind == "bool":
        frame["label"] = frame["label"] == 1
    given = pa.Table.from_pandas(frame)
    if kind == "decimal":
        given = given.set_column(1, "p", pa.array(frame["p"]).cast(pa.decimal128(6, 3)))
    pq.write_table(given, tmp_path / "p.parquet")
    same(open_large(tmp_path / "p.parquet").count("label", "p"), by_pandas(frame))


def test_words_and_quotes_in_names_are_text(tmp_path):
    frame = table().rename(columns={"p": "p \"x'; DROP", "label": "c0"})
    frame["c0"] = np.where(frame["c0"] == 1, "y'es", 'n"o')
    expected = by_pandas(frame, "c0", "p \"x'; DROP")
    for path in (as_csv(frame, tmp_path / "p.csv"), as_parquet(frame, tmp_path / "p.parquet")):
        same(open_large(path).count("c0", "p \"x'; DROP"), expected, "c0", "p \"x'; DROP")


def test_a_text_is_read_as_the_small_one_is(tmp_path):
    """Title, semicolons, decimal commas, blanks, gaps, quotes, a packed file and no header."""
    lines = [
        "Scores of 2026",
        "",
        "label;p",
        "yes;0,25",
        ' no ;"0,5"',
        "yes;NA",
        "?;0,5",
        "no;0,25",
        "yes;0,25",
    ]
    (tmp_path / "p.csv").write_text("\r\n".join(lines), encoding="utf-8")
    counts = open_large(tmp_path / "p.csv").count("label", "p")
    assert counts.astype({"label": str}).values.tolist() == [
        ["no", 0.25, 1],
        ["yes", 0.25, 2],
        ["no", 0.5, 1],
    ]
    of_label, of_score = reading_of(counts).notes[1:]
    assert_says(of_label, "Excluded", "label", "missing", "1 row")
    assert_says(of_score, "Excluded", "'p'", "missing or infinite", "1 row")
    with gzip.open(tmp_path / "q.csv.gz", "wt", encoding="utf-8") as file:
        file.write("1,0.5\n0,0.5\n1,0.25\n" * 20)
    counts = open_large(tmp_path / "q.csv.gz").count("column 1", "column 2")
    assert counts.values.tolist() == [[1, 0.25, 20], [0, 0.5, 20], [1, 0.5, 20]]


def test_a_column_of_counts_is_added_up(tmp_path):
    path = as_csv(pd.DataFrame({"y": [1, 0, 1], "p": [0.5, 0.5, 0.5], "n": [3, 4, 0]}), tmp_path / "p.csv")
    assert open_large(path).count("y", "p", "n").values.tolist() == [[0, 0.5, 4], [1, 0.5, 3]]


def test_too_many_scores_are_rounded_and_each_moves_by_no_more_than_is_said(tmp_path):
    n = 20_000
    frame = pd.DataFrame({"p": RNG.random(n) ** 9, "label": RNG.integers(0, 2, n)})
    frame.loc[:3, "p"] = [0.0, 1.0, 1e-12, np.nextafter(1, 0)]
    path = as_parquet(frame, tmp_path / "p.parquet")
    counts = open_large(path).count("label", "p", most=1_000)
    assert counts["p"].nunique() <= 1_000
    note = reading_of(counts).notes[-1]
    step, moved, brier = map(float, re.findall(r"0\.\d+", note))
    decimals = round(-np.log10(step))
    assert brier == pytest.approx(2 * moved)
    for label in (0, 1):  # the k-th smallest before is the k-th smallest after
        rows = counts[counts["label"] == label]
        after = np.repeat(rows["p"], rows[COUNT].astype(int)).to_numpy()
        before = np.sort(frame["p"][frame["label"] == label].to_numpy())
        assert len(after) == len(before)
        assert np.abs(after - before).max() <= moved * (1 + 1e-9)
        assert ((after == 0) == (before == 0)).all()
        assert ((after == 1) == (before == 1)).all()
    assert decimals < 7
    assert moved == pytest.approx(sum(0.5 * 10.0**-k for k in range(decimals, 8)))


def test_margins_are_rounded_on_their_own_scale(tmp_path):
    frame = pd.DataFrame({"p": RNG.normal(0, 300, 5_000), "label": RNG.integers(0, 2, 5_000)})
    counts = open_large(as_parquet(frame, tmp_path / "p.parquet")).count("label", "p", most=4_900)
    assert "Brier" not in reading_of(counts).notes[-1]
    assert counts[COUNT].sum() == 5_000
    after, before = np.repeat(counts["p"], counts[COUNT].astype(int)), np.sort(frame["p"])
    moved = float(reading_of(counts).notes[-1].split()[-1].rstrip("."))
    assert np.abs(np.sort(after) - before).max() <= moved * (1 + 1e-9)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("label,p\n1,0.5\n0,0.25\n1,0.5,7\n", "Line 4 has 3 cells, but 2 are expected"),
        ("label,p\n1,0.5\n0,0.25\n1\n", "Line 4 has 1 cell, but 2 are expected"),
        ("label,p\n1,0.5\n0,low\n", "contains values that are not numbers"),
        ("label,p\n1,\n,0.5\n", "No row has both a label and a finite score"),
    ],
)
def test_a_text_that_cannot_be_counted_is_refused_by_name(tmp_path, content, words):
    (tmp_path / "p.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        open_large(tmp_path / "p.csv").count("label", "p")


def far_down(line: bytes) -> bytes:
    """A text whose first rows are right and one of whose last is not."""
    return b"label,p,n\n" + b"1,0.5,2\n0,0.25,1\n" * 300_000 + line + b"\n0,0.5,1\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"1,oops,1", "'p' was read as numbers, .* it contains 'oops'"),
        (b"1,1_0,1", "'p' was read as numbers, .* it contains '1_0'"),
        (b"1,0.5", "Line 600002 has 2 cells, but 3 are expected"),
        (b'1,"0.5,1', "quotation mark in line 600002 is never closed"),
        ("jä,0.5,1".encode("latin-1"), "Line 600002 is not UTF-8"),
        (b"1,0.5,1.5", "weight: 'n' must contain whole numbers"),
    ],
)
def test_what_is_wrong_far_below_the_first_rows_is_found(tmp_path, line, words):
    (tmp_path / "p.csv").write_bytes(far_down(line))
    with pytest.raises(DataError, match=words):
        open_large(tmp_path / "p.csv").count("label", "p", "n")


def test_columns_and_files_that_are_not_there_are_refused_by_name(tmp_path):
    file = open_large(as_csv(table(50), tmp_path / "p.csv"))
    with pytest.raises(DataError, match="score: column 'q' was not found.*id, p, label"):
        file.count("label", "q")
    with pytest.raises(DataError, match="cannot be opened"):
        open_large(tmp_path / "none.csv")
    whole = as_parquet(table(20_000), tmp_path / "p.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-100])
    with pytest.raises(DataError, match="damaged Parquet"):
        open_large(tmp_path / "cut.parquet")
    with pytest.raises(DataError, match="'id' .*5,000 values.*not a label"):
        open_large(as_csv(table(), tmp_path / "q.csv")).count("id", "p")


def test_a_file_that_is_damaged_or_changes_while_it_is_read_is_said(tmp_path, monkeypatch):
    path = as_parquet(table(20_000), tmp_path / "p.parquet", compression=None)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3 : len(whole) // 2] = bytes(len(whole) // 2 - len(whole) // 3)
    path.write_bytes(whole)
    with pytest.raises(DataError):
        open_large(path).count("label", "p")
    path = as_csv(table(), tmp_path / "p.csv")
    file = open_large(path)
    watch = Watch(lambda share, doing: path.write_text("label,p\n1,2\n"))
    with pytest.raises(DataError, match="changed while it was being read"):
        file.count("label", "p", watch=watch)


@pytest.mark.parametrize(
    ("cells", "later", "values"),
    [
        (("50 %", "25%"), "1,25 %", [0.0125, 0.25, 0.5]),
        (("0,5", "0,25"), "1,375", [0.25, 0.5, 1.375]),
        (("1.500", "2.250,5"), "3", [3, 1500, 2250.5]),
        (("1", "2"), "0,5", [0.5, 1, 2]),
        (("1", "2"), "1e-3", [0.001, 1, 2]),
    ],
)
def test_numbers_far_below_are_read_in_the_notation_of_the_first_rows(
    tmp_path, monkeypatch, cells, later, values
):
    monkeypatch.setattr(large_file, "FIRST_BYTES", 4_000)
    rows = "".join(f"{label};{cell}\n" for label, cell in zip((0, 1), cells, strict=True))
    (tmp_path / "p.csv").write_text(f"label;p\n{rows * 2_000}0;{later}\n", encoding="utf-8")
    counts = open_large(tmp_path / "p.csv").count("label", "p")
    assert counts["p"].tolist() == values
    assert sorted(counts[COUNT]) == [1, 2_000, 2_000]


def test_dots_of_thousands_are_not_decimal_points_if_another_column_has_decimal_commas(tmp_path):
    (tmp_path / "p.csv").write_text("label;p;x\n0;1.500;0,5\n1;2.250;1,25\n", encoding="utf-8")
    assert open_large(tmp_path / "p.csv").count("label", "p")["p"].tolist() == [1500, 2250]


def test_a_text_is_read_as_text_from_the_first_number_that_is_not_plain(tmp_path, monkeypatch):
    """Rows that came as numbers before are not read twice."""
    monkeypatch.setattr(large_file, "TEXT_BLOCK", 1 << 12)
    monkeypatch.setattr(delimited, "BLOCK_TOPS", 1)
    cells = [f"{i},{i / 7!r}" for i in range(3_000)]
    cells[2_500] = "2500, missing"
    (tmp_path / "t.csv").write_text("\n".join(["number,x", *cells, ""]), encoding="utf-8")
    file, kinds = open_large(tmp_path / "t.csv"), []
    read = file._read
    monkeypatch.setattr(file, "_read", lambda asked, watch: kinds.append(asked) or read(asked, watch))
    found = pd.concat(file.blocks(None, Watch()), ignore_index=True)
    assert len(kinds) == 2
    assert found["number"].tolist() == list(range(3_000))
    expected = np.arange(3_000) / 7
    expected[2_500] = np.nan
    np.testing.assert_array_equal(found["x"], expected)


def test_a_long_text_is_counted_as_pandas_counts_it(tmp_path):
    """Several threads read it, and its first rows are compared with the program's own reader."""
    frame = table(600_000)
    path = as_csv(frame, tmp_path / "p.csv")
    same(open_large(path).count("label", "p").astype({"label": int}), by_pandas(frame))


def test_little_memory_is_enough_for_many_scores(tmp_path):
    n = 2_000_000
    frame = pd.DataFrame({"p": RNG.random(n), "label": RNG.integers(0, 2, n)})
    counts = open_large(as_parquet(frame, tmp_path / "p.parquet")).count("label", "p", memory="100MB")
    assert len(counts) == n
    np.testing.assert_array_equal(counts["p"], np.sort(frame["p"]))


def test_scores_that_take_too_much_memory_are_rounded_further_within_the_stated_bound(tmp_path, monkeypatch):
    p = RNG.random(20_000)
    frame = pd.DataFrame({"label": (RNG.random(20_000) < p).astype(int), "p": p})
    frame.to_parquet(tmp_path / "p.parquet")
    group, asked = counting._regroup, []

    def little_memory(sql, by):
        asked.append(by)
        if len(asked) < 3:
            raise duckdb.OutOfMemoryException("Out of Memory")
        return group(sql, by)

    monkeypatch.setattr(counting, "_regroup", little_memory)
    found = open_large(tmp_path / "p.parquet").count("label", "p", most=19_000, spill=False)
    note = reading_of(found).notes[-1]
    moved = float(note.partition("each score changed by at most ")[2].split(",")[0])
    ordered = np.repeat(found["p"].to_numpy(), found["count"].astype(int).to_numpy())
    assert "Scores were rounded to 0.001" in note
    assert np.abs(np.sort(ordered) - np.sort(p)).max() <= moved


def test_a_table_in_blocks_is_the_table_in_memory(tmp_path, monkeypatch):
    """Whatever its cells are: numbers in any notation, dates, gaps and quotes, in small blocks."""
    monkeypatch.setattr(large_file, "TEXT_BLOCK", 1 << 11)
    monkeypatch.setattr(delimited, "BLOCK_TOPS", 1)
    n = 400
    columns = {
        "plain": [f"{x:.3f}" for x in RNG.normal(size=n)],
        "commas": [f"{x:.2f}".replace(".", ",") for x in RNG.normal(size=n)],
        "thousands": [f"{x:,}".replace(",", ".") for x in RNG.integers(1_000, 10**7, n)],
        "shares": [f"{x:.1f} %" for x in 100 * RNG.random(n)],
        "account": [str(x) for x in RNG.integers(10**15, 10**17, n)],
        "day": list(pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y")),
        "iso": list(pd.date_range("2020-01-01", periods=n, freq="h").strftime("%Y-%m-%dT%H:%M:%S")),
        "word": [f'"say ""{x}""\nor ;"' for x in RNG.integers(0, 9, n)],
    }
    frame = pd.DataFrame(columns)
    for name in columns:
        frame.loc[RNG.random(n) < 0.1, name] = RNG.choice(["", "NA", "n/a" if name != "word" else "?"])
    text = "\n".join(["Report", "", ";".join(frame), *map(";".join, frame.itertuples(index=False)), ""])
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    whole = read_table(tmp_path / "t.csv")
    blocks = list(open_large(tmp_path / "t.csv").blocks(None, Watch()))
    assert len(blocks) > 10
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), whole, check_exact=True)
    assert whole.dtypes.map(str).tolist().count("float64") == 4
