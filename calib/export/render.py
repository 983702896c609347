"""HTML from the templates beside this file: names and cells are text in them, never markup."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from calib.figures import LIGHT
from calib.figures.theme import controls
from calib.kernel.wording import in_order

MOST_COLUMNS = 4  # with intervals
MOST_ROWS = 16  # of a table that is printed on one page


def render(template: str, **values: Any) -> str:
    """Render the template with these values; ``plotly_js`` and ``light`` are available to all templates."""
    return TEMPLATES.get_template(template).render(values, plotly_js=Markup(get_plotlyjs()), light=LIGHT)


def _drawn(figure: go.Figure) -> Markup:
    return Markup(figure.to_html(full_html=False, include_plotlyjs=False, config=controls("select2d")))


def _table(frame: pd.DataFrame, **options: Any) -> Markup:
    """A table; on paper only a long one breaks over pages, with its header again."""
    length = {"classes": "long"} if len(frame) > MOST_ROWS else {}
    return Markup(frame.to_html(border=0, **length, **options))  # pandas escapes the cells


def _in_parts(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """A wide table as several, each as wide as a sheet of paper, with the names of its lines again."""
    count = -(-frame.shape[1] // MOST_COLUMNS)
    width = -(-frame.shape[1] // max(count, 1))
    return [frame.iloc[:, i * width : (i + 1) * width] for i in range(count)]


def _in_order(value: Any) -> Any:
    return in_order(value) if type(value) is str else value


TEMPLATES = Environment(
    loader=PackageLoader("calib.export"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_in_order,
)
TEMPLATES.filters |= {"drawn": _drawn, "table": _table, "in_parts": _in_parts}
