"""Calibration and grouping loss by depth for known true probabilities: the loss that calibration can remove.

Kull and Flach 2015; Shaker and Hüllermeier 2025, eq. 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.analysis.depth import FOREST_GROUPS, GROWTHS, LOSS_PARTS
from calib.calibrators import label_of
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.depth import by_depth, cells_of, join, limits_of
from calib.figures.panels import set_axes
from calib.figures.theme import LIGHT, Theme
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, number


@dataclass(frozen=True, eq=False)
class DepthLosses(TableRecord):
    """Three losses of one calibrator, one line per growth, leaf and depth; ``excess`` is calibration plus grouping."""

    calibrator: str


def prepare(tables: Sequence[pd.DataFrame], calibrator: str = "none") -> DepthLosses:
    """Take the losses of one calibrator.

    Raises
    ------
    InputError
        If true probabilities are unknown or the calibrator has no answer.
    """
    table = join(tables)
    if "calibration" not in table:
        raise InputError(
            "The true probabilities of these data are unknown. Choose a synthetic data set to see these losses."
        )
    fits = table[table["calibrator"] == calibrator]
    if fits.empty:
        raise InputError(
            f"{label_of(calibrator)} is not among the chosen calibrators. Add it in the sidebar, or choose "
            "another calibrator on this page."
        )
    fits = fits[["growth", "leaf", "depth", "leaves", *LOSS_PARTS]].reset_index(drop=True)
    fits["excess"] = fits["calibration"] + fits["grouping"]
    title, alt = _finding(fits, calibrator)
    irreducible = number(float(fits["irreducible"].iloc[0]))
    return DepthLosses(
        calibrator,
        table=fits,
        title=title,
        caption="Lines show calibration loss, grouping loss and their sum by tree depth. Calibration loss "
        "arises if the prediction of a group differs from its mean true probability; a calibrator can lower "
        "this loss. Grouping loss arises if the rows of a group differ in their true probabilities; no "
        f"calibrator can lower this loss. The sum of both losses is the Brier score minus the irreducible "
        f"loss of {irreducible}. The tree's groups contain rows with equal predictions; the forests' "
        f"groups are {FOREST_GROUPS} bins with equal numbers of rows. Both losses are corrected for finite group "
        "sizes.",
        alt=alt,
    )


def _finding(table: pd.DataFrame, calibrator: str) -> tuple[str, str]:
    """Return (title, alternative text): the depth of the tree's smallest sum, and the change of the two losses."""
    summary = []
    for growth in table["growth"].unique():
        fits = table[(table["growth"] == growth) & (table["leaf"] == "frequency")]
        least, first, last = fits.loc[fits["excess"].idxmin()], fits.iloc[0], fits.iloc[-1]
        summary.append(
            f"{GROWTHS[growth].label}: calibration loss {number(first.calibration)} at depth {first.depth:.0f} and "
            f"{number(last.calibration)} at depth {last.depth:.0f}, grouping loss {number(first.grouping)} and "
            f"{number(last.grouping)}, lowest sum {number(least.excess)} at depth {least.depth:.0f}"
        )
    fits = table[(table["growth"] == table["growth"].iloc[0]) & (table["leaf"] == "frequency")]
    least, last = fits.loc[fits["excess"].idxmin()], fits.iloc[-1]
    who = "tree" if not GROWTHS[table["growth"].iloc[0]].forest else "forest"
    losses = (least.calibration, least.grouping, last.calibration, last.grouping)
    title = (
        f"{label_of(calibrator)}: the {who}'s loss is lowest at depth {least.depth:.0f} (calibration "
        "{} and grouping {}; fully grown {} and {})".format(*map(brief, losses))
    )
    return title, f"Calibration and grouping loss by depth. {'; '.join(summary)}."


def draw(record: DepthLosses, theme: Theme = LIGHT) -> go.Figure:
    """Draw a panel per growth (rows) and leaf (columns) with calibration loss, grouping loss and their sum."""
    table = record.table
    figure = by_depth(table, theme, "Loss", height=170, uirevision="depth_losses")
    styles = {
        "calibration": ("Calibration loss", theme.calibration, "solid", "diamond"),
        "grouping": ("Grouping loss", theme.grouping, "dash", "square"),
        "excess": ("Sum", theme.muted, "dot", "circle-open"),
    }
    for i, (growth, leaf) in enumerate(cells_of(table)):
        panel = table[(table["growth"] == growth) & (table["leaf"] == leaf)]
        low, high = limits_of(table, list(styles), growth)
        x, y = set_axes(figure, i, y={"range": [min(low, -0.03 * high), high]})
        for name, (label, color, dash, symbol) in styles.items():
            figure.add_scatter(
                x=panel["depth"],
                y=panel[name],
                xaxis=x,
                yaxis=y,
                mode="lines+markers",
                name=label,
                legendgroup=name,
                showlegend=i == 0,
                line={"color": color, "width": 2, "dash": dash},
                marker={"color": color, "symbol": symbol, "size": 6},
                hovertemplate=f"depth %{{x}}: {label.lower()} %{{y:.4f}}<extra></extra>",
            )
    return figure


DEPTH_LOSSES = FigureEntry("depth_losses", "Calibration and grouping loss by depth", prepare, draw)
