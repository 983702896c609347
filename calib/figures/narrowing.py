"""Narrow a picture to what a step shows: no traces that are explained later, the model's own name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib.calibrators import label_of
from calib.figures.packed import unpacked

LISTS = ("x", "y", "text", "customdata", "hovertext")


def narrowed(figure: dict[str, Any], picture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a figure that a step shows.

    Parameters
    ----------
    figure
        Plotly figure as a dictionary.
    picture
        The step's ``picture``.
    """
    if left_out := picture.get("without", ()):
        figure = figure | {"data": [trace for trace in figure["data"] if trace.get("name") not in left_out]}
    if "part" in picture:
        low, high = picture["part"]
        figure = figure | {"data": [_within(trace, low, high) for trace in figure["data"]]}
    if "moved" in picture:
        arrows = [_arrow(0.05 + 0.08 * i, *one) for i, one in enumerate(picture["moved"])]
        layout = figure["layout"]
        figure = figure | {"layout": layout | {"annotations": [*layout.get("annotations", ()), *arrows]}}
    if "name" in picture:
        figure = renamed(figure, picture)
    return figure


def _arrow(height: float, name: str, before: float, after: float) -> dict[str, Any]:
    """Return the arrow of a named row from its prediction before to that after a calibrator."""
    return {
        "text": f"<b>{name}</b>",
        "x": after,
        "y": height,
        "ax": before,
        "ay": height,
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 2,
    }


def _within(trace: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """Return a trace of the diagram without its points outside of a range of predictions; the diagonal stays.

    >>> _within({"x": [0.1, 0.5, 0.9], "y": [0, 1, 1], "name": "Uncalibrated"}, 0.4, 1)["x"]
    [0.5, 0.9]
    """
    if trace.get("yaxis", "y") != "y" or unpacked(trace["x"]) == unpacked(trace["y"]):
        return trace
    shown = [x is not None and low <= x <= high for x in unpacked(trace["x"])]
    lists = {
        name: [one for one, on in zip(unpacked(value), shown, strict=True) if on]
        for name, value in trace.items()
        if name in LISTS and value is not None and len(unpacked(value)) == len(shown)
    }
    return trace | lists


def renamed(content: Any, picture: Mapping[str, Any]) -> Any:
    """Return a text, or a figure with its texts, in which the model has the name that the step gives it.

    >>> renamed("Uncalibrated: near the diagonal", {"name": "The bank's model"})
    "The bank's model: near the diagonal"
    """
    if isinstance(content, str):
        own = label_of("none")
        return content.replace(own, picture.get("name", own))
    if isinstance(content, dict):
        return {key: renamed(value, picture) for key, value in content.items()}
    return [renamed(value, picture) for value in content] if isinstance(content, (list, tuple)) else content
