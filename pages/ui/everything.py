"""All that the pages are made of, loaded at once: every page's script imports this before anything else of ours.

So one session of a fresh server loads it, and the others wait at this one door. Where two began with different modules
each would soon wait for the other, which Python ends by handing one of them half of a module. Here are also the
settings that pages declare beside their controls, before a link of any page is read.

What is loaded stays, so that it is left out of every search for garbage: on the way they take a fifth of the time, and
later each a tenth of a second, in which nothing else can run.
"""

import gc
from importlib import import_module
from pathlib import Path

from pages.ui import loading  # before the rest, as in app.py

HERE = Path(loading.__file__).parent

gc.disable()
try:
    for file in sorted(HERE.rglob("*.py")):
        name = ".".join(("pages", "ui", *file.relative_to(HERE).with_suffix("").parts))
        import_module(name.removesuffix(".__init__"))
finally:
    gc.freeze()
    gc.enable()
