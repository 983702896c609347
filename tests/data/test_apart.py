"""A call in another process: the same result, errors and Cancel as here, and it stands still while others go first."""

import os
import threading
from concurrent.futures import BrokenExecutor

import numpy as np
import pytest

from calib import Recipe
from calib.data import confined
from calib.data.confined import apart
from calib.evaluate import fit
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.sources import load
from tests.data import confined_calls as calls
from tests.waiting import until

pytestmark = pytest.mark.skipif(not confined.AVAILABLE, reason="this system cannot fork")


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    """The waiting process, which has loaded nothing for fits: each imports what it needs."""
    monkeypatch.setattr(apart, "MODULES", ())
    confined.warm("calib.export.uploaded")
    until(lambda: confined.is_ready(()), "the waiting process has loaded")


def call(function, *args, watch=None):
    return apart.call(function, *args, watch=watch or Watch())


def test_arguments_come_back_as_the_same_objects():
    numbers, steps = np.arange(3), []
    same, doubled, process = call(calls.doubled, numbers, watch=Watch(lambda *step: steps.append(step)))
    assert same is numbers
    assert doubled.tolist() == [0, 2, 4]
    assert process != os.getpid()
    assert (0.5, "doubling") in steps


def test_a_fit_is_the_one_of_this_process():
    recipe = Recipe(model="random_forest", params={"n_estimators": 10})
    data = load(recipe)
    there, here = call(fit, recipe, data), fit(recipe, data)
    assert there.dataset is data
    for one, other in zip(there.parts, here.parts, strict=True):
        assert one.tests.scores.tolist() == other.tests.scores.tolist()


def test_errors_are_raised_here():
    with pytest.raises(InputError, match="No rows"):
        call(calls.refused)
    with pytest.raises(RuntimeError, match="Local: why"):
        call(calls.raised_unsendable)


def test_an_ended_process_is_told():
    with pytest.raises(BrokenExecutor):
        call(calls.ended_from_outside)


def test_what_cannot_be_sent_is_computed_here():
    assert call(lambda watch: os.getpid()) == os.getpid()


def test_until_it_has_loaded_calls_are_computed_here(monkeypatch):
    monkeypatch.setattr(apart, "MODULES", ("one that it has not loaded",))
    assert call(calls.doubled, np.arange(1))[2] == os.getpid()


def test_it_stands_still_while_others_go_first_and_ends_with_cancel(tmp_path):
    path, held, may_go_on, seen = tmp_path / "written", threading.Event(), threading.Event(), []

    def report(share, doing):
        if doing and path.exists() and not may_go_on.is_set():
            seen.append(int(doing))
            held.set()
            may_go_on.wait()

    watch, ended = Watch(report), []

    def work():
        with pytest.raises(Cancelled):
            call(calls.counting, str(path), watch=watch)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    held.wait()
    until(lambda: state(seen[0]) == "T", "it stands still")
    before = path.stat().st_size
    may_go_on.set()
    until(lambda: path.stat().st_size > before, "it goes on")
    watch.cancel.set()
    thread.join()
    assert ended
    until(lambda: not os.path.exists(f"/proc/{seen[0]}"), "it has ended")


def state(process):
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(") ")[2][0]
