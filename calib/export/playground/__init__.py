"""The playground: miscalibration to drag, in one HTML file that needs neither a server nor a network.

``isotonic.js`` and ``numbers.js`` compute what ``calib`` does, ``view.js`` draws it, ``style.css`` has its looks. The
app's page *Playground* shows the same files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from calib.figures.theme import MARKS
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.version import __version__
from calib.settings import PAGE_SETTINGS

HERE = Path(__file__).parent
ISOTONIC = HERE / "isotonic.js"
NUMBERS = (ISOTONIC, HERE / "numbers.js")
SCRIPTS = (*NUMBERS, HERE / "view.js")
STYLE = HERE / "style.css"
SETTINGS = {one.name: one for one in PAGE_SETTINGS["playground"]}


def script() -> str:
    """Return all of the playground's JavaScript."""
    return "".join(file.read_text(encoding="utf-8") for file in SCRIPTS)


def described() -> dict[str, Any]:
    """Return what the script is told: the settings with their ranges, and the calibrators' colours."""
    controls = [
        {"name": one.name, "label": one.label, "low": one.low, "high": one.high, "help": one.help}
        | {"value": one.default, "whole": one.kind == "integer"}
        for one in SETTINGS.values()
    ]
    offered: Mapping[str, str] = SETTINGS["calibrator"].choices
    choices = [{"key": key, "label": label, "colour": MARKS[key].color} for key, label in offered.items()]
    return {"settings": controls, "calibrators": choices}


def playground_html(settings: Mapping[str, Any] | None = None) -> bytes:
    """Return the playground as one HTML file; its address holds the settings that a reader changes.

    Parameters
    ----------
    settings
        Name of a setting → its value at the beginning.

    Raises
    ------
    InputError
        For an unknown name or a value out of range.

    Examples
    --------
    >>> b"Platt" in playground_html({"slope": 0.5, "calibrator": "isotonic"})
    True
    >>> playground_html({"slopes": 0.5})
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: The playground has no setting 'slopes'. Use one of level, slope, rows, ...
    """
    for name in settings or {}:
        if name not in SETTINGS:
            raise InputError(f"The playground has no setting {name!r}. Use one of {', '.join(SETTINGS)}.")
    begin = {name: checks.setting(value, SETTINGS[name], name) for name, value in (settings or {}).items()}
    told = json.dumps(described() | {"begin": begin}).replace("<", "\\u003c")
    page = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {"STYLE": STYLE.read_text(encoding="utf-8"), "SCRIPT": script(), "TOLD": told}
    parts["VERSION"] = escape(__version__)
    for name, text in parts.items():
        page = page.replace(f"[[{name}]]", text)
    return page.encode()
