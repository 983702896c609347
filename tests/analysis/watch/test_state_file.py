"""State file: whole after a kill at any instant, shared by processes, and never read wrongly once it is damaged."""

import json
import multiprocessing
import os
import resource
import stat

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib.analysis.watch import state_file
from calib.analysis.watch.history import History
from calib.analysis.watch.state_file import load, locked, of_bytes, previous, save, to_bytes
from calib.kernel.checks import InputError
from tests.analysis.watch.test_watcher import stream
from tests.waiting import LIMIT

SETTINGS = {
    "alpha": 0.05, "horizon": 1, "key": None, "kind": "date", "before": False, "now": False, "start": None
}  # fmt: skip


def history_of(rows, seed=0):
    y, p = stream(rows, seed=seed)
    history = History(key="id")
    history.read(y, p, np.datetime64("2024-01-01") + np.arange(rows) // 20, np.arange(rows))
    return history


@pytest.fixture
def state(tmp_path):
    """A state of 400 rows whose state before has 200 rows."""
    path = tmp_path / "watch.state"
    for rows in (200, 400):
        save(path, history_of(rows))
    return path


def test_a_state_is_read_as_it_was_written(state):
    assert to_bytes(load(state)) == to_bytes(history_of(400)) == state.read_bytes()
    assert to_bytes(load(previous(state))) == to_bytes(history_of(200))
    pd.testing.assert_frame_equal(load(state).rows, history_of(400).rows)


def assert_refused_with_the_way_out(path):
    with pytest.raises(InputError) as refused:
        load(path)
    message = str(refused.value)
    assert str(path) in message
    assert "200 rows, up to 2024-01-10" in message
    assert "copy watch.state.previous to watch.state" in message


def test_a_state_that_was_cut_at_any_of_200_places_is_refused_with_the_way_out(state):
    whole = state.read_bytes()
    for place in np.linspace(0, len(whole) - 1, 200).astype(int):
        state.write_bytes(whole[:place])
        assert_refused_with_the_way_out(state)


def test_any_flipped_bit_is_found(state):
    whole = state.read_bytes()
    rng = np.random.default_rng(0)
    for bit in [*range(8 * 90), *rng.integers(0, 8 * len(whole), 600)]:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InputError):
            of_bytes(bytes(flipped))
    state.write_bytes(flipped)
    assert_refused_with_the_way_out(state)


def made_up(change=None, settings=None, text=None):
    """A state with the right checksum and wrong contents."""
    n = 3
    columns = {
        "p": np.full(n, 0.5),
        "y": np.zeros(n),
        "when": np.arange(n, dtype=np.int64),
        "piece": np.zeros(n, dtype=np.int64),
        "out": np.zeros(n, dtype=bool),
        "key": np.full(n, None, dtype=object),
    } | (change or {})
    table = pa.table({name: pa.array(value) for name, value in columns.items() if value is not None})
    text = json.dumps(SETTINGS | (settings or {})) if text is None else text
    table = table.replace_schema_metadata({"watch": text} if text else None)
    content = pa.BufferOutputStream()
    pq.write_table(table, content)
    return of_body(content.getvalue().to_pybytes())


def of_body(body, version=state_file.STATE_VERSION):
    digest = state_file.hashlib.sha256(body).hexdigest().encode()
    return b"calib.watch %d %s\n" % (version, digest) + body


HUGE = "9" * 400
MADE_UP = {
    "nested": made_up(text="[" * 100_000),
    "no settings": made_up(text=""),
    "a list": made_up(text="[]"),
    "another field": made_up(settings={"rows": 3}),
    "alpha of 0": made_up(settings={"alpha": 0}),
    "alpha of text": made_up(settings={"alpha": "x"}),
    "huge alpha": made_up(text=json.dumps(SETTINGS).replace("0.05", HUGE)),
    "horizon of 10⁹": made_up(settings={"horizon": 10**9}),
    "huge horizon": made_up(text=json.dumps(SETTINGS).replace('"horizon": 1', f'"horizon": {HUGE}')),
    "huge start": made_up(settings={"start": HUGE}),
    "start of text": made_up(settings={"start": "x"}),
    "no number": made_up(settings={"start": "nan", "kind": "number"}, change={"when": np.arange(3.0)}),
    "kind": made_up(settings={"kind": "moon"}),
    "no kind": made_up(settings={"kind": None}),
    "alarm of text": made_up(settings={"now": "yes"}),
    "keys that are missing": made_up(settings={"key": "id"}),
    "keys that repeat": made_up(settings={"key": "id"}, change={"key": ["a", "a", "b"]}),
    "p of 2": made_up(change={"p": np.full(3, 2.0)}),
    "p of text": made_up(change={"p": ["a", "b", "c"]}),
    "no p": made_up(change={"p": None}),
    "label 7": made_up(change={"y": np.full(3, 7.0)}),
    "infinite label": made_up(change={"y": np.full(3, np.inf)}),
    "pieces": made_up(change={"piece": np.array([0, 10**15, 10**15 + 1])}),
    "pieces that fall": made_up(change={"piece": np.array([0, 1, 0])}),
    "rows that are not in order": made_up(settings={"kind": "row"}, change={"when": np.array([0, 2, 1])}),
    "nested columns": made_up(change={"p": [[[0.5]], [[0.5]], [[0.5]]]}),
    "not Parquet": of_body(b"PAR1 and no more PAR1"),
    "nothing": of_body(b""),
    "JSON": b'{"what": "calibration watch", "version": 2}',
    "a later version": of_body(b"", version=4),
    "a version of 400 digits": b"calib.watch " + HUGE.encode() + b" x\n",
}


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_states_are_refused_with_one_message(tmp_path, name):
    path = tmp_path / "watch.state"
    path.write_bytes(MADE_UP[name])
    with pytest.raises(InputError, match="watch.state .*Start again with a new file and all rows"):
        load(path)


