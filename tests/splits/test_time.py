"""In time: by brute force on every pair of rows, ties never torn, the window expands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.kernel.checks import InputError
from calib.splits import SPLITS, RowInfo

times = st.lists(st.integers(0, 20), min_size=12, max_size=80).filter(lambda values: len(set(values)) >= 6)


def rows_of(values, weight=None):
    return RowInfo(np.arange(len(values)) % 2, np.array(values, dtype=float), weight=weight)


@given(times, st.floats(0.05, 0.9), st.integers(0, 3))
def test_every_training_row_is_older_than_every_row_held_out_by_more_than_the_gap(values, share, gap):
    rows = rows_of(values)
    try:
        cut = SPLITS["time"](gap).holdout(rows, share, 0)
    except InputError:
        assert SPLITS["time"]().holdout(rows, share, 0).train.size  # it is the gap that leaves nothing
        return
    assert all(rows.time[i] < rows.time[j] - gap for i in cut.train for j in cut.test)
    assert set(rows.time[cut.test]).isdisjoint(rows.time[cut.train])
    if gap == 0:
        assert len(cut.train) + len(cut.test) == rows.n


@given(times, st.floats(0.05, 0.9))
def test_no_other_moment_would_bring_the_test_part_nearer_to_its_share(values, share):
    rows = rows_of(values)
    own = abs(len(SPLITS["time"]().holdout(rows, share, 0).test) / rows.n - share)
    others = [abs((rows.time >= moment).mean() - share) for moment in sorted(set(values))[1:]]
    assert own == pytest.approx(min(others))


@given(times, st.integers(2, 5))
def test_folds_are_an_expanding_window(values, k):
    rows = rows_of(values)
    cuts = SPLITS["time"]().folds(rows, k, 0)
    assert len(cuts) == k
    seen = set(cuts[0].train)
    for cut in cuts:
        assert set(cut.train) == seen
        assert all(rows.time[i] < rows.time[j] for i in cut.train for j in cut.test)
        seen |= set(cut.test)
    assert seen == set(range(rows.n))


def test_blocks_are_equal_where_moments_allow_it():
    cuts = SPLITS["time"]().folds(rows_of(range(60)), 5, 0)
    assert [len(cut.test) for cut in cuts] == [10] * 5
    assert len(cuts[0].train) == 10


def test_dates_and_their_gap_in_days():
    days = np.datetime64("2024-01-01") + np.arange(10).astype("timedelta64[D]")
    rows = RowInfo(np.arange(10) % 2, time=days.astype("datetime64[ns]"))
    cut = SPLITS["time"](gap=2).holdout(rows, 0.3, 0)
    assert cut.test.tolist() == [7, 8, 9]
    assert cut.train.tolist() == [0, 1, 2, 3, 4]  # 5 and 6 January lie less than two days before the 8th


@given(times, st.floats(0.1, 0.8), st.randoms())
def test_whole_weights_split_as_the_repeated_rows_do(values, share, random):
    weight = np.array([random.randint(1, 4) for _ in values], dtype=float)
    rows = rows_of(values, weight)
    repeated = RowInfo(
        *(np.repeat(each, weight.astype(int)) for each in (rows.y,)),
        time=np.repeat(rows.time, weight.astype(int)),
    )
    for make in (
        lambda r: [SPLITS["time"]().holdout(r, share, 0)],
        lambda r: SPLITS["time"]().folds(r, 3, 0),
    ):
        for cut, other in zip(make(rows), make(repeated), strict=True):
            assert rows.time[cut.test].min() == repeated.time[other.test].min()


def test_one_moment_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"time: .*\b1 distinct .*\b2\b.*split='random'"):
        SPLITS["time"]().holdout(rows_of([3.0] * 8), 0.3, 0)
    with pytest.raises(InputError, match=r"\b4 distinct times.*at least 6\b"):
        SPLITS["time"]().folds(rows_of([0, 1, 2, 3] * 4), 5, 0)
