"""Trees that the tests of several experiments look at are grown once."""

import pytest

from tests.experiments import simulated


@pytest.fixture(scope="session")
def remembered():
    """Return cached functions for a simulation's ``using``, as the pages have them."""
    return {"grow": simulated.grow}
