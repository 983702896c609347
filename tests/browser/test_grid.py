"""A table whose texts become longer is wide enough for them: the browser measures a column only once."""

import os

from tests.browser.driver import ROOT, serving

SCRIPT = """
import pandas as pd
import streamlit as st
from pages.ui.tables import grid

text = "−0.00256 [−0.0050, −0.00057] ●" if st.toggle("Longer", key="longer") else "0 [0, 0]"
grid(pd.DataFrame([[text] * 6], columns=list("abcdef")), key="table", alt="Table")
"""
SELECTOR = '[data-testid="stDataFrame"] .dvn-scroller'
WIDER = f"least => document.querySelector('{SELECTOR}')?.scrollWidth > least"


def test_longer_texts_get_wider_columns(tmp_path, new_tab, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    script = tmp_path / "app.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with serving(script) as address:
        tab = new_tab(address=address).open()
        short = tab.page.locator(SELECTOR).evaluate("table => table.scrollWidth")
        tab.page.get_by_text("Longer", exact=True).click()
        tab.page.wait_for_function(WIDER, arg=1.2 * short)
