"""Pages as one self-contained HTML file that loads nothing.

Names and cells come from files: the templates in this folder and the tables show them as text, never as markup.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from calib.figures import LIGHT, Theme
from calib.figures.theme import controls
from calib.kernel.version import __version__
from calib.kernel.wording import without_direction_marks

if TYPE_CHECKING:
    from jinja2 import Environment


def html_table(frame: pd.DataFrame, **options: Any) -> str:
    """Return a table as HTML with all names and cells escaped.

    Reports and notebooks use no other way to write a table: pandas' Styler, for one, escapes nothing.

    Parameters
    ----------
    frame
        Table with any names.
    options
        Other options of ``DataFrame.to_html``.

    Examples
    --------
    >>> "<td>&lt;b&gt;</td>" in html_table(pd.DataFrame({"class": ["<b>"]}))
    True
    """
    return frame.to_html(border=0, escape=True, **options)


MOST_INTERVAL_COLUMNS = 4  # columns with intervals that a sheet is wide
MOST_ROWS_IN_ONE_PIECE = 12  # longest table that is printed in one piece


def render(template: str, **values: Any) -> str:
    """Render the template with these values; ``plotly_js`` and ``light`` are available to all templates."""
    return _templates().get_template(template).render(values, plotly_js=Markup(get_plotlyjs()), light=LIGHT)


def _drawn(figure: go.Figure) -> Markup:
    return Markup(figure.to_html(full_html=False, include_plotlyjs=False, config=controls("select2d")))


def _table(frame: pd.DataFrame, caption: str = "", continued: bool = False, **options: Any) -> Markup:
    """Return a table as HTML; on paper only a long one breaks over pages, with its header repeated.

    A caption gives it a number; a ``continued`` table keeps the number of the table before.
    """
    length = {"classes": "long"} if len(frame) > MOST_ROWS_IN_ONE_PIECE else {}
    table = Markup(html_table(frame, **length, **options))
    start = Markup("<thead>")
    kind, more = (Markup(' class="more"'), " (continued)") if continued else ("", "")
    head = Markup("<caption{}>{}{}</caption>\n  ").format(kind, caption, more) + start if caption else start
    return table.replace(start, head, 1)


def _in_parts(
    frame: pd.DataFrame, whole: bool = False, rows: int = MOST_ROWS_IN_ONE_PIECE
) -> list[pd.DataFrame]:
    """Split a large table into parts of at most ``rows`` lines, each with the names of its lines and columns.

    ``whole`` keeps all columns in one part; otherwise each part has as many columns as a sheet of paper is wide.
    """
    wide = range(1) if whole else range(-(-frame.shape[1] // MOST_INTERVAL_COLUMNS))
    long = range(-(-frame.shape[0] // rows))
    width, height = (
        -(-size // max(len(count), 1)) for size, count in ((frame.shape[1], wide), (len(frame), long))
    )
    return [
        frame.iloc[j * height : (j + 1) * height, i * width : (i + 1) * width] for i in wide for j in long
    ]


def _in_order(value: Any) -> Any:
    return without_direction_marks(value) if type(value) is str else value


@cache
def _templates() -> Environment:
    """Return the environment of all templates."""
    import jinja2  # here, because pages import this module at the start

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("calib.export"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_in_order,
    )
    templates.filters |= {"drawn": _drawn, "table": _table, "in_parts": _in_parts}
    return templates


PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "plotly")


def page(
    template: str,
    title: str,
    theme: Theme,
    plotly: str | None = None,
    *,
    drawn_already: bool = False,
    **values: Any,
) -> bytes:
    """Render a page from its template; ``plotly`` is the address of the script, which the page includes by default.

    A page whose pictures are ``drawn_already`` needs no script.
    """
    return render(
        template, title=title, theme=theme, plotly=plotly, drawn_already=drawn_already, **values
    ).encode()


def versions() -> list[str]:
    """Return the versions of calib, Python and the packages that compute the numbers."""
    packages = [f"{name} {version(name)}" for name in PACKAGES]
    return [f"calib {__version__}", f"Python {platform.python_version()}", *packages]


def standalone_html(
    figure: go.Figure,
    alt: str,
    theme: Theme = LIGHT,
    plotly: str | None = None,
    title: str = "",
    below: str = "",
) -> bytes:
    """Return one interactive figure as a page, with Plotly included unless ``plotly`` gives its address.

    Parameters
    ----------
    figure
    alt : str
        A description of the figure for people who cannot see it.
    theme
        The theme of the page.
    plotly : str, optional
        Path of Plotly's script, relative to the page.
    title, below
        The heading above the figure, and the line below the heading.
    """
    return page(
        "figure.html", title or alt, theme, plotly, figure=figure, alt=alt, heading=title, below=below
    )
