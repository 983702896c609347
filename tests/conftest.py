"""How property tests run: no deadline, because the machine is shared; the same cases every time where CI is set.

Few cases for every change; ``make soak`` runs them with many (``--hypothesis-profile=many``).
"""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize="CI" in os.environ, max_examples=25)
settings.register_profile("many", settings.get_profile("house"), max_examples=150)
settings.load_profile("house")
