"""Tables as HTML: names and cells come from files, so they are shown as text, never as markup."""

from __future__ import annotations

from typing import Any

import pandas as pd


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
