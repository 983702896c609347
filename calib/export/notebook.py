"""An Evaluation in a notebook: figures by name, a matplotlib axis, and a summary as HTML that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.evaluate.views import TOP
from calib.export.axis import axis_of, draw_on
from calib.export.charts import report_options
from calib.export.pages import html_table
from calib.figures import FIGURES, LIGHT, Theme, formatted_metrics
from calib.kernel.checks import InputError, one_of

SQUARE_SIDE, AXIS_MARGIN = 320, 44  # pixels: side of the square, and margin for the axes
MOST_DRAWN_PREDICTIONS = 4  # largest number of predictions in the diagram
SUMMARY_METRICS = ("brier", "log_loss", "ece", "ece_chance", "slope", "auc", "accuracy")


def figure(
    evaluation: Evaluation, key: str = "reliability", *, theme: Theme = LIGHT, **view: Any
) -> go.Figure:
    """Draw a figure of an Evaluation by its key in ``FIGURES``.

    Parameters
    ----------
    theme
        ``LIGHT`` or ``DARK``.
    view
        Options of the figure's ``prepare``, such as ``bins=15``.

    Raises
    ------
    InputError
        For an unknown figure or option, or a figure that needs more than an Evaluation.
    """
    entry = FIGURES[one_of(key, FIGURES, "figure")]
    if entry.reported is None:
        made = ", ".join(name for name, one in FIGURES.items() if one.reported is not None)
        raise InputError(f"figure: {key!r} cannot be drawn from an Evaluation alone. Choose one of {made}.")
    source, options = entry.reported(evaluation, report_options(evaluation.recipe))
    try:
        record = entry.prepare(source, **(options | view))
    except TypeError as error:
        raise InputError(f"figure: {key!r} does not support these options ({error}).") from None
    return entry.draw(record, theme)


def plot(evaluation: Evaluation, ax: Any = None, *, theme: Theme = LIGHT, **view: Any) -> Any:
    """Draw the reliability diagram in a matplotlib axis.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The axis to draw in; by default that of a new square figure.
    theme
        ``LIGHT`` or ``DARK``.
    view
        Options of ``prepare``: ``calibrators``, ``bins``, ``binning``, ``curve``, ``band``, ``axes``, ``faint``.

    Returns
    -------
    matplotlib.axes.Axes
        Coordinates are probabilities, or their log-odds ln(p / (1 − p)) if the diagram's axes are in log-odds.

    Raises
    ------
    InputError
        For an unknown option, for something that is not an axis, or without matplotlib.

    Examples
    --------
    >>> from calib import check
    >>> check([0, 1], [0.2, 0.7]).plot(bins=10).get_xlabel()
    'Predicted probability'
    """
    axis = axis_of(ax)
    draw_on(axis, figure(evaluation, "reliability", theme=theme, **view), theme)
    return axis


def html(evaluation: Evaluation) -> str:
    """Return verdict, reading, metric table and reliability diagram as one piece of HTML without scripts.

    >>> from calib import check
    >>> "Too few rows" in html(check([0, 1], [0.2, 0.7]))
    True
    """
    if evaluation.classes > 2:
        tables = (
            html_table(evaluation.metrics, float_format="%.4f"),
            html_table(evaluation.by_class(), float_format="%.3f"),
        )
        return html(evaluation.view(TOP)) + "".join(tables)
    table = html_table(formatted_metrics(evaluation, SUMMARY_METRICS).T.rename_axis(None, axis=1))
    shown = list(evaluation.predictions)[:MOST_DRAWN_PREDICTIONS]
    read_as = f"<p>{escape(str(evaluation.read_as))}</p>" if evaluation.read_as else ""
    return (
        f"<p><b>{escape(evaluation.verdict.sentence)}</b></p>{read_as}"
        f'<div style="display:flex;flex-wrap:wrap;gap:24px">{_diagram(evaluation, shown)}<div>{table}</div></div>'
    )


def _diagram(evaluation: Evaluation, shown: list[str]) -> str:
    """Draw the bins as marks, sized by their number of rows, over the band of a calibrated model."""
    record = FIGURES["reliability"].prepare(evaluation, shown, curve="binned", band="consistency", faint=True)
    parts = [
        *_axes(),
        *_names(shown),
        *(part for key in shown for part in _marks(key, record.bins[key], first=key == shown[0])),
    ]
    size = SQUARE_SIDE + 2 * AXIS_MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="{-AXIS_MARGIN} {-AXIS_MARGIN / 2} {size} {size}" role="img" '
        f'aria-label="{escape(record.alt)}" font-family="sans-serif" font-size="12" '
        f'style="background:{LIGHT.paper}" fill="{LIGHT.ink}">{"".join(parts)}</svg>'
    )


def _at(x: float, y: float) -> str:
    return f"{SQUARE_SIDE * x:.1f},{SQUARE_SIDE * (1 - y):.1f}"


def _axes() -> Iterator[str]:
    yield f'<path d="M{_at(0, 0)} L{_at(1, 1)}" stroke="{LIGHT.muted}" fill="none"/>'
    yield f'<rect width="{SQUARE_SIDE}" height="{SQUARE_SIDE}" stroke="{LIGHT.muted}" fill="none"/>'
    for tick in (0, 0.5, 1):
        yield f'<text x="{SQUARE_SIDE * tick}" y="{SQUARE_SIDE + 16}" text-anchor="middle">{tick:g}</text>'
        yield f'<text x="-6" y="{SQUARE_SIDE * (1 - tick) + 4}" text-anchor="end">{tick:g}</text>'
    yield f'<text x="{SQUARE_SIDE / 2}" y="{SQUARE_SIDE + 32}" text-anchor="middle">predicted probability</text>'
    yield (
        f'<text transform="translate(-30 {SQUARE_SIDE / 2}) rotate(-90)" text-anchor="middle">observed frequency</text>'
    )


def _names(shown: list[str]) -> Iterator[str]:
    for i, key in enumerate(shown):
        yield f'<circle cx="14" cy="{18 + 18 * i}" r="5" fill="{LIGHT.mark(key).color}"/>'
        yield f'<text x="26" y="{22 + 18 * i}">{escape(label_of(key))}</text>'


def _marks(key: str, curve: Any, first: bool) -> Iterator[str]:
    color, filled = LIGHT.mark(key).color, np.flatnonzero(curve.count > 0)
    if first:
        upper = [_at(curve.mean_p[b], min(curve.band_upper[b], 1)) for b in filled]
        lower = [_at(curve.mean_p[b], max(curve.band_lower[b], 0)) for b in filled[::-1]]
        yield f'<polygon points="{" ".join([*upper, *lower])}" fill="{LIGHT.muted}" opacity="0.2"/>'
    if not filled.size:
        return
    for b in filled:
        x, y = _at(curve.mean_p[b], curve.observed[b]).split(",")
        radius = 2 + 6 * (curve.count[b] / curve.count.max()) ** 0.5
        yield f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{color}" opacity="0.8"/>'
