"""The playground: miscalibration to drag, in one HTML file that needs neither a server nor a network.

``isotonic.js`` and ``numbers.js`` compute what ``calib`` does; ``diagram.js``, ``controls.js`` and ``view.js`` draw
it, and ``style.css`` has its looks. The app's page *Playground* shows the same files. ``calibrated.js`` draws the
start page's picture and those of lessons on the same diagram.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from calib.analysis.curves import FEW_IN_BIN, BinnedCurve
from calib.analysis.selection import MarkedBin, selected_rows, sentence_after
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures import FIGURES
from calib.figures.reliability import Shape, near, shape_of
from calib.figures.theme import MARKS
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.version import __version__
from calib.kernel.wording import counted, percent
from calib.settings import PAGE_SETTINGS

HERE = Path(__file__).parent
ISOTONIC = HERE / "isotonic.js"
NUMBERS = (ISOTONIC, HERE / "numbers.js")
DIAGRAM = HERE / "diagram.js"
CONTROLS = HERE / "controls.js"
PLAYGROUND_SCRIPTS = (*NUMBERS, DIAGRAM, CONTROLS, HERE / "view.js")
CALIBRATED = (*NUMBERS, DIAGRAM, HERE / "calibrated.js")
STYLE = HERE / "style.css"
PLAYGROUND_SETTINGS = {one.name: one for one in PAGE_SETTINGS["playground"]}


def script(files: Sequence[Path] = PLAYGROUND_SCRIPTS) -> str:
    """Return the text of these files, by default all of the playground's JavaScript."""
    return "".join(file.read_text(encoding="utf-8") for file in files)


def described() -> dict[str, Any]:
    """Return the data of the script: the settings with their ranges, and the calibrators' colours."""
    controls = [
        {"name": one.name, "label": one.label, "low": one.low, "high": one.high, "help": one.help}
        | {"value": one.default, "whole": one.kind == "integer"}
        for one in PLAYGROUND_SETTINGS.values()
    ]
    offered: Mapping[str, str] = PLAYGROUND_SETTINGS["calibrator"].choices
    choices = [{"key": key, "label": label, "colour": _colour(key)} for key, label in offered.items()]
    return {"settings": controls, "calibrators": choices}


def _colour(key: str) -> str:
    """Return a calibrator's colour for the stylesheet, which has the grey of the uncalibrated model for each theme."""
    return "var(--uncalibrated)" if key == "none" else MARKS[key].color


def before_and_after(evaluation: Evaluation, mark: MarkedBin, key: str) -> dict[str, Any]:
    """Return the data of ``calibrated.js``: the test rows before and after a calibrator, with a switch between them.

    Parameters
    ----------
    mark
        The ringed mark of the model's own predictions.
    key
        The calibrator.
    """
    data = marks_of(evaluation, [mark.calibrator, key], mark.selection)
    return data | {"calibrates": "Calibrate", "words": ["", sentence_after(evaluation, mark, key)]}


def marks_of(evaluation: Evaluation, keys: Sequence[str], selection: Sequence[str] = ()) -> dict[str, Any]:
    """Return the data of ``calibrated.js``: the marks and curves of one or two calibrators on the test rows.

    Parameters
    ----------
    keys
        The calibrators; a switch leads from the marks of the first to those of the second.
    selection
        Rows whose mark is ringed, such as ("none:0.6:0.8",).
    """
    record = FIGURES["reliability"].prepare(evaluation, keys, selection=selection)
    shapes = [shape_of(record.curves[one]) for one in keys]
    enough = [
        (shape.count >= FEW_IN_BIN) & (near(record.histograms[one], shape.x) >= FEW_IN_BIN)
        for one, shape in zip(keys, shapes, strict=True)
    ]
    if evaluation.recipe.curve == "binned":
        shapes = [_bridged(shape, on) for shape, on in zip(shapes, enough, strict=True)]
    banded = shapes if record.band == "consistency" else ()
    return {
        "p": [evaluation.predictions[one].p.tolist() for one in keys],
        "y": evaluation.y.tolist(),
        "bins": evaluation.recipe.bins,
        "ringed": selected_rows(evaluation, selection).tolist(),
        "curves": [_points(shape.x, shape.y, on) for shape, on in zip(shapes, enough, strict=True)],
        "bands": [
            _points(np.r_[s.x, s.x[::-1]], np.r_[s.consistency[1], s.consistency[0][::-1]]) for s in banded
        ],
        "colours": [_colour(one) for one in keys],
        "alt": " ".join([record.alt, *(_in_words(one, record.bins[one]) for one in keys)]),
    }


def _bridged(shape: Shape, enough: Array) -> Shape:
    """Return a binned curve that is straight over bins with few rows, whose shares are noise."""
    if not enough.any():
        return shape
    straight = np.interp(shape.x, shape.x[enough], shape.y[enough])
    return replace(shape, y=np.where(enough, shape.y, straight))


def pinned(evaluation: Evaluation, pins: Sequence[tuple[str, float, int]]) -> list[dict[str, Any]]:
    """Return single rows to name: for each (name, prediction, label), the nearest row of this label."""
    p = next(iter(evaluation.predictions.values())).p
    return [
        {"name": name, "row": int(np.where(evaluation.y == label, np.abs(p - near), np.inf).argmin())}
        for name, near, label in pins
    ]


def _in_words(key: str, bins: BinnedCurve) -> str:
    """Describe the marks of a calibrator for a screen reader."""
    marks = [
        f"predicted {percent(p)}, observed {percent(q)}, {counted(n, 'row')}"
        for p, q, n in zip(bins.mean_p, bins.observed, bins.count, strict=True)
        if n >= FEW_IN_BIN
    ]
    return f"{label_of(key)}: {'; '.join(marks)}."


def _points(*columns: Array) -> list[list[float]]:
    """Return the points without those of empty bins, which have no position."""
    points = np.column_stack(columns)
    return points[np.isfinite(points).all(axis=1)].tolist()


def playground_html(settings: Mapping[str, Any] | None = None) -> bytes:
    """Return the playground as one HTML file; its address stores the settings that a reader changes.

    Parameters
    ----------
    settings
        Name of a setting → its initial value.

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
        if name not in PLAYGROUND_SETTINGS:
            raise InputError(
                f"The playground has no setting {name!r}. Use one of {', '.join(PLAYGROUND_SETTINGS)}."
            )
    begin = {
        name: checks.setting(value, PLAYGROUND_SETTINGS[name], name)
        for name, value in (settings or {}).items()
    }
    data = json.dumps(described() | {"begin": begin}).replace("<", "\\u003c")
    page = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {"STYLE": STYLE.read_text(encoding="utf-8"), "SCRIPT": script(), "DATA": data}
    parts["VERSION"] = escape(__version__)
    for name, text in parts.items():
        page = page.replace(f"[[{name}]]", text)
    return page.encode()
