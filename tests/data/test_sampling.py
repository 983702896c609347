"""A table too large for memory: the sample is stratified and uniform, and the rest is exactly every other row."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from calib.data import (
    DataError,
    FrameRelation,
    delimited,
    draw_rows,
    large_file,
    open_large,
    prepare,
    reading_of,
    relation,
    sampling,
)

RNG = np.random.default_rng(0)


def table(n: int = 5_000) -> pd.DataFrame:
    x = RNG.normal(size=n)
    frame = pd.DataFrame(
        {
            "number": np.arange(n),  # tells the rows apart
            "x": np.where(RNG.random(n) < 0.1, np.nan, x),
            "kind": RNG.choice(["a", "b c", "ä"], n),
            "y": np.where(RNG.random(n) < 1 / (1 + np.exp(-x - 1)), "yes", "no"),
        }
    )
    frame.loc[::50, "y"] = None
    frame.loc[::70, "kind"] = None
    return frame


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=700)
    else:
        frame.to_csv(path, index=False)
    return open_large(path)


def parts(sample) -> tuple[list[int], pd.DataFrame, np.ndarray]:
    """Numbers of the rows in the sample; the other rows, with their labels."""
    data = prepare(sample, "y", "yes", keep=["number"])
    blocks, labels = zip(*reading_of(sample).rest.scored(data.X, "yes"), strict=True)
    return sample["number"].astype(int).tolist(), pd.concat(blocks), np.concatenate(labels)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(relation, "BLOCK_ROWS", 300)
    monkeypatch.setattr(large_file, "BLOCK_ROWS", 300)
    monkeypatch.setattr(large_file, "TEXT_BLOCK", 8_000)
    monkeypatch.setattr(delimited, "BLOCK_TOPS", 1)
    monkeypatch.setattr(large_file, "FIRST_BYTES", 8_000)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_sample_and_rest_are_the_labelled_rows_each_once_with_their_values(tmp_path, ending):
    frame = table()
    blocks = written(frame, tmp_path / f"t.{ending}").blocks
    sample = draw_rows(blocks, "y", 1_000, seed=3)
    drawn, rest, labels = parts(sample)
    there = frame[frame["y"].notna()]
    assert len(drawn) == 1_000
    numbers = rest["number"].astype(int).tolist()
    assert sorted([*drawn, *numbers]) == there["number"].tolist()
    expected = frame.loc[numbers]
    np.testing.assert_array_equal(labels, expected["y"] == "yes")
    np.testing.assert_allclose(rest["x"], expected["x"], rtol=1e-15)
    assert rest["kind"].astype(object).where(rest["kind"].notna(), None).tolist() == (
        expected["kind"].astype(object).where(expected["kind"].notna(), None).tolist()
    )
    share = (there["y"] == "yes").mean()
    assert sample["y"].eq("yes").sum() == round(1_000 * share)


@pytest.mark.usefixtures("small_blocks")
def test_the_draw_depends_on_the_seed_alone(tmp_path):
    frame = table()
    of_file = written(frame, tmp_path / "t.parquet").blocks
    first, again, other = (parts(draw_rows(of_file, "y", 500, seed=seed))[0] for seed in (1, 1, 2))
    assert first == again != other
    in_memory = parts(draw_rows(FrameRelation(frame).blocks, "y", 500, seed=1))[0]  # in blocks of other sizes
    assert in_memory == first


def test_every_row_is_drawn_equally_often():
    frame = pd.DataFrame({"number": range(40), "y": ["a", "b", "b", "b"] * 10})
    blocks = FrameRelation(frame).blocks
    drawn = np.concatenate([draw_rows(blocks, "y", 8, seed=seed)["number"] for seed in range(1_000)])
    assert chisquare(np.bincount(drawn.astype(int), minlength=40)).pvalue > 1e-4


def test_without_a_size_the_sample_leaves_at_least_half_of_the_rows(monkeypatch):
    frame = pd.DataFrame({"x": range(5_000), "y": [0, 1] * 2_500})
    assert len(draw_rows(FrameRelation(frame).blocks, "y")) == 2_500
    monkeypatch.setattr(sampling, "LEARN_ROWS", 1_200)
    sample = draw_rows(FrameRelation(frame).blocks, "y")
    assert len(sample) == 1_200
    assert "learns from 1,200 of 5,000 rows" in reading_of(sample).notes[-1]
    assert "other 3,800" in reading_of(sample).notes[-1]


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (2_501, 2, "only 5,000 rows have a label. Choose at most 2,500"),
        (2_000, 100_000, "with 100,000 columns, this sample does not fit into memory"),
    ],
)
def test_a_sample_that_is_too_large_is_refused(rows, columns, words):
    frame = pd.DataFrame({"x": range(5_000), "y": [0, 1] * 2_500})
    with pytest.raises(DataError, match=words):
        draw_rows(FrameRelation(frame).blocks, "y", rows, columns=columns)


def test_a_column_of_numbers_is_no_label():
    frame = pd.DataFrame({"x": range(5_000), "y": RNG.random(5_000)})
    with pytest.raises(DataError, match="more than 1,000 values"):
        draw_rows(FrameRelation(frame).blocks, "y")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("cell", "words"),
    [("about 3", "'x' was read as numbers, .*'about 3'"), ("1_0", "'x' was read as numbers, .*'1_0'")],
)
def test_a_text_among_numbers_is_named(tmp_path, cell, words):
    frame = table()
    frame["x"] = frame["x"].astype(object)
    frame.loc[4_000, "x"] = cell
    blocks = written(frame, tmp_path / "t.csv").blocks
    with pytest.raises(DataError, match=words):
        draw_rows(blocks, "y", 1_000)


@pytest.mark.usefixtures("small_blocks")
def test_words_for_a_gap_are_gaps_as_in_a_small_table(tmp_path):
    frame = table()
    frame["x"] = frame["x"].astype(object)
    frame.loc[4_000:4_003, "x"] = ["n/a", "?", "unknown", "inf"]
    sample = draw_rows(written(frame, tmp_path / "t.csv").blocks, "y", 1_000)
    _, rest, _ = parts(sample)
    assert rest.set_index("number")["x"].reindex([4_000, 4_001, 4_002, 4_003]).isna().all()


@pytest.mark.usefixtures("small_blocks")
def test_a_file_that_changes_is_said(tmp_path):
    path = tmp_path / "t.parquet"
    frame = table()
    sample = draw_rows(written(frame, path).blocks, "y", 1_000)
    frame.iloc[:-1].to_parquet(path)
    with pytest.raises(DataError, match="changed while it was being read"):
        parts(sample)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("ending", "form"), [("parquet", None), ("csv", None), ("csv", "%d/%m/%Y %H:%M:%S")])
def test_dates_stay_dates(tmp_path, ending, form):
    frame = table().assign(day=pd.Timestamp("2026-01-01"))
    frame["day"] += pd.to_timedelta(frame["number"], unit="h")
    given = frame if form is None else frame.assign(day=frame["day"].dt.strftime(form))
    _, rest, _ = parts(draw_rows(written(given, tmp_path / f"t.{ending}").blocks, "y", 1_000))
    assert (rest["day"].to_numpy() == frame["day"].loc[rest["number"].astype(int)].to_numpy()).all()
