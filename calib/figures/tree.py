"""The calibrated tree: every node with its rule, rows, label and interval, and the highlighted path of one row.

It is drawn as an outline, a line per node and deeper nodes indented, so that text stays readable and every node's
interval is on one axis beside it. Large trees are folded: closed branches show how many leaves are
below them.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.grown_tree import GrownTree
from calib.calibrators import label_of
from calib.figures.base import FigureEntry, Record, chart_text
from calib.figures.theme import LIGHT, Theme, hollow, layout, outlined, rgba
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, number, with_interval
from calib.models import TreeNode

MOST_LEAVES = 16  # most ends of branches drawn at once, open or folded
NODE_HEIGHT = 38  # pixels per node
# Smallest width of the outline in steps of depth, and steps that the text of the deepest node takes.
INDENTS, TEXT_STEPS = 22, 15
SHORTEST = 3  # letters; a label as short is written with the word "class"
# Letters of a node's condition, and of a class beside it and below the axis
CONDITION, IN_LINE, BELOW_AXIS = 30, 9, 10


@dataclass(frozen=True, eq=False)
class DrawnTree(Record):
    """The drawn nodes, from top to bottom.

    Attributes
    ----------
    shown
        Their numbers.
    folded
        Shown nodes whose branches are not drawn.
    path
        Numbers of the nodes on the highlighted path.
    """

    tree: GrownTree
    shown: tuple[int, ...]
    folded: frozenset[int]
    path: tuple[int, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return every node of the tree, drawn or not."""
        return self.tree.table(tuple(range(len(self.tree.nodes))))


def prepare(tree: GrownTree, root: int | None = None, row: int | None = None) -> DrawnTree:
    """Prepare the tree from node ``root`` on, with the path of a row by its number.

    Raises
    ------
    InputError
        If the tree has no such node or row.
    """
    top = root or 0
    if top >= len(tree.nodes):
        raise InputError(
            f"node must be the number of a node in this tree, from 0 to {len(tree.nodes) - 1}, but is {top}."
        )
    path = () if row is None else tree.path_of(row)
    shown, folded = _unfold(tree, top, path)
    leaves = [node for node in tree.nodes if node.leaf]
    least, most = min(leaves, key=lambda node: node.p or 0), max(leaves, key=lambda node: node.p or 0)
    size = "without a depth limit" if tree.deepest else f"of depth {tree.depth}"
    title = f"The tree {size} has {len(leaves)} leaves, with p from {_p_of(least, 2)} to {_p_of(most, 2)}"
    if row is not None:
        leaf, label = tree.nodes[path[-1]], tree.classes[int(tree.labels[tree.position(row)])]
        title = (
            f"Row {row} ({class_named(label)}) ends in a leaf of {leaf.n} training rows: p = {_p_of(leaf, 2)}"
        )
    hidden = len(leaves) - sum(tree.nodes[i].leaf for i in shown)
    return DrawnTree(
        tree,
        shown,
        folded,
        path,
        title=title,
        caption=_caption(tree, hidden, bool(path)),
        alt=_alt(tree, leaves, title),
    )


def _p_of(node: TreeNode, digits: int = 3) -> str:
    """Return a node's p with its interval."""
    if node.p is None or node.p0 is None or node.p1 is None:
        return number(node.p, digits)
    return with_interval(node.p, node.p0, node.p1, digits=digits)


