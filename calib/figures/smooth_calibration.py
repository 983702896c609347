"""The diagram of the smooth calibration error: smoothed frequency against probability, without bins.

Błasiok and Nakkiran 2024 (``calib.metrics.smooth_error``): a kernel as wide as the error itself; the thickness of the
line shows the density of predictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, of_metrics, predictions_to_draw, stacked
from calib.figures.many import grey_lines_note, in_colour, mute
from calib.figures.theme import LIGHT, Theme, square
from calib.kernel.wording import low_to_high, number
from calib.metrics import Smoothed, smoothed_residuals

POINTS_PER_CURVE = 257  # points per curve
SPARSE_DENSITY = 0.05  # relative to the mean density; below it, the curve is uncertain and ends


@dataclass(frozen=True, eq=False)
class SmoothDiagram(Record):
    """The smoothed curve of each calibrator, by its key, and the title of the horizontal axis."""

    curves: Mapping[str, Smoothed]
    predicts: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per drawn point: the probability, the smoothed frequency and the density of predictions."""
        return stacked(
            (key, pd.DataFrame(dict(zip(CURVE_COLUMNS, visible_points(curve), strict=True))))
            for key, curve in self.curves.items()
        )


CURVE_COLUMNS = ("probability", "observed", "density")


def visible_points(curve: Smoothed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probability, smoothed frequency and density at the points with enough predictions."""
    step = (len(curve.points) - 1) // (POINTS_PER_CURVE - 1)
    points, observed, density = curve.points[::step], curve.observed[::step], curve.density[::step]
    dense = density > SPARSE_DENSITY
    return points[dense], observed[dense], density[dense]


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> SmoothDiagram:
    """Compute the curves of these calibrators (all by default).

    Raises
    ------
    InputError
        If there is none.
    """
    shown = predictions_to_draw(evaluation, calibrators)
    curves = {key: smoothed_residuals(each.y, each.p, each.weight) for key, each in shown.items()}
    errors = low_to_high({label_of(key): curve.error for key, curve in curves.items()})
    return SmoothDiagram(
        curves,
        evaluation.predicts,
        title=f"The smooth calibration error {'ranges' if errors.startswith('from') else 'is'} {errors}",
        caption="Curves show the smoothed observed frequency by prediction; on the diagonal, predictions match "
        "outcomes. The width of the kernel equals the smooth calibration error of the calibrator. Curves are "
        "thick where there are many predictions. Above the diagonal, the probabilities are too low. Small "
        "differences in the error may be due to sampling variability." + grey_lines_note(curves),
        alt="Smoothed reliability diagram. Smooth calibration error: "
        + "; ".join(f"{label_of(key)} {number(curve.error)}" for key, curve in curves.items())
        + ".",
    )


def draw(record: SmoothDiagram, theme: Theme = LIGHT) -> go.Figure:
    """Draw the curves on the unit square, with marks as large as the density."""
    axis = {"range": [0, 1], "constrain": "domain"}
    more = {"height": 560, "uirevision": "smooth_calibration", "legend": {"y": -0.15}}
    figure = square(theme, axis, record.predicts, "Smoothed frequency", **more)
    figure.add_traces([_line(key, curve, theme) for key, curve in record.curves.items()])
    by_error = sorted(record.curves, key=lambda key: record.curves[key].error)
    named = [key for key in ("none", by_error[0], by_error[-1]) if key in record.curves]
    return mute(figure, in_colour(named, record.curves), theme)


def _line(key: str, curve: Smoothed, theme: Theme) -> go.Scatter:
    """Return a calibrator's curve, whose thickness shows the density of predictions."""
    mark, (points, observed, density) = theme.mark(key), visible_points(curve)
    size = 1 + 8 * np.sqrt(density / density.max())
    return go.Scatter(
        x=points,
        y=observed,
        mode="lines+markers",
        name=label_of(key),
        legendgroup=key,
        line={"color": mark.color, "width": 1.5, "dash": mark.dash},
        marker={"color": mark.color, "size": size, "opacity": 0.35, "line": {"width": 0}},
        customdata=density,
        hovertemplate="%{x:.3f}: %{y:.3f}, density %{customdata:.2f}",
    )


SMOOTH_CALIBRATION = FigureEntry(
    "smooth_calibration",
    "Smooth calibration diagram",
    prepare,
    draw,
    reported=of_metrics("smooth_ece"),
    overlaid=True,
)
