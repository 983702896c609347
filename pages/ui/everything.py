"""Load every module of ``pages.ui`` at once; each page's script imports this module before any other of ours.

On a fresh server one session loads them, and the others wait for this one import. If two sessions began with
different modules, each could soon wait for the other; Python resolves such a deadlock by handing one of them a
half-initialised module. Importing all modules also declares the pages' settings before any link is read. Methods are
imported for the same reason, because their registries would import each at its first use.

The garbage collector skips what is loaded here: collections would take a fifth of the loading time, and each later
one a tenth of a second, in which nothing else can run.
"""

import gc
from importlib import import_module
from pathlib import Path

from pages.ui import loading  # before the rest, as in app.py

UI_FOLDER = Path(loading.__file__).parent

gc.disable()
try:
    for file in sorted(UI_FOLDER.rglob("*.py")):
        name = ".".join(("pages", "ui", *file.relative_to(UI_FOLDER).with_suffix("").parts))
        import_module(name.removesuffix(".__init__"))
    from calib.calibrators import CALIBRATORS, JOINT
    from calib.metrics import METRICS
    from calib.models import MODELS
    from calib.placements import PLACEMENTS
    from calib.synthetic import SYNTHETIC

    for registry in (CALIBRATORS, JOINT, METRICS, MODELS, PLACEMENTS, SYNTHETIC):
        list(registry.values())
finally:
    gc.freeze()
    gc.enable()
