"""The address without a path: what this is in one sentence, two doors, and one mark of the diagram in words."""

from __future__ import annotations

import streamlit as st

from calib.analysis.recommendation.mark import Mark, telling_mark
from calib.evaluate import Evaluation
from calib.lessons import LESSONS
from pages.ui import state
from pages.ui.learn import lessons
from pages.ui.text import plain

SENTENCE = "See whether a model’s probabilities come true, and correct them where they do not."


def doors() -> None:
    """What this is; one's own data, or the first lesson."""
    st.title(SENTENCE, anchor=False)
    with st.container(horizontal=True, key="doors"):
        if st.button("Use my data", key="door_data", type="primary"):
            st.switch_page("pages/explore_data.py", query_params=state.here())
        first, *_ = LESSONS.values()
        if st.button(f"Learn in {first.minutes} minutes", key="door_learn"):
            lessons.open_step(first, 1)


def mark(evaluation: Evaluation) -> Mark | None:
    """The mark that the start page rings and explains, while the reader has picked none and there are bins."""
    recipe = evaluation.recipe
    if not state.at_start() or recipe.curve == "corp" or recipe.setting("reliability.selection"):
        return None
    return telling_mark(evaluation)


def explain(found: Mark) -> None:
    """The ringed mark beside the diagram."""
    st.container(key="mark").markdown(
        f"**How to read it: the ringed mark.** {plain(found.sentence)} On the diagonal the two are the same."
    )
