"""Stylesheets of the pages: files in ``styles/``, with the theme's colours as CSS variables."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from calib.figures import DARK, Theme

STYLES_FOLDER = Path(__file__).parent / "styles"


@cache
def rules(sheet: str) -> str:
    return (STYLES_FOLDER / f"{sheet}.css").read_text(encoding="utf-8")


def add(sheet: str) -> None:
    """Add a stylesheet to the page until its next run."""
    st.html(f"<style>{rules(sheet)}</style>")


def begin(theme: Theme) -> None:
    """Add the stylesheets of every page."""
    sheets = ("page", "legible", "dark") if theme is DARK else ("page", "legible")
    st.html(f"<style>{_variables(theme)}{''.join(map(rules, sheets))}</style>")


def _variables(theme: Theme) -> str:
    word, value = ("#7cc4ee", "#6fcfa9") if theme is DARK else ("#005f96", "#00694a")
    side = st.get_option(f"theme.{theme.name}.sidebar.backgroundColor") or theme.paper
    colours = {"ink": theme.ink, "muted": theme.muted, "paper": theme.paper, "grid": theme.grid}
    colours |= {
        "side": side,
        "word": word,
        "value": value,
        "guess": theme.guess,
        "uncalibrated": theme.uncalibrated,
        "event": theme.positive,
    }
    return f":root {{{'; '.join(f'--{name}: {colour}' for name, colour in colours.items())}}}\n"
