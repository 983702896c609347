"""What every split promises, over random rows: every row on one side, nothing torn, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.kernel.checks import InputError
from calib.splits import SPLITS, RowInfo


@st.composite
def tables(draw, most: int = 60):
    n = draw(st.integers(12, most))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:6] = [0, 1] * 3
    time = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)), dtype=float)
    cluster = np.array(draw(st.lists(st.integers(0, 15), min_size=n, max_size=n)))
    part = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    part[:3] = [0, 1, 2]
    weight = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), dtype=float)
    return RowInfo(y, time, part, weight=draw(st.sampled_from([None, weight])), cluster=cluster)


def cuts_of(key, rows, draw_folds=3):
    """All cuts that a split makes of some rows: outside and inside; those that it refuses are left out."""
    split = SPLITS[key]()
    for make in (
        lambda: [split.holdout(rows, 0.3, 1)],
        lambda: split.folds(rows, draw_folds, 1),
        lambda: [split.calibration(rows, 0.3, 1)],
        lambda: split.calibration_folds(rows, draw_folds, 1),
    ):
        try:
            yield from make()
        except InputError:
            continue


@pytest.mark.parametrize("key", SPLITS)
@given(rows=tables())
def test_no_row_is_on_both_sides_and_both_sides_hold_rows(key, rows):
    for cut in cuts_of(key, rows):
        assert len(cut.train) > 0
        assert len(cut.test) > 0
        assert np.intersect1d(cut.train, cut.test).size == 0
        assert len(np.unique(cut.train)) == len(cut.train)
        assert len(np.unique(cut.test)) == len(cut.test)


@pytest.mark.parametrize("key", SPLITS)
def test_the_same_seed_gives_the_same_split(key):
    rng = np.random.default_rng(0)
    rows = RowInfo(
        rng.integers(0, 2, 90),
        time=rng.integers(0, 30, 90),
        cluster=rng.integers(0, 30, 90),
        part=rng.integers(0, 3, 90),
    )
    first, again, other = (SPLITS[key]().holdout(rows, 0.3, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.test, again.test)
    assert SPLITS[key].seeded == (set(first.test) != set(other.test))


@pytest.mark.parametrize("key", [key for key in SPLITS if SPLITS[key].needs])
def test_a_split_without_its_column_is_refused_by_the_fields_name(key):
    rows = RowInfo(np.array([0, 1] * 10))
    for make in (SPLITS[key]().holdout, SPLITS[key]().folds):
        with pytest.raises(InputError, match=f"{SPLITS[key].needs}|holdout"):
            make(rows, 2, 0)
    with pytest.raises(InputError, match=f"split='{key}' needs the field {SPLITS[key].needs}"):
        SPLITS[key]().holdout(rows, 0.3, 0)


@pytest.mark.parametrize("key", SPLITS)
def test_a_split_describes_itself(key):
    entry = SPLITS[key]
    assert (entry.key, entry.help[-1]) == (key, ".")
    assert entry.label
    for option in entry.parameters:
        assert getattr(entry(), option.name) == option.default
