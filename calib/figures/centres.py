"""Calibration per centre: a forest plot of level and slope, and a curve per centre.

Debray et al. 2017, *BMJ* 356:i6460: random-effects summaries of calibration, with the interval of a new centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.centres import FEWEST_FOR_CURVE, Centres, Pooled
from calib.figures.base import FigureEntry, TableRecord, chart_text
from calib.figures.panels import axes, band, heading, panels
from calib.figures.theme import LIGHT, Theme, diagonal, error_bars, hollow, lanes, layout, outlined
from calib.kernel.wording import counted, with_interval

LANE, LONGEST = 30, 18  # pixels of a lane, letters of a name
MOST_CENTRE_LANES, MOST_PANELS = 40, 12
RATIOS, NEAR_1 = (0.1, 0.2, 0.5, 1, 2, 5, 10), (0.8, 1.25)  # ticks of O/E
WIDE = 5  # largest over smallest end of O/E, beyond which ticks near 1 would overlap
SHOWN = {"observed_expected": "O/E", "slope": "Slope"}
POOLED_LABEL, NEW_LABEL = "All centres", "Prediction interval"


@dataclass(frozen=True, eq=False)
class Forest(TableRecord):
    """One line per centre (the largest first), and the pooled values."""

    pooled: dict[str, Pooled]


def prepare(found: Centres) -> Forest:
    """Order the centres by their rows, with O/E and slope."""
    table = found.table.sort_values("rows", ascending=False, kind="stable")
    drawn = table.head(MOST_CENTRE_LANES)
    left_out = (
        f" The {MOST_CENTRE_LANES} largest of {len(table)} centres are drawn."
        if len(table) > MOST_CENTRE_LANES
        else ""
    )
    return Forest(
        found.pooled,
        table=drawn.reset_index(),
        title=found.sentences[list(found.pooled).index("slope")].partition(";")[0].rstrip("."),
        caption="Lanes show O/E and calibration slope in each centre and in all centres. "
        f"The ideal value is 1 (dotted). Marks have 95 % intervals; rings are estimates shrunken "
        f"towards the mean, more strongly for centres with fewer rows. The last lane is the "
        f"prediction interval for another centre.{left_out}",
        alt=f"Calibration of {counted(len(table), 'centre')}: "
        + "; ".join(
            f"{name} pooled {with_interval(each.value, each.low, each.high)}"
            + (
                f", prediction interval from {each.new_low:.2f} to {each.new_high:.2f}"
                if math.isfinite(each.new_low)
                else ""
            )
            for key, name in SHOWN.items()
            for each in [found.pooled[key]]
        )
        + ".",
    )


def draw(record: Forest, theme: Theme = LIGHT) -> go.Figure:
    """Draw two panels of lanes side by side: O/E on a logarithmic scale, and the slope."""
    table = record.table
    names = [f"{chart_text(line.centre, LONGEST)} ({line.rows:,.0f})" for line in table.itertuples()]
    every, new = len(names) + 0.4, len(names) + 1.4
    axis = lanes([*names, POOLED_LABEL, NEW_LABEL])
    axis |= {"tickvals": [*range(len(names)), every, new], "range": [new + 0.6, -0.8]}
    figure = go.Figure(
        layout=layout(
            theme,
            height=LANE * (len(names) + 3) + 72,
            showlegend=False,
            margin={"t": 28},
            xaxis={"domain": [0, 0.47], "type": "log", "tickvals": _ratios(record), "tickangle": 0},
            xaxis2={"domain": [0.53, 1], "nticks": 5, "anchor": "y"},
            yaxis=axis,
            hovermode="closest",
        )
    )
    for x, (key, name) in zip(("x", "x2"), SHOWN.items(), strict=True):
        figure.add_annotation(heading(name, "y", x))
        ideal = {"color": theme.diagonal, "width": 1.5, "dash": "dot"}
        figure.add_shape(type="line", x0=1, x1=1, y0=0, y1=1, xref=x, yref="y domain", line=ideal)
        places = np.arange(len(table))
        figure.add_traces(
            [
                _marks(table, key, places, x, theme),
                go.Scatter(
                    x=table[f"{key}_shrunken"],
                    y=places,
                    xaxis=x,
                    mode="markers",
                    marker=hollow(theme.positive, 11, 1.5),
                    customdata=table[["centre"]].to_numpy(),
                    hovertemplate="%{customdata[0]}<br>shrunken %{x:.2f}<extra></extra>",
                ),
                *_pooled(record.pooled[key], every, new, x, theme),
            ]
        )
    return figure


def _ratios(record: Forest) -> tuple[float, ...]:
    """Return the ticks of O/E."""
    table, found = record.table, record.pooled["observed_expected"]
    low = np.nanmin([*table["observed_expected_low"], found.low, found.new_low])
    high = np.nanmax([*table["observed_expected_high"], found.high, found.new_high])
    return RATIOS if high > WIDE * low else (*RATIOS, *NEAR_1)


def _marks(table: pd.DataFrame, key: str, places: np.ndarray, x: str, theme: Theme) -> go.Scatter:
    low, high = table[f"{key}_low"], table[f"{key}_high"]
    return go.Scatter(
        x=table[key],
        y=places,
        xaxis=x,
        mode="markers",
        marker=outlined(theme.ink, 8, theme),
        error_x=error_bars(table[key], low, high, theme.muted, 1.5),
        customdata=np.column_stack([table["centre"], low, high]),
        hovertemplate="%{customdata[0]}<br>%{x:.2f} [%{customdata[1]:.2f}, %{customdata[2]:.2f}]<extra></extra>",
    )


def _pooled(found: Pooled, every: float, new: float, x: str, theme: Theme) -> list[go.Scatter]:
    """Return the pooled value as a diamond, and the prediction interval as a bar."""
    color = theme.calibration
    return [
        go.Scatter(
            x=[found.value],
            y=[every],
            xaxis=x,
            mode="markers",
            marker=outlined(color, 12, theme, symbol="diamond"),
            error_x=error_bars(found.value, found.low, found.high, color, 2),
            hovertemplate="all centres %{x:.2f}<extra></extra>",
        ),
        go.Scatter(
            x=[found.new_low, found.new_high],
            y=[new, new],
            xaxis=x,
            mode="lines+markers",  # marks keep away from the edge of the panel
            marker={"color": color, "size": 7, "symbol": "square"},
            line={"color": color, "width": 7},
            hovertemplate="prediction interval, end %{x:.2f}<extra></extra>",
        ),
    ]


@dataclass(frozen=True, eq=False)
class Curves(TableRecord):
    """Loess curves per centre and pooled, one line per prediction, and the drawn centres with their rows."""

    centres: dict[str, int]


def prepare_curves(found: Centres) -> Curves:
    """Take the curves of the largest centres."""
    rows = found.table["rows"].sort_values(ascending=False, kind="stable").head(MOST_PANELS)
    return Curves(
        {str(name): int(n) for name, n in rows.items()},
        table=found.curves,
        title=f"Curves of {counted(len(rows), 'centre')}, with the mean of all",
        caption="Each panel shows the observed frequency by prediction in one centre, over the pooled curve. The grey "
        "line is the pooled curve, and the band is where 95 % of the curves of new centres lie, at each prediction. "
        f"Centres below {FEWEST_FOR_CURVE} rows have no curve.",
        alt=f"Smooth reliability curves of {counted(len(rows), 'centre')}, each beside the pooled curve.",
    )


def draw_curves(record: Curves, theme: Theme = LIGHT) -> go.Figure:
    """Draw a small panel per centre, each with the pooled curve and its prediction band."""
    names, table = list(record.centres), record.table
    known = table[table["observed"].notna()]
    axis = {"range": [-0.03, 1.03], "tickvals": [0, 1]}
    figure = panels(
        theme,
        [(chart_text(name, LONGEST),) for name in names],
        min(3, len(names)),  # a phone is narrow
        height=140,
        xaxis={**axis, "title": {"text": "Predicted"}},
        yaxis={**axis, "title": {"text": "Observed"}},
        showlegend=False,
        hovermode="closest",
    )
    figure.update_layout(margin={"b": 56})
    p, low, high = (known[column].to_numpy() for column in ("p", "new_low", "new_high"))
    for i, name in enumerate(names):
        x, y = axes(i)
        at = {"xaxis": x, "yaxis": y, "mode": "lines"}
        figure.add_traces(
            [
                band(p, low, high, theme.muted, xaxis=x, yaxis=y),
                diagonal(theme, xaxis=x, yaxis=y),
                go.Scatter(
                    x=known["p"],
                    y=known["observed"],
                    line={"color": theme.muted, "width": 1.5},
                    hoverinfo="skip",
                    **at,
                ),
                go.Scatter(
                    x=table["p"],
                    y=table[name],
                    line={"color": theme.calibration, "width": 2.5},
                    hovertemplate="predicted %{x:.3f}<br>observed %{y:.3f}<extra></extra>",
                    **at,
                ),
            ]
        )
    return figure


CENTRES = FigureEntry("centres", "Calibration per centre", prepare, draw)
CENTRE_CURVES = FigureEntry("centre_curves", "Curve of each centre", prepare_curves, draw_curves)
