"""Pages as one self-contained HTML file that loads nothing."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import plotly.graph_objects as go

from calib.export.render import render
from calib.figures import LIGHT, Theme
from calib.kernel.version import __version__

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
