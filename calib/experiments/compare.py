"""Six methods on the same draws: their distance to the true probabilities, and their reliability.

Vovk and Petej (2014), section 5; true calibration error: Shaker and Hüllermeier (2025), eq. 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from calib.experiments.base import Experiment, with_default
from calib.experiments.shared.findings import Finding
from calib.experiments.shared.one_feature import (
    CLASS_DISTANCE,
    PROOFS,
    PROVED,
    SIX_METHODS,
    VENN_PAPER,
    WINDOW,
    SixMethods,
    by_level,
    compare_methods,
    draws,
    method_mark,
    training_objects,
)
from calib.figures.base import FigureEntry
from calib.figures.many import GREY, THREE, in_colour, mute
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, diagonal, layout
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, number

DISTANCE_TITLE, RELIABILITY_TITLE = "Distance to the truth", "Reliability"


@dataclass(frozen=True, eq=False)
class Compare(Finding):
    """Predictions and frequencies of every method.

    Attributes
    ----------
    levels
        Method → mean p and frequency of class 1 in ten groups.
    coloured
        Methods with a coloured line in the second picture.
    pictures
        Which of DISTANCE and RELIABILITY are drawn, one below the other.
    columns
        Number of pictures side by side on a page.
    """

    levels: dict[str, pd.DataFrame]
    coloured: tuple[str, ...]
    pictures: tuple[str, ...] = (DISTANCE_TITLE, RELIABILITY_TITLE)
    columns: int = 2


def prepare(found: SixMethods) -> Compare:
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
    order = list(SIX_METHODS)
    infinite = [SIX_METHODS[key] for key in table.method[table.log_loss == float("inf")]]
    levels = {key: by_level(found.y.ravel(), p.ravel()) for key, p in found.p.items()}
    listed = "; ".join(
        f"{SIX_METHODS[row.method]} TCE {number(row.tce)}, Brier {number(row.brier)}, log loss {number(row.log_loss)}"
        for row in table.itertuples()
    )
    return Compare(
        title=f"Closest to the true probabilities: {SIX_METHODS[best.method]} (TCE {brief(best.tce)})"
        + (f"; no clear difference from {SIX_METHODS[second.method]} ({brief(second.tce)})" if tied else ""),
        caption="The first picture shows TCE, the mean squared distance to the true probability; lower is better. "
        "Bars show two standard errors over the draws. The second picture shows the frequency of class 1 in "
        "ten groups of similar predictions; on the diagonal, predictions match outcomes. Open marks show "
        "methods that reuse the training scores. "
        + (
            f"Infinite log loss: {'; '.join(infinite)}."
            if infinite
            else "No log loss is infinite with these settings."
        )
        + GREY,
        alt=f"{found.y.shape[0]} draws of {found.objects} training rows. {listed}.",
        drawn=f"The first picture has a mark for each of {len(table)} methods, with TCEs from "
        f"{number(table.tce.min())} to {number(table.tce.max())}. The second picture has a line for each method, from "
        "its lowest to its highest predictions: "
        + "; ".join(f"{SIX_METHODS[key]} {_way(level)}" for key, level in levels.items())
        + ".",
        table=table,
        answer=1 + order.index(best.method),
        levels=levels,
        coloured=in_colour(("none", best.method, "dir"), SIX_METHODS, THREE),
    )


def _way(level: pd.DataFrame) -> str:
    """Describe the first and the last point of a method's line."""
    ends = (
        f"predicted {number(round(row.p, 3))}, observed {number(row.observed)}"
        for row in level.iloc[[0, -1]].itertuples()
    )
    return " and ".join(ends)


def _tied(found: SixMethods, one: str, other: str) -> bool:
    """Tell whether the difference of two TCEs on the same draws is within two standard errors."""
    squared = [(found.p[key] - found.posterior) ** 2 for key in (one, other)]
    mean, error = found.mean_and_error(squared[0] - squared[1])
    return abs(mean) <= 2 * error


def panels_of(record: Compare) -> list[Compare]:
    """Split a record into one record per picture, so that a phone can stack them."""
    return [replace(record, pictures=(one,), alt=f"{one}. {record.alt}") for one in record.pictures]


def draw(record: Compare, theme: Theme = LIGHT) -> go.Figure:
    """Draw distances, and reliability with three coloured lines."""
    figure = go.Figure(layout=_layout(record, theme))
    if DISTANCE_TITLE in record.pictures:
        figure.add_traces(_distances(record, theme))
    if RELIABILITY_TITLE in record.pictures:
        figure.add_traces([diagonal(theme, xaxis="x2", yaxis="y2"), *_reliability(record, theme)])
    return mute(figure, record.coloured, theme)


def _marker(method: str, size: int, theme: Theme) -> dict[str, Any]:
    mark = method_mark(method, theme)
    rim = {"width": 2, "color": mark.color}
    return {"color": mark.color, "symbol": mark.symbol, "line": rim, "size": size}


def _distances(record: Compare, theme: Theme) -> list[go.Scatter]:
    """Draw the TCE of each method with two standard errors."""
    return [
        go.Scatter(
            x=[row.tce],
            y=[len(record.table) - 1 - i],
            mode="markers",
            name=SIX_METHODS[row.method],
            showlegend=False,
            marker=_marker(row.method, 13, theme),
            error_x={
                **{"array": [2 * row.tce_se], "color": method_mark(row.method, theme).color},
                **{"thickness": 1.6, "width": 5},
            },
            hovertemplate=f"TCE %{{x:.4f}}<br>Brier score {number(row.brier)}, log loss {number(row.log_loss)}",
        )
        for i, row in enumerate(record.table.itertuples())
    ]


