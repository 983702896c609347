"""Monitoring over time: the evidence, the change, and the reliability of each period beside that of the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.watch.over_time import OverTime, change_sentence, summary
from calib.analysis.watch.table import MOST_TIMES, evidence_in_words
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.panels import axes, band, heading, panels
from calib.figures.theme import LIGHT, Theme, layout, legible
from calib.kernel.wording import number

MOST_PANELS = 12
LETTERS_ON_PHONE = 10  # letters of a name that fit one of four panels side by side on a phone
DECADES_ABOVE, DECADES_BELOW = np.log10(MOST_TIMES), -3  # powers of ten drawn above the alarm, and below 1
TIME_AXES = {"date": "Date", "number": "Time", "row": "Row"}
PANEL_AXES = ("y", "y2", "y3", "y4")
PANEL_NAMES = (
    "Scores: median and middle 80 %",
    "Base rate: observed, or from scores (dashed)",
    "Observed − predicted, per period",
    "Observed − predicted, so far",
)
OBSERVED = "Observed frequency"  # without an estimate from scores
INVISIBLE = {"size": 8, "opacity": 0}  # a line has nothing to click


@dataclass(frozen=True, eq=False)
class Evidence(TableRecord):
    """Evidence after each day, or row (a line each: when, rows, log10 of the evidence, period), with the alarm."""

    axis: str
    threshold: float
    alarm: Any
    since: tuple[Any, Any, Any] | None


def _at(moments: Any, kind: str) -> Any:
    """Return times for Plotly; those of an alarm are integer nanoseconds."""
    return pd.to_datetime(np.asarray(moments, dtype="int64")) if kind == "date" else np.asarray(moments)


def _time(axis: str) -> dict[str, Any]:
    return {"title": {"text": axis}, **({"tickformat": ","} if axis == TIME_AXES["row"] else {})}


def prepare_evidence(found: OverTime) -> Evidence:
    """Take the evidence of each day, or row, and the alarm."""
    watched, alarm = found.watched, found.watched.found
    table = found.points.assign(period=found.table["period"].to_numpy()[found.points["period"]])
    table = table.rename(columns={"moment": "when", "log10": "log10_evidence"})
    raised = [each.moment for each in (alarm, watched.impossible) if each is not None]
    at = _at([min(raised)], found.kind)[0] if raised else None
    since = None
    if alarm is not None:
        moments = [alarm.earliest_moment, alarm.since_moment, alarm.latest_moment]
        since = tuple(_at(moments, found.kind))
    highest = _in_words(float(table["log10_evidence"].max()), watched.threshold)
    return Evidence(
        TIME_AXES[found.kind],
        watched.threshold,
        at,
        since,
        table=table,
        title=summary(found),
        caption="The dashed line shows the alarm level. The line is dotted where the evidence exceeds "
        f"{MOST_TIMES:,} times this level. The alarm is raised when the evidence reaches "
        f"{watched.threshold:g}. If the model is calibrated, the probability that this ever happens is at "
        f"most {100 * watched.alpha:g} %, however often you look. "
        + ("" if alarm is None else "Shaded: 95 % interval for the start of a sudden change."),
        alt=f"Evidence against calibration over {watched.rows:,} rows; highest {highest}. {summary(found)}.",
    )


def draw_evidence(record: Evidence, theme: Theme = LIGHT) -> go.Figure:
    """Draw one line on a log axis, the threshold, the alarm and the interval of the beginning."""
    log = record.table["log10_evidence"].to_numpy()
    limit = float(np.log10(record.threshold))
    high, low = limit + DECADES_ABOVE, float(DECADES_BELOW)
    ticks = np.arange(low, high + 0.01)
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            showlegend=False,
            margin={"t": 28},
            xaxis=_time(record.axis),
            yaxis={
                "title": {"text": "Evidence against calibration"},
                "range": [low - 0.1, high + 0.2],
                "tickvals": ticks,
                "ticktext": [f"{10**t:,.6g}" if -4 < t <= 4 else f"10<sup>{t:.0f}</sup>" for t in ticks],
                "automargin": True,
            },
            hovermode="closest",
        )
    )
    _mark_alarm(figure, record, limit, theme)
    words = [_in_words(value, record.threshold) for value in log]
    beyond = log > high
    known = np.column_stack([words, record.table["rows"], record.table["period"]])
    # A point where the evidence leaves the scale or returns belongs to both lines
    near = beyond | np.append(beyond[1:], False) | np.append(False, beyond[:-1])
    for inside, width, dash in ((~beyond, 2.0, "solid"), (near, 1.5, "dot")):
        if inside.any():
            figure.add_trace(
                go.Scatter(
                    x=record.table["when"],
                    y=np.where(inside, np.clip(log, low, high + 0.1), np.nan),
                    customdata=known,
                    mode="lines+markers",
                    marker=INVISIBLE,
                    line={"color": theme.negative, "width": width, "dash": dash, "shape": "hv"},
                    hovertemplate="%{x}<br>evidence %{customdata[0]}<br>after %{customdata[1]} rows<extra></extra>",
                )
            )
    if beyond.any():
        text = f"dotted: {words[int(log.argmax())]}"
        _note(figure, text, theme.negative, x=1, xref="x domain", y=1, yref="paper", xanchor="right")
    return figure


def _in_words(log10: float, threshold: float) -> str:
    return evidence_in_words(log10 * np.log(10), threshold)


def _mark_alarm(figure: go.Figure, record: Evidence, limit: float, theme: Theme) -> None:
    """Mark the level of the alarm, the alarm, and the interval for the start of the change."""
    if record.since is not None:
        begin, _, end = record.since
        figure.add_vrect(x0=begin, x1=end, fillcolor=theme.calibration, opacity=0.25, line_width=0)
    figure.add_hline(y=limit, line={"color": theme.positive, "width": 1.5, "dash": "dash"})
    text = f"alarm at {record.threshold:g}"
    when = record.table["when"]
    early = record.alarm is not None and record.alarm < when.iloc[len(when) // 2]
    # Away from the alarm's own line
    side = {"x": 1, "xanchor": "right"} if early else {"x": 0, "xanchor": "left"}
    _note(figure, text, legible(theme.positive, theme), xref="paper", y=limit, **side)
    if record.alarm is not None:
        figure.add_vline(x=record.alarm, line={"color": theme.positive, "width": 1.5})


def _note(figure: go.Figure, text: str, color: str, **place: Any) -> None:
    figure.add_annotation(text=text, showarrow=False, yanchor="bottom", font={"color": color}, **place)


@dataclass(frozen=True, eq=False)
class LevelOverTime(TableRecord):
    """Numbers of each period, one line each, and the level so far."""

    middle: Any
    axis: str
    band: pd.DataFrame
    since: Any


def prepare_levels(found: OverTime) -> LevelOverTime:
    """Compare the periods: scores, base rate, and observed minus predicted; and the level so far."""
    table = pd.concat([found.table, found.later], ignore_index=True)
    estimated = table["base_rate"].notna().any()
    begin, end = table["begin"], table["end"]
    if found.kind == "date":
        first, last = pd.to_datetime(begin), pd.to_datetime(end)
    else:
        first, last = begin.astype(float), end.astype(float)
    alarm = found.watched.found
    return LevelOverTime(
        first + (last - first) / 2,
        TIME_AXES[found.kind],
        found.band,
        None if alarm is None else _at([alarm.since_moment], found.kind)[0],
        table=table,
        title=change_sentence(found),
        caption="Panels show scores, base rate and observed minus predicted over time. If only the scores "
        "shift, the cases have changed; if observed minus predicted moves away from 0, the "
        "calibration has changed. "
        + (
            "Scores (median and middle 80 %) and the estimated base rate (EM) need no labels. EM assumes that the "
            "distribution of the scores within each class does not change. "
            if estimated
            else "Scores (median and middle 80 %) need no labels. "
        )
        + "The last periods also contain rows without labels. " * bool(len(found.later))
        + "Bands are valid however often you look; the band of a period is valid within this period.",
        alt=f"{change_sentence(found)}. Observed minus predicted by period: "
        + "; ".join(f"{r.period} {number(r.gap)}" for r in found.table.itertuples())
        + ".",
    )


def draw_levels(record: LevelOverTime, theme: Theme = LIGHT) -> go.Figure:
    """Draw four panels above each other on one axis of time."""
    table, so_far = record.table, record.band
    figure = _four_panels(record.axis, theme, bool(table["base_rate"].notna().any()))
    seen = table["gap"].notna()  # periods that wait for labels have only scores
    for x, low, high, axis, color in (
        (record.middle, table["p10"], table["p90"], "y", theme.negative),
        (record.middle[seen], table["low"][seen], table["high"][seen], "y3", theme.calibration),
        (so_far["moment"], so_far["low"], so_far["high"], "y4", theme.calibration),
    ):
        figure.add_trace(band(x, low, high, color, yaxis=axis))
    for column, axis, name, color, dash in (
        ("p50", "y", "median score", theme.negative, "solid"),
        ("base_rate", "y2", "estimated", theme.grouping, "dash"),
        ("observed", "y2", "observed", theme.positive, "solid"),
        ("gap", "y3", "observed − predicted", theme.calibration, "solid"),
    ):
        figure.add_trace(
            go.Scatter(
                x=record.middle,
                y=table[column],
                yaxis=axis,
                customdata=table[["period"]].to_numpy(),
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": dash},
                hovertemplate=f"%{{customdata[0]}}<br>{name} %{{y:.3f}}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=so_far["moment"],
            y=so_far["level"],
            yaxis="y4",
            mode="lines",
            line={"color": theme.calibration, "width": 2},
            hovertemplate="%{x}<br>so far %{y:.4f}<extra></extra>",
        )
    )
    for axis in PANEL_AXES[2:]:
        figure.add_hline(y=0, line={"color": theme.diagonal, "width": 1}, yref=axis)
    if record.since is not None:
        for axis in PANEL_AXES:
            line = {"color": theme.positive, "width": 1, "dash": "dot"}
            ends = {"x0": record.since, "x1": record.since, "y0": 0, "y1": 1}
            figure.add_shape(type="line", yref=f"{axis} domain", line=line, **ends)
    # The band of the first rows is so wide that it would hide all that follows
    later = so_far.iloc[len(so_far) // 10 :]
    if len(later):
        reach = 1.1 * float(max(later["high"].max(), -later["low"].min(), 1e-3))
        figure.update_layout(yaxis4={"range": [-reach, reach]})
    return figure


def _four_panels(axis: str, theme: Theme, estimated: bool = True) -> go.Figure:
    """Return the empty panels with their names."""
    domains = {
        name.replace("y", "yaxis"): {
            "domain": [0.8 - 0.262 * i, 1 - 0.262 * i],
            "automargin": True,
            "nticks": 5,
        }
        for i, name in enumerate(PANEL_AXES)
    }
    common = {"showlegend": False, "margin": {"t": 28}, "hovermode": "closest"}
    xaxis = {**_time(axis), "anchor": PANEL_AXES[-1]}
    figure = go.Figure(layout=layout(theme, height=760, xaxis=xaxis, **common, **domains))
    for name, yref in zip(PANEL_NAMES, PANEL_AXES, strict=True):
        figure.add_annotation(heading(name if estimated or yref != "y2" else OBSERVED, yref, "x"))
    return figure


@dataclass(frozen=True, eq=False)
class Reliabilities(TableRecord):
    """Reliability of each period, one line per period and group of rows."""

    names: tuple[str, ...]
    after: tuple[bool, ...]


def prepare_periods(found: OverTime) -> Reliabilities:
    """Group each period's rows by their predictions."""
    names, curves = list(found.periods.curves), found.periods.curves
    places = np.arange(len(names))
    if len(names) > MOST_PANELS:
        places = np.unique(np.linspace(0, len(names) - 1, MOST_PANELS).round().astype(int))
    columns = ("predicted", "observed", "rows")
    parts = [
        pd.DataFrame(dict(zip(columns, curves[names[i]], strict=True))).assign(period=names[i])
        for i in places
    ]
    changed = found.changed_in
    worst = found.table.loc[found.table["gap"].abs().idxmax()]
    left_out = f" {len(places)} of {len(names)} periods are drawn." if len(places) < len(names) else ""
    return Reliabilities(
        tuple(names[i] for i in places),
        tuple(changed is not None and bool(i >= changed) for i in places),
        table=pd.concat(parts, ignore_index=True),
        title=f"Largest gap in {worst.period}: observed {number(worst.observed)}, predicted {number(worst.predicted)}",
        caption="Each panel is the reliability diagram of one period; on the diagonal, predictions match "
        f"outcomes. The dotted grey line shows the first period. Each mark represents about the same number "
        f"of rows. Orange diamonds: periods since the change.{left_out}",
        alt=f"Reliability diagrams of {len(places)} periods. Largest gap in {worst.period}: {number(worst.gap)}.",
    )


