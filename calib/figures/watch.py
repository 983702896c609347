"""Watching over time: the evidence, what moved, and the reliability of each period beside the first one's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.watch.over_time import OverTime, moved, summary
from calib.figures.base import FigureEntry
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import number

MOST_POINTS = 1500
MOST_PANELS = 12


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence after each day, or row, with the alarm."""

    table: pd.DataFrame
    axis: str
    threshold: float
    alarm: Any
    since: tuple[Any, Any, Any] | None
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One line per day, or row: when, log10 of the evidence."""
        return self.table


def _at(moments: np.ndarray, kind: str) -> Any:
    """Return times as Plotly takes them."""
    if kind == "date":
        return pd.to_datetime(np.asarray(moments, dtype="int64"))
    return np.asarray(moments) + (1 if kind == "row" else 0)


def _thinned(values: np.ndarray) -> np.ndarray:
    """Positions to draw: of many, the highest of each stretch, so that no peak is lost."""
    n = len(values)
    if n <= MOST_POINTS:
        return np.arange(n)
    cuts = np.linspace(0, n, MOST_POINTS + 1).astype(int)[:-1]
    ends = np.append(cuts[1:], n)
    return np.array([a + int(np.argmax(values[a:b])) for a, b in zip(cuts, ends, strict=True)])


def prepare_evidence(found: OverTime) -> Evidence:
    """Thin the evidence of each day, or row, for a picture."""
    watched = found.watched
    log = np.asarray(watched.path["log"]) / np.log(10)
    kept = _thinned(log)
    when = _at(found.moments[kept], found.kind)
    table = pd.DataFrame({"when": when, "rows": found.ends[kept], "log10_evidence": log[kept]})
    alarm = watched.found
    since = None
    at = None
    if alarm is not None:
        at = _at(np.array([alarm.moment]), found.kind)[0]
        moments = np.array([alarm.earliest_moment, alarm.since_moment, alarm.latest_moment])
        since = tuple(_at(moments, found.kind))
    top = float(log.max()) if len(log) else 0.0
    return Evidence(
        table,
        {"date": "Date", "number": "Time", "row": "Row"}[found.kind],
        watched.threshold,
        at,
        since,
        summary(found),
        "Evidence against calibration, on a log axis. If the model is calibrated, it ever reaches the line, "
        f"{watched.threshold:g}, with a probability of at most {watched.alpha:g}, however often you look. "
        "Shaded: 95 % interval of where the change began.",
        f"Evidence over {watched.rows:,} rows; highest {number(10 ** min(top, 300))}. {summary(found)}.",
    )


def draw_evidence(record: Evidence, theme: Theme = LIGHT) -> go.Figure:
    """One line on a log axis, the threshold, the alarm and the interval of the beginning."""
    log = record.table["log10_evidence"]
    limit = float(np.log10(record.threshold))
    low, high = min(-2.0, float(log.min()) - 0.3), max(limit + 1, float(log.max()) * 1.05)
    low = max(low, -6.0)
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            showlegend=False,
            xaxis={"title": {"text": record.axis}},
            yaxis={"title": {"text": "Evidence"}, "range": [low, high], "automargin": True},
            clickmode="event+select",
        )
    )
    step = max(1, int(np.ceil((high - low) / 8)))
    ticks = np.arange(np.ceil(low), high + 0.01, step)
    texts = [f"{10**t:,.6g}" if -4 <= t <= 5 else f"10<sup>{t:.0f}</sup>" for t in ticks]
    figure.update_yaxes(tickvals=ticks, ticktext=texts)
    if record.since is not None:
        figure.add_vrect(
            x0=record.since[0], x1=record.since[2], fillcolor=theme.calibration, opacity=0.18, line_width=0
        )
    figure.add_hline(y=limit, line={"color": theme.positive, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=0,
        xref="paper",
        y=limit,
        text=f"alarm at {record.threshold:g}",
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"color": theme.positive},
    )
    evidence = [f"{10**v:,.3g}" if abs(v) < 6 else f"10<sup>{v:.1f}</sup>" for v in log]
    figure.add_trace(
        go.Scatter(
            x=record.table["when"],
            y=np.maximum(log, low),
            customdata=np.column_stack([evidence, record.table["rows"]]),
            mode="lines",
            line={"color": theme.negative, "width": 2},
            hovertemplate="%{x}<br>evidence %{customdata[0]}<br>after %{customdata[1]} rows<extra></extra>",
        )
    )
    if record.alarm is not None:
        figure.add_vline(x=record.alarm, line={"color": theme.positive, "width": 1.5})
    return figure


@dataclass(frozen=True, eq=False)
class Moved:
    """Numbers of each period."""

    table: pd.DataFrame
    band: pd.DataFrame
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One line per period."""
        return self.table


def prepare_moved(found: OverTime) -> Moved:
    """Compare the periods: scores, base rate, and observed minus predicted."""
    rows = found.band["batch"]
    band = pd.DataFrame(
        {
            "when": _at(found.moments[rows], found.kind),
            "gap": found.band["level"],
            "low": found.band["low"],
            "high": found.band["high"],
        }
    )
    return Moved(
        found.periods,
        band,
        moved(found),
        "Top: scores, median and middle 80 %, which need no labels. Middle: observed share, and the base rate estimated "
        "from scores alone (EM). Bottom: observed minus predicted per period, with a band that holds at every look. "
        "If only the top moves, the cases changed. If the bottom leaves 0, the calibration changed.",
        "By period: " + "; ".join(f"{r.period} {number(r.gap)}" for r in found.periods.itertuples()) + ".",
    )


