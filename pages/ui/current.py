"""Table of pages, and the open page: its colours, its address, its Python code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from calib.experiments import EXPERIMENTS, chosen_experiment
from calib.export import page_source
from calib.figures import DARK, LIGHT, Theme
from pages.ui import browser, state


@dataclass(frozen=True)
class Page:
    """Page: its script, its name in the navigation, and the question that it answers.

    Attributes
    ----------
    controls
        Parts of the sidebar, below the data, that change something on the page.
    """

    script: str
    name: str
    question: str
    controls: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Name without its section: ``validity`` for pages/learn_validity.py."""
        return Path(self.script).stem.partition("_")[2]


GLOSSARY_PAGE = Page("pages/learn_glossary.py", "Glossary", "What do the words mean?")
PAGES = {
    "Explore": (
        Page("pages/explore_data.py", "Data", "What is in my data, and are there problems?"),
        Page(
            "pages/explore_reliability.py",
            "Reliability",
            "When the model says 70 %, does it happen 70 % of the time?",
            ("model", "placement", "calibrators", "base_rate", "bins", "axes", "curve", "layout"),
        ),
        Page(
            "pages/explore_venn_abers.py",
            "Venn–Abers",
            "How certain is each probability?",
            ("model", "placement", "base_rate", "axes"),
        ),
        Page(
            "pages/explore_trees.py",
            "Trees",
            "How does tree depth change the probabilities?",
            ("model", "depths", "split", "calibrators", "base_rate", "bins", "axes", "curve"),
        ),
        Page(
            "pages/explore_out_of_bag.py",
            "Out of bag",
            "Should I hold out calibration data, or use out-of-bag predictions?",
            ("model", "split", "base_rate"),
        ),
        Page(
            "pages/explore_decide.py",
            "Decide",
            "Which threshold should I use, and what does it cost?",
            ("model", "placement", "calibrators", "base_rate"),
        ),
        Page(
            "pages/explore_groups.py",
            "Groups",
            "For which groups is the model wrong?",
            ("model", "placement", "calibrators", "base_rate"),
        ),
        Page(
            "pages/explore_survival.py",
            "Survival",
            "Is the predicted risk by a given time right?",
        ),
        Page(
            "pages/explore_watch.py",
            "Watch",
            "Is the model still calibrated?",
            ("model", "placement", "calibrators"),
        ),
        Page(
            "pages/explore_compare.py",
            "Compare and report",
            "Which settings work best, and what should I export?",
            ("model", "placement", "calibrators", "base_rate", "bins", "axes", "curve"),
        ),
    ),
    "Learn": (
        Page("pages/learn_story.py", "Story", "How sure are you?"),
        Page("pages/learn_lessons.py", "Lessons", "Where should I begin?"),
        Page("pages/learn_playground.py", "Playground", "When does a probability tell the truth?"),
        Page("pages/learn_class.py", "Live quiz", "What does the whole class think?"),
        Page(
            "pages/learn_cl_gl.py",
            "CL and GL",
            "How much of the loss is miscalibration, and how much is grouping?",
        ),
        Page(
            "pages/learn_tree_depth.py",
            "Tree depth",
            "How do tree depth, forest size and leaf estimates change probabilities?",
        ),
        Page(
            "pages/learn_which_model.py",
            "Model comparison",
            "Which models give calibrated probabilities, and when?",
        ),
        Page("pages/learn_overlap.py", "Overlap", "Where does calibrating a forest help?"),
        Page(
            "pages/learn_calibration_size.py", "Calibration-set size", "How many rows does a calibrator need?"
        ),
        Page("pages/learn_validity.py", "Validity", "What do Venn–Abers intervals guarantee?"),
        Page("pages/learn_finite_example.py", "Finite example", "Where should a tree stop splitting?"),
        Page("pages/learn_looking.py", "Looking every week", "How often can I repeat a test?"),
        Page(
            "pages/learn_fair_on_average.py",
            "Fair on average",
            "How often does some group look wrong by chance?",
        ),
        Page(
            "pages/learn_three_classes.py",
            "Three classes",
            "Can the confidence be right but the class probabilities wrong?",
        ),
        Page("pages/learn_algorithms.py", "Algorithms", "How does isotonic regression find its steps?"),
        GLOSSARY_PAGE,
    ),
    "Study": (
        Page("pages/study_run.py", "Run", "Do a paper’s results hold on my data?"),
        Page("pages/study_results.py", "Results", "Which method is better over many data sets?"),
    ),
}


def of(script: str) -> Page:
    return next(page for pages in PAGES.values() for page in pages if page.script == script)


def explores() -> bool:
    """Tell whether an Explore page is open."""
    return of(st.session_state["page"]) in PAGES["Explore"]


def theme() -> Theme:
    return DARK if st.context.theme.type == "dark" else LIGHT


def python() -> str:
    """Return Python code that computes the numbers of the open page."""
    recipe = state.recipe()
    page = of(st.session_state["page"])
    if page.key in {one.page for one in EXPERIMENTS.values()}:
        return chosen_experiment(dict(recipe.settings), page.key).to_python(
            dict(recipe.settings), recipe.seed
        )
    return page_source(page.key, recipe, state.files())


def link() -> str:
    """Return the address of the open page, with all settings."""
    return browser.link(state.here())
