"""Calibration loss and grouping loss of a model's groups, on data with known true probabilities.

Shaker and Hüllermeier (2025), eq. 7, Figures 1 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment, view_of
from calib.experiments.cl_gl.simulation import (
    AGAINST,
    LEAF_COUNT,
    TREES_OF_MODEL,
    Groups,
    OneModel,
    Sweep,
    one_model,
    sweep_setting,
)
from calib.experiments.shared.findings import STACKED_LOSSES, Finding, class_marks, stacked_bars
from calib.experiments.shared.gaussian_plane import (
    COVARIANCES_OF_CLASSES,
    DEPTH,
    LEAF,
    LEAF_NAMES,
    RF_PAPER,
    TRAINING_ROWS,
    Plane,
    expected_loss,
)
from calib.figures.axes import two_line_ticks
from calib.figures.base import FigureEntry
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, hollow, layout
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, capital, number, within_a_sentence
from calib.metrics.decomposition import LossDecomposition

LOSS_NAMES = {"brier": "Brier score", "log": "log loss"}
MOST_SHOWN = 500  # training rows drawn over the heat map
OTHER_GROUPS = (
    " Short black lines (white in dark mode) show how high GL would reach if each leaf were a group, as on "
    "the Tree depth page. Here, pure leaves form only two groups; if each leaf were a group, most of their "
    "loss would be CL."
)


@dataclass(frozen=True, eq=False)
class Surfaces(Finding):
    found: Groups


def identity(parts: LossDecomposition, total: float, loss: str) -> str:
    """Write CL + GL + IL = the expected loss with its numbers."""
    terms = f"CL {number(parts.calibration)} + GL {number(parts.grouping)} + IL {number(parts.irreducible)}"
    if abs(parts.remainder) >= 5e-7:
        sign = "−" if parts.remainder < 0 else "+"
        terms += f" {sign} {number(abs(parts.remainder), 2)} within the bins"
    return f"{terms} = {number(total)}, the expected {LOSS_NAMES[loss]}"


def prepare_surfaces(found: Groups, loss: str = "brier") -> Surfaces:
    """Compare true and predicted probabilities on the grid, and sum up the losses."""
    point, plane = found.point, found.plane
    total = expected_loss(plane.posterior, point.p, loss)
    parts = point.losses[loss]
    sum_of_terms = identity(parts, total, loss)
    far = float(np.abs(point.grid_p - plane.grid_posterior).mean())
    return Surfaces(
        title=f"Miscalibration costs this model {brief(parts.calibration)} (CL), coarse groups cost "
        f"{brief(parts.grouping)} (GL)",
        caption="Colours show the true and the predicted probability of class 1, from blue (0) to orange (1). "
        f"{sum_of_terms}. {_groups(point.binned)} The line marks a probability of 1/2. Marks show {_shown(plane):,} of "
        f"{len(plane.y):,} training rows. The losses are means over {len(plane.posterior):,} new rows with known true "
        "probabilities.",
        alt=f"Two heat maps over x1 and x2; the mean distance between the true and the predicted probability is "
        f"{number(far)}. {sum_of_terms}.",
        table=pd.DataFrame(
            {
                "x1": plane.grid[:, 0],
                "x2": plane.grid[:, 1],
                "posterior": plane.grid_posterior,
                "p": point.grid_p,
                "group": found.grid_group,
            }
        ),
        answer=None,
        found=found,
    )


def _groups(binned: int | None) -> str:
    """Describe the groups of CL and GL."""
    return f"Groups are {f'{binned} quantile bins of the predictions' if binned else 'rows with equal predictions'}."


def _shown(plane: Plane) -> int:
    return min(MOST_SHOWN, len(plane.y))


def _scale(theme: Theme) -> list[list[Any]]:
    """Return a colour scale from class 0 through the background to class 1."""
    return [[0, theme.negative], [0.5, theme.paper], [1, theme.positive]]


def _training(plane: Plane, theme: Theme, **axes) -> list[go.Scatter]:
    """Draw the first training rows; only the first panel has legend entries."""
    X, y = plane.X[: _shown(plane)], plane.y[: _shown(plane)]
    marker = {"size": 5, "line": {"color": theme.ink, "width": 0.6}}
    return class_marks(X, y, theme, marker, "diamond", showlegend=not axes, hoverinfo="skip", **axes)


def _axes(plane: Plane) -> tuple[dict, dict]:
    x = {"title": {"text": "x1"}, "range": [plane.x1[0], plane.x1[-1]], "showgrid": False}
    y = {"title": {"text": "x2"}, "range": [plane.x2[0], plane.x2[-1]], "showgrid": False}
    return x, y


def draw_surfaces(record: Surfaces, theme: Theme = LIGHT) -> go.Figure:
    """Draw two heat maps side by side with the same axes and colours."""
    point, plane = record.found.point, record.found.plane
    x, y = _axes(plane)
    figure = go.Figure(
        layout=layout(
            theme,
            height=430,
            margin={"l": 48, "r": 12, "t": 30, "b": 48},
            xaxis={**x, "domain": [0, 0.485]},
            xaxis2={**x, "domain": [0.515, 1], "anchor": "y2"},
            yaxis=y,
            yaxis2={**y, "title": None, "showticklabels": False, "anchor": "x2"},
            annotations=[heading("True", "y"), heading("Predicted", "y2")],
            legend={"y": -0.16},
        )
    )
    for name, values, axes in (
        ("True", plane.grid_posterior, {}),
        ("Predicted", point.grid_p, {"xaxis": "x2", "yaxis": "y2"}),
    ):
        place = {"name": name, "x": np.round(plane.x1, 4), "y": np.round(plane.x2, 4), **axes}
        z = np.round(values.reshape(len(plane.x2), len(plane.x1)), 3).tolist()
        common = place | {"z": z}
        figure.add_heatmap(
            **common,
            colorscale=_scale(theme),
            zmin=0,
            zmax=1,
            showscale=False,
            hovertemplate="%{z:.3f} at (%{x:.2f}, %{y:.2f})<extra></extra>",
        )
        figure.add_contour(
            **common,
            contours={"start": 0.5, "end": 0.5, "size": 1, "coloring": "lines"},
            colorscale=[[0, theme.ink], [1, theme.ink]],
            line={"width": 1.3},
            showscale=False,
            hoverinfo="skip",
        )
        figure.add_traces(_training(plane, theme, **axes))
    return figure


@dataclass(frozen=True, eq=False)
class GroupMap(Finding):
    found: Groups
    loss: str


def prepare_groups(found: Groups, loss: str = "brier") -> GroupMap:
    """Count leaves and groups, and find the costliest group."""
    table, point = found.table, found.point
    groups, leaves = len(table), point.leaves
    cost = table[f"calibration_{loss}"] + table[f"grouping_{loss}"]
    worst = table.loc[cost.idxmax()]
    part = cost.max() / cost.sum() if np.isfinite(cost.sum()) else float("nan")
    share = f"causes {100 * part:.0f} % of CL + GL" if np.isfinite(part) else "makes CL infinite"
    exact = point.binned is None
    shown = table.rename(columns={"posterior": "mean_posterior"}).rename_axis("group").reset_index()
    colours = " ".join(
        f"p {number(row.p)}: mean true probability {number(row.posterior)}, {100 * row.share:.0f} % of the rows."
        for row in table.head(32).itertuples()
    )
    return GroupMap(
        title=f"{groups} groups; the costliest predicts {brief(worst.p)} instead of {brief(worst.posterior)}",
        caption="Each group of equal predictions has one colour, ordered by prediction. A group is "
        + (
            "the set of all points with the same prediction."
            if exact
            else "a quantile bin of the predictions."
        )
        + " The headline compares the prediction of the costliest group with its mean true probability. "
        f"Here {leaves:,.0f} leaves {'per tree ' if point.trees > 1 else ''}form {groups} groups, and the costliest "
        f"group {share}. Hover over a point to see its group's prediction, mean true probability and share of CL and "
        "GL.",
        alt=f"{groups} groups. {colours}",
        drawn=f"A map over x1 and x2 with one colour per group. {colours}",
        table=shown,
        answer=(1 if groups == round(leaves) else 3 if groups == 2 else 2) if point.trees == 1 else None,
        found=found,
        loss=loss,
    )


def draw_groups(record: GroupMap, theme: Theme = LIGHT) -> go.Figure:
    """Draw a map of the groups, with the losses of each group on hover."""
    found, plane, loss = record.found, record.found.plane, record.loss
    table, group = found.table, found.grid_group
    x, y = _axes(plane)
    known = [table.p, table.posterior, 100 * table.share]
    for term in ("calibration", "grouping"):
        terms = table[f"{term}_{loss}"]
        total = terms.sum()
        known.append(
            100 * (np.where(np.isinf(terms), 1.0, 0.0) if np.isinf(total) else terms / (total or 1.0))
        )
    columns = np.column_stack([np.append(np.round(values, 4), np.nan) for values in known])
    side = (len(plane.x2), len(plane.x1))
    figure = go.Figure(
        layout=layout(
            theme,
            height=430,
            margin={"l": 48, "r": 12, "t": 30, "b": 48},
            xaxis=x,
            yaxis=y,
            annotations=[heading("Groups", "y")],
        )
    )
    rank = np.where(group >= 0, group / max(1, len(table) - 1), np.nan)
    figure.add_heatmap(
        x=np.round(plane.x1, 4),
        y=np.round(plane.x2, 4),
        z=np.round(rank, 3).reshape(side).tolist(),
        customdata=columns[group].reshape(*side, -1).tolist(),
        colorscale=_scale(theme),
        zmin=0,
        zmax=1,
        showscale=False,
        hoverongaps=False,
        hovertemplate="prediction %{customdata[0]:.3f}, mean true probability %{customdata[1]:.3f}"
        "<br>%{customdata[2]:.1f} % of the rows"
        "<br>%{customdata[3]:.1f} % of CL, %{customdata[4]:.1f} % of GL<extra></extra>",
    )
    return figure


@dataclass(frozen=True, eq=False)
class Stacked(Finding):
    """Terms of the expected loss along the values of one setting.

    Attributes
    ----------
    names
        Names of the values.
    terms
        Term → (k,).
    total : (k,)
        Expected loss.
    current
        Index of the value chosen on the page.
    by_leaf : (k,)
        GL if each leaf were a group; NaN if not computed.
    """

    against: str
    names: list[str]
    terms: dict[str, np.ndarray]
    total: np.ndarray
    current: int
    loss: str
    by_leaf: np.ndarray


def prepare_sweep(found: Sweep, loss: str = "brier") -> Stacked:
    """Compute the three terms for every value, and where their sum is lowest."""
    parts = [point.losses[loss] for point in found.points]
    terms = {term: np.array([getattr(part, term) for part in parts]) for term in STACKED_LOSSES}
    total = np.array([expected_loss(point.plane.posterior, point.p, loss) for point in found.points])
    names = [_value_name(value) for value in found.values]
    best, label = int(np.argmin(total)), within_a_sentence(AGAINST[found.against])
    finite, binned = np.isfinite(total).any(), {point.binned for point in found.points}
    by_leaf = np.array([_leaf_grouping(point, loss) for point in found.points])
    return Stacked(
        title=f"The expected {LOSS_NAMES[loss]} is lowest, {brief(total[best])}, at {label} = {names[best]}; from "
        f"{names[0]} to {names[-1]}, CL goes {_course(terms['calibration'])}, GL {_course(terms['grouping'])}"
        if finite
        else f"The expected {LOSS_NAMES[loss]} is infinite for every {label}, because a leaf predicts 0 or 1 "
        "and is wrong",
        caption="Each bar shows, from the bottom up, irreducible loss (IL), grouping loss (GL) and "
        "calibration loss (CL). The ring marks the current settings. The three losses add up to the expected "
        "loss"
        + (", except for the spread inside the bins. " if binned != {None} else "; ∞ marks an infinite CL. ")
        + (
            " or, with many different predictions, ".join(
                [_groups(None).rstrip("."), "20 quantile bins of the predictions."]
            )
            if len(binned) > 1
            else _groups(*binned)
        )
        + (OTHER_GROUPS if np.isfinite(by_leaf).any() else ""),
        alt=" ".join(
            f"{capital(label)} {name}: CL {number(terms['calibration'][i])}, GL {number(terms['grouping'][i])}, "
            f"IL {number(terms['irreducible'][i])}."
            for i, name in enumerate(names)
        ),
        table=pd.DataFrame(
            {
                found.against: names,
                **terms,
                "remainder": [part.remainder for part in parts],
                "expected_loss": total,
                "groups": [part.groups for part in parts],
                "leaves": [point.leaves for point in found.points],
                "grouping_by_leaf": by_leaf,
            }
        ),
        answer=None,
        against=found.against,
        names=names,
        terms=terms,
        total=total,
        current=found.values.index(found.own),
        loss=loss,
        by_leaf=by_leaf,
    )


def _leaf_grouping(point: OneModel, loss: str) -> float:
    return np.nan if point.leaf_grouping is None or loss != "brier" else point.leaf_grouping


def _course(values: np.ndarray) -> str:
    """Describe a course by its ends, and by its lowest value if it turns.

    >>> _course(np.array([0.2, 0.1, 0.4]))
    'from 0.20 down to 0.10 and up to 0.40'
    """
    first, low, last = values[0], values.min(), values[-1]
    turns = low < 0.9 * min(first, last)
    return (
        f"from {brief(first)} down to {brief(low)} and up to {brief(last)}"
        if turns
        else (f"from {brief(first)} to {brief(last)}")
    )


def _value_name(value: Any) -> str:
    return (
        LEAF_NAMES.get(value, value)
        if isinstance(value, str)
        else "no limit"
        if value is None
        else f"{value:,}"
    )


def draw_sweep(record: Stacked, theme: Theme = LIGHT) -> go.Figure:
    """Draw one stacked bar per value of the setting."""
    heights = np.sum([np.where(np.isfinite(values), values, 0) for values in record.terms.values()], axis=0)
    figure = go.Figure(
        layout=layout(
            theme,
            height=440,
            barmode="stack",
            bargap=0.25,
            xaxis={
                "title": {"text": AGAINST[record.against]},
                "type": "category",
                **two_line_ticks(record.names, record.names),
            },
            yaxis={
                "title": {"text": f"Expected {LOSS_NAMES[record.loss]}"},
                "range": [0, 1.15 * float(heights.max())],
            },
            legend={"y": -0.3},
        )
    )
    figure.add_traces(stacked_bars(record.names, record.terms, theme))
    if np.isfinite(record.by_leaf).any():
        figure.add_trace(_by_leaf(record, theme))
    if not np.isfinite(record.total).all():
        figure.add_trace(_infinite(record, heights, theme))
    return figure.add_scatter(
        x=[record.names[record.current]],
        y=[heights[record.current]],
        mode="markers",
        name="current settings",
        hoverinfo="skip",
        marker=hollow(theme.ink, 15, 2.5),
    )


def _by_leaf(record: Stacked, theme: Theme) -> go.Scatter:
    """Draw a short line at the end of GL if each leaf were a group."""
    return go.Scatter(
        x=record.names,
        y=record.terms["irreducible"] + record.by_leaf,
        mode="markers",
        name="where GL would end if each leaf were a group",
        hovertemplate="GL by leaf: %{customdata}<extra></extra>",
        customdata=[number(value) for value in record.by_leaf],
        marker={"symbol": "line-ew", "size": 12, "line": {"width": 3, "color": theme.ink}},
    )


def _infinite(record: Stacked, heights: np.ndarray, theme: Theme) -> go.Scatter:
    """Draw ∞ above the bars of an infinite loss."""
    at = np.flatnonzero(~np.isfinite(record.total))
    return go.Scatter(
        x=[record.names[i] for i in at],
        y=heights[at] * 1.06,
        mode="text",
        text=["∞"] * len(at),
        textfont={"size": 18, "color": theme.ink},
        showlegend=False,
        hoverinfo="skip",
    )


EXPERIMENT = Experiment(
    key="cl_gl",
    page="labs",
    lab="CL and GL",
    name="CL and GL on Gaussians",
    question="A tree is grown on 1,000 points until each of its more than 100 leaves contains only one "
    "class. How many groups of equal predictions do these leaves form?",
    answers=("As many as leaves", "About twenty", "Two"),
    right=3,
    why=(
        "This answer counts each leaf as a group. Pure leaves predict only 0 or 1, so many leaves share a "
        "prediction.",
        "Twenty groups would need leaves with about twenty different predictions. Pure leaves predict "
        "either 0 or 1, whatever their size.",
        "Every leaf contains only one class, so it predicts 0 or 1: two groups.",
    ),
    turn={"leaf": "laplace"},
    parameters=(
        DEPTH,
        LEAF,
        Parameter(
            "model",
            "Model",
            "choice",
            "tree",
            choices={"tree": "Tree", "forest": "Forest"},
            help="A single tree or a forest. The many different predictions of a forest are grouped into 20 "
            "quantile bins.",
        ),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "brier",
            choices={"brier": "Brier score", "log": "Log loss"},
            help="Brier score or log loss. One wrong prediction of 0 or 1 makes the log loss infinite.",
            extra=view_of("cl_gl", "cl_gl_groups", "cl_gl_sweep"),
        ),
        Parameter(
            "against",
            "Vary",
            "choice",
            "depth",
            choices=AGAINST,
            help="The setting on the horizontal axis of the stacked losses.",
            extra=view_of(numbers_of=("cl_gl_sweep",)),
        ),
        LEAF_COUNT,
        TREES_OF_MODEL,
        TRAINING_ROWS,
        COVARIANCES_OF_CLASSES,
    ),
    simulation=one_model,
    notice=(
        "A group is a set of leaves with the same prediction. Pure leaves predict 0 or 1, so there are two "
        "groups, whatever the number of leaves. Choose Laplace: leaves of different sizes then predict "
        "different values, so there are more than two groups.",
        "CL compares a group's prediction with its mean true probability. GL compares this mean with the true "
        "probabilities inside the group. Hover over a cell to see its group and the group's shares of CL and GL.",
        "Lower the depth: the two groups of a stump (depth 1) are well calibrated (small CL), but each mixes "
        "different rows (large GL). Deeper trees form more groups, and GL is lowest at a medium depth. "
        "Beyond this depth both GL and CL rise, because more leaves are pure, and all pure leaves of a class "
        "form one group.",
        "Here a group contains all rows with the same prediction. If each leaf is a group, as on the Tree depth page, "
        "GL is almost zero in a deep tree. CL then rises by the same amount, because their sum does not change.",
        "IL is the same for every model, because it comes from the randomness of the labels. The three parts "
        "add up to the expected loss.",
    ),
    formulas=(
        r"\underbrace{\tfrac1n\sum (p-c)^2}_{\text{CL}} + \underbrace{\tfrac1n\sum (c-\pi)^2}_{\text{GL}} + "
        r"\underbrace{\tfrac1n\sum \pi(1-\pi)}_{\text{IL}}",
        r"\text{log loss: } \mathrm{KL}(c\,\|\,p),\ \mathrm{KL}(\pi\,\|\,c),\ H(\pi)",
        r"c_g = \text{mean of } \pi \text{ over the group } g",
    ),
    source=f"{RF_PAPER}, eq. 7, Figure 1 and appendix C.1; Kull and Flach (2015).",
    more_figures=("cl_gl_groups",),
    also={"cl_gl_sweep": sweep_setting},
    plays="depth",
)


FIGURES = (
    FigureEntry("cl_gl", "True and predicted probability", prepare_surfaces, draw_surfaces),
    FigureEntry("cl_gl_groups", "Groups of equal predictions", prepare_groups, draw_groups),
    FigureEntry("cl_gl_sweep", "How one setting changes CL, GL and IL", prepare_sweep, draw_sweep),
)
