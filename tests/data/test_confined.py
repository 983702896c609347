"""What a confined process cannot do, whatever runs in it; and that it reads as this process does."""

import os
import socket
import struct
import threading

import numpy as np
import pandas as pd
import pytest

from calib.data import DataError, TooLargeError, confined, read_confined, read_table, reading_of
from calib.data.column_types import arrow
from calib.data.limits import Bounds
from calib.kernel.cache import is_known
from calib.kernel.progress import Cancelled, Watch
from tests.data import confined_calls as calls
from tests.data.test_read import FILES
from tests.waiting import LIMIT, until

FEW = Bounds(200_000_000, 2)
pytestmark = pytest.mark.skipif(not confined.can_confine(), reason="this system cannot confine a process")


def run(call, content=b"", bounds=FEW, **options):
    return confined.run(call, [content], name="t.csv", bounds=bounds, **options)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


def nobody_works():
    return not children(confined._WAITING.process.pid)


@pytest.mark.parametrize("name", FILES)
def test_a_table_is_the_one_that_this_process_reads(name, monkeypatch):
    """In its values, types, and all that is known of it."""
    there = read_confined(FILES[name], name)
    monkeypatch.setattr(confined, "AVAILABLE", False)
    here = read_table(FILES[name], name)
    pd.testing.assert_frame_equal(there, here)
    assert reading_of(there) == reading_of(here)
    for column in here.columns[here.dtypes == "str"]:
        assert is_known(arrow(there[column]), "typed") == is_known(arrow(here[column]), "typed")


def test_every_type_of_column_comes_back(monkeypatch):
    rows = (
        "2020-01-31,2020-01-31 10:00:01,true,01,1.0,x",
        ",,,02,,",
        "2021-05-06,2021-05-06 11:00:00,false,01,2.50,é",
    )
    text = "\n".join(["d,t,b,c,n,s", *rows])
    for content, name in (
        (text.encode(), "t.csv"),
        (b'[{"a":true,"b":null,"c":1},{"a":null,"b":null,"c":2}]', "t.json"),
    ):
        there = read_confined(content, name)
        assert there.to_numpy().flags.writeable
        with monkeypatch.context() as here:
            here.setattr(confined, "AVAILABLE", False)
            pd.testing.assert_frame_equal(there, read_table(content, name))
            assert reading_of(there) == reading_of(read_table(content, name))


@pytest.fixture
def targets(tmp_path):
    """What each attempt is made on: all are there, and possible for this process."""
    (tmp_path / "file").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        yield {
            **dict.fromkeys(("read", "removed"), str(tmp_path / "file")),
            **{
                "write": str(tmp_path / "new"),
                "listed": str(tmp_path),
                "local_socket": str(tmp_path / "socket"),
            },
            **{"connected": str(server.getsockname()[1]), "killed": str(os.getpid())},
        }


@pytest.mark.parametrize("attempt", calls.ATTEMPTS, ids=lambda one: one.__name__)
def test_it_has_no_files_no_network_and_no_other_processes(attempt, targets):
    assert run(attempt, targets.get(attempt.__name__, "").encode()) == "PermissionError"


@pytest.mark.parametrize("attempt", ["read", "write", "listed", "connected", "local_socket", "removed"])
def test_each_attempt_works_elsewhere(attempt, targets):
    assert getattr(calls, attempt)(targets[attempt].encode()).startswith("done")


def test_it_has_threads():
    assert run(calls.threads) == 4


@pytest.mark.parametrize("call", [calls.memory, calls.endless, calls.holds_the_interpreter, calls.much])
def test_what_takes_more_than_a_limit_is_ended_with_one_message(call):
    with pytest.raises(
        TooLargeError, match=r"t\.csv takes more than 200 MB of memory or 2 seconds .*save the table as CSV"
    ):
        run(call)
    until(nobody_works, "the process has ended")


def test_what_waits_is_ended_by_the_clock(monkeypatch):
    monkeypatch.setattr(confined, "WALL", 0.5)
    with pytest.raises(TooLargeError, match="2 seconds"):
        run(calls.waits)
    until(nobody_works, "the process has ended")


@pytest.mark.parametrize("call", [calls.endless, calls.waits, calls.holds_the_interpreter])
def test_cancel_ends_the_process_at_once(call):
    """Although it would run for minutes."""
    watch, said = Watch(), []

    def work():
        with pytest.raises(Cancelled):
            run(call, bounds=Bounds(200_000_000, 10_000), watch=watch)
        said.append("cancelled")

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: not nobody_works(), "it works")
    watch.cancel.set()
    thread.join(LIMIT)
    assert said == ["cancelled"]
    until(nobody_works, "the process has ended")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff" * 8,
        struct.pack("<Q", 5) + b"hello",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 10) + b'{"table":1',
        struct.pack("<Q", 11) + b'{"table":1}' + struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 11)
        + b'{"table":1}'
        + struct.pack("<Q", 51)
        + b'{"columns":["a"],"reading":{},"spelling":{}}'.ljust(51)
        + struct.pack("<Q", 3)
        + b"abc",
    ],
)
def test_what_it_says_is_data_and_nonsense_is_refused(said):
    with pytest.raises(DataError, match=r"crashes the reader|takes more than"):
        run(calls.lies, said)


@pytest.mark.parametrize("call", [calls.crashes, calls.fails])
def test_a_broken_reader_is_one_message_and_the_next_call_works(call, caplog):
    with pytest.raises(DataError, match="t.csv"):
        run(call)
    assert "secret" not in caplog.text
    assert run(calls.threads) == 4


def test_a_waiting_process_that_has_ended_is_started_again():
    run(calls.threads)
    confined._WAITING.process.kill()
    confined._WAITING.process.wait()
    assert run(calls.threads) == 4


def test_it_knows_no_password(monkeypatch):
    """Of the environment it gets what programs need to start."""
    assert not any(
        word in name for name in confined.KEPT_VARIABLES for word in ("KEY", "TOKEN", "SECRET", "PASS")
    )
    monkeypatch.setenv("A_PASSWORD", "secret")
    confined._WAITING.stop()
    run(calls.threads)
    with open(f"/proc/{confined._WAITING.process.pid}/environ") as file:
        assert "secret" not in file.read()


def test_numbers_keep_their_bits():
    values = np.array([np.nan, -0.0, 5e-324, np.inf, 1 / 3])
    frame = read_confined(b"a,y\n" + b"".join(b"%r,x\n" % v.item() for v in values), "t.csv")
    assert frame["a"].to_numpy()[1:].tobytes() == values[1:].tobytes()
