"""The reference data sets, which lie outside the repository: tests that use them skip where they are missing."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "datasets").exists():
        pytest.skip("the reference data sets and tables are not here: they are expected in ../shared")
    return SHARED
