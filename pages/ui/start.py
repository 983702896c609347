"""Start page, at the address without a path: what the app does, two doors, one explained mark, and three ways in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from calib.analysis.recommendation.advice import headline, recommend
from calib.analysis.selection import MarkedBin, telling_mark
from calib.evaluate import Evaluation
from calib.export.playground import before_and_after
from calib.figures import DARK, FIGURES, Theme
from calib.figures.reliability import Reliability
from calib.recipe import Recipe
from pages.ui import chart, current, evaluations, headings, moving_diagram, state
from pages.ui.text import plain

SENTENCE = "Check whether a model’s probabilities are right, and correct them if not."
DIAGRAM_AND_WORDS = [0.46, 0.54]  # of the page's width: the square diagram, and the words beside it
PICTURES_FOLDER = Path(__file__).parent / "pictures"


class Way(NamedTuple):
    """Way in: its audience, what it offers, where it leads, and its picture in words."""

    title: str
    words: str
    page: str
    label: str
    picture: str


WAYS = (
    Way(
        "Your own data",
        "Upload predictions, or a table on which to train a model. See how well calibrated the model is and which "
        "method helps, and download the fitted calibrator.",
        "pages/explore_data.py",
        "Upload a file",
        "The reliability diagram shows a model before and after calibration.",
    ),
    Way(
        "Teaching",
        "Teach with a story that asks before it answers, experiments with known true probabilities, and a live quiz "
        "for your class.",
        "pages/learn_labs.py",
        "Open the labs",
        "The chart compares true and predicted probabilities of two overlapping classes.",
    ),
    Way(
        "Research",
        "Repeat a paper’s study on your data sets, with ranks, tests and critical-difference diagrams next "
        "to the published values.",
        "pages/study_run.py",
        "Set up a study",
        "The critical-difference diagram compares the ranks of calibration methods.",
    ),
)


def show() -> None:
    """Draw the whole page; the diagram appears once it is fitted, below what can be read and pressed at once."""
    with st.container(horizontal=True, vertical_alignment="center", key="invitation"):
        st.title(SENTENCE, anchor=False, width="content")
        _doors()
    first = st.container(key="first")
    _ways()
    with first:
        found = evaluations.evaluations_of({"": Recipe()}, "start", "Fitting the model")
        if found is not None:
            _diagram(evaluations.or_stop(found[""]))


def _doors() -> None:
    """Draw the buttons to the reader's own data and to the first lesson."""
    with st.container(horizontal=True, width="content", key="doors"):
        if st.button("Use my data", key="door_data", type="primary"):
            st.switch_page("pages/explore_data.py", query_params=state.here())
        if st.button("Learn in 20 minutes", key="door_learn"):
            st.switch_page("pages/learn_story.py")


def _diagram(evaluation: Evaluation) -> None:
    """Draw the sample's model before and after the recommended method, with one mark ringed and explained."""
    mark, choice = telling_mark(evaluation), recommend(evaluation).choice
    shown = list(dict.fromkeys(["none", choice or "none"]))
    ringed = {"selection": mark.selection} if mark else {}
    picture, words = st.columns(DIAGRAM_AND_WORDS, gap="large", vertical_alignment="center")
    with picture, st.container(key="moving"):
        chart.picture("reliability", evaluation, _with_names_alone, calibrators=shown, **ringed)
        if mark is not None and choice not in (None, mark.calibrator):
            moving_diagram.over_the_chart(before_and_after(evaluation, mark, choice))
    with words, st.container(key="told"):
        if mark is not None:
            explain(mark)
        answer, *_ = headline(evaluation).split(";")  # its first number
        st.markdown(f"**{plain(answer)}.**")
        st.caption(f"Random forest on “{plain(state.data_name(evaluation.recipe))}”.")
        st.page_link("pages/explore_reliability.py", label="Explore")
        st.page_link("pages/learn_labs.py", label="Playground")
        st.page_link(current.GLOSSARY_PAGE.script, label=current.GLOSSARY_PAGE.name)


def _with_names_alone(record: Reliability, theme: Theme) -> go.Figure:
    """Draw the diagram with each line's name beside it, and without the numbers that experts read."""
    return FIGURES["reliability"].draw(replace(record, corner=()), theme)


def explain(found: MarkedBin) -> None:
    """Explain the ringed mark of the diagram."""
    with st.container(key="mark"):
        headings.heading("How to read one point")
        st.markdown(
            f"{plain(found.sentence)} On the diagonal, the mean prediction equals the observed frequency."
        )


def _ways() -> None:
    """Draw three ways in, for three audiences, each with a picture."""
    shade = "dark" if current.theme() is DARK else "light"
    with st.container(key="ways"):
        for place, way in zip(st.columns(len(WAYS), gap="medium"), WAYS, strict=True):
            with place:
                headings.heading(way.title)
                name = Path(way.page).stem
                st.image(PICTURES_FOLDER / f"{name}-{shade}.webp", width="stretch", alt=way.picture)
                st.markdown(way.words)
                st.page_link(way.page, label=way.label)
