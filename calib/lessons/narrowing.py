"""Narrow a picture to what a step shows: no traces that are explained later, the model's own name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib.calibrators import label_of


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
    if "name" in picture:
        figure = renamed(figure, picture)
    return figure


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
