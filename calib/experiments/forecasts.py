"""The reader's own forecasts: how sure of each answer, how often right, and their reliability diagram.

The Brier score evaluates each forecast that the chosen answer is right (Brier, 1950).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.figures.axes import percent_ticks
from calib.figures.theme import LIGHT, Theme, square
from calib.kernel.wording import brief, counted
from calib.metrics import brier_score

USUAL = 0.75  # assumed if a reader does not say how sure they are


@dataclass(frozen=True)
class Forecast:
    """One answer of the reader, and how sure it was.

    Attributes
    ----------
    sure
        Probability that the reader gives to the answer.
    right
        Whether the answer is right.
    """

    sure: float
    right: bool


@dataclass(frozen=True, eq=False)
class OwnCalibration(Finding):
    """Share of right answers of the reader at each level of certainty.

    Attributes
    ----------
    table
        One row per level of certainty: sure, right (share), answers.
    brier
        Brier score of all answers.
    """

    brier: float


def levels(answers: int) -> tuple[float, ...]:
    """List the probabilities to choose from, from a guess among ``answers`` to certainty.

    >>> levels(4)
    (0.25, 0.6, 0.75, 0.9, 1.0)
    """
    return (round(1 / answers, 2), 0.6, USUAL, 0.9, 1.0)


def prepare(forecasts: Sequence[Forecast], who: str = "You were") -> OwnCalibration:
    """Compare how sure the reader was with how often they were right; ``who`` begins the sentence.

    >>> record = prepare([Forecast(0.9, True), Forecast(0.9, False), Forecast(0.6, True)])
    >>> round(record.brier, 4)                       # (0.01 + 0.81 + 0.16) / 3
    0.3267
    >>> record.to_frame().values.tolist()
    [[0.6, 1.0, 1.0], [0.9, 0.5, 2.0]]
    """
    sure, right = np.array([f.sure for f in forecasts]), np.array([float(f.right) for f in forecasts])
    table = (
        pd.DataFrame({"sure": sure, "right": right})
        .groupby("sure")["right"]
        .agg(["mean", "size"])
        .reset_index()
    )
    table.columns = pd.Index(["sure", "right", "answers"])
    brier = brier_score(right.astype(int), sure)
    found = (
        f"{who} {100 * sure.mean():.0f} % sure on average and right in {100 * right.mean():.0f} % of "
        f"{counted(len(sure), 'answer')}; the Brier score is {brief(brier)}"
    )
    return OwnCalibration(
        title=found,
        caption="The horizontal axis shows how sure the answers were, the vertical axis how often they were right. "
        "On the diagonal, certainty matches accuracy. The Brier score is 0 if all answers are certain and right, "
        "and 0.25 if all are 50 % sure.",
        alt=f"{found}. "
        + " ".join(
            f"At {100 * row.sure:.0f} %, {100 * row.right:.0f} % of {row.answers:.0f} were right."
            for row in table.itertuples()
        ),
        table=table,
        answer=None,
        brier=float(brier),
    )


def draw(record: OwnCalibration, theme: Theme = LIGHT) -> go.Figure:
    """Draw one mark per level, larger for more answers, and the diagonal."""
    axis = {"range": [-0.05, 1.05], **percent_ticks([0, 0.25, 0.5, 0.75, 1])}
    figure = square(theme, axis, "Confidence", "Share of right answers", height=360, showlegend=False)
    figure.update_traces(line_width=1.2)  # of the diagonal
    table = record.table
    figure.add_scatter(
        x=table["sure"],
        y=table["right"],
        mode="markers",
        marker={"color": theme.ink, "size": 8 + 4 * np.sqrt(table["answers"]), "symbol": "diamond"},
        customdata=table.assign(sure=100 * table["sure"], right=100 * table["right"])[
            ["sure", "right", "answers"]
        ],
        hovertemplate="%{customdata[0]:.0f} % sure: right in %{customdata[1]:.0f} % of %{customdata[2]} answers"
        "<extra></extra>",
    )
    return figure
