"""The finite example: a line of a few points, with the losses of every partition.

Shaker and Hüllermeier (2025), section 3.1 and Figure 2. Losses are summed over both classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment
from calib.experiments.finite.simulation import PRESETS, EveryPartition, every_partition, fewest_cuts
from calib.experiments.shared.findings import STACKED_LOSSES, Finding, stacked_bars
from calib.experiments.shared.gaussian_plane import RF_PAPER
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, hollow, layout, outlined
from calib.kernel.checks import MOST_ON_LINE
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, listed, number
from calib.synthetic.finite import Partitions

TREE_NAMES = {
    "own": "Yours",
    "one_leaf": "One leaf",
    "one_split": "One split",
    "pure_leaves": "Pure leaves",
    "least": "Lowest loss",
}


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count} leaves"


def _number(value: float) -> str:
    return number(round(float(value), 9))  # rounding errors of a zero become zero


def _brief(value: float) -> str:
    return brief(round(float(value), 9))


@dataclass(frozen=True, eq=False)
class OnLine(Finding):
    found: EveryPartition


def prepare_line(found: EveryPartition) -> OnLine:
    """Compute the predictions and losses of the reader's partition."""
    every, row, line = found.every, found.rows["own"], found.line
    cl, gl, il, total = (
        _number(values[row]) for values in (every.calibration, every.grouping, every.irreducible, every.loss)
    )
    x, posterior, labels = zip(*line.points, strict=True)
    leaf = np.append(0, np.cumsum(every.cuts[row]))
    table = pd.DataFrame(
        {
            "position": x,
            "posterior": posterior,
            "label": pd.array(labels, dtype="Int64"),
            "leaf": leaf,
            "prediction": every.p[row],
            "mean_posterior": every.calibrated[row],
        }
    )
    groups = len(set(table.prediction))
    losses = [every.loss[found.rows[name]] for name in PRESETS]
    least = int(np.argmin(losses))
    bare = [str(i + 1) for i, part in table.groupby("leaf") if part.label.isna().all()]
    without = f"{'Leaf' if len(bare) == 1 else 'Leaves'} {listed(bare)} {'has' if len(bare) == 1 else 'have'} no label"
    share = np.mean([label for label in labels if label is not None])
    unlabelled = (
        f" {without}, so the prediction is {brief(float(share))}, the share among all labels." if bare else ""
    )
    return OnLine(
        title=f"{_leaves(leaf[-1] + 1)} in {groups} {'group' if groups == 1 else 'groups'} cost "
        f"{_brief(every.loss[row])}: "
        f"CL {_brief(every.calibration[row])}, GL {_brief(every.grouping[row])}, and IL "
        f"{_brief(every.irreducible[row])}, which is unavoidable",
        caption="Marks show true probabilities, thick lines the predictions of leaves, and thin lines the "
        f"mean probabilities of groups. CL {cl} + GL {gl} + IL {il} = {total}, the expected loss. A group "
        "contains all points with equal predictions, and may include several leaves. Marks are filled if the "
        "point has a label. CL measures the gaps between thick and thin lines; GL measures the gaps between "
        f"thin lines and marks.{unlabelled}",
        alt=f"{len(x)} points in {_leaves(leaf[-1] + 1)}. "
        + " ".join(
            f"Leaf {i + 1}, positions {part.position.min():g} to {part.position.max():g}: prediction "
            f"{_number(part.prediction.iloc[0])}, mean probability of its group {_number(part.mean_posterior.iloc[0])}."
            for i, part in table.groupby("leaf")
        ),
        table=table,
        answer=least + 1 if np.sum(np.isclose(losses, losses[least])) == 1 else None,
        found=found,
    )


def draw_line(record: OnLine, theme: Theme = LIGHT) -> go.Figure:
    """Draw points, leaves and gaps."""
    x = record.table.position.to_numpy()
    gaps = (x[1:] + x[:-1]) / 2
    edge = 0.04 * (x[-1] - x[0])
    ends = np.concatenate([[x[0] - edge], gaps, [x[-1] + edge]])
    cut = {"type": "line", "y0": -0.1, "y1": 1.06, "line": {"color": theme.ink, "width": 1.5, "dash": "dash"}}
    return go.Figure(
        [*_leaf_lines(record.table, ends, theme), *_points(record.table, theme), _gaps(record, gaps, theme)],
        layout=layout(
            theme,
            height=460,
            xaxis={
                "title": {"text": "Position"},
                "range": [x[0] - 1.6 * edge, x[-1] + 1.6 * edge],
                "showgrid": False,
            },
            yaxis={
                "title": {"text": "Probability of class 1"},
                "range": [-0.16, 1.06],
                "tickvals": [0, 0.25, 0.5, 0.75, 1],
            },
            shapes=[{**cut, "x0": gaps[i], "x1": gaps[i], "layer": "below"} for i in record.found.line.cuts],
            clickmode="event+select",
        ),
    )


