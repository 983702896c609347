"""Interval widths: a histogram and the quantiles of p1 − p0 for every method, one above the other.

Of several evaluations, the methods have the papers' names: inductive, cross, …
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.clusters import sampling_effect
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, itself, stacked
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.kernel.binning import quantiles
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.wording import briefly, number
from calib.placements import PLACEMENTS

PREDICTOR_KINDS = {
    "split": "inductive",
    "cv": "cross",
    "train": "simplified",
    "full": "full",
    "oob": "out of bag",
    "oob_whole": "out of bag, whole ensemble",
}


@dataclass(frozen=True, eq=False)
class Series:
    """One interval method with one kind of calibration data, on the test rows.

    ``calibration_size`` is the number of calibration rows of a probability, ``design_effect`` the number of rows
    worth one without clusters, and ``counts`` (m,) the rows that each test row represents, if its weight is larger.
    """

    calibrator: str
    placement: str
    predictions: Predictions
    calibration_size: int
    design_effect: float
    counts: np.ndarray | None = None

    @property
    def name(self) -> str:
        return f"{label_of(self.calibrator)}, {kind_of(self.placement)}"


def kind_of(placement: str) -> str:
    """Return the papers' name of an interval method with these calibration data, or the name of the placement.

    >>> kind_of("cv")
    'cross'
    """
    return PREDICTOR_KINDS.get(placement) or PLACEMENTS[placement].label.lower()


def series_of(evaluations: Evaluation | Sequence[Evaluation]) -> list[Series]:
    """Return every method with intervals in these evaluations, with the placements of a calibrator together.

    Raises
    ------
    InputError
        If there is none.
    """
    many = [evaluations] if isinstance(evaluations, Evaluation) else list(evaluations)
    found = [
        Series(
            key,
            e.recipe.placement,
            each,
            max(1, e.calibration_size // len(e.flow)),
            sampling_effect(e, key),
            e.counts,
        )
        for e in many
        for key, each in e.predictions.items()
        if each.lower is not None
    ]
    if not found:
        raise InputError(
            "No method with intervals can be fitted here, because Venn and Venn–Abers need "
            "calibration scores."
        )
    order = list(dict.fromkeys(s.calibrator for s in found))
    return sorted(found, key=lambda s: order.index(s.calibrator))


WIDTH_BINS = 48
WIDTH_QUANTILES = (0.1, 0.5, 0.9)
BAR = 0.08  # of a line's height, between a histogram and its bar: clear of the name below
NARROWEST_WIDTH = 1e-6  # smallest start of the axis
CEILINGS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # a linear axis of widths ends at one of these


@dataclass(frozen=True, eq=False)
class Widths(Record):
    """Histograms over common bins and quantiles, one line per series.

    Attributes
    ----------
    edges : (WIDTH_BINS + 1,)
        Geometric, the last is 1; narrower intervals count in the first bin.
    counts : (series, WIDTH_BINS)
    quantiles : (series, 3)
        The 10 %, 50 % and 90 % quantiles.
    means : (series,)
    """

    series: tuple[Series, ...]
    edges: np.ndarray
    counts: np.ndarray
    quantiles: np.ndarray
    means: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return one row per series and bin, with its quantiles beside it."""
        bins = pd.DataFrame({"left": self.edges[:-1], "right": self.edges[1:]})
        return stacked(
            (
                (series.name, bins.assign(rows=counts, q10=q10, median=median, q90=q90, mean=mean))
                for series, counts, (q10, median, q90), mean in zip(
                    self.series, self.counts, self.quantiles, self.means, strict=True
                )
            ),
            "method",
        )


def ceiling(value: float) -> float:
    """Return the end of an axis of widths.

    >>> ceiling(0.13), ceiling(0.2), ceiling(0.9)
    (0.2, 0.2, 1.0)
    """
    return next((end for end in CEILINGS if value <= end), 1.0)


def logarithmic_edges(narrow: float) -> np.ndarray:
    """Return edges from the power of ten at or below ``narrow``, but at most 0.01, up to 1.

    >>> logarithmic_edges(0.0042)[[0, -1]].round(6)
    array([0.001, 1.   ])
    """
    decade = math.floor(math.log10(max(narrow, NARROWEST_WIDTH)) + 1e-9)
    return np.geomspace(10.0 ** min(-2, decade), 1.0, WIDTH_BINS + 1)


