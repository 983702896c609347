"""Narrow a picture to what a step shows, or to what an open question may show: no traces that are explained later."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from calib.calibrators import label_of


def unpacked(values: Sequence[Any] | Mapping[str, str]) -> list[Any]:
    """Return the values of a trace as a list.

    Parameters
    ----------
    values
        A list, or an array as ``to_json_plotly`` writes it.

    Examples
    --------
    >>> from plotly.io.json import to_json_plotly
    >>> import json
    >>> unpacked(json.loads(to_json_plotly({"x": np.array([0.5, 1.0])}))["x"]), unpacked(["a"])
    ([0.5, 1.0], ['a'])
    """
    if not isinstance(values, Mapping):
        return list(values)
    return np.frombuffer(b64decode(values["bdata"]), np.dtype(values["dtype"])).tolist()


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


TRANSPARENT = "rgba(0, 0, 0, 0)"
THIN = 3  # pixels; a wider line is a bar of data
CLOUD = 200  # points; more are slow to draw, also if nobody sees them


def without_data(
    content: dict[str, Any], covered: bool = False, kept: Collection[str] = ()
) -> dict[str, Any]:
    """Return the figure with its axes, scales, diagonals and panel names, but without visible or hoverable data.

    ``covered`` states that the panel names contain no numbers; traces, lines and words named in ``kept`` stay.
    """
    layout = dict(content["layout"])
    layout["annotations"] = [
        name for each in layout.get("annotations", ()) if (name := _name(each, covered, kept))
    ]
    layout["shapes"] = [
        each for each in layout.get("shapes", ()) if _is_level(each) or each.get("name") in kept
    ]
    layout |= {
        name: axis | {"showticklabels": False} for name, axis in layout.items() if _names_findings(axis)
    }
    return content | {
        "data": [
            trace if trace.get("name") in kept or _is_reference(trace) else _invisible(trace, layout)
            for trace in content["data"]
        ],
        "layout": layout,
    }


def _invisible(trace: dict[str, Any], layout: dict[str, Any]) -> dict[str, Any]:
    """Hide a trace that keeps its place on the axes; Plotly needs more than opacity for lines and bars."""
    if _is_cloud(trace, layout):
        return {key: trace[key] for key in ("type", "xaxis", "yaxis", "name") if key in trace} | {
            "x": [],
            "y": [],
            "opacity": 0,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    hidden = trace | {"opacity": 0, "hoverinfo": "skip", "hovertemplate": None, "showlegend": False}
    if trace.get("type", "scatter") in ("scatter", "bar"):
        hidden |= {"marker": trace.get("marker", {}) | {"opacity": 0}, "textfont": {"color": TRANSPARENT}}
        hidden |= {
            error: trace[error] | {"visible": False} for error in ("error_x", "error_y") if error in trace
        }
    if trace.get("type", "scatter") == "scatter":
        hidden |= {"line": trace.get("line", {}) | {"color": TRANSPARENT}, "fillcolor": TRANSPARENT}
    return hidden


def _is_cloud(trace: dict[str, Any], layout: dict[str, Any]) -> bool:
    """Tell whether a trace has many points that no axis needs, because both axes have ranges of their own."""
    if trace.get("type", "scatter") != "scatter" or trace.get("mode") != "markers":
        return False
    axes = (layout.get(f"{name}axis{trace.get(f'{name}axis', name)[1:]}", {}) for name in "xy")
    return all(axis.get("range") for axis in axes) and len(unpacked(trace["x"])) > CLOUD


def _name(annotation: dict[str, Any], covered: bool, kept: Collection[str]) -> dict[str, Any] | None:
    """Return the bold name of a panel, with the text below it if ``covered``, or kept words; None for other ones."""
    if annotation.get("text") in kept or annotation.get("name") in kept:
        return annotation
    name, bold, more = annotation.get("text", "").partition("</b>")
    name = name.partition(" = ")[0]  # the value is the answer
    return annotation | {"text": name + bold + more * covered} if bold else None


def _names_findings(axis: Any) -> bool:
    """Tell whether the tick labels of an axis contain values ("= …"), which give away the answer."""
    return isinstance(axis, dict) and any(" = " in str(each) for each in axis.get("ticktext") or ())


def _is_level(shape: dict[str, Any]) -> bool:
    """Tell whether a shape is a level line over all of the plot, or the vertical line at 0, which are not data."""
    across = str(shape.get("xref", "x")).endswith(("paper", "domain"))
    return (across and shape.get("y0") == shape.get("y1")) or shape.get("x0") == shape.get("x1") == 0


def _is_reference(trace: dict[str, Any]) -> bool:
    """Tell whether a trace is a straight line without information on the data, such as the diagonal."""
    x = trace.get("x", ())
    points = len(x) if isinstance(x, (list, tuple)) else 0  # packed arrays are dictionaries
    thin = trace.get("line", {}).get("width", 1) <= THIN
    return trace.get("hoverinfo") == "skip" and trace.get("mode") == "lines" and points == 2 and thin