def _leaf_lines(table: pd.DataFrame, ends: np.ndarray, theme: Theme) -> list[go.Scatter]:
    """Draw the prediction of each leaf and the mean of its group; point i covers ends[i] to ends[i + 1]."""
    leaves = [part for _, part in table.groupby("leaf")]
    x = [at for part in leaves for at in (ends[part.index[0]], ends[part.index[-1] + 1], None)]
    return [
        go.Scatter(
            x=x,
            y=[at for part in leaves for at in (part[column].iloc[0], part[column].iloc[0], None)],
            mode="lines",
            name=name,
            line=line,
            hovertemplate="%{y:.3f}<extra></extra>",
        )
        for column, name, line in (
            ("prediction", "prediction of the leaf, p", {"width": 6, "color": theme.mark("isotonic").color}),
            (
                "mean_posterior",
                "mean probability of the group, c",
                {"width": 2, "color": theme.ink, "dash": "dot"},
            ),
        )
    ]


def _points(table: pd.DataFrame, theme: Theme) -> list[go.Scatter]:
    """Draw points at their probability, by label; a click flips the label."""
    traces = []
    for label, name, symbol, color in (
        (0, "class 0", "circle", theme.negative),
        (1, "class 1", "diamond", theme.positive),
        (None, "no label", "circle-open", theme.muted),
    ):
        chosen = table[table.label.isna() if label is None else (table.label == label).fillna(False)]
        outline = {"width": 2} if label is None else {"width": 1, "color": theme.paper}
        traces.append(
            go.Scatter(
                x=chosen.position,
                y=chosen.posterior,
                mode="markers",
                name=name,
                customdata=[["turn", i] for i in chosen.index],
                marker={"symbol": symbol, "size": 13, "color": color, "line": outline},
                unselected={"marker": {"opacity": 1}},
                hovertemplate=f"%{{y:.3g}} at %{{x:.3g}}, {name}<extra></extra>",
            )
        )
    return traces


def _gaps(record: OnLine, gaps: np.ndarray, theme: Theme) -> go.Scatter:
    """Draw a sign in every gap; a click adds or removes a cut."""
    cut = [i in record.found.line.cuts for i in range(len(gaps))]
    return go.Scatter(
        x=gaps,
        y=np.full(len(gaps), -0.1),
        mode="markers",
        name="split or join",
        customdata=[["cut", i] for i in range(len(gaps))],
        marker={
            "symbol": ["x" if there else "cross-thin" for there in cut],
            "size": 10,
            "color": theme.ink,
            "line": {"width": 1.5, "color": [theme.ink if there else theme.muted for there in cut]},
        },
        unselected={"marker": {"opacity": 1}},
        hovertemplate=[f"{'cut' if there else 'no cut'} here<extra></extra>" for there in cut],
        showlegend=False,
    )


@dataclass(frozen=True, eq=False)
class PartitionCosts(Finding):
    """Terms of the expected loss by partition.

    Attributes
    ----------
    names
        Names of the partitions.
    terms
        Term → (k,).
    """

    names: list[str]
    terms: dict[str, np.ndarray]

    def formatted(self) -> pd.DataFrame:
        """Format the table for readers."""
        return self.table.assign(
            **{name: self.table[name].map(_number) for name in ("CL", "GL", "IL", "loss")}
        )


def prepare_losses(found: EveryPartition) -> PartitionCosts:
    """Compare the reader's partition with the presets and the best."""
    every, rows = found.every, list(found.rows.values())
    names = [TREE_NAMES[name] for name in found.rows]
    terms = {term: getattr(every, term)[rows] for term in STACKED_LOSSES}
    total = every.loss[rows]
    cost = dict(zip(found.rows, map(_brief, total), strict=True))
    return PartitionCosts(
        title=f"One leaf costs {cost['one_leaf']}, one split {cost['one_split']}, pure leaves {cost['pure_leaves']}; "
        f"the lowest loss is {cost['least']}",
        caption="Bars show the expected loss, summed over both classes. From the bottom up, the parts are "
        "irreducible loss (IL, equal for all), grouping loss (GL) and calibration loss (CL). A group "
        "contains all points with equal predictions.",
        alt=" ".join(
            f"{name}: CL {_number(terms['calibration'][i])}, GL {_number(terms['grouping'][i])}, IL "
            f"{_number(terms['irreducible'][i])}, expected loss {_number(total[i])}."
            for i, name in enumerate(names)
        ),
        table=pd.DataFrame(
            {
                "partition": names,
                "leaves": every.cuts[rows].sum(axis=1) + 1,
                "groups": [len(np.unique(every.p[row])) for row in rows],
                "CL": terms["calibration"],
                "GL": terms["grouping"],
                "IL": terms["irreducible"],
                "loss": total,
            }
        ),
        answer=None,
        names=names,
        terms=terms,
    )