def _reliability(record: Compare, theme: Theme) -> list[go.Scatter]:
    """Draw the frequency of class 1 by prediction for each method."""
    return [
        go.Scatter(
            x=levels.p,
            y=levels.observed,
            xaxis="x2",
            yaxis="y2",
            mode="lines+markers",
            name=SIX_METHODS[method],
            legendgroup=method,
            line={"color": mark.color, "width": 2, "dash": mark.dash},
            marker=_marker(method, 8, theme),
            customdata=levels.draws,
            hovertemplate="predicted %{x:.3f}, observed %{y:.3f} of %{customdata:,d}",
        )
        for method, levels in record.levels.items()
        for mark in [method_mark(method, theme)]
    ]


def _layout(record: Compare, theme: Theme) -> dict[str, Any]:
    methods = list(record.table.method)
    count = len(methods)
    both = len(record.pictures) > 1
    upper, lower = ([0.64, 1], [0, 0.52]) if both else ([0, 1], [0, 1])
    drawn = dict(zip((DISTANCE_TITLE, RELIABILITY_TITLE), ("y", "y2"), strict=True))
    return layout(
        theme,
        height=900 if both else 640,
        margin={"l": 12, "r": 16, "t": 30, "b": 92},
        legend={"y": -0.07 if both else -0.2},
        xaxis={"title": {"text": "TCE"}, "rangemode": "tozero", "nticks": 5},
        yaxis={
            "range": [-0.6, count - 0.4],
            "domain": upper,
            "tickvals": list(range(count)),
            "ticktext": [
                f"{SIX_METHODS[key].replace(' on the ', '<br>on the ').replace(' on a ', '<br>on a ')}"
                for key in reversed(methods)
            ],
            "automargin": True,
            "showgrid": False,
        },
        xaxis2={"title": {"text": "Predicted"}, "range": [-0.02, 1.02], "anchor": "y2"},
        yaxis2={
            "title": {"text": "Observed"},
            "range": [-0.02, 1.02],
            "domain": lower,
            "anchor": "x2",
            "automargin": True,
        },
        annotations=[heading(name, drawn[name]) for name in record.pictures],
    )


EXPERIMENT = Experiment(
    key="compare",
    page=PROVED,
    lab=PROOFS,
    name="Six methods on the same draws",
    question="A scorer overfits its training rows. Which comes closest to the true probabilities: calibrating "
    "on these rows, on a held-out third, or refitting for every new row?",
    answers=tuple(SIX_METHODS.values()),
    right=5,
    why=(
        "With a narrow window, a score depends on only a few neighbours, so it is too often near 0 or 1.",
        "Direct isotonic regression trusts the training scores, which are more extreme than the scores of new rows.",
        "Held-out scores are not too extreme. But there are only a few of them, and the scorer cannot train "
        "on these rows.",
        "A sigmoid is the right shape here, but it is fitted to training scores that are too extreme.",
        "Simplified Venn–Abers also reuses the training scores, but its two probabilities move the result back "
        "towards one half.",
        "Only full Venn–Abers is guaranteed to be valid. But its intervals become so wide that they are of "
        "little use.",
    ),
    turn={"window": 1.0},
    parameters=(
        with_default(WINDOW, 0.05),
        training_objects(50),
        CLASS_DISTANCE,
        Parameter(
            "tests",
            "Test rows per draw",
            "choice",
            20,
            choices=(5, 10, 20, 50),
            help="Number of test rows per draw. All methods use the same test rows.",
        ),
        draws(200, 50, 100, 200, 500),
    ),
    simulation=compare_methods,
    notice=(
        "Narrow the window: the training scores become 0 and 1. Direct isotonic regression trusts these scores and "
        "is among the worst methods. Full Venn–Abers does not trust them, so its intervals grow towards [0, 1] and "
        "its p moves to 1/2.",
        "Widen the window: the results of simplified and full Venn–Abers become equal, because refitting no "
        "longer changes the order of the scores. Platt scaling is then hard to beat, because the true "
        "probability is a sigmoid of x.",
        "Unlike training scores, the scores of a held-out third are not overconfident. With a narrow window, "
        "isotonic regression on held-out scores beats isotonic regression on training scores. However, the model "
        "then has fewer training rows. With a wide window the training scores are good, and calibrating on the "
        "held-out third is the worst of the six methods.",
    ),
    formulas=(
        r"\text{full:}\quad p_y = g_y(s_y(x))",
        r"s_y \text{ trained on } z_1,\dots,z_l,(x,y)",
        r"\text{simplified:}\quad p_y = g_y(s(x))",
        r"s \text{ trained on } z_1,\dots,z_l",
        r"\text{TCE} = \frac1n\sum (p - \pi(x))^2",
    ),
    source=f"{VENN_PAPER}, algorithms 1 and 2 and section 3 (DIR); the true calibration error is eq. 4 of Shaker and "
    "Hüllermeier, Random forest calibration (2025).",
)


FIGURES = (FigureEntry("compare", "Six methods on the same draws", prepare, draw, panels_of),)
