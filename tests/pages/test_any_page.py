"""Any small table through any Recipe on any page of Explore: shown, or refused in words."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pages.ui.everything  # its settings are declared there
from calib import sources
from calib.data import TableFile
from calib.kernel.declared import SETTINGS
from pages.ui import current, state
from tests.pages.app import ROOT, App, go, messages
from tests.test_any_chain import LIGHT, recipes, refused, tables
from tests.waiting import LIMIT

STEMS = [Path(page.script).stem for page in current.PAGES["Explore"]]
# Of their settings those of a few values, and numbers
FEW = {
    name: one.choices
    for name, one in SETTINGS.items()
    if one.kind == "choice" and isinstance(one.choices, tuple)
}
NUMBERS = {name: (one.low, one.default) for name, one in SETTINGS.items() if one.low is not None}
SHOWN = {
    name: values for name, values in (FEW | NUMBERS).items() if f"explore_{name.partition('.')[0]}" in STEMS
}


@st.composite
def views(draw):
    """Some settings of the pages, at any of their values or, numbers, at the least or as by default."""
    return {
        name: draw(st.sampled_from(SHOWN[name]))
        for name in sorted(draw(st.sets(st.sampled_from(sorted(SHOWN)))))
    }


@pytest.mark.soak
@pytest.mark.parametrize("stem", STEMS)
@given(frame=tables(), recipe=recipes(), view=views())
@settings(max_examples=60, **LIGHT)
def test_any_page_shows_any_recipe_or_says_why_not(stem, frame, recipe, view):
    content = frame.to_csv(index=False).encode()
    key, file = sources.digest(content), TableFile("any.csv", content)
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.session_state["uploads"] = {key: state.Upload("any.csv", file.read(), "y", False, file)}
    at.query_params.update(recipe.replace(data=f"upload:{key}", file="any.csv", **view).to_query())
    assert not [error.message for error in go(at, stem).exception]
    for message in messages(at):
        refused(message)
