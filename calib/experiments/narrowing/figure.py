"""Widths of intervals by the number of calibration rows, on logarithmic axes: a power law is a straight line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.experiments.narrowing.simulation import Narrowing
from calib.experiments.shared.findings import Finding
from calib.figures.base import FigureEntry
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import brief, number

POWERS = {"1/n": -1.0, "n^(−2/3)": -2 / 3, "1/√n": -0.5}


@dataclass(frozen=True, eq=False)
class Narrow(Finding):
    found: Narrowing


def prepare(found: Narrowing) -> Narrow:
    """Compute the mean width at every size, and the power of n that it follows."""
    names = list(POWERS)
    nearest = min(names, key=lambda name: abs(POWERS[name] - found.slope))
    return Narrow(
        title=f"The mean width of {label_of(found.method)} intervals falls like n^({brief(found.slope)}): "
        f"{brief(found.mean[0])} with {found.sizes[0]} calibration rows, {brief(found.mean[-1])} with "
        f"{found.sizes[-1]:,}",
        caption="The line is the mean width p1 − p0; the band covers the middle 80 % of the rows. On logarithmic "
        "axes a power of n is a straight line; thin lines are 1/n, n^(−2/3) and 1/√n. The nearest power is "
        f"{nearest}. Ten times as many rows divide the width by {number(10**-found.slope)}.",
        alt="Mean width by calibration size: "
        + ", ".join(f"{n:,}: {number(w)}" for n, w in zip(found.sizes, found.mean, strict=True))
        + ".",
        table=pd.DataFrame(
            {
                "objects": found.sizes,
                "mean_width": found.mean,
                "se": found.error,
                "lower_tenth": found.low,
                "upper_tenth": found.high,
            }
        ),
        answer=1 + names.index(nearest),
        found=found,
    )


def draw(record: Narrow, theme: Theme = LIGHT) -> go.Figure:
    """Draw width against size on logarithmic axes, with three powers for comparison."""
    found, color = record.found, theme.mark(record.found.method).color
    figure = go.Figure(
        layout=layout(
            theme,
            height=480,
            xaxis={
                "type": "log",
                "title": {"text": "Calibration rows"},
                "tickvals": [10, 100, 1000, 10000],
                "tickformat": ",d",
            },
            yaxis={
                "type": "log",
                "title": {"text": "Width of the interval"},
                "range": [-4, 0.05],
                "tickvals": [1, 0.1, 0.01, 0.001],
            },
        )
    )
    figure.add_traces(_powers(found, theme))
    figure.add_trace(band(found.sizes, np.maximum(found.low, 1e-5), found.high, color))
    figure.add_scatter(
        x=found.sizes,
        y=found.mean,
        mode="lines+markers",
        name=f"mean width, {label_of(found.method)}",
        line={"color": color, "width": 2.6},
        marker={"symbol": theme.mark(found.method).symbol, "size": 10, "color": color},
        error_y={"array": 2 * found.error, "color": color, "thickness": 1.2, "width": 4},
        hovertemplate="%{y:.4f} with %{x:,d} calibration rows",
    )
    return figure


def _powers(found: Narrowing, theme: Theme) -> list[go.Scatter]:
    """Draw straight lines for comparison, all through the mean width in the middle."""
    sizes, middle = found.sizes, len(found.sizes) // 2
    return [
        go.Scatter(
            x=sizes,
            y=found.mean[middle] * (sizes / sizes[middle]) ** power,
            mode="lines",
            name=name,
            hoverinfo="skip",
            line={"color": theme.diagonal, "width": 1.4, "dash": dash},
        )
        for (name, power), dash in zip(POWERS.items(), ("dot", "dash", "dashdot"), strict=True)
    ]


FIGURES = (FigureEntry("narrowing", "How intervals narrow", prepare, draw),)
