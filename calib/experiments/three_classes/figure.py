"""Calibration errors of the confidence and of single classes, by method."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.experiments.three_classes.simulation import JOINT_METHODS, SHOWN, ThreeClasses
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import number

LOW, HIGH = 1.5, 4.5  # points between the answers
LANE, BELOW = 44, 88  # pixels of a method's line, and of the scale, its title and the legend below them
KINDS = {"classes": "single classes, mean", "confidence": "confidence"}


@dataclass(frozen=True, eq=False)
class Errors(Finding):
    found: ThreeClasses


def prepare(found: ThreeClasses, shown: str = "all") -> Errors:
    """Tabulate both errors of each selected method, in percentage points."""
    names = {key: JOINT_METHODS[key] for key in SHOWN[shown]}
    table = pd.DataFrame(
        {kind: {name: 100 * getattr(found, kind)[key] for key, name in names.items()} for kind in KINDS}
    )
    scaled = {kind: number(100 * getattr(found, kind)["temperature"], 2) for kind in KINDS}
    rest, divided = (number(100 * found.classes[key], 2) for key in ("rest", "divided"))
    wrong = 100 * found.classes["temperature"]
    titles = {
        "one against the rest": f"One against the rest: single classes are off by {rest} points, and by {divided} "
        "after dividing by the sum",
    }
    usual = (
        f"After temperature scaling the confidence is off by {scaled['confidence']} points, single classes by "
        f"{scaled['classes']}"
    )
    return Errors(
        title=titles.get(shown, usual),
        caption="Mean distance of predictions from the true probabilities, in 15 bins. It is measured on "
        "40,000 new rows of three Gaussians. Circles: the highest probability of each row. Diamonds: each class "
        f"against the rest, mean of three. One against the rest is off by {rest} points, and by {divided} after each "
        "row is divided by its sum. Before, the sums scatter around 1 with a standard deviation of "
        f"{number(found.sums, 2)}.",
        alt=f"Calibration errors. Temperature scaling: confidence {scaled['confidence']} points, classes "
        f"{scaled['classes']}. One against the rest: classes {rest} points, divided by the sum {divided}.",
        drawn="Two marks for each method: the calibration error of the confidence, and that of single classes.",
        table=table.rename_axis("method").reset_index(),
        answer=1 if wrong < LOW else 2 if wrong < HIGH else 3,
        found=found,
    )


def draw(record: Errors, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method with a mark for each kind of error."""
    table = record.table
    lanes = LANE * len(table)
    figure = go.Figure(
        layout=layout(
            theme,
            height=12 + lanes + BELOW,  # low, so that a phone shows it with its question
            margin={"l": 150, "r": 16, "t": 12, "b": BELOW},
            legend={"y": -60 / lanes},
            xaxis={"title": {"text": "Calibration error in percentage points"}, "rangemode": "tozero"},
            yaxis={"autorange": "reversed", "type": "category"},
        )
    )
    for kind, symbol, color in (
        ("classes", "diamond", theme.ink),
        ("confidence", "circle", theme.muted),
    ):
        figure.add_trace(
            go.Scatter(
                x=table[kind],
                y=table["method"],
                mode="markers",
                name=KINDS[kind],
                marker={"symbol": symbol, "size": 12, "color": color},
                hovertemplate="%{y}: %{x:.1f} points",
            )
        )
    return figure


FIGURES = (FigureEntry("three_classes", "Confidence and classes", prepare, draw),)
