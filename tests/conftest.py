"""What holds for every test: how property tests run, who runs which file, and that no draw hangs on earlier tests.

Property tests have no deadline, because the machine is shared, and the same cases every time where CI is set. Few cases
for every change; ``make soak`` runs them with many (``--hypothesis-profile=many``).
"""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize="CI" in os.environ, max_examples=25)
settings.register_profile("many", settings.get_profile("house"), max_examples=150)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def same_draws_in_any_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """A module's generator begins anew with every test: tests come in any order, each with the numbers it was written
    with.
    """
    generators = [one for one in vars(request.module).values() if isinstance(one, np.random.Generator)]
    states = [one.bit_generator.state for one in generators]
    yield
    for one, state in zip(generators, states, strict=True):
        one.bit_generator.state = state


# Long files first, so that no worker begins one when the others are done.
SLOW_FIRST = (
    "tests/browser/",
    "tests/pages/",
    "tests/test_one_file",
    "tests/test_packaging",
    "tests/export/",
    "tests/experiments/",
    "tests/study/",
)


@pytest.hookimpl(trylast=True)  # after pytest-randomly, whose order within each of them stays
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: next(
            (i for i, path in enumerate(SLOW_FIRST) if path in item.nodeid), len(SLOW_FIRST)
        )
    )


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For ``--dist loadfile``: a file's tests share what it prepared; the browser's share a server and Chromium."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return SLOW_FIRST[0] if nodeid.startswith(SLOW_FIRST[0]) else super()._split_scope(nodeid)

    return Together(config, log) if config.getvalue("dist") == "loadfile" else None
