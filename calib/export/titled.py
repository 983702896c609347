"""An exported figure: with a title and a subtitle, and its legend moved below them."""

from __future__ import annotations

import html
import math
import textwrap
from typing import Any

import plotly.graph_objects as go

from calib.analysis.validation import trained_here
from calib.evaluate import Evaluation
from calib.export.chromium import CHART_HEIGHT, CHART_WIDTH
from calib.kernel.wording import without_direction_marks
from calib.models import MODELS

WIDEST_SQUARE = 640  # pixels; a wider square diagram would be far from its title
TITLE_LETTER, TITLE_LINE = 9.5, 24  # pixels that a letter and a line of the title take
SUBTITLE_LETTER, SUBTITLE_LINE = 7.2, 19  # the same for the subtitle
TITLE_MARGIN = 16  # pixels around both


def titled(figure: go.Figure, title: str, source: Any = None, label: str = "") -> go.Figure:
    """Return a copy with the title and, below it, the kind of figure, the data set and the model.

    Parameters
    ----------
    title
        The finding, as above the chart on its page.
    source
        The object that the figure was prepared from; an Evaluation names its data and model.
    label
        The kind of figure.
    """
    figure = go.Figure(figure)
    square = any(axis.scaleanchor for axis in figure.select_yaxes())
    width = int(figure.layout.width or (WIDEST_SQUARE if square else CHART_WIDTH))
    heads = _wrapped(title, width, TITLE_LETTER)
    below = _wrapped(subtitle(source, label), width, SUBTITLE_LETTER)
    header = 2 * TITLE_MARGIN + TITLE_LINE * len(heads) + SUBTITLE_LINE * len(below) + _names_above(figure)
    small = f'<span style="font-size: 13px">{"<br>".join(below)}</span>'
    text = "<br>".join([*(f"<b>{line}</b>" for line in heads), small])
    height = (figure.layout.height or CHART_HEIGHT) + header + TITLE_MARGIN // 2
    # Words that touch a file's edge look cut off
    more = {"t": header, "l": TITLE_MARGIN, "r": TITLE_MARGIN, "b": TITLE_MARGIN // 2}
    figure.update_layout(
        width=width,
        height=height,
        margin={side: _margin(figure, side) + extra for side, extra in more.items()},
        title={
            **{
                "text": text,
                "font": {"size": 17},
                "xref": "container",
                "x": TITLE_MARGIN / width,
                "xanchor": "left",
            },
            **{"yref": "container", "y": 1 - 1.5 * TITLE_MARGIN / height, "yanchor": "top"},
        },
    )
    key = figure.layout.legend
    if (
        key.yref == "container" and key.yanchor == "top"
    ):  # at the picture's upper edge, where the title is now
        figure.update_layout(legend={"y": (key.y or 0) - header / height})
    if square:
        figure.update_layout(legend={"x": 0.5, "xanchor": "center"})
    return figure


def _names_above(figure: go.Figure) -> float:
    """Return the height of the tick labels above the plot, to make space for them below the title."""
    return max(
        (
            max(map(len, axis.ticktext or ("",)))
            * SUBTITLE_LETTER
            * math.sin(math.radians(abs(axis.tickangle or 0)))
            for axis in figure.select_xaxes()
            if axis.side == "top"
        ),
        default=0.0,
    )


def _margin(figure: go.Figure, side: str) -> float:
    """Return the margin of the figure, or else of its template."""
    margin = figure.layout.margin[side]
    return (figure.layout.template.layout.margin[side] or 0) if margin is None else margin


def subtitle(source: Any = None, label: str = "") -> str:
    """Return the line below a figure's title: the kind of figure, the data set and the model.

    >>> subtitle(label="Reliability diagram")
    'Reliability diagram'
    """
    return " · ".join(filter(None, [label, *_of(source)]))


def _of(source: Any) -> tuple[str, ...]:
    """Return the names of the data set and the model, if they are known."""
    evaluation = getattr(source, "evaluation", source)
    if not isinstance(evaluation, Evaluation):
        return ()
    model = [MODELS[evaluation.recipe.model].label] if trained_here(evaluation) else []
    return (evaluation.dataset.name, *model)


def _wrapped(text: str, width: int, letter: float) -> list[str]:
    """Break a text into lines that fit the width; names in it are not markup."""
    lines = textwrap.wrap(without_direction_marks(text), int((width - 2 * TITLE_MARGIN) / letter))
    return [html.escape(line, quote=False) for line in lines]
