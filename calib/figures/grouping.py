"""The grouping loss by several partitions: the part that regions explain, less bias and bin width, with interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from calib.analysis.audit.of_evaluation import audited_by_default
from calib.analysis.grouping_losses import GroupingLosses, finding, grouping_losses, partition_name
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.theme import LIGHT, Theme, error_bars, lanes, layout, rgba
from calib.kernel.wording import number, with_interval

LANE, HEAD = 76, 110  # pixels


@dataclass(frozen=True, eq=False)
class LossLanes(TableRecord):
    """One line per partition, as ``GroupingLosses.to_frame`` returns."""


def prepare(source: GroupingLosses | Evaluation) -> LossLanes:
    """Take the bounds of all partitions.

    Parameters
    ----------
    source
        Bounds, or an Evaluation for whose recommended calibrator they are computed.
    """
    found = grouping_losses(source, audited_by_default(source)) if isinstance(source, Evaluation) else source
    table = found.to_frame()
    return LossLanes(
        table=table,
        title=finding(found).removesuffix("."),
        caption="Bars show three parts of the variance that regions explain; marks show the lower bound of "
        "the grouping loss. The bias comes from the small number of rows per region, and the "
        "induced part from the width of the bins. The remaining variance is the lower bound, with "
        "its 95 % interval. The bound depends on the regions: other regions may explain more. All "
        f"numbers are on the scale of the Brier score, which is {number(found.brier)} for these "
        "data.",
        alt="Lower bounds of the grouping loss. "
        + "; ".join(
            f"{partition_name(str(line.partition))}: "
            + with_interval(line.lower_bound, line.interval_low, line.interval_high)
            for line in table.itertuples()
        )
        + ".",
    )


def draw(record: LossLanes, theme: Theme = LIGHT) -> go.Figure:
    """Draw a lane per partition: a stacked bar from 0 to the explained part, and the bound with its interval."""
    table, k = record.table, len(record.table)
    height = LANE * k + HEAD
    names = [
        f"{partition_name(str(line.partition))}<br>{line.regions:,} regions" for line in table.itertuples()
    ]
    figure = go.Figure(
        layout=layout(
            theme,
            height=height,
            barmode="overlay",
            xaxis={"title": {"text": "Brier score"}, "nticks": 6, "tickformat": ".3~f"},
            yaxis=lanes(names),
            legend={"y": -90 / (height - 60)},
        )
    )
    at, lower = np.arange(k), table["lower_bound"].to_numpy()
    begin = lower
    for name, width, base, color in (
        ("Lower bound", np.maximum(lower, 0), np.zeros(k), rgba(theme.grouping, 0.75)),
        ("Induced", table["induced"], begin, rgba(theme.muted, 0.65)),
        ("Bias", table["bias"], begin + table["induced"], rgba(theme.muted, 0.3)),
    ):
        figure.add_trace(
            go.Bar(
                x=width,
                base=base,
                y=at + 0.12,
                width=0.34,
                orientation="h",
                name=name,
                marker={"color": color, "line": {"width": 0}},
                hovertemplate=f"{name.lower()} %{{x:.5f}}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=lower,
            y=at - 0.22,
            mode="markers",
            name="Bound with 95 % interval",
            marker={"symbol": "diamond", "size": 11, "color": theme.ink},
            error_x=error_bars(
                lower, np.minimum(table["interval_low"], lower), table["interval_high"], theme.ink, 2, 6
            ),
            customdata=table[["interval_low", "interval_high", "p_value"]].to_numpy(),
            hovertemplate="at least %{x:.5f}<br>95 % interval from %{customdata[0]:.5f} to %{customdata[1]:.5f}"
            "<br>p = %{customdata[2]:.3f}<extra></extra>",
        )
    )
    figure.add_vline(x=0, line={"color": theme.diagonal, "width": 1})
    return figure


GROUPING_LOSS = FigureEntry("grouping_loss", "Grouping loss", prepare, draw)