def draw_losses(record: PartitionCosts, theme: Theme = LIGHT) -> go.Figure:
    """Draw one stacked bar per partition."""
    figure = go.Figure(
        stacked_bars(record.names, record.terms, theme),
        layout=layout(
            theme,
            height=420,
            barmode="stack",
            bargap=0.3,
            xaxis={
                "type": "category",
                "tickvals": record.names,
                "ticktext": [name.replace(" ", "<br>") for name in record.names],  # upright on a phone too
                "tickangle": 0,
            },
            yaxis={"title": {"text": "Expected loss"}, "range": [0, 1.12 * float(record.table.loss.max())]},
        ),
    )
    figure.add_scatter(
        x=record.names,
        y=record.table.loss,
        mode="text",
        text=[number(value) for value in record.table.loss],
        textposition="top center",
        textfont={"color": theme.ink},
        showlegend=False,
        hoverinfo="skip",
    )
    return figure


@dataclass(frozen=True, eq=False)
class Cloud(Finding):
    """All partitions as points.

    Attributes
    ----------
    shown
        Index of one partition for every place.
    """

    found: EveryPartition
    shown: np.ndarray


def prepare_all(found: EveryPartition) -> Cloud:
    """Collect all partitions, and count those that are better than the reader's."""
    every, own, least = found.every, found.rows["own"], found.rows["least"]
    better = int((every.labelled & (every.loss < every.loss[own] - 1e-9)).sum())
    count, leaves = f"{every.labelled.sum():,}", every.cuts.sum(axis=1) + 1
    shown = fewest_cuts(every)
    return Cloud(
        title=f"Your partition is the best of all {count}"
        if better == 0
        else f"{better:,} of {count} partitions are better than yours; the best has {_leaves(leaves[least])}",
        caption="Each mark shows the GL and CL of a partition, shaded by its number of leaves. It counts "
        "partitions whose leaves all have a label. A group contains all points with equal predictions. Many "
        f"partitions have the same GL and CL, so there are only {len(shown):,} marks; each shows the "
        "partition with the fewest leaves. All partitions on a thin line have the same expected loss.",
        alt=f"Scatter plot of {count} partitions. The lowest expected loss is {number(every.loss[least])} at CL "
        f"{_number(every.calibration[least])} and GL {_number(every.grouping[least])}; yours is "
        f"{number(every.loss[own])} at CL {_number(every.calibration[own])} and GL {_number(every.grouping[own])}.",
        table=pd.DataFrame(
            {
                "cuts_after_points": [" ".join(map(str, np.flatnonzero(cuts) + 1)) for cuts in every.cuts],
                "leaves": leaves,
                "CL": every.calibration,
                "GL": every.grouping,
                "IL": every.irreducible,
                "loss": every.loss,
                "all_leaves_labelled": every.labelled,
            }
        ),
        answer=None,
        found=found,
        shown=shown,
    )


def _axis(title: str, end: float) -> dict:
    return {"title": {"text": title}, "range": [-0.04 * end, end], "showgrid": False}


def draw_all(record: Cloud, theme: Theme = LIGHT) -> go.Figure:
    """Draw all partitions, with marks for the best and the reader's own."""
    every = record.found.every
    ends = {term: 1.06 * max(float(getattr(every, term).max()), 0.01) for term in ("grouping", "calibration")}
    lines = np.linspace(0, sum(ends.values()), 17)[1:]
    figure = go.Figure(
        layout=layout(
            theme,
            height=420,
            xaxis=_axis("Grouping loss, GL", ends["grouping"]),
            yaxis=_axis("Calibration loss, CL", ends["calibration"]),
            shapes=[_equal_loss(total, theme) for total in lines],
            clickmode="event+select",
        )
    )
    figure.add_trace(_partitions(every, record.shown, theme))
    star = outlined(theme.ink, 16, theme, symbol="star")
    ring = hollow(theme.ink, 18, 2.5)
    for name, marker in (("least", star), ("own", ring)):
        row = record.found.rows[name]
        figure.add_scatter(
            x=[every.grouping[row]],
            y=[every.calibration[row]],
            mode="markers",
            name=TREE_NAMES[name].lower(),
            hoverinfo="skip",
            marker=marker,
        )
    return figure


