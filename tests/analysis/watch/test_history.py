"""History: what was read is not read again, labels come late or change, and the answer is that of one pass."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.analysis.watch import Watcher, watch
from calib.analysis.watch.history import NEW_ALARM, NO_ALARM, STILL, History, ReadRows
from calib.analysis.watch.state_file import of_bytes, to_bytes
from calib.kernel.checks import InputError
from tests.analysis.watch.test_watcher import stream

DAY = np.datetime64("2024-01-01") + np.arange(3000) // 30
KEYS = np.array([f"row {i}" for i in range(3000)], dtype=object)
TIMES = {"dates": DAY, "numbers": np.arange(3000) // 30 / 2, "rows": None}


def part(rows, y, p, when=None, key=None):
    return [None if each is None else each[rows] for each in (y, p, when, key)]


def assert_same_answer(history, y, p, when, key=None):
    """Compare with one pass over these rows, without a history."""
    one = Watcher(history.alpha, history.horizon).add(y, p, when)
    found = history.watch()
    assert (found.rows, found.waiting, found.log_now) == (one.rows, one.waiting, one.log_now)
    for name in ("level", "brier", "slope", "alarm", "since", "since_interval", "cause", "advice"):
        assert repr(getattr(found, name)) == repr(getattr(one, name)), name


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("keyed", [False, True])
def test_the_same_table_three_times_counts_once(kind, keyed):
    """Without this, 400 calibrated rows became 1,200 rows and an alarm."""
    y, p = stream(3000)
    when, key = TIMES[kind], KEYS if keyed else None
    history = History(key="id" if keyed else None)
    assert history.read(y, p, when, key) == ReadRows(3000, 0)
    before = to_bytes(history)
    for _ in range(2):
        assert history.read(y, p, when, key) == ReadRows(0, 3000)
        assert not history.changed
        assert to_bytes(history) == before
    assert_same_answer(history, y, p, when)


@given(
    days=st.lists(st.integers(1, 12), min_size=1, max_size=12),
    steps=st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 12), st.floats(0, 0.6), st.booleans()), max_size=8
    ),
    keyed=st.booleans(),
    horizon=st.sampled_from([1, 1, 3]),
    seed=st.integers(0, 10**6),
)
def test_tables_that_overlap_repeat_and_complete_each_other_equal_one_pass(days, steps, keyed, horizon, seed):
    """Days come one after another; earlier days may come again, mixed, with more labels and with corrected ones."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(len(days)), days)
    day, n = np.datetime64("2024-01-01") + number, len(number)
    y, p = rng.integers(0, 2, n).astype(float), rng.random(n).round(1 if seed % 2 else 15)
    known, next_day = np.full(n, np.nan), 0
    history = History(horizon=horizon, key="id" if keyed else None)
    for begin, more, missing, flip in steps:
        begin = begin % (next_day + 1)
        rows = rng.permutation(np.flatnonzero((number >= begin) & (number <= begin + more)))
        if not len(rows):
            continue
        was, read = known[rows], number[rows] < next_day
        if flip:
            y[rows[0]] = 1 - y[rows[0]]
        labels = np.where(rng.random(len(rows)) < missing, np.nan, y[rows])
        if (
            not keyed
        ):  # rows of equal time and prediction are interchangeable: labels that were known come again
            labels = np.where(np.isnan(labels) & ~np.isnan(was), y[rows], labels)
        history = of_bytes(to_bytes(history))
        got = history.read(labels, p[rows], day[rows], KEYS[rows] if keyed else None)
        known[rows] = np.where(np.isnan(labels), was, labels)
        next_day = max(next_day, begin + more + 1)
        assert (got.new, got.known) == ((~read).sum(), read.sum())
        if keyed:
            told = read & ~np.isnan(labels)
            assert got.completed == (told & np.isnan(was)).sum()
            assert got.corrected == (told & ~np.isnan(was) & (was != labels)).sum()
        assert_same_answer(history, *part(number < next_day, known, p, day))


def test_late_labels_complete_their_rows():
    y, p = stream(3000, shift=0.4)
    late = y.copy()
    late[2400:] = np.nan
    for keyed in (False, True):
        history = History(key="id" if keyed else None)
        key = KEYS if keyed else None
        history.read(late, p, DAY, key)
        assert history.watch().waiting == 600
        assert history.read(y, p, DAY, key) == ReadRows(0, 3000, completed=600)
        assert_same_answer(history, y, p, DAY)
    some = np.arange(2400, 3000)[np.random.default_rng(0).permutation(600)[:300]]
    history = History(key="id")
    history.read(late, p, DAY, KEYS)
    assert history.read(*part(some, y, p, DAY, KEYS)) == ReadRows(0, 300, completed=300)
    late[some] = y[some]
    assert_same_answer(history, late, p, DAY)


def test_a_corrected_label_is_told_and_counts():
    y, p = stream(3000, shift=0.4)
    wrong = y.copy()
    wrong[[5, 700, 2999]] = 1 - wrong[[5, 700, 2999]]
    for keyed in (False, True):
        history, key = History(key="id" if keyed else None), KEYS if keyed else None
        history.read(wrong, p, DAY, key)
        assert history.read(y, p, DAY, key) == ReadRows(0, 3000, corrected=3)
        assert_same_answer(history, y, p, DAY)


