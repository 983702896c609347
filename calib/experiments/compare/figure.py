"""Six methods on the same draws: their distance to the true probabilities, and their reliability.

Vovk and Petej (2014), section 5; true calibration error: Shaker and Hüllermeier (2025), eq. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.experiments.shared.method_marks import METHOD_MARKS
from calib.experiments.shared.repeated_draws import by_level
from calib.experiments.shared.six_methods import METHODS, Compared
from calib.figures.base import FigureEntry
from calib.figures.many import GREY, in_colour, mute
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, diagonal, layout
from calib.kernel.wording import brief, number


@dataclass(frozen=True, eq=False)
class Compare(Finding):
    """Predictions and frequencies of every method.

    Attributes
    ----------
    levels
        Method → mean p and frequency of class 1 in ten groups.
    coloured
        Methods with a coloured line in the lower picture.
    """

    levels: dict[str, pd.DataFrame]
    coloured: tuple[str, ...]


def prepare(found: Compared) -> Compare:
    """Compute TCE, Brier score and log loss of every method with standard errors over the draws."""
    rows = []
    for key, p in found.p.items():
        tce, brier, log = (
            found.mean_and_error(values)
            for values in ((p - found.posterior) ** 2, (p - found.y) ** 2, found.log_loss(key))
        )
        widths = (
            found.mean_and_error(abs(found.pairs[key][1] - found.pairs[key][0]))
            if key in found.pairs
            else None
        )
        rows.append((key, *tce, *brier, *log, widths[0] if widths else float("nan")))
    columns = ["method", "tce", "tce_se", "brier", "brier_se", "log_loss", "log_loss_se", "width"]
    table = pd.DataFrame(rows, columns=columns)
    best, second = (table.loc[i] for i in table.tce.nsmallest(2).index)
    tied = _tied(found, best.method, second.method)
    order = list(METHODS)
    infinite = [METHODS[key] for key in table.method[table.log_loss == float("inf")]]
    levels = {key: by_level(found.y.ravel(), p.ravel()) for key, p in found.p.items()}
    listed = "; ".join(
        f"{METHODS[row.method]} TCE {number(row.tce)}, Brier {number(row.brier)}, log loss {number(row.log_loss)}"
        for row in table.itertuples()
    )
    return Compare(
        title=f"{METHODS[best.method]} comes closest to the true probabilities, with a TCE of {brief(best.tce)}"
        + (f"; {METHODS[second.method]}, {brief(second.tce)}, is not clearly different" if tied else ""),
        caption="The upper picture shows TCE, the mean squared distance to the true probability; lower is better. "
        "Bars are two standard errors over the draws. The lower picture shows the frequency of class 1 in ten groups "
        "of similar predictions; on the diagonal, predictions match outcomes. Open marks are methods that reuse the "
        "training scores. "
        + (f"Infinite log loss: {', '.join(infinite)}." if infinite else "No log loss is infinite here.")
        + GREY,
        alt=f"{found.y.shape[0]} draws of {found.objects} training rows. {listed}.",
        drawn=f"The upper picture has a mark for each of {len(table)} methods, with TCEs from "
        f"{number(table.tce.min())} to {number(table.tce.max())}. The lower picture has a line for each method, from "
        "its lowest to its highest predictions: "
        + "; ".join(f"{METHODS[key]} {_way(level)}" for key, level in levels.items())
        + ".",
        table=table,
        answer=1 + order.index(best.method),
        levels=levels,
        coloured=in_colour(("none", best.method, "dir"), METHODS),
    )


def _way(level: pd.DataFrame) -> str:
    """Describe the first and the last point of a method's line."""
    ends = (
        f"predicted {number(round(row.p, 3))}, observed {number(row.observed)}"
        for row in level.iloc[[0, -1]].itertuples()
    )
    return " and ".join(ends)


def _tied(found: Compared, one: str, other: str) -> bool:
    """Tell whether the difference of two TCEs on the same draws is within two standard errors."""
    squared = [(found.p[key] - found.posterior) ** 2 for key in (one, other)]
    mean, error = found.mean_and_error(squared[0] - squared[1])
    return abs(mean) <= 2 * error


def draw(record: Compare, theme: Theme = LIGHT) -> go.Figure:
    """Draw distances above, and reliability below with three coloured lines."""
    figure = go.Figure(diagonal(theme, xaxis="x2", yaxis="y2"), _layout(record, theme))
    for i, row in enumerate(record.table.itertuples()):
        mark, levels = METHOD_MARKS[row.method], record.levels[row.method]
        marker = {"color": mark.color, "symbol": mark.symbol, "line": {"width": 2, "color": mark.color}}
        figure.add_scatter(
            x=[row.tce],
            y=[len(record.table) - 1 - i],
            mode="markers",
            name=METHODS[row.method],
            showlegend=False,
            marker={**marker, "size": 13},
            error_x={"array": [2 * row.tce_se], "color": mark.color, "thickness": 1.6, "width": 5},
            hovertemplate=f"TCE %{{x:.4f}}<br>Brier score {number(row.brier)}, log loss {number(row.log_loss)}",
        )
        figure.add_scatter(
            x=levels.p,
            y=levels.observed,
            xaxis="x2",
            yaxis="y2",
            mode="lines+markers",
            name=METHODS[row.method],
            legendgroup=row.method,
            line={"color": mark.color, "width": 2, "dash": mark.dash},
            marker={**marker, "size": 8},
            customdata=levels.draws,
            hovertemplate="predicted %{x:.3f}, observed %{y:.3f} of %{customdata:,d}",
        )
    return mute(figure, record.coloured, theme)


def _layout(record: Compare, theme: Theme) -> dict[str, Any]:
    methods = list(record.table.method)
    count = len(methods)
    return layout(
        theme,
        height=900,
        margin={"l": 12, "r": 16, "t": 30, "b": 92},
        legend={"y": -0.07},
        xaxis={"title": {"text": "TCE"}, "domain": [0, 0.5], "rangemode": "tozero", "nticks": 5},
        yaxis={
            "range": [-0.6, count - 0.4],
            "domain": [0.64, 1],
            "tickvals": list(range(count)),
            "ticktext": [
                f"{METHODS[key].replace(' on the ', '<br>on the ').replace(' on a ', '<br>on a ')}"
                for key in reversed(methods)
            ],
            "automargin": True,
            "showgrid": False,
        },
        xaxis2={"title": {"text": "Predicted"}, "range": [-0.02, 1.02], "anchor": "y2"},
        yaxis2={"title": {"text": "Observed"}, "range": [-0.02, 1.02], "domain": [0, 0.52], "anchor": "x2"},
        annotations=[heading("Distance to the true probabilities", "y"), heading("Reliability", "y2")],
    )


FIGURES = (FigureEntry("compare", "Six methods on the same draws", prepare, draw),)
