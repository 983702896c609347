"""Trees that the tests of several experiments look at are grown once."""

import pytest

from calib.experiments.shared.grown_trees import grow


@pytest.fixture(scope="session")
def remembered():
    """What a simulation takes for ``using``: a ``grow`` that remembers, as the pages have it."""
    known = {}

    def remembering(*key):
        if key not in known:
            known[key] = grow(*key)
        return known[key]

    return {"grow": remembering}
