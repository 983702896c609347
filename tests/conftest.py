"""Set up every test: profiles of property tests, the distribution of files, and random generators.

Property tests have no deadline, because the machine is shared, and the same cases every time where CI is set. Few cases
for every change; ``make soak`` runs them with many (``--hypothesis-profile=many``).
"""

import gc
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from calib.data import confined

settings.register_profile("house", deadline=None, derandomize="CI" in os.environ, max_examples=25)
settings.register_profile("many", settings.get_profile("house"), max_examples=150)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def same_draws_in_any_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """Restore a module's generators after each test, so that its numbers do not depend on the order of tests."""
    generators = [one for one in vars(request.module).values() if isinstance(one, np.random.Generator)]
    states = [one.bit_generator.state for one in generators]
    yield
    for one, state in zip(generators, states, strict=True):
        one.bit_generator.state = state


MAIN = sys.modules["__main__"]


def pytest_runtest_setup() -> None:
    """Put the main module back: AppTest leaves its script, and each process of multiprocessing would run that first."""
    sys.modules["__main__"] = MAIN


# Long files first, so that no worker starts one after the others have finished.
SLOW_FIRST = (
    "tests/browser/",
    "tests/pages/",
    "tests/test_one_file",
    "tests/test_packaging",
    "tests/export/",
    "tests/experiments/",
    "tests/study/",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="K/N", default="1/1", help="run the K-th of N shares of the tests")


def of_share(nodeid: str, share: str) -> bool:
    """Tell whether a test belongs to a share "K/N": by its name, so that each test is in one of the N."""
    k, n = map(int, share.split("/"))
    return zlib.crc32(nodeid.encode()) % n == k % n


@pytest.hookimpl(trylast=True)  # after pytest-randomly, whose order within each file stays
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.getoption("--share")
    config.hook.pytest_deselected(items=[item for item in items if not of_share(item.nodeid, share)])
    items[:] = [item for item in items if of_share(item.nodeid, share)]
    items.sort(
        key=lambda item: next(
            (i for i, path in enumerate(SLOW_FIRST) if path in item.nodeid), len(SLOW_FIRST)
        )
    )


def pytest_collection_finish() -> None:
    """Spare garbage collections the thousands of tests and all modules, which stay: each would look through them.

    The process that waits for uploads loads what a server names, or each of its calls would import it again.
    """
    gc.freeze()
    confined._WAITING.modules = ("calib.export.uploaded",)


# Folders whose tests share a server and Chromium, or simulations, which each worker would make again
TOGETHER = ("tests/browser/", "tests/experiments/")


@pytest.hookimpl(optionalhook=True)  # only with pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file together, and those of the folders that share something."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)
            return folder or super()._split_scope(nodeid)

    return Together(config, log) if config.getvalue("dist") == "loadfile" else None
