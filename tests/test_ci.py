"""What every change must pass: a soak that fails is a failure, one that is too slow is none. ``make`` only plays."""

import os
import subprocess
from pathlib import Path

import pytest

from scripts import soak_state
from tests.conftest import of_share

ROOT = Path(__file__).parents[1]
RUN = ROOT / ".ci" / "run"
QUICK = {"make": "", "chromium": "", "initdb": "", "fc-list": "echo a font", "timeout": 'shift 3; exec "$@"'}


def run(folder, limit=1800, **programs):
    """What is said and its end, where these programs are played by a line of shell each."""
    for name, text in (QUICK | programs).items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "LIMIT": str(limit)}
    done = subprocess.run([RUN], env=environment, capture_output=True, text=True)
    return done.stdout, done.returncode


def test_a_test_or_a_linter_that_fails_ends_it_at_once(tmp_path):
    assert run(tmp_path, make="echo $*; exit 3") == ("--jobs=2 test lint\n", 3)


def test_a_soak_that_fails_is_a_failure_and_its_tests_are_tried_twice(tmp_path):
    said, status = run(tmp_path, make='[ $1 != soak ] || { echo "$3"; exit 7; }')
    assert "--reruns=1" in said
    assert status == 7


@pytest.mark.parametrize("stopped", [124, 137])
def test_a_soak_that_does_not_end_in_time_is_none(tmp_path, stopped):
    said, status = run(tmp_path, timeout=f"exit {stopped}")
    assert "SKIPPED: the rest of make soak" in said
    assert status == 0


def test_a_soak_that_would_not_end_in_time_is_not_begun(tmp_path):
    said, status = run(tmp_path, limit=120, make="echo $2")
    assert said.startswith("test\nSKIPPED: make soak")
    assert status == 0


def test_the_share_of_this_landing_comes_first_and_the_others_follow_while_there_is_time(tmp_path):
    said, status = run(tmp_path, make="[ $1 != soak ] || echo $2")
    first = soak_state.share_of(len(soak_state.landings()))
    following = [*range(first, 101), *range(1, first)]
    assert said.split() == [f"SHARE={share}/100" for share in following]
    assert status == 0


def test_a_share_that_took_long_is_the_last_if_another_would_not_end_in_time(tmp_path):
    said, status = run(tmp_path, limit=123, make='[ "$1" != soak ] || { echo begun; sleep 2; }')
    assert said.startswith("begun\nSKIPPED: make soak")
    assert status == 0


@pytest.mark.soak
def test_a_worker_that_dies_fails_its_test_and_the_others_end(tmp_path):
    dies = "import os\ndef test_before(): pass\ndef test_dies(): os.kill(os.getpid(), 9)\ndef test_after(): pass\n"
    (tmp_path / "test_one.py").write_text(dies)
    (tmp_path / "test_two.py").write_text("def test_one(): pass\ndef test_two(): pass\n")
    make = ["make", "--dry-run", "test", f"ARGS=-p no:randomly --rootdir={tmp_path} {tmp_path}"]
    environment = os.environ | {"MAKEFLAGS": ""}  # not those of a make that runs this test
    said = subprocess.run(make, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    (command,) = [line for line in said.splitlines() if "pytest" in line]
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "crashed while running" in done.stdout
    assert "1 failed" in done.stdout
    assert done.returncode == 1


def test_each_test_is_in_one_share_and_the_shares_are_alike():
    names = [f"tests/test_{i % 40}.py::test_it[{i}]" for i in range(3000)]
    sizes = [sum(of_share(name, f"{k}/10") for name in names) for k in range(1, 11)]
    assert sum(sizes) == 3000
    assert all(sum(of_share(name, f"{k}/10") for k in range(1, 11)) == 1 for name in names[::50])
    assert 200 < min(sizes) <= max(sizes) < 400
    assert all(of_share(name, "1/1") for name in names)


def test_ten_landings_with_ten_shares_run_all_and_so_do_a_hundred_with_one():
    shares = range(1, soak_state.SHARES + 1)
    ten = [soak_state.share_of(landing) + i for landing in range(1, 11) for i in range(10)]
    assert sorted(ten) == [*shares]
    assert sorted(map(soak_state.share_of, shares)) == [*shares]


def test_the_state_names_the_last_landing_that_began_with_a_share():
    lines = [f"{100 * i} 2026-01-{i:02}" for i in range(1, 13)]
    found = soak_state.state(lines)
    assert [found[share] for share in (1, 2, 11, 12)] == [lines[0], lines[10], lines[1], lines[11]]
    assert found[3] == "not yet"
