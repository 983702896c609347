"""Mean intervals and observed frequency in bins of the merged probability; descriptive, as no theorem holds per bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from calib.analysis.clusters import CLUSTERED
from calib.analysis.curves import FEW_IN_BIN, curve_of
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.axes import LogOddsAxis, in_log_odds
from calib.figures.base import FigureEntry, Record, number_or_edges, of_intervals_on_axes, viewed
from calib.figures.theme import LIGHT, Theme, diagonal, error_bars, layout, rgba
from calib.kernel.wording import class_named, counted, probability, some_of
from calib.metrics.interval_width import IntervalBins, interval_bins


@dataclass(frozen=True, eq=False)
class BinnedIntervals(Record):
    """Mean p0, mean p1 and the observed frequency in bins of p.

    Attributes
    ----------
    lower, upper
        95 % Wilson limits of the frequency.
    axis
        The log-odds axis of the picture, or None.
    """

    calibrator: str
    bins: IntervalBins
    lower: np.ndarray
    upper: np.ndarray
    axis: LogOddsAxis | None

    def to_frame(self) -> pd.DataFrame:
        """Return one row per bin."""
        return self.bins.to_frame().assign(observed_low=self.lower, observed_high=self.upper)


def prepare(
    evaluation: Evaluation,
    calibrator: str = "venn_abers",
    *,
    bins: ArrayLike | None = None,
    binning: str | None = None,
    axes: str = "auto",
) -> BinnedIntervals:
    """Bin the merged probability of one method.

    Parameters
    ----------
    bins, binning
        By default those of the evaluation's Recipe. ``bins`` is a number, or edges from 0 to 1.
    axes
        "auto", "probability" or "log_odds".
    """
    bins, own = number_or_edges(bins)
    evaluation = viewed(evaluation, bins=bins, binning=binning)
    recipe = evaluation.recipe
    predictions = evaluation.predictions[calibrator]
    found = interval_bins(
        evaluation.y,
        predictions.pairs,
        predictions.p,
        bins=own or recipe.bins,
        strategy=recipe.binning,
        sample_weight=predictions.weight,
        counts=evaluation.counts,
    )
    curve = curve_of(evaluation, calibrator, edges=own)
    lower, upper = curve.lower, curve.upper
    enough = found.count >= FEW_IN_BIN
    met = enough & (upper >= found.lower) & (lower <= found.upper)
    few = int(((found.count > 0) & ~enough).sum())
    named = class_named(evaluation.dataset.classes[1])
    agreed = f"{some_of(int(met.sum()), int(enough.sum()), 'bin')} with at least {FEW_IN_BIN} rows"
    ends = (found.center, found.lower, found.upper, upper)
    axis = (
        LogOddsAxis.around([end[found.count > 0] for end in ends]) if in_log_odds(axes, evaluation) else None
    )
    return BinnedIntervals(
        calibrator,
        found,
        lower,
        upper,
        axis,
        title=f"The observed frequency agrees with the mean interval in {agreed}"
        if enough.any()
        else "Every bin has too few rows to compare its observed frequency with its interval",
        caption=f"Bars run from mean p0 to mean p1 in each bin of p. Marks show how often {named} occurred, with its "
        "95 % Wilson interval. The figure only describes these rows: validity is guaranteed in expectation "
        "and over all rows, not in every bin."
        + (CLUSTERED if evaluation.cluster is not None else "")
        + (
            f" Faint marks: {counted(few, 'bin')} with fewer than {FEW_IN_BIN} rows, which are hardly informative."
            if few
            else ""
        ),
        alt=f"Mean p0, mean p1 and observed frequency of {label_of(calibrator)} in bins of p; the frequency agrees "
        f"with the interval in {agreed}.",
    )


def draw(record: BinnedIntervals, theme: Theme = LIGHT) -> go.Figure:
    """Draw a square picture on fixed axes: intervals as thick bars, frequencies as marks with thin error bars."""
    axis = {"range": [-0.02, 1.02], "tickvals": np.linspace(0, 1, 6).tolist()}
    figure = go.Figure(
        layout=layout(
            theme,
            height=480,
            xaxis={**axis, "title": {"text": "Mean merged probability p of the bin"}},
            yaxis={**axis, "title": {"text": "Probability"}},
        )
    )
    figure.add_trace(diagonal(theme))
    bins = record.bins
    for rows, opacity in (
        (bins.count >= FEW_IN_BIN, 1.0),
        ((bins.count > 0) & (bins.count < FEW_IN_BIN), 0.35),
    ):
        if rows.any():
            figure.add_traces(
                [_intervals(record, rows, opacity, theme), _frequencies(record, rows, opacity, theme)]
            )
    if record.axis is None:
        return figure
    traces = [record.axis.moved(trace.to_plotly_json()) for trace in figure.data]
    return go.Figure(traces, figure.layout).update_layout(
        xaxis=record.axis.across, yaxis=record.axis.settings
    )


def _intervals(record: BinnedIntervals, rows: np.ndarray, opacity: float, theme: Theme) -> go.Scatter:
    """Return bars from mean p0 to mean p1 of these bins."""
    color, low, high = theme.mark(record.calibrator).color, record.bins.lower[rows], record.bins.upper[rows]
    half = {"array": (high - low) / 2, "thickness": 9, "width": 0, "color": rgba(color, 0.5 * opacity)}
    return go.Scatter(
        x=record.bins.center[rows],
        y=(low + high) / 2,
        mode="markers",
        name="mean p0 to mean p1",
        marker={"symbol": "line-ew-open", "size": 12, "color": rgba(color, opacity), "line": {"width": 1}},
        error_y=half,
        showlegend=opacity == 1,
        hoverinfo="skip",
    )


def _frequencies(record: BinnedIntervals, rows: np.ndarray, opacity: float, theme: Theme) -> go.Scatter:
    """Return the frequency of class 1 in these bins, with its limits."""
    bins, low, high = record.bins, record.lower[rows], record.upper[rows]
    observed = bins.observed[rows]
    return go.Scatter(
        x=bins.center[rows],
        y=observed,
        mode="markers",
        name="observed frequency",
        text=[probability(value) for value in observed],
        customdata=np.stack([bins.count[rows], bins.lower[rows], bins.upper[rows], low, high], axis=1),
        marker={"symbol": "diamond", "size": 9, "color": rgba(theme.ink, opacity)},
        error_y=error_bars(observed, low, high, rgba(theme.ink, 0.7 * opacity), 1.2, 3),
        showlegend=opacity == 1,
        hovertemplate="p0 %{customdata[1]:.3g}, p1 %{customdata[2]:.3g}<br>"
        "observed %{text} in %{customdata[0]:,d} rows<br>"
        "95 % interval [%{customdata[3]:.3g}, %{customdata[4]:.3g}]",
    )


INTERVAL_BINS = FigureEntry("interval_bins", "Validity by bin", prepare, draw, reported=of_intervals_on_axes)