def test_what_made_up_states_are_made_of_is_a_state():
    assert len(of_bytes(made_up()).rows) == 3


SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__])


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_a_kill_at_any_instant_leaves_the_old_or_the_new_state(tmp_path, kills):
    """Two states alternate, and the writer is killed again and again; each time another process continues."""
    path, rng = tmp_path / "watch.state", np.random.default_rng(0)
    whole = {rows: to_bytes(history_of(rows)) for rows in (20, 40)}
    save(path, history_of(20))
    seen, cut_short = set(), 0
    for kill in range(kills):
        running = SERVER.Process(target=write_for_ever, args=(path, tmp_path / f"began {kill}", whole))
        running.start()
        while not (tmp_path / f"began {kill}").exists():
            assert running.is_alive()
        running.join(float(rng.uniform(0, 0.3)))
        running.kill()
        running.join()
        content = path.read_bytes()
        assert content in whole.values(), f"after kill {kill}"
        assert not previous(path).exists() or previous(path).read_bytes() in whole.values()
        seen.add(content)
        cut_short += any(each.name.endswith(".new") for each in tmp_path.iterdir())
    assert len(seen) == 2
    assert cut_short > kills / 20  # kills that came while a state was written
    with locked(path, wait=10):
        save(path, history_of(40))
    assert not [each for each in tmp_path.iterdir() if each.name.endswith(".new")]


def write_for_ever(path, began, whole):
    histories = [of_bytes(content) for content in whole.values()]
    began.touch()
    while True:
        for history in histories:
            with locked(path):
                save(path, history)


@pytest.mark.parametrize("processes", [2, 5])
def test_processes_at_once_lose_no_row(tmp_path, processes):
    """Each reads its own 20 tables into the same state, in any order of the processes."""
    path, barrier = tmp_path / "watch.state", SERVER.Barrier(processes, timeout=LIMIT)
    running = [SERVER.Process(target=read_tables, args=(path, barrier, each)) for each in range(processes)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert [each.exitcode for each in running] == [0] * processes
    found = load(path)
    assert len(found.rows) == processes * 20 * 10
    assert found.rows["key"].nunique() == len(found.rows)


def read_tables(path, barrier, number):
    barrier.wait()
    for table in range(20):
        key = [f"{number} {table} {i}" for i in range(10)]
        with locked(path):
            history = load(path) or History(key="id")
            history.read(np.arange(10) % 2, np.full(10, 0.5), None, key)
            save(path, history)


def test_a_second_process_is_told_what_it_waits_for(tmp_path):
    path, barrier = tmp_path / "watch.state", SERVER.Barrier(2, timeout=LIMIT)
    other = SERVER.Process(target=hold, args=(path, barrier), daemon=True)
    other.start()
    barrier.wait()
    with (
        pytest.raises(InputError, match="Another process has been using .*watch.state"),
        locked(path, wait=0.1),
    ):
        pass
    other.kill()
    other.join()
    with locked(path, wait=60):  # a dead process holds no lock
        pass


def hold(path, barrier):
    with locked(path):
        barrier.wait()
        while True:
            os.sched_yield()


def test_a_full_disk_leaves_the_state_as_it_was(state):
    """A limit on the size of files fails a write after some bytes, as a full disk does."""
    before = state.read_bytes(), previous(state).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        with pytest.raises(InputError, match="watch.state cannot be written: .*The state is unchanged"):
            save(state, history_of(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (state.read_bytes(), previous(state).read_bytes()) == before
    assert sorted(each.name for each in state.parent.iterdir()) == ["watch.state", "watch.state.previous"]


def test_the_permissions_of_a_state_stay(state):
    state.chmod(0o640)
    save(state, history_of(420))
    assert stat.S_IMODE(state.stat().st_mode) == 0o640


def test_a_million_rows_take_ten_megabytes():
    n = 1_000_000
    rng = np.random.default_rng(0)
    history = History(key="id")
    p = rng.random(n)
    rows = {
        "p": p,
        "y": (rng.random(n) < p).astype(float),
        "when": np.arange(n) // 1000,
        "piece": 0,
        "out": False,
    }
    history.rows = pd.DataFrame(rows | {"key": np.arange(n).astype(str)}).astype({"key": object})
    history.kind = "date"
    assert len(to_bytes(history)) < 10_000_000
