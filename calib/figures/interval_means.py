"""Mean intervals and observed frequency over all rows: of class 1, and of the predicted label.

Vovk and Petej (2014), corollary 1: the expected frequency of class 1 lies between the expected p0 and p1.
Intervals of the predicted label against accuracy: Johansson et al., forests (2019), eq. 5–6 and Table 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.clusters import CLUSTERED
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, itself
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, error_bars, hollow, layout, outlined
from calib.figures.widths import Series, series_of
from calib.kernel.records import Predictions
from calib.kernel.wording import brief_percent, class_named, number, some_of
from calib.metrics.confidence_intervals import share_interval
from calib.metrics.interval_width import (
    IntervalSummary,
    interval_summary,
    predicted_label_intervals,
    predicted_label_summary,
)

EVENTS_OF_INTERVAL = ("class 1", "predicted label")


@dataclass(frozen=True, eq=False)
class IntervalMeans(Record):
    """Summaries of class 1 and of the predicted label for each series, on ``rows`` test rows."""

    series: tuple[Series, ...]
    summaries: tuple[tuple[IntervalSummary, IntervalSummary], ...]
    rows: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row per series and event."""
        return pd.DataFrame(
            [
                {"method": series.name, "event": event, **asdict(summary)}
                for series, both in zip(self.series, self.summaries, strict=True)
                for event, summary in zip(EVENTS_OF_INTERVAL, both, strict=True)
            ]
        )

    def table(self) -> pd.DataFrame:
        """Return a table for readers: one row per series, intervals as [low, high]."""
        return pd.DataFrame(
            {
                "Mean p0 to mean p1": [_span(one) for one, _ in self.summaries],
                "Mean width": [number(one.width) for one, _ in self.summaries],
                "Observed class 1": [number(one.observed) for one, _ in self.summaries],
                "Frequency in interval?": [_verdict(one) for one, _ in self.summaries],
                "Predicted label": [_span(label) for _, label in self.summaries],
                "Accuracy": [number(label.observed) for _, label in self.summaries],
                "Accuracy in interval?": [_verdict(label) for _, label in self.summaries],
            },
            index=pd.Index([series.name for series in self.series], name="Method"),
        )


def _span(summary: IntervalSummary) -> str:
    return f"[{number(summary.lower)}, {number(summary.upper)}]"


def _verdict(summary: IntervalSummary) -> str:
    """State whether the frequency is inside, within sampling error, or on which side it lies outside."""
    if summary.lower <= summary.observed <= summary.upper:
        return "yes"
    if summary.valid:
        return "yes, within sampling error"
    return "no, below" if summary.observed < summary.lower else "no, above"


def prepare(evaluations: Evaluation | Sequence[Evaluation]) -> IntervalMeans:
    """Summarise every interval method of one evaluation, or of several side by side.

    Raises
    ------
    InputError
        If there is no interval.
    """
    series = series_of(evaluations)
    summaries = tuple((_summary(interval_summary, s), _summary(predicted_label_summary, s)) for s in series)
    rows, observed = series[0].predictions.size, summaries[0][0].observed
    first = evaluations if isinstance(evaluations, Evaluation) else evaluations[0]
    held, event = [one.valid for one, _ in summaries], class_named(first.dataset.classes[1])
    predicted = f"as {some_of(sum(held), len(held), 'method')} predicted"
    if len(held) == 1:
        predicted = f"{'' if held[0] else 'not '}as {series[0].name} predicted"
    return IntervalMeans(
        tuple(series),
        summaries,
        rows,
        title=f"{event[0].upper()}{event[1:]} occurred in {brief_percent(observed)} of the rows, {predicted}",
        caption=_caption(series, event),
        alt=" ".join(
            f"{s.name}: mean interval {_span(one)}, observed {number(one.observed)}; predicted label {_span(label)}, "
            f"accuracy {number(label.observed)}."
            for s, (one, label) in zip(series, summaries, strict=True)
        ),
    )


