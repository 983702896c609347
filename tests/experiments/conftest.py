"""Trees that the tests of several experiments look at are grown once."""

import pytest

from tests.experiments import simulated


@pytest.fixture(scope="session")
def remembered():
    """What a simulation takes for ``using``: a ``grow`` that remembers, as the pages have it."""
    return {"grow": simulated.grow}
