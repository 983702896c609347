"""The same study on a Dask cluster: a real scheduler and two workers on loopback, one of which may die."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.study import Store, load_sets, read_protocol, run_study, runner
from tests import waiting

from .small import PROTOCOL, files

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """(address, processes of the workers): started as a user starts them.

    The scheduler gives up a cell with the first worker that it costs, not the fourth: to go on is then our part.
    """
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    place = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    run = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        *common,
        "--host",
        "127.0.0.1",
        "--port",
        "0",
    ]
    log = (tmp_path / "dask.log").open("w")
    started = [subprocess.Popen(run, cwd=ROOT, stdout=log, stderr=log)]
    waiting.until(place.exists, "the address of the scheduler")
    for _ in range(2):
        worker = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            *common,
            "--nthreads",
            "1",
            "--no-nanny",
        ]
        worker += ["--host", "127.0.0.1", "--local-directory", str(tmp_path)]
        started.append(subprocess.Popen(worker, cwd=ROOT, stdout=log, stderr=log))
    from distributed import Client  # of a second and more, for those who collect this file only

    with Client(scheduler_file=str(place), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=waiting.LIMIT)
        address = client.scheduler.address
    yield address, started[1:]
    for process in reversed(started):
        process.kill()
        process.wait()
    log.close()


def numbers(rows):
    return rows.drop(columns="fit_seconds")


def test_results_are_those_of_this_machine_also_when_a_worker_is_killed(tmp_path, cluster):
    address, workers = cluster
    text = PROTOCOL.replace("repeats = 2", "repeats = 4")
    protocol, paths = files(tmp_path, "one", "two", text=text)
    protocol = read_protocol(text, protocol.name)
    sets = load_sets(map(str, paths), protocol.data)
    with Store(tmp_path / "local.sqlite", write=True) as store:
        run_study(protocol, sets, store)
        expected = store.rows()

    def kill_one(share, doing):
        if share > 0.25 and workers[0].poll() is None:
            os.kill(workers[0].pid, signal.SIGKILL)
            workers[0].wait()

    with Store(tmp_path / "dask.sqlite", write=True) as store:
        done = run_study(protocol, sets, store, backend="dask", scheduler=address, watch=Watch(kill_one))
        rows = store.rows()
    assert done.complete
    assert workers[0].returncode == -signal.SIGKILL
    assert workers[1].poll() is None
    pd.testing.assert_frame_equal(numbers(rows), numbers(expected), check_exact=True)


def test_a_scheduler_without_workers_is_said(monkeypatch):
    closed = []
    alone = SimpleNamespace(submit=lambda *args, **more: Future(), close=lambda: closed.append(True))
    monkeypatch.setattr("distributed.Client", lambda *args, **more: alone)
    monkeypatch.setattr(runner, "SECONDS_FOR_SCHEDULER", 0)
    with pytest.raises(InputError, match="tcp://here:1 .*no workers.*dask worker"):
        runner._client("tcp://here:1")
    assert closed


@pytest.mark.parametrize(
    ("address", "why"),
    [("here", "missing port number"), ("tcp://here:x", "'x'"), ("far://here:1", "scheme 'far'")],
)
def test_an_address_that_is_none_is_refused_before_a_client_is_made(address, why, monkeypatch):
    """One made for it would wait for 40 s to be closed and leave a traceback."""
    monkeypatch.setattr("distributed.Client", lambda *args, **more: pytest.fail("a client is made"))
    with pytest.raises(InputError, match=f"No Dask scheduler .*{address} .*{why}"):
        runner._client(address)


def test_no_scheduler_at_an_address_is_said(tmp_path, monkeypatch):
    def nobody(*args, **more):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr("distributed.Client", nobody)
    protocol = read_protocol(PROTOCOL, "small.toml")
    _, paths = files(tmp_path)
    sets = load_sets(map(str, paths), protocol.data)
    nobody_there = pytest.raises(InputError, match="No Dask scheduler .*tcp://127.0.0.1:1 .*Timed out")
    with Store(tmp_path / "r.sqlite", write=True) as store, nobody_there:
        run_study(protocol, sets, store, backend="dask", scheduler="tcp://127.0.0.1:1")
