"""Interval width of a Venn or Venn–Abers predictor by the number of calibration rows.

On logarithmic axes a power law is a straight line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import CALIBRATORS, label_of
from calib.experiments.base import Experiment
from calib.experiments.shared.findings import Finding
from calib.experiments.shared.one_feature import (
    CLASS_DISTANCE,
    TAUGHT,
    TRIED,
    VENN_PAPER,
    NormalClasses,
    draws,
)
from calib.figures.base import FigureEntry
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, number

STREAM = 5
CALIBRATION_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
TEST_ROWS_PER_SIZE = 400


@dataclass(frozen=True, eq=False)
class Narrowing:
    """Widths p1 − p0 by the number of calibration rows, arrays (k,).

    Attributes
    ----------
    mean, error
        Mean over rows and draws, and its standard error.
    low, high
        Range of the middle 80 % of the rows.
    slope
        Slope of ln mean width on ln n, over sizes from 100 on.
    """

    method: str
    sizes: Array
    mean: Array
    error: Array
    low: Array
    high: Array
    slope: float


def narrow(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Narrowing:
    """Simulate ``draws`` calibration sets of every size, each with TEST_ROWS_PER_SIZE new rows; the score is x itself.

    Parameters
    ----------
    settings
        method, gap, draws.
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    rows = []
    for size in watch.loop(CALIBRATION_SIZES, "calibration sets"):
        widths = np.array([_widths(settings["method"], classes, size, rng) for _ in range(settings["draws"])])
        means = widths.mean(axis=1)
        rows.append((means.mean(), means.std(ddof=1) / np.sqrt(len(means)), *np.quantile(widths, (0.1, 0.9))))
    sizes, (mean, error, low, high) = np.array(CALIBRATION_SIZES), np.array(rows).T
    large = sizes >= 100
    slope = float(np.polyfit(np.log(sizes[large]), np.log(mean[large]), 1)[0])
    return Narrowing(settings["method"], sizes, mean, error, low, high, slope)


def _widths(method: str, classes: NormalClasses, size: int, rng: np.random.Generator) -> Array:
    (x, y), (new, _) = classes.draw((size,), rng), classes.draw((TEST_ROWS_PER_SIZE,), rng)
    options = {"threshold": classes.gap / 2} if method == "venn" else {}
    p0, p1 = CALIBRATORS[method](**options).fit(x, y).predict_interval(new).T
    return p1 - p0


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


EXPERIMENT = Experiment(
    key="narrowing",
    page=TAUGHT,
    lab=TRIED,
    name="How intervals narrow",
    question="The interval of a new row narrows as calibration rows are added. How many rows halve its "
    "mean width?",
    answers=("Twice as many", "About three times as many", "Four times as many"),
    right=2,
    why=(
        "Then the width would fall like 1/n. This rate holds for pools with a fixed share of the data, but "
        "the share of an isotonic pool shrinks as rows are added.",
        "The width falls like 1/n^(2/3): with more rows there are more pools, so a pool grows more slowly than n. "
        "In a larger pool, a single row has less influence.",
        "Then the width would fall like 1/√n, like the standard error of a mean. But an interval shows how "
        "far one more row moves the fit.",
    ),
    turn={"method": "venn"},
    ghosts=(
        {"traces": ["1/n"]},
        {"traces": ["n^(−2/3)"]},
        {"traces": ["1/√n"]},
    ),
    parameters=(
        Parameter(
            "method",
            "Predictor",
            "choice",
            "venn_abers",
            choices={"venn_abers": "Venn–Abers", "venn": "Venn"},
            help="Choose inductive Venn–Abers or a Venn predictor with two categories.",
        ),
        CLASS_DISTANCE,
        draws(50, 10, 20, 50, 100, 200),
    ),
    simulation=narrow,
    notice=(
        "An interval is wide if its pool is small, because one more row then changes the frequency a lot. A "
        "pool is the set of rows with the same probability. Isotonic pools grow more slowly than the data, "
        "because their number grows too: the fit follows the curve more finely.",
        "The two categories of the Venn predictor each contain a fixed share of all rows. Its interval "
        "shrinks like 1/n, but its probability stays coarse.",
        "The band covers the middle 80 % of the rows. With 1,000 calibration rows or more, intervals at both "
        "ends of the score range are about a fifth wider than those in the middle. With 100 calibration rows, the "
        "difference is small.",
    ),
    formulas=(r"\text{width} = p_1 - p_0 \propto n^{-2/3}", r"\text{rows in a pool} \propto n^{2/3}"),
    source=f"{VENN_PAPER}, section 3. The size of isotonic pools, of order n^(2/3), follows from Brunk's cube-root "
    "asymptotics (1970).",
)


FIGURES = (FigureEntry("narrowing", "How intervals narrow", prepare, draw),)
