"""Mean intervals of a new row by the number of training rows. Vovk and Petej (2014), proposition 2."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.counterexample.simulation import Settling
from calib.experiments.shared.findings import Finding, level_line, plus_minus
from calib.experiments.shared.method_marks import method_mark
from calib.figures.base import FigureEntry
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import brief, number

NAMES = {"simplified": "simplified Venn–Abers", "full": "full Venn–Abers"}


@dataclass(frozen=True, eq=False)
class Counterexample(Finding):
    found: Settling


def prepare(found: Settling) -> Counterexample:
    """Compare both mean intervals for the largest training sets."""
    simplified, full = (found.means[key][-1] for key in ("simplified", "full"))
    outside = simplified[0] > 0.5 + 3 * found.errors["simplified"][-1, 0]
    verdict = "excludes" if outside else "includes"
    return Counterexample(
        title=f"The simplified interval converges to [{brief(simplified[0])}, {brief(simplified[1])}] and {verdict} "
        "the frequency 1/2",
        caption=f"Lines show the mean p0 (dashed) and p1 (dotted) of a new row over {found.draws:,} training sets of "
        "each size. By corollary 1, the horizontal line at P(Y = 1) = 1/2 should lie between p0 and p1. "
        "Simplified Venn–Abers misses this line more clearly with more rows; full Venn–Abers approaches it, "
        "apart from sampling error.",
        alt=f"With {found.sizes[-1]:,} training rows, simplified p0 "
        f"{plus_minus(simplified[0], found.errors['simplified'][-1, 0])}, p1 {number(simplified[1])}; full p0 "
        f"{plus_minus(full[0], found.errors['full'][-1, 0])}, p1 {plus_minus(full[1], found.errors['full'][-1, 1])}.",
        drawn=f"Two bands from p0 to p1 over {found.sizes[0]:,} to {found.sizes[-1]:,} training rows, and a line at "
        f"1/2. {_widths(found, 'simplified')} {_widths(found, 'full')}",
        table=pd.concat(
            [
                pd.DataFrame(
                    {
                        "method": key,
                        "objects": found.sizes,
                        "p0": found.means[key][:, 0],
                        "p1": found.means[key][:, 1],
                        "p0_se": found.errors[key][:, 0],
                        "p1_se": found.errors[key][:, 1],
                    }
                )
                for key in found.means
            ],
            ignore_index=True,
        ),
        answer=3 if outside else None,
        found=found,
    )


def _widths(found: Settling, key: str) -> str:
    """Describe the width of a band with the fewest and with the most rows."""
    few, many = (found.means[key][i] for i in (0, -1))
    return (
        f"The band of {NAMES[key]} is {number(few[1] - few[0])} wide with the fewest rows and "
        f"{number(many[1] - many[0])} with the most."
    )


def draw(record: Counterexample, theme: Theme = LIGHT) -> go.Figure:
    """Draw two bands over the size of the training set."""
    found = record.found
    figure = go.Figure(
        layout=layout(
            theme,
            height=480,
            shapes=[level_line(theme, 0.5, line={"color": theme.diagonal, "width": 2})],
            xaxis={
                "type": "log",
                "title": {"text": "Training rows"},
                "tickvals": found.sizes[::2].tolist(),
                "tickformat": ",d",
            },
            yaxis={"title": {"text": "Mean p0 and p1"}, "range": [0.2, 1.04]},
        )
    )
    for key in ("simplified", "full"):
        mark = method_mark(key, theme)
        color = theme.ink if key == "simplified" else mark.color
        (p0, p1), (e0, e1) = found.means[key].T, found.errors[key].T
        figure.add_trace(band(found.sizes, p0, p1, color))
        for values, errors, dash, name in ((p0, e0, "dash", "p0"), (p1, e1, "dot", "p1")):
            figure.add_scatter(
                x=found.sizes,
                y=values,
                mode="lines+markers",
                name=f"{name}, {NAMES[key]}",
                line={"color": color, "width": 2, "dash": dash},
                marker={"symbol": mark.symbol, "size": 9, "color": color},
                error_y={"array": 2 * errors, "color": color, "thickness": 1, "width": 3},
                hovertemplate="%{y:.4f} with %{x:,d} training rows",
            )
    return figure


FIGURES = (FigureEntry("counterexample", "Proposition 2", prepare, draw),)
