"""Depth, number of trees and leaf estimates: the panels' findings, and the errors along each setting.

Shaker and Hüllermeier (2025), Figures 3 and 8, section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.figures.base import FigureEntry
from calib.figures.learn import scattered
from calib.figures.learn.scattered import Scattered
from calib.figures.learn.words import Told
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, number
from calib.learn.plane import LEAF_NAMES
from calib.learn.tree_depth import COUNTS, DEPTHS, FAR_LESS
from calib.simulations.tree_depth import Along, SideBySide


def prepare_depth(found: SideBySide, cloud: str = "points") -> Scattered:
    """Which of the depths comes closest to the truth."""
    tce = [judged.tce for judged in found.shown]
    best = int(np.argmin(tce))
    others = " and ".join(
        f"{number(value)} {_at(judged.name)}"
        for i, (judged, value) in enumerate(zip(found.shown, tce, strict=True))
        if i != best
    ).replace(" and ", ", ", len(tce) - 3)
    title = f"Closest to the truth {_at(found.shown[best].name)}: TCE {number(tce[best])}, against {others}"
    return scattered.scattered(found.shown, found.columns, cloud, title, 1 + int(np.argmin(tce[: len(DEPTHS)])))


def _at(name: str) -> str:
    return f"at {name.lower()}" if name.startswith("Depth") else "without a limit"


def prepare_count(found: SideBySide, cloud: str = "points") -> Scattered:
    """What ten times the trees bring, and what ten times as many again."""
    tce = {judged.name.split()[0]: judged.tce for judged in found.shown}
    few, some, many = (tce[f"{count:,}"] for count in COUNTS)
    first, second = few - some, some - many
    answer = 2 if second < FAR_LESS * first else 3 if second > first / FAR_LESS else 1
    title = (
        f"From {COUNTS[0]} to {COUNTS[1]} trees TCE falls by {number(first)}, from {COUNTS[1]} to {COUNTS[2]} by "
        f"{number(second)}: {number(few)}, {number(some)}, {number(many)}"
    )
    return scattered.scattered(found.shown, found.columns, cloud, title, answer)


def prepare_leaves(found: SideBySide, cloud: str = "points") -> Scattered:
    """Laplace and curtailment in one tree, against a forest of plain ones."""
    tree, laplace, curtailed, forest, *_ = (judged.tce for judged in found.shown)
    best = int(np.argmin([laplace, curtailed, forest]))
    said = ("Laplace's estimate helps one tree most", "Curtailment helps one tree most", "The forest of plain trees")[
        best
    ]
    v, trees = found.settings["curtail"], found.settings["trees"]
    title = (
        f"One tree has TCE {number(tree)}, with Laplace {number(laplace)}, curtailed below {v} {number(curtailed)}; "
        f"a forest of {trees} {number(forest)}"
    )
    return scattered.scattered(found.shown, found.columns, cloud, title, best + 1, f" {said}.")


@dataclass(frozen=True, eq=False)
class Lines(Told):
    """panels : (name, quantity → (k,)) · names : of the k values · ringed : the quantity whose least value is marked

    current : the value chosen on the page, as its number · axis, logarithmic : of the values
    """

    panels: tuple[tuple[str, Mapping[str, np.ndarray]], ...]
    names: list[str]
    ringed: tuple[str, ...]
    current: int | None
    axis: str

    @property
    def columns(self) -> int:
        return len(self.panels)


LINES = {
    "tce": "TCE",
    "sum": "CL + GL = TCE",
    "calibration": "CL",
    "grouping": "GL",
    "bias": "bias²",
    "scatter": "scatter",
    "alone": "its trees, each alone",
    "frequency": "frequency",
    "laplace": "Laplace",
}


def prepare_along_depth(found: Along, groups: str = "leaves") -> Lines:
    """Where CL + GL is least, for one tree and for the forest."""
    tree, forest = found.curves["tree"], found.curves["forest"]
    prefix = "leaf_" if groups == "leaves" else ""
    shown = {
        "One tree": {
            "sum": tree["tce"],
            "calibration": tree[f"{prefix}calibration"],
            "grouping": tree[f"{prefix}grouping"],
        },
        _forest(found): {"sum": forest["tce"], "calibration": forest["calibration"], "grouping": forest["grouping"]},
    }
    names = ["no limit" if value is None else str(value) for value in found.values]
    least = {name: int(np.argmin(curve["sum"])) for name, curve in shown.items()}
    (a, b), (one, many) = least.values(), (curve["sum"] for curve in shown.values())
    return _lines(
        found,
        shown,
        names,
        ("sum",),
        "Depth",
        title=f"One tree loses least at depth {names[a]} ({number(one[a])}; grown without a limit {number(one[-1])}), "
        f"the forest at depth {names[b]} ({number(many[b])}; {number(many[-1])})",
        caption="CL: what wrong numbers cost; GL: what lumping together costs. Rings mark the least sum. "
        + ("Groups are the leaves of the tree" if groups == "leaves" else "Groups are equal predictions of the tree")
        + " and 20 quantile bins of the forest's predictions, whose spread inside the bins is the little that CL and "
        "GL lack to the sum. Each panel has a scale of its own.",
    )


def prepare_along_count(found: Along) -> Lines:
    """How much of the distance is left with any number of trees, and what one tree alone is worth."""
    curve = found.curves["forest"]
    tce, alone = curve["tce"], float(curve["alone"][0])
    half = found.values[int(np.argmax(tce <= 2 * tce[-1]))]
    return _lines(
        found,
        {"First trees of one forest": {name: curve[name] for name in ("tce", "bias", "scatter")}},
        [f"{value:,}" for value in found.values],
        (),
        "Trees",
        title=f"A tree alone has TCE {number(alone)} on average, all {found.values[-1]} together {number(tce[-1])}; "
        f"{half} are within twice of that",
        caption="Only scatter falls, and only so far: a mean over trees takes away what they disagree about, not what "
        "all of them have wrong. Steps to the right are nearly equal factors.",
    )


def prepare_along_threshold(found: Along) -> Lines:
    """The best threshold of curtailment, for one tree and for the forest."""
    shown = {
        name: {leaf: found.curves[model][leaf] for leaf in LEAF_NAMES}
        for model, name in (("tree", "One tree"), ("forest", _forest(found)))
    }
    names = [f"{value}" for value in found.values]
    one, many = (curve["frequency"] for curve in shown.values())
    a, b = int(np.argmin(one)), int(np.argmin(many))
    return _lines(
        found,
        shown,
        names,
        tuple(LEAF_NAMES),
        "Curtail below",
        title=f"Curtailing below {names[a]} takes one tree's TCE from {number(one[0])} to {number(one[a])}, below "
        f"{names[b]} the forest's from {number(many[0])} to {number(many[b])}",
        caption="TCE against the number of objects below which a leaf takes the frequency of an ancestor; 0 takes "
        "none. Rings mark the least. Too small a threshold leaves noise, too large a one lumps together. Each panel "
        "has a scale of its own.",
    )


def _forest(found: Along) -> str:
    return f"Forest of {found.settings['trees']}"


def _lines(
    found: Along,
    shown: Mapping[str, Mapping[str, np.ndarray]],
    names: Sequence[str],
    ringed: tuple[str, ...],
    axis: str,
    title: str,
    caption: str,
) -> Lines:
    rows = [
        {axis.lower(): value, "model": model, "quantity": LINES[quantity], "value": y}
        for model, curves in shown.items()
        for quantity, values in curves.items()
        for value, y in zip(names, values, strict=True)
    ]
    said = "; ".join(
        f"{model}, {LINES[quantity]}: "
        + ", ".join(f"{number(y)} at {value}" for value, y in zip(names, values, strict=True))
        for model, curves in shown.items()
        for quantity, values in curves.items()
    )
    return Lines(
        title=title,
        caption=caption,
        alt=f"{said}.",
        table=pd.DataFrame(rows),
        answer=None,
        panels=tuple(shown.items()),
        names=list(names),
        ringed=ringed,
        current=found.values.index(found.own) if found.own in found.values else None,
        axis=axis,
    )


def line_parts(record: Lines) -> list[Lines]:
    """Its panels as records of their own."""
    return [replace(record, panels=(panel,), alt=f"{panel[0]}. {record.alt}") for panel in record.panels]


STYLES = (("solid", "circle"), ("dash", "square"), ("dot", "diamond"))


def draw_lines(record: Lines, theme: Theme = LIGHT) -> go.Figure:
    """One panel a model; the values stand at equal distances."""
    k = len(record.names)
    figure = panels(
        theme,
        [(name,) for name, _ in record.panels],
        len(record.panels),
        height=280,
        xaxis={
            "title": {"text": record.axis},
            "range": [-0.5, k - 0.5],
            "tickvals": list(range(k)),
            "ticktext": record.names,
            "showgrid": False,
        },
        yaxis={"title": {"text": "Brier score beyond IL"}, "nticks": 6},
        hovermode="x unified",
    )
    inks = (theme.ink, theme.positive, theme.negative)
    for i, (_, curves) in enumerate(record.panels):
        x, y = axes(i)
        top = 1.08 * max(float(values.max()) for values in curves.values())
        figure.update_layout({f"yaxis{y[1:]}": {"range": [0, top], "showticklabels": True}})
        if record.current is not None:
            figure.add_shape(
                type="line",
                xref=x,
                yref=f"{y} domain",
                x0=record.current,
                x1=record.current,
                y0=0,
                y1=1,
                line={"color": theme.diagonal, "width": 1.2, "dash": "dot"},
                layer="below",
            )
        for (quantity, values), color, (dash, symbol) in zip(curves.items(), inks, STYLES, strict=False):
            least = int(np.argmin(values))
            figure.add_scatter(
                x=list(range(k)),
                y=values,
                xaxis=x,
                yaxis=y,
                mode="lines+markers",
                name=LINES[quantity],
                legendgroup=quantity,
                showlegend=i == 0,
                line={"color": color, "width": 2.4, "dash": dash},
                marker={"color": color, "symbol": symbol, "size": 6},
                hovertemplate="%{y:.4f}",
            )
            if quantity in record.ringed:
                figure.add_scatter(
                    x=[least],
                    y=[values[least]],
                    xaxis=x,
                    yaxis=y,
                    mode="markers",
                    name="least",
                    legendgroup="least",
                    showlegend=i == 0 and quantity == record.ringed[0],
                    hoverinfo="skip",
                    marker={"symbol": "circle-open", "size": 15, "color": color, "line": {"width": 2.5}},
                )
    return figure


PANELS = scattered.draw, scattered.parts
CURVES = draw_lines, line_parts

TREE_DEPTH = FigureEntry("tree_depth", "Depths against the truth", prepare_depth, *PANELS)
TREE_COUNT = FigureEntry("tree_count", "Numbers of trees against the truth", prepare_count, *PANELS)
LEAF_ESTIMATES = FigureEntry("leaf_estimates", "Leaf estimates against the truth", prepare_leaves, *PANELS)
TREE_DEPTH_CURVE = FigureEntry("tree_depth_curve", "CL and GL along depth", prepare_along_depth, *CURVES)
TREE_COUNT_CURVE = FigureEntry("tree_count_curve", "TCE along the number of trees", prepare_along_count, *CURVES)
LEAF_ESTIMATES_CURVE = FigureEntry(
    "leaf_estimates_curve", "TCE along the threshold of curtailment", prepare_along_threshold, *CURVES
)
