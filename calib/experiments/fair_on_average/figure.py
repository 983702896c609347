"""Shares of data sets: false alarms by the number of groups searched, and the hidden group found by the rows."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.fair_on_average.simulation import ALPHA, CALM_ROWS, SEARCHES, FairOnAverage
from calib.experiments.shared.findings import Finding, level_line
from calib.experiments.shared.share_lines import SHARE_AXIS, share_lines
from calib.figures.base import FigureEntry
from calib.figures.panels import panels
from calib.figures.theme import LIGHT, Theme
from calib.kernel.wording import brief_percent

LOW, HIGH = 0.25, 0.85  # shares between the answers


@dataclass(frozen=True, eq=False)
class Fair(Finding):
    found: FairOnAverage


def prepare(found: FairOnAverage) -> Fair:
    """Tabulate the shares of data sets, with false alarms and with the hidden group found."""
    calm = [
        {"tables": "calibrated", "groups": groups, "rows": CALM_ROWS}
        | {f"alarm_{method}": found.alarms[method][i] for method in SEARCHES}
        for i, groups in enumerate(found.searched)
    ]
    hidden = [
        {"tables": "hidden group", "groups": found.searched[found.depth - 1], "rows": rows}
        | {
            f"{name}_{method}": each[method][i]
            for name, each in (("found", found.found), ("astray", found.astray))
            for method in SEARCHES
        }
        for i, rows in enumerate(found.rows)
    ]
    at = found.depth - 1
    naive, audit = (brief_percent(float(found.alarms[method][at])) for method in SEARCHES)
    groups = found.searched[at]
    astray, silent = (brief_percent(float(found.astray[method][0])) for method in SEARCHES)
    return Fair(
        title=f"{groups} groups, a calibrated model: false alarms in {naive} of the data sets if each is tested "
        f"alone, in {audit} by the audit",
        caption="Above: data sets of a calibrated model, so each alarm is false; the thin line is 5 %. Below: data "
        f"sets with a hidden group of {brief_percent(found.size)} of the rows, whose true probabilities are "
        f"{found.shift:g} higher than predicted. “Found” means an alarm whose worst group is the "
        f"hidden one or a part of it. With {found.rows[0]} rows, an alarm names another group in {astray} of the "
        f"data sets (each group tested alone) and in {silent} (audit).",
        alt=f"False alarms among {groups} groups of a calibrated model: {naive} of the data sets if each group is "
        f"tested alone, {audit} by the audit.",
        drawn="Two pictures of shares of data sets: false alarms by the number of groups, and the hidden group found "
        "by the number of rows. Each has a line for testing each group alone and one for the audit.",
        table=pd.DataFrame([*calm, *hidden]),
        answer=1 if found.alarms["naive"][at] < LOW else 2 if found.alarms["naive"][at] < HIGH else 3,
        found=found,
    )


def draw(record: Fair, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method in each of two panels."""
    found = record.found
    figure = panels(
        theme,
        [("Calibrated model: false alarms, by groups searched",), ("Hidden group: found, by rows",)],
        1,
        height=165,
        between=48,
        xaxis={"type": "category", "title": {"text": "Rows"}},
        yaxis={**SHARE_AXIS, "title": {"text": "Data sets"}},
        shapes=[level_line(theme, ALPHA, xref="x domain", yref="y")],
    )
    figure.update_layout(xaxis={"showticklabels": True})
    for i, (places, shares, what) in enumerate(
        ((found.searched, found.alarms, "groups"), (found.rows, found.found, "rows"))
    ):
        counts = [f"{place:,}" for place in places]
        lines = share_lines(i, counts, shares, SEARCHES, "naive", theme, hover=f"%{{x}} {what}", size=7)
        figure.add_traces(lines)
    return figure


FIGURES = (FigureEntry("fair_on_average", "Groups searched", prepare, draw),)
