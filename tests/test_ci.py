"""What every change must pass: a soak that fails is a failure, one that is too slow is none. ``make`` only plays."""

import os
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
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
    assert run(tmp_path, make="echo $1; exit 3") == ("test\n", 3)


def test_a_soak_that_fails_is_a_failure_and_its_tests_are_tried_twice(tmp_path):
    said, status = run(tmp_path, make='[ $1 != soak ] || { echo "$2"; exit 7; }')
    assert "--reruns=1" in said
    assert status == 7


@pytest.mark.parametrize("stopped", [124, 137])
def test_a_soak_that_does_not_end_in_time_is_none(tmp_path, stopped):
    said, status = run(tmp_path, timeout=f"exit {stopped}")
    assert "SKIPPED: the rest of make soak" in said
    assert status == 0


def test_a_soak_that_would_not_end_in_time_is_not_begun(tmp_path):
    said, status = run(tmp_path, limit=120, make="echo $1")
    assert said.startswith("test\nlint\nSKIPPED: make soak.")
    assert status == 0