def _summary(of: Callable[..., IntervalSummary], series: Series) -> IntervalSummary:
    predictions = series.predictions
    return of(
        predictions.y,
        predictions.pairs,
        calibration_size=series.calibration_size,
        design_effect=series.design_effect,
        sample_weight=predictions.weight,
        counts=series.counts,
    )


def _caption(series: Sequence[Series], event: str) -> str:
    text = (
        "Bars run from the mean lower to the mean upper end of the intervals of the test rows. Diamonds are "
        "the observed frequencies with their 95 % Wilson intervals. The upper part compares the mean "
        f"interval for {event} with its observed frequency. The lower part compares the mean interval for "
        "the predicted label with the accuracy. If a method is valid, its diamond lies on its bar, apart "
        "from the sampling error of test and calibration rows. Validity is guaranteed only in expectation "
        "and over all rows."
    )
    if any(s.design_effect > 1 for s in series):
        text += CLUSTERED
    if any(s.placement == "train" for s in series):
        text += (
            " Simplified Venn–Abers reuses the scores of training rows, so its intervals are not "
            "guaranteed to be valid."
        )
    return text


def draw(record: IntervalMeans, theme: Theme = LIGHT) -> go.Figure:
    """Draw two panels, one above the other, each with one line per series; both share the axis of probabilities."""
    count = len(record.series)
    axis = {"range": [-0.6, count - 0.4], "tickvals": list(range(count)), "showgrid": False}
    names = [series.name for series in reversed(record.series)]
    figure = go.Figure(
        layout=layout(
            theme,
            height=170 + 52 * count,
            margin={"l": 12, "r": 16, "t": 28, "b": 44},
            xaxis={"title": {"text": "Probability"}, "range": [-0.01, 1.01], "anchor": "y2"},
            yaxis={**axis, "domain": [0.56, 1], "ticktext": names, "automargin": True},
            yaxis2={**axis, "domain": [0, 0.44], "ticktext": names, "automargin": True},
            showlegend=False,
        )
    )
    for panel, (event, place) in enumerate(zip(EVENTS_OF_INTERVAL, ("y", "y2"), strict=True)):
        name = f"Probability of {'class 1' if panel == 0 else 'the predicted label'}"
        figure.add_annotation(heading(name, place, "x"))
        for i, series in enumerate(record.series):
            figure.add_traces(
                _line(
                    series,
                    record.summaries[i][panel],
                    share_interval(series.predictions, _events(series.predictions, panel)),
                    count - 1 - i,
                    place,
                    event,
                    theme,
                )
            )
    return figure


def _events(predictions: Predictions, panel: int) -> np.ndarray:
    """Return (m,): 1.0 for a row of class 1, or in the panel below for a row whose predicted label is right."""
    labels = predicted_label_intervals(predictions.pairs)[0] if panel else np.ones(predictions.n)
    return (predictions.y == labels).astype(float)


def _line(
    series: Series,
    summary: IntervalSummary,
    ends: tuple[float, float],
    y: int,
    place: str,
    event: str,
    theme: Theme,
) -> list[go.Scatter]:
    """Return the mean interval as a bar with its two ends, and the frequency as a diamond with error bars."""
    color, observed = theme.mark(series.calibrator).color, summary.observed
    bar = go.Scatter(
        x=[summary.lower, summary.upper],
        y=[y, y],
        yaxis=place,
        mode="lines+markers",
        name=series.name,
        line={"color": color, "width": 9},
        marker=hollow(color, 20, 2.5, "line-ns-open"),
        hovertemplate="mean end %{x:.4f}",
    )
    mark = go.Scatter(
        x=[observed],
        y=[y],
        yaxis=place,
        mode="markers",
        name=series.name,
        marker=outlined(theme.ink, 11, theme, symbol="diamond"),
        error_x=error_bars(observed, *ends, theme.ink, 1.2, 4),
        hovertemplate=f"{'accuracy' if event == EVENTS_OF_INTERVAL[1] else 'observed'} %{{x:.4f}}",
    )
    return [bar, mark]


INTERVAL_MEANS = FigureEntry(
    "interval_means", "Intervals and observed frequencies", prepare, draw, reported=itself
)