def draw_moved(record: Moved, theme: Theme = LIGHT) -> go.Figure:
    """Three panels above each other on one axis of periods."""
    table = record.table
    x = table["period"]
    share = {"automargin": True}
    figure = go.Figure(
        layout=layout(
            theme,
            height=620,
            xaxis={"title": {"text": "Period"}, "type": "category", "anchor": "y3", "automargin": True},
            yaxis={"title": {"text": "Score"}, "domain": [0.7, 1], "rangemode": "tozero", **share},
            yaxis2={"title": {"text": "Base rate"}, "domain": [0.36, 0.64], "rangemode": "tozero", **share},
            yaxis3={"title": {"text": "Observed − predicted"}, "domain": [0, 0.3], **share},
            hovermode="x unified",
        )
    )
    ink = {"color": theme.negative, "width": 2}

    def interval(low: str, high: str, y: str, color: str, name: str) -> None:
        for column, fill in ((low, None), (high, "tonexty")):
            figure.add_trace(
                go.Scatter(
                    x=x,
                    y=table[column],
                    yaxis=y,
                    mode="lines",
                    line={"width": 0, "color": color},
                    fill=fill,
                    opacity=0.3,
                    name=name,
                    showlegend=False,
                    hoverinfo="skip",
                )
            )

    interval("p10", "p90", "y", theme.negative, "middle 80 %")
    interval("low", "high", "y3", theme.calibration, "band")
    for column, axis, name, line in (
        ("p50", "y", "median score", ink),
        ("observed", "y2", "observed share", {"color": theme.positive, "width": 2}),
        (
            "base_rate",
            "y2",
            "estimated without labels",
            {"color": theme.grouping, "width": 2, "dash": "dash"},
        ),
        ("gap", "y3", "observed − predicted", {"color": theme.calibration, "width": 2}),
    ):
        figure.add_trace(
            go.Scatter(
                x=x,
                y=table[column],
                yaxis=axis,
                mode="lines+markers",
                line=line,
                name=name,
                hovertemplate="%{y:.3f}",
            )
        )
    figure.add_hline(y=0, line={"color": theme.diagonal, "width": 1}, yref="y3")
    return figure


@dataclass(frozen=True, eq=False)
class Periods:
    """Reliability of each period."""

    table: pd.DataFrame
    names: tuple[str, ...]
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One line per period and group of rows."""
        return self.table


def prepare_periods(found: OverTime) -> Periods:
    """Group each period's rows by their predictions."""
    names = list(found.curves)
    if len(names) > MOST_PANELS:
        chosen = np.unique(np.linspace(0, len(names) - 1, MOST_PANELS).astype(int))
        names = [names[i] for i in chosen]
    table = pd.concat(
        [
            pd.DataFrame(
                dict(zip(("predicted", "observed", "rows"), found.curves[name], strict=True))
            ).assign(period=name)
            for name in names
        ],
        ignore_index=True,
    )
    worst = found.periods.loc[found.periods["gap"].abs().idxmax()]
    return Periods(
        table,
        tuple(names),
        f"Largest gap in {worst.period}: observed {number(worst.observed)}, predicted {number(worst.predicted)}",
        "Reliability of each period, in groups of equally many rows. Grey is the first period. On the diagonal, "
        "predictions match outcomes.",
        f"Reliability diagrams of {len(names)} periods; largest gap in {worst.period}, {number(worst.gap)}.",
    )


def draw_periods(record: Periods, theme: Theme = LIGHT) -> go.Figure:
    """Small panels on equal axes, each with the first period in grey."""
    axis = {"range": [-0.02, 1.02], "tickvals": [0, 0.5, 1]}
    figure = panels(
        theme,
        [(name,) for name in record.names],
        min(4, len(record.names)),
        height=150,
        xaxis={**axis, "title": {"text": "Predicted"}},
        yaxis={**axis, "title": {"text": "Observed"}},
        showlegend=False,
    )
    first = record.table[record.table["period"] == record.names[0]]
    for i, name in enumerate(record.names):
        x, y = axes(i)
        own = record.table[record.table["period"] == name]
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=[0, 1],
                xaxis=x,
                yaxis=y,
                mode="lines",
                line={"color": theme.diagonal, "width": 1},
                hoverinfo="skip",
            )
        )
        for table, line in (
            (first, {"color": theme.muted, "width": 1.5, "dash": "dot"}),
            (own, {"color": theme.negative, "width": 2}),
        ):
            figure.add_trace(
                go.Scatter(
                    x=table["predicted"],
                    y=table["observed"],
                    customdata=table["rows"],
                    xaxis=x,
                    yaxis=y,
                    mode="lines+markers",
                    marker={"size": 5},
                    line=line,
                    hovertemplate="predicted %{x:.3f}<br>observed %{y:.3f}<br>%{customdata} rows<extra></extra>",
                )
            )
    return figure


WATCH_EVIDENCE = FigureEntry("watch_evidence", "Evidence over time", prepare_evidence, draw_evidence)
WATCH_MOVED = FigureEntry("watch_moved", "What moved", prepare_moved, draw_moved)
WATCH_PERIODS = FigureEntry("watch_periods", "Reliability by period", prepare_periods, draw_periods)
