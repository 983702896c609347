"""The story "How sure are you?": one scrolling page about calibration, in one HTML file.

It needs neither a server nor a network. Each part of the story is a script of its own beside one picture
(``stage.js``); the numbers come from the playground's scripts and from ``arithmetic.js``. ``people.json`` has the 900
customers of its bank; ``python -m scripts.write_story`` writes them. The app's page *Story* shows the same file.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from calib.export.playground import DIAGRAM, NUMBERS, script
from calib.kernel.version import __version__

HERE = Path(__file__).parent
PEOPLE = HERE / "people.json"
STORY_ARITHMETIC = (*NUMBERS, HERE / "arithmetic.js")
STORY_PARTS = ("you", "bank", "chance", "repair", "enough", "whom", "still")
STORY_SCRIPTS = (
    *STORY_ARITHMETIC,
    DIAGRAM,
    *(HERE / f"{name}.js" for name in ("state", "statements", "cards", "stage", "keys", *STORY_PARTS, "story")),
)


def story_html() -> bytes:
    """Return the story as one HTML file; its address and the browser's storage keep what a reader did.

    Examples
    --------
    >>> b"How sure are you?" in story_html()
    True
    """
    page = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {
        "STYLE": (HERE / "style.css").read_text(encoding="utf-8"),
        "SCRIPT": script(STORY_SCRIPTS),
        "DATA": PEOPLE.read_text(encoding="utf-8").strip(),
        "VERSION": escape(__version__),
    }
    for name, text in parts.items():
        page = page.replace(f"[[{name}]]", text)
    return page.encode()
