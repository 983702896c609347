"""The share of models with an alarm so far, by week: calibrated models above, changed models below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.looking.simulation import ALARMS, ALPHA, Looks
from calib.experiments.shared.findings import Finding, level_line
from calib.experiments.shared.share_lines import SHARE_AXIS, share_lines
from calib.figures.base import FigureEntry
from calib.figures.panels import panels
from calib.figures.theme import LIGHT, Theme
from calib.kernel.wording import brief_percent

LOW, HIGH = 0.10, 0.20  # shares between the answers


@dataclass(frozen=True, eq=False)
class Looking(Finding):
    found: Looks


def prepare(found: Looks) -> Looking:
    """Compute the shares of alarms by week, and the median delays."""
    last = {method: float(found.share("calm", method)[-1]) for method in ALARMS}
    weeks = np.arange(1, found.looks + 1)
    table = pd.DataFrame(
        {"week": weeks}
        | {f"{kind}_{method}": found.share(kind, method) for kind in ("calm", "changed") for method in ALARMS}
    )
    delays = " and ".join(f"{_weeks(found.delay(method))} ({name})" for method, name in ALARMS.items())
    return Looking(
        title=f"False alarms: {brief_percent(last['test'])} for the test, {brief_percent(last['evidence'])} for the "
        "evidence",
        caption="Above: calibrated models, so each alarm is false; the thin line is 5 %. Below: models whose log-odds "
        f"change by {found.shift:g} after {found.before} weeks. Models with an earlier false alarm are left out. The "
        f"median delay is {delays}.",
        alt=f"After {found.looks} weeks the test has raised a false alarm for {brief_percent(last['test'])} of all "
        f"models, the evidence for {brief_percent(last['evidence'])}. Median delay after a change: {delays}.",
        drawn="Two pictures of the share of models with an alarm so far, by week. The upper one is for calibrated "
        "models, the lower one for changed models. Each has a line for the test and one for the evidence.",
        table=table,
        answer=1 if last["test"] < LOW else 2 if last["test"] < HIGH else 3,
        found=found,
    )


def _weeks(delay: float) -> str:
    if np.isnan(delay):
        return "unknown"
    return "not found" if np.isinf(delay) else f"{delay:g} weeks"


def draw(record: Looking, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method in each of two panels."""
    figure = panels(
        theme,
        [("Calibrated models: alarms so far",), ("Changed models: found so far",)],
        1,
        height=165,
        between=34,
        xaxis={
            "title": {"text": "Week (below: week after the change)"},
            "range": [0, record.found.looks + 1],
        },
        yaxis={**SHARE_AXIS, "title": {"text": "Models"}},
        shapes=[level_line(theme, ALPHA, xref="x domain", yref="y")],
    )
    for i, kind in enumerate(("calm", "changed")):
        shares = {method: record.table[f"{kind}_{method}"] for method in ALARMS}
        lines = share_lines(i, record.table["week"], shares, ALARMS, "test", theme, hover="week %{x}", size=0)
        figure.add_traces(lines)
    return figure


FIGURES = (FigureEntry("looking", "Alarms by week", prepare, draw),)
