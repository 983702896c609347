"""All that the pages are made of, loaded at once: every page's script imports this before anything else of ours.

So one session of a fresh server loads it, and the others wait at this one door. Where two began with different modules
each would soon wait for the other, which Python ends by handing one of them half of a module. Here are also the
settings that pages declare beside their controls, before a link of any page is read.
"""

from importlib import import_module
from pathlib import Path

from pages.ui import loading  # before the rest, as in app.py

HERE = Path(loading.__file__).parent

for file in sorted(HERE.rglob("*.py")):
    import_module(
        ".".join(("pages", "ui", *file.relative_to(HERE).with_suffix("").parts)).removesuffix(".__init__")
    )