def draw_periods(record: Reliabilities, theme: Theme = LIGHT) -> go.Figure:
    """Draw small panels on equal axes, each with the first period in grey."""
    axis = {"range": [-0.03, 1.03], "tickvals": [0, 1]}
    names = [_short_name(name) for name in record.names]
    columns = 3 if max(map(len, names)) > LETTERS_ON_PHONE else 4  # a phone is narrow
    figure = panels(
        theme,
        [(name,) for name in names],
        min(columns, len(names)),
        height=150,
        xaxis={**axis, "title": {"text": "Predicted"}},
        yaxis={**axis, "title": {"text": "Observed"}},
        showlegend=False,
        hovermode="closest",
    )
    spare = figure.layout.margin.b - 56  # space for a legend, which this figure does not have
    figure.update_layout(height=figure.layout.height - spare, margin={"b": 56})
    first = record.table[record.table["period"] == record.names[0]]
    for i, name in enumerate(record.names):
        color, symbol = (theme.positive, "diamond") if record.after[i] else (theme.negative, "circle")
        figure.add_trace(_line(i, [0, 1], [0, 1], {"color": theme.diagonal, "width": 1}))
        if i:
            dotted = {"color": theme.muted, "width": 1.5, "dash": "dot"}
            figure.add_trace(_line(i, first["predicted"], first["observed"], dotted))
        period = record.table[record.table["period"] == name]
        figure.add_trace(
            _line(i, period["predicted"], period["observed"], {"color": color, "width": 2}).update(
                customdata=period[["period", "rows"]].to_numpy(),
                mode="lines+markers",
                marker={"size": 5, "symbol": symbol},
                hoverinfo=None,
                hovertemplate="%{customdata[0]}<br>predicted %{x:.3f}<br>observed %{y:.3f}<br>%{customdata[1]} rows"
                "<extra></extra>",
            )
        )
    return figure


def _line(panel: int, x: Any, y: Any, line: dict[str, Any]) -> go.Scatter:
    """Return a line in a panel that does not answer the pointer."""
    xaxis, yaxis = axes(panel)
    return go.Scatter(x=x, y=y, xaxis=xaxis, yaxis=yaxis, mode="lines", line=line, hoverinfo="skip")


def _short_name(name: str) -> str:
    """Shorten a range of rows to the width of a panel."""
    return name.removeprefix("rows ").removeprefix("week of ").replace(" to ", "–")


WATCH_EVIDENCE = FigureEntry("watch_evidence", "Evidence over time", prepare_evidence, draw_evidence)
WATCH_MOVED = FigureEntry("watch_moved", "Scores and calibration over time", prepare_levels, draw_levels)
WATCH_PERIODS = FigureEntry("watch_periods", "Reliability by period", prepare_periods, draw_periods)
