"""Apparent and corrected curve of a model on the rows that it was trained on (Harrell's bootstrap)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.optimism import Validation
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.theme import LIGHT, Theme, square
from calib.kernel.wording import alike, with_interval
from calib.metrics import METRICS

INTERCEPT_LABEL = "Intercept (slope free)"


@dataclass(frozen=True, eq=False)
class OptimismCurve(TableRecord):
    """Columns p, apparent and corrected, one line per prediction."""


def prepare(found: Validation) -> OptimismCurve:
    """Take the curve, and what single splits would have said."""
    slope = found.table().loc["slope"]
    apparent, corrected = alike(slope.apparent, slope.corrected)
    return OptimismCurve(
        table=found.curve,
        title=f"Calibration slope {apparent} on the training rows, {corrected} on new rows",
        caption="Curves show the observed frequency by prediction: apparent (dashed), and corrected for optimism. On "
        f"the diagonal, predictions match outcomes. The apparent curve uses the training rows of the model, "
        f"so it is too optimistic. Its mean optimism over {len(found.train):,} resamples is subtracted.",
        alt=f"Apparent and corrected curve. {found.sentence}",
    )


def draw(record: OptimismCurve, theme: Theme = LIGHT) -> go.Figure:
    """Draw both curves on the unit square."""
    axis = {"range": [0, 1], "constrain": "domain"}
    titles = "Predicted probability", "Observed frequency"
    figure = square(theme, axis, *titles, height=430, legend={"y": -0.15})
    for name, color, dash in (("apparent", theme.muted, "dash"), ("corrected", theme.calibration, "solid")):
        figure.add_scatter(
            x=record.table["p"],
            y=np.clip(record.table[name], 0, 1),
            mode="lines",
            name=name.capitalize(),
            line={"color": color, "width": 2.5, "dash": dash},
            hovertemplate="predicted %{x:.3f}<br>%{y:.3f}",
        )
    return figure


def formatted_validation(
    found: Validation, form: Callable[[float, float, float], str] = with_interval
) -> pd.DataFrame:
    """Format one line per measure: apparent, optimism, corrected with its interval, and the other estimates."""
    lines = found.table()

    def alone(values: pd.Series) -> list[str]:
        return [form(value, np.nan, np.nan) for value in values]

    return pd.DataFrame(
        {
            "Apparent": alone(lines["apparent"]),
            "Optimism": alone(lines["optimism"]),
            "Corrected [95 % interval]": [
                form(each.corrected, each.low, each.high) for each in lines.itertuples()
            ],
            ".632+": alone(lines["plus_632"]),
            "Cross-validation": alone(lines["cross_validated"]),
            "95 % of single splits": [
                f"{low} to {high}"
                for low, high in zip(alone(lines["split_low"]), alone(lines["split_high"]), strict=True)
            ],
        },
        index=[
            INTERCEPT_LABEL if key == "intercept" else METRICS[key].label for key in map(str, lines.index)
        ],
    )


OPTIMISM = FigureEntry("optimism", "Correction for optimism", prepare, draw)
