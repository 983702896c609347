"""Print where the suite's processor time goes, a line for each file: a plugin of pytest.

    make test ARGS="-p scripts.suite_times"
    python -m pytest -p scripts.suite_times tests/metrics

Counted is what a test and all processes under it take, servers and browsers too, so that a busy machine changes little.
A process that ends in the meantime counts as a child once its parent has waited for it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

SHOWN = 60  # files
PROPERTY = "processor seconds"


def spent() -> float:
    """Return the processor seconds of this process, its living descendants and those that have ended."""
    total = 0.0
    for process in (this := os.getpid(), *descendants(this)):
        with suppress(psutil.NoSuchProcess):
            times = psutil.Process(process).cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def descendants(process: int) -> Iterator[int]:
    """Yield the living descendants of a process from the kernel's lists; psutil would read every process each time."""
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended meanwhile
            for child in map(int, thread.read_text().split()):
                yield child
                yield from descendants(child)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = spent()
    item.user_properties.append((PROPERTY, before))  # when it began; the last report tells what it took
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.when == "teardown":
        took = spent() - dict(item.user_properties)[PROPERTY]
        report.user_properties = [(PROPERTY, took)]
    return report


def pytest_terminal_summary(terminalreporter) -> None:
    """Add up the last report of each test: workers of pytest-xdist send theirs to the one that writes."""
    took, tests = Counter[str](), Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, seconds in getattr(report, "user_properties", ()):
                if name == PROPERTY and report.when == "teardown":
                    took[report.nodeid.partition("::")[0]] += seconds
                    tests[report.nodeid.partition("::")[0]] += 1
    terminalreporter.section("processor time")
    terminalreporter.write_line(f"{sum(took.values()):8.1f} s  {sum(tests.values()):6} tests  in all")
    for path, seconds in took.most_common(SHOWN):
        terminalreporter.write_line(f"{seconds:8.1f} s  {tests[path]:6} tests  {path}")