def test_the_status_tells_a_new_alarm_from_one_that_stands_and_a_retry_changes_nothing():
    y, p = stream(3000, shift=1.0, calm=1500)
    history, said = History(key="id"), []
    for first in range(0, 3000, 150):
        rows = slice(first, first + 150)
        for _ in range(3):  # every table three times
            history = of_bytes(to_bytes(history))
            history.read(*part(rows, y, p, DAY, KEYS))
            said.append(history.status)
    names = [name for name, _ in itertools.groupby(said)]
    assert names == [NO_ALARM, NEW_ALARM, STILL]
    assert said.count(NEW_ALARM) == 3
    alarm = watch(y, p, DAY).alarm
    assert said.index(NEW_ALARM) == 3 * (alarm // 150)


def test_a_correction_of_labels_may_end_an_alarm():
    y, p = stream(900)
    wrong = y.copy()
    wrong[600:] = 1
    history = History(key="id")
    history.read(*part(slice(900), wrong, p, DAY, KEYS))
    assert history.status == NEW_ALARM
    history.read(*part(slice(900), y, p, DAY, KEYS))
    assert history.status == NO_ALARM


@pytest.mark.parametrize("kind", TIMES)
def test_after_a_restart_only_the_rows_from_then_on_count(kind):
    y, p = stream(3000, shift=1.0, calm=600)
    y[1500:], p[1500:] = stream(1500, seed=1)  # recalibrated
    when = TIMES[kind]
    history = History(key="id")
    for first in range(0, 1500, 300):
        history.read(*part(slice(first, first + 300), y, p, when, KEYS))
    assert history.status == STILL
    for _ in range(2):  # and a retry is the same
        history.read(*part(slice(1500, 1530), y, p, when, KEYS), restart=True)
        assert (history.watch().rows, history.status) == (30, NO_ALARM)
    history.read(*part(slice(1470, 1530), y, p, when, KEYS))  # rows from before it are still known
    history.read(*part(slice(1500, 3000), y, p, when, KEYS))
    assert_same_answer(history, *part(slice(1500, 3000), y, p, when))


def test_a_restart_at_a_time_leaves_out_rows_from_before_it_that_come_later():
    y, p = stream(3000)
    history = History(key="id")
    history.read(*part(slice(0, 900), y, p, DAY, KEYS))
    got = history.read(*part(slice(900, 1500), y, p, DAY, KEYS), restart="2024-02-10")
    assert astuple(got)[:5] == (300, 0, 0, 0, 300)
    assert_same_answer(history, *part(slice(1200, 1500), y, p, DAY))
    assert history.shown(history.watch().order[0]) is not None
    with pytest.raises(InputError, match="2024-02-10"):
        history.read(*part(slice(0, 30), y, p, DAY, KEYS), restart=True)


def test_rows_whose_labels_never_come_can_be_left_out_for_good():
    y, p = stream(900)
    late = y.copy()
    late[100] = np.nan
    history = History(key="id")
    history.read(*part(slice(900), late, p, DAY, KEYS))
    assert history.watch().rows == 90
    history.read(*part(slice(900), late, p, DAY, KEYS), skip_unlabelled=True)
    rest = np.delete(np.arange(900), 100)
    assert_same_answer(history, *part(rest, y, p, DAY))
    assert history.read(*part(slice(900), y, p, DAY, KEYS)).completed == 0
    assert_same_answer(history, *part(rest, y, p, DAY))


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("2 new rows are older than 2024-01-30", ("a", "b", 60)),
        ("a different prediction", (None, None, 0)),
    ],
)
def test_what_cannot_be_counted_is_refused_whole(words, table):
    y, p = stream(900)
    history = History(key="id")
    history.read(*part(slice(900), y, p, DAY, KEYS))
    before = to_bytes(history)
    *names, row = table
    when, key, other = DAY[[row, row]], np.array(names, dtype=object), np.array([0.5, 0.5])
    if names[0] is None:
        key = KEYS[[0, 1]]
    with pytest.raises(InputError, match=words):
        history.read(np.array([0, 1]), other, when, key)
    assert to_bytes(history) == before


def test_without_a_key_rows_that_cannot_be_told_apart_are_refused():
    y, p = stream(3000)
    for when in (DAY, None):
        history = History()
        history.read(*part(slice(0, 880), y, p, when))
        before = to_bytes(history)
        with pytest.raises(InputError, match="--key"):
            history.read(*part(slice(0 if when is None else 870, 900), y, p, when))
        assert to_bytes(history) == before
    history = History()
    history.read(*part(slice(0, 880), y, p, DAY))
    assert history.read(*part(slice(880, 900), y, p, DAY)) == ReadRows(20, 0)  # more rows of the last day
    assert history.read(*part(slice(870, 900), y, p, DAY)) == ReadRows(0, 30)  # the whole day
    assert history.read(*part(slice(880, 900), y, p, DAY)) == ReadRows(0, 20)  # the second part again
    assert_same_answer(history, *part(slice(900), y, p, DAY))


def test_keys_are_checked():
    history = History(key="id")
    with pytest.raises(InputError, match="id: 'a' appears twice"):
        history.read([0, 1], [0.1, 0.2], None, ["a", "a"])
    assert history.read([0, 0, 1], [0.1, 0.1, 0.2], None, ["7", "007", "8"]) == ReadRows(2, 0, repeated=1)
    assert history.read([0, 1], [0.1, 0.2], None, [7, 8.0]) == ReadRows(
        0, 2
    )  # a column that was read as numbers
    with pytest.raises(InputError, match="1 row without a key"):
        history.read([0, 1], [0.1, 0.2], None, ["a", None])
    with pytest.raises(InputError, match="key"):
        history.read([0, 1], [0.1, 0.2])
