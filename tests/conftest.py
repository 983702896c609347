"""How property tests run: no deadline, because the machine is shared; the same cases every time where CI is set."""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("house")
