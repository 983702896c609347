"""What things hold, in bytes: held against what their arrays say themselves."""

import subprocess
import sys
import threading
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from calib.kernel import cache as memo
from calib.kernel import memory
from calib.kernel.memory import size
from calib.kernel.records import Predictions
from calib.models import ProbabilityForest

SMALL = 4000  # names and shapes around the numbers


def test_arrays_count_by_their_bytes_and_what_is_shared_counts_once():
    numbers = np.arange(100_000.0)
    assert 0 <= size(numbers) - numbers.nbytes < SMALL
    assert (
        0 <= size({"a": numbers, "b": [numbers]}, MappingProxyType({"c": numbers})) - numbers.nbytes < SMALL
    )
    assert 0 <= size(numbers, numbers.copy()) - 2 * numbers.nbytes < SMALL


def test_a_table_counts_by_its_columns():
    table = pd.DataFrame({"x": np.arange(50_000.0), "name": [f"row {i}" for i in range(50_000)]})
    assert size(table) == pytest.approx(table.memory_usage(deep=True).sum(), rel=0.1)


def test_a_forest_counts_by_the_nodes_of_its_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    forest = ProbabilityForest(20, random_state=0).fit(X, y)
    trees = [tree.tree_ for tree in forest.estimators_]
    nodes = sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in trees)
    assert nodes > 1_000_000
    assert nodes <= size(forest) < 1.2 * nodes


def test_what_cannot_be_pickled_is_no_hindrance():
    numbers = np.zeros(100_000)
    assert size([numbers, lambda: numbers]) >= numbers.nbytes
    assert size([numbers, threading.Lock(), numbers.copy()]) >= numbers.nbytes


def test_an_object_in_which_another_thread_caches_a_result_is_measured_again():
    numbers, results = np.zeros(100_000), {}

    class Caching:
        def __reduce__(self):
            results.setdefault("cached meanwhile", numbers)
            return str, ("",)

    results |= {"first": Caching(), "last": 0}
    assert 0 <= size(results) - numbers.nbytes < SMALL


def test_numbers_of_a_record_are_bounded_by_their_bytes_and_come_again(monkeypatch):
    monkeypatch.setattr(memo, "MOST_CACHED", 1_000_000)
    record, made = Predictions(np.zeros(2), np.zeros(2)), []

    def curve(key):
        made.append(key)
        return np.full(50_000, float(key))  # 400 kB

    for key in (1, 2, 3, 4, 2):
        assert memo.cached_result(record, key, lambda key=key: curve(key))[0] == key
    assert made == [
        1,
        2,
        3,
        4,
        2,
    ]  # the second had gone when the fourth came; the first counts as the largest
    assert memo.cached_result(record, 0, lambda: np.zeros(1_000_000)).nbytes > memo.MOST_CACHED
    assert (
        memo.cached_result(record, 0, lambda: made.append(0)) is not None
    )  # one that is too large alone is kept
    assert memo.cached_result(record, "small", lambda: 1) == 1
    assert memo.cached_result(record, "large", lambda: np.zeros(900_000)).nbytes > memo.MOST_CACHED
    assert memo.is_known(record, 0)  # and so is the largest, which takes no place from the others
    assert memo.cached_result(record, 0, lambda: made.append(0)) is not None


def system(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


MACHINE = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    5000 kB\nCached: 1 kB\n"}
NEW = "sys/fs/cgroup/docker/abc/"
OLD = "sys/fs/cgroup/memory/"


@pytest.mark.parametrize(
    ("files", "free"),
    [
        (MACHINE, 5000 * 1024),
        (
            MACHINE
            | {
                "proc/self/cgroup": "0::/docker/abc\n",
                NEW + "memory.max": "2000000",
                NEW + "memory.current": "1500000",
            }
            | {NEW + "memory.stat": "anon 1000\ninactive_file 300000\n"},
            800_000,
        ),
        (
            MACHINE
            | {
                "proc/self/cgroup": "0::/docker/abc\n",
                NEW + "memory.max": "max",
                NEW + "memory.current": "1500000",
            }
            | {NEW + "memory.stat": "inactive_file 300000\n"},
            5000 * 1024,
        ),
        (  # cgroups 1, whose path is that outside of the container
            MACHINE
            | {
                "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/abc\n",
                OLD + "memory.limit_in_bytes": "900000",
            }
            | {OLD + "memory.usage_in_bytes": "1000000", OLD + "memory.stat": "total_inactive_file 50000\n"},
            0,
        ),
        ({}, float("inf")),
    ],
)
def test_what_is_free_is_what_the_machine_or_the_container_leaves(files, free, tmp_path, monkeypatch):
    system(tmp_path, files)
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    assert memory.free() == free


LIMITED = """
import resource, sys
from calib.data import DataError, read_table
from calib.kernel.memory import free
import pyarrow.csv
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 700_000_000,) * 2)
assert 500_000_000 < free() <= 700_000_000
try:
    read_table(b"a,b\\n" + b"0.25,0.5\\n" * 9_000_000, "big.csv")
except DataError as error:
    print(error)
print(len(read_table(b"a,b\\n" + b"0.25,0.5\\n" * 1_000, "small.csv")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what a process has taken")
def test_under_a_real_limit_a_large_table_is_refused_in_words_and_a_small_one_is_read():
    run = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    refused, rows = run.stdout.splitlines()
    assert "of memory, but only" in refused
    assert rows == "1000"