def prepare(evaluations: Evaluation | Sequence[Evaluation]) -> Widths:
    """Compute the widths of every interval method of one evaluation, or of several side by side.

    Raises
    ------
    InputError
        If there is no interval.
    """
    series = series_of(evaluations)
    widths = [(s.predictions.width, s.predictions.weight) for s in series]
    edges = logarithmic_edges(
        min(float(quantiles(width, np.array(0.05), weight)) for width, weight in widths)
    )
    counts = np.stack(
        [np.histogram(np.clip(w, edges[0], 1.0), edges, weights=weight)[0] for w, weight in widths]
    )
    spread = np.stack([quantiles(width, np.array(WIDTH_QUANTILES), weight) for width, weight in widths])
    median = spread[:, 1]
    wide = int(median.argmax())
    alike = [i for i, one in enumerate(series) if one.calibrator == series[wide].calibrator]
    narrow = min(
        alike if alike[1:] else range(len(series)), key=median.__getitem__
    )  # of one method if possible
    least, most = briefly(float(median[narrow]), float(median[wide]))
    title = f"{series[narrow].name}: half of the intervals are at most {least} wide"
    if median[wide] > median[narrow]:
        title += f", {series[wide].name} at most {most}"
    return Widths(
        tuple(series),
        edges,
        counts,
        spread,
        np.array([np.average(width, weights=weight) for width, weight in widths]),
        title=title,
        caption=_caption(series, median),
        alt="Histograms of interval widths. "
        + " ".join(f"{s.name}: median {number(float(m))}." for s, m in zip(series, median, strict=True)),
    )


def _caption(series: Sequence[Series], median: np.ndarray) -> str:
    text = (
        "Each shape is a histogram of p1 − p0 over the test rows, on a logarithmic axis. The bar below each histogram "
        "spans the middle 80 % of the rows; the mark is the median. A narrow interval means that the "
        "calibration data determine the probability precisely, not that the probability is right: see the "
        "validity table."
    )
    for one, middle in zip(series, median, strict=True):
        if one.placement == "full" and middle > 0.99:
            text += (
                f" {one.name}: the refitted model memorises whichever label is assumed for the row, as "
                "fully grown trees do. The intervals are nearly [0, 1] and uninformative. Limit the depth or "
                "the leaf size."
            )
    return text


def draw(record: Widths, theme: Theme = LIGHT) -> go.Figure:
    """Draw one line per series, the first at the top."""
    count = len(record.series)
    figure = go.Figure(
        layout=layout(
            theme,
            height=90 + 92 * count,
            showlegend=False,
            margin={"l": 16, "r": 16, "t": 12, "b": 48},
            xaxis={
                "title": {"text": "Width of the interval, p1 − p0"},
                "type": "log",
                "range": [math.log10(record.edges[0]), 0.02],
                "dtick": 1,
                "exponentformat": "none",
            },
            yaxis={"range": [-0.3, count - 0.05], "showticklabels": False, "ticks": "", "showgrid": False},
        )
    )
    for i, series in enumerate(record.series):
        base = count - 1 - i
        figure.add_traces(_shape(record, i, base, theme) + _bar(record, i, base, theme))
        figure.add_annotation(
            x=0,
            xref="paper",
            y=base + 0.71,
            xanchor="left",
            showarrow=False,
            text=f"<b>{series.name}</b>: median {number(record.quantiles[i, 1])}",
        )
    return figure


def _shape(record: Widths, i: int, base: float, theme: Theme) -> list[go.Scatter]:
    color, rows = theme.mark(record.series[i].calibrator).color, record.counts[i]
    heights = base + 0.6 * rows / max(1, rows.max())
    floor = go.Scatter(
        x=record.edges[[0, -1]],
        y=[base, base],
        mode="lines",
        line={"color": color, "width": 0.5},
        hoverinfo="skip",
    )
    steps = go.Scatter(
        x=record.edges,
        y=np.append(heights, heights[-1]),
        mode="lines",
        name=record.series[i].name,
        line={"color": color, "width": 1.5, "shape": "hv"},
        fill="tonexty",
        fillcolor=rgba(color, 0.2),
        customdata=np.append(rows, rows[-1]),
        hovertemplate="%{customdata:,d} rows from a width of %{x:.3g}<extra>%{fullData.name}</extra>",
    )
    return [floor, steps]


def _bar(record: Widths, i: int, base: float, theme: Theme) -> list[go.Scatter]:
    mark = theme.mark(record.series[i].calibrator)
    low, median, high = record.quantiles[i]
    bar = go.Scatter(
        x=[low, high],
        y=[base - BAR] * 2,
        mode="lines",
        line={"color": mark.color, "width": 5},
        hoverinfo="skip",
    )
    point = go.Scatter(
        x=[median],
        y=[base - BAR],
        mode="markers",
        name=record.series[i].name,
        marker={
            "symbol": mark.symbol,
            "size": 13,
            "color": mark.color,
            "line": {"color": theme.ink, "width": 1},
        },
        hovertemplate=f"median %{{x:.4f}}<br>10 to 90 %: {number(low)} to {number(high)}",
    )
    return [bar, point]


WIDTHS = FigureEntry("widths", "Interval widths", prepare, draw, reported=itself)