def _unfold(tree: GrownTree, top: int, path: Sequence[int]) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return (drawn nodes, from top to bottom; those that stay folded): the highlighted path first, then by level."""
    ends, opened = [top], set()
    while True:
        closed = [i for i in ends if not tree.nodes[i].leaf]
        on_way = [i for i in closed if i in path]
        if not closed or (len(ends) >= MOST_LEAVES and not on_way):
            break
        chosen = min(on_way or closed, key=lambda i: (tree.nodes[i].depth, -tree.nodes[i].n))
        opened.add(chosen)
        ends.remove(chosen)
        ends += tree.children[chosen]
    shown, waiting = [], [top]
    while waiting:
        node = waiting.pop()
        shown.append(node)
        if node in opened:
            waiting += reversed(tree.children[node])
    return tuple(shown), frozenset(i for i in ends if not tree.nodes[i].leaf)


def _caption(tree: GrownTree, hidden: int, lit: bool) -> str:
    text = (
        "Each line shows one node: its condition, number of training rows n, predicted class and probability "
        f"p. The interval [p0, p1] by {label_of(tree.method)} is drawn at the right. An inner node shows the "
        "prediction that it would give as a leaf. An interval is wide if few calibration rows have such "
        "scores. A ring at the right is the node's own estimate; if the ring lies outside the interval, the "
        "calibration rows contradict this estimate."
    )
    if lit:
        text += " The dark path leads to the leaf of the chosen row."
    if hidden:
        text += f" {hidden} leaves are collapsed."
    return text


def _alt(tree: GrownTree, leaves: Sequence[TreeNode], title: str) -> str:
    rules = "; ".join(
        f"{node.rule}: {tree.classes[int(node.label)]}, p {_p_of(node)}, n {node.n}"
        for node in leaves[:MOST_LEAVES]
    )
    return textwrap.shorten(f"{title}. Leaves: {rules}.", 900, placeholder=" …")


def draw(record: DrawnTree, theme: Theme = LIGHT) -> go.Figure:
    """Draw the outline at the left, the intervals on one axis at the right."""
    lines, top = len(record.shown), record.tree.nodes[record.shown[0]].depth
    levels = max(record.tree.nodes[i].depth for i in record.shown) - top
    figure = go.Figure(
        layout=layout(
            theme,
            height=NODE_HEIGHT * lines + 120,
            margin={"l": 8, "r": 16, "t": 8, "b": 108},
            legend={"y": -80 / (NODE_HEIGHT * lines)},
            xaxis={"domain": [0, 0.7], "range": [-0.9, max(INDENTS, levels + TEXT_STEPS)], "visible": False},
            xaxis2={
                "domain": [0.74, 1],
                "range": [-0.03, 1.03],
                "tickvals": [0, 0.5, 1],
                "title": {
                    "text": f"Probability of<br>class {chart_text(record.tree.classes[1], BELOW_AXIS)}"
                },
            },
            yaxis={"range": [lines - 0.4, -0.6], "visible": False},
            clickmode="event+select",
            uirevision=str(record.shown),
        )
    )
    place = {number: line for line, number in enumerate(record.shown)}
    lit = [i for i in record.path if i in place]
    figure.add_trace(
        _edges(record, [i for i in record.shown[1:] if i not in record.path], place, top, theme, False)
    )
    figure.add_trace(_edges(record, [i for i in lit if i != record.shown[0]], place, top, theme, True))
    figure.add_traces(_nodes(record, place, top, theme))
    figure.add_traces(_intervals(record, place, theme))
    return figure


def _edges(
    record: DrawnTree, children: Sequence[int], place: dict[int, int], top: int, theme: Theme, lit: bool
) -> go.Scatter:
    """Return lines from every parent down and to the right, to each of its children."""
    nodes = [record.tree.nodes[i] for i in children]
    x = [v for node in nodes for v in (node.depth - top - 1, node.depth - top - 1, node.depth - top, None)]
    y = [v for node in nodes for v in (place[node.parent], place[node.number], place[node.number], None)]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": theme.ink if lit else theme.diagonal, "width": 3 if lit else 1.2},
        hoverinfo="skip",
        showlegend=False,
    )


def _nodes(record: DrawnTree, place: dict[int, int], top: int, theme: Theme) -> list[go.Scatter]:
    """Return circles for class 0 and diamonds for class 1, with text; filled for leaves, with area by training rows."""
    tree, traces = record.tree, []
    largest = tree.nodes[record.shown[0]].n
    for label, symbol, color in ((0, "circle", theme.negative), (1, "diamond", theme.positive)):
        nodes = [tree.nodes[i] for i in record.shown if int(tree.nodes[i].label) == label]
        if not nodes:
            continue
        traces.append(
            go.Scatter(
                x=[node.depth - top for node in nodes],
                y=[place[node.number] for node in nodes],
                mode="markers+text",
                name=f"predicts class {chart_text(tree.classes[label])}",
                text=[_node_text(record, node, theme) for node in nodes],
                textposition="middle right",
                textfont={"size": 11.5, "color": theme.ink},
                customdata=[[node.number, _rule(node)] for node in nodes],
                hovertemplate="%{customdata[1]}<extra></extra>",
                marker={
                    "symbol": symbol,
                    "size": [9 + 9 * np.sqrt(node.n / largest) for node in nodes],
                    "color": [color if node.leaf else theme.paper for node in nodes],
                    "opacity": 1,
                    "line": {"color": color, "width": 1.6},
                },
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}, "textfont": {"color": theme.ink}},
            )
        )
    return traces


def _node_text(record: DrawnTree, node: TreeNode, theme: Theme) -> str:
    """Return two lines: the condition; rows, label, p and its interval."""
    tree = record.tree
    first = (
        "every row" if node.number == 0 else node.condition if node.number != record.shown[0] else node.rule
    )
    below = ""
    if node.number in record.folded:
        below = f" · {tree.leaves_below[node.number]} leaves folded"
    words = f"n {node.n}{_label(tree.classes[int(node.label)])} · {_p_of(node)}{below}"
    strong = f"<b>{chart_text(first, CONDITION)}</b>"
    ink = theme.ink if node.number in record.path else theme.muted
    return f"  {strong}<br>  <span style='color:{ink}'>{words}</span>"


def _label(name: str) -> str:
    """Return a class for a line that fits a phone: a short name with "class", a long one not at all.

    >>> _label("1"), _label("malignant"), _label("did not return")
    (' · class 1', ' · malignant', '')
    """
    if len(name) > IN_LINE:
        return ""
    return f" · class {chart_text(name)}" if len(name) <= SHORTEST else f" · {chart_text(name)}"


def _rule(node: TreeNode) -> str:
    """Return the whole rule with its numbers, in short lines."""
    rule = "<br>".join(textwrap.wrap(html.escape(node.rule, quote=False), 60))
    return f"{rule}<br>node {node.number}, {node.n} training rows, own estimate {number(node.score)}<br>p {_p_of(node)}"


def _intervals(record: DrawnTree, place: dict[int, int], theme: Theme) -> list[go.Scatter]:
    """Return p0 to p1 as a bar, p as the method's mark, and the node's own estimate as a ring."""
    nodes = [record.tree.nodes[i] for i in record.shown]
    y = [place[node.number] for node in nodes]
    mark, name = theme.mark(record.tree.method), label_of(record.tree.method)
    dim = [1.0 if not record.path or node.number in record.path else 0.45 for node in nodes]
    x = [v for node in nodes for v in (node.p0, node.p1, None)]
    return [
        go.Scatter(
            x=x,
            y=np.repeat(y, 3),
            xaxis="x2",
            mode="lines",
            name="p0 to p1",
            line={"color": rgba(mark.color, 0.55), "width": 8},
            hoverinfo="skip",
        ),
        go.Scatter(
            x=[node.score for node in nodes],
            y=y,
            xaxis="x2",
            mode="markers",
            name="own estimate",
            marker=hollow(theme.muted, 10, 1.6),
            hovertemplate="own estimate %{x:.4f}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
        ),
        go.Scatter(
            x=[node.p for node in nodes],
            y=y,
            xaxis="x2",
            mode="markers",
            name=f"p, {name}",
            marker=outlined(mark.color, 10, theme, symbol=mark.symbol, opacity=dim),
            customdata=[[node.number, _rule(node)] for node in nodes],
            hovertemplate="%{customdata[1]}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
        ),
    ]


TREE = FigureEntry("tree", "A calibrated tree", prepare, draw)