def _partitions(every: Partitions, rows: np.ndarray, theme: Theme) -> go.Scatter:
    """Draw partitions as marks, shaded by their number of leaves; a click selects one."""
    leaves = every.cuts[rows].sum(axis=1) + 1
    scale = [[i / (len(theme.scale) - 1), ink] for i, ink in enumerate(theme.scale)]
    shades = {"colorscale": scale, "cmin": 1, "cmax": every.cuts.shape[1] + 1}
    losses = zip(leaves, every.loss[rows], strict=True)
    return go.Scatter(
        x=every.grouping[rows].round(6),
        y=every.calibration[rows].round(6),
        mode="markers",
        name="a partition",
        customdata=rows.tolist(),
        text=[f"{_leaves(count)}, expected loss {number(loss)}" for count, loss in losses],
        marker=outlined(leaves, 7, theme, 0.5, **shades),
        unselected={"marker": {"opacity": 1}},
        hovertemplate="%{text}<br>CL %{y:.3g}, GL %{x:.3g}<extra></extra>",
    )


def _equal_loss(total: float, theme: Theme) -> dict[str, Any]:
    """Draw the line on which CL and GL add up to ``total``."""
    ends = {"x0": total, "y0": 0, "x1": 0, "y1": total}
    return {"type": "line", **ends, "line": {"color": theme.grid, "width": 1}, "layer": "below"}


FIRST_POINTS = (
    "1:0.05:0 2:0.2:0 3:0.25:0 4:0.3:1 5:0.35 6:0.4 | 7:0.5 8:0.6:1 9:0.75:0 10:0.8:1 11:0.85 12:0.95:1"
)
FLAT_LINE = (
    "1:0.45:0 2:0.46:0 3:0.47:0 4:0.48:1 5:0.49 6:0.49 | 7:0.51 8:0.51:1 9:0.52:0 10:0.53:1 11:0.54 12:0.55:1"
)
"""The labels of ``FIRST_POINTS`` with probabilities near one half, where one leaf is best."""

EXPERIMENT = Experiment(
    posed=True,
    key="finite",
    page="labs",
    lab="CL and GL",
    name="Finite example",
    question="Twelve points have known probabilities; eight also have a label. Which tree has the "
    "lowest expected loss: one leaf, one split, or splits until all leaves are pure?",
    answers=("One leaf", "One split", "Pure leaves"),
    right=2,
    why=(
        "One leaf is calibrated, but gives all points the same prediction, so its grouping loss is large.",
        "One split separates the two halves, and its leaves still contain enough labels.",
        "A tree that fits every label does not learn the true probabilities. A single 0 among ones changes "
        "the prediction for all points around it.",
    ),
    turn={"line": FLAT_LINE},
    parameters=(
        Parameter(
            "line",
            "Points, as position:probability:label, and | for a cut",
            "line",
            FIRST_POINTS,
            help=f"Enter 2 to {MOST_ON_LINE} points from left to right, separated by spaces. A point without "
            "a label is not a training row.",
            choices={FLAT_LINE: "nearly one half everywhere"},
            extra={"drawn_by_page": True, "short": "True probabilities"},
        ),
    ),
    simulation=every_partition,
    notice=(
        "A leaf predicts the share of class 1 among its labels, whatever the true probabilities are. A leaf without "
        "labels predicts the share among all labels; no tree grows such a leaf, so it does not count as the best. All "
        "points count equally. As in the paper, losses are summed over both classes, which gives twice the "
        "Brier score of the other pages.",
        "One leaf is calibrated: half of the labels are 1, and the mean probability is one half. Its excess loss is "
        "grouping loss (GL). One split removes most of this loss, and the tree remains almost calibrated.",
        "Pure leaves predict only 0 or 1, so there are two groups, whatever the number of leaves. The single "
        "0 on the right changes the prediction for all points around it. Pure leaves are worse than one "
        "leaf, although they fit every label.",
        "The irreducible loss (IL) is the same for all partitions. The tree sees only labels, never the true "
        "probabilities. Flip "
        "one label and see how far the best partition moves.",
    ),
    formulas=(
        r"p_x = \frac{\text{labels 1 in the leaf of } x}{\text{labels in the leaf of } x}",
        r"c_x = \text{mean of } \pi \text{ over all } x' \text{ with } p_{x'} = p_x",
        r"\underbrace{\tfrac2n\sum (p-c)^2}_{\text{CL}} + \underbrace{\tfrac2n\sum (c-\pi)^2}_{\text{GL}} + "
        r"\underbrace{\tfrac2n\sum \pi(1-\pi)}_{\text{IL}}",
    ),
    source=f"{RF_PAPER}, section 3.1 and Figure 2. The paper does not list its points; the points here reproduce its "
    "values.",
    more_figures=("finite_losses", "finite_all"),
    seeded=False,
)


FIGURES = (
    FigureEntry("finite", "Points on a line and their leaves", prepare_line, draw_line),
    FigureEntry("finite_losses", "Losses of selected partitions", prepare_losses, draw_losses),
    FigureEntry("finite_all", "CL and GL of all partitions", prepare_all, draw_all),
)
