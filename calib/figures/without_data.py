"""A figure without its data, shown before a question about them is answered: on a page, on a phone and on paper."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from calib.figures.packed import unpacked

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
