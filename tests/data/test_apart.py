"""A call in another process: the same result, errors and Cancel as here, and it stands still while others go first."""

import io
import os
import pickle
import sys
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
from calib.models import MODELS
from calib.sources import load
from tests.data import confined_calls as calls
from tests.waiting import until

pytestmark = pytest.mark.skipif(not confined.AVAILABLE, reason="this system cannot fork")


FORESTS = ("random_forest", "bagged_trees", "large_forest", "tuned_forest")
FEW = {key: {"n_estimators": 5} for key in FORESTS}  # trees


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


@pytest.mark.parametrize("model", MODELS.shipped)
def test_a_fit_names_only_classes_that_are_made(model):
    recipe = Recipe(model=model, data="sample:relapses", params=FEW.get(model, {}))
    data = load(recipe)
    fitted = fit(recipe, data)
    assert apart._Unpickler(io.BytesIO(pickled(fitted, recipe, data)), (recipe, data)).load().dataset is data


def pickled(found, *args):
    content = io.BytesIO()
    apart._Pickler(content, args).dump(found)
    return content.getvalue()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("calib.data.confined", "subprocess.Popen"),  # a class that a module of ours imports
        ("numpy.testing._private.utils", "runstring"),
        ("pandas", "eval"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("functools", "partial"),
        ("builtins", "SystemExit"),
    ],
)
def test_what_could_run_a_program_is_not_made(module, name):
    named = f"\x80\x04\x8c{chr(len(module))}{module}\x8c{chr(len(name))}{name}\x93.".encode("latin-1")
    with pytest.raises(pickle.UnpicklingError, match=f"names {module}.{name}"):
        apart._Unpickler(io.BytesIO(named)).load()


def test_a_result_that_names_what_is_not_made_is_computed_here(tmp_path, caplog):
    found, process = call(calls.making, str(tmp_path / "made"))
    assert isinstance(found, calls.Making)
    assert process == os.getpid()
    assert not (tmp_path / "made").exists()
    assert "posix.mkdir; it is computed here" in caplog.text


def test_errors_are_raised_here_and_the_log_has_their_places(caplog):
    with pytest.raises(InputError, match="No rows"):
        call(calls.refused)
    assert not caplog.text
    with pytest.raises(RuntimeError, match="Local: why"):
        call(calls.raised_unsendable)
    assert "in raised_unsendable" in caplog.text
    assert "why" not in caplog.text.replace('raise Local("why")', "")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux chooses so")
def test_it_is_ended_before_the_server_if_memory_ends():
    assert call(calls.in_danger) == 1000


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

    watch = Watch(report)
    thread = threading.Thread(target=counted, args=(path, watch))
    thread.start()
    held.wait()
    until(lambda: state(seen[0]) == "T", "it stands still")
    before = path.stat().st_size
    may_go_on.set()
    until(lambda: path.stat().st_size > before, "it goes on")
    watch.cancel.set()
    thread.join()
    until(lambda: not os.path.exists(f"/proc/{seen[0]}"), "it has ended")


def test_of_several_calls_the_last_goes_on_where_only_one_may(tmp_path):
    begun, watches, threads = [], [], []
    for i in range(2):
        watch = Watch(
            lambda share, doing: begun.append(int(doing)) if doing and int(doing) not in begun else None
        )
        threads.append(threading.Thread(target=counted, args=(tmp_path / str(i), watch)))
        threads[-1].start()
        until(lambda: len(begun) == i + 1, "its progress is reported")  # noqa: B023 # awaited at once
        watches.append(watch)
    try:
        apart.limit(1)
        before = (tmp_path / "1").stat().st_size
        until(lambda: state(begun[0]) == "T", "the first stands still")
        until(lambda: (tmp_path / "1").stat().st_size > before, "the last goes on")
        watches[1].cancel.set()
        threads[1].join()
        before = (tmp_path / "0").stat().st_size
        until(lambda: (tmp_path / "0").stat().st_size > before, "the first goes on in its place")
    finally:
        apart.limit()
        for watch in watches:
            watch.cancel.set()
        for thread in threads:
            thread.join()


def counted(path, watch):
    with pytest.raises(Cancelled):
        call(calls.counting, str(path), watch=watch)


def state(process):
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(") ")[2][0]
