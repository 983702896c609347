"""Table of pages, and the open page: its colours, its address, its Python code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from calib.experiments import EXPERIMENTS, chosen_experiment
from calib.export import page_source
from calib.figures import DARK, LIGHT, Theme
from calib.kernel.declared import SETTINGS
from calib.recipe import Recipe
from pages.ui import browser, state
from pages.ui.text import unbroken


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
        """Name without its section: ``labs`` for pages/learn_labs.py."""
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
        Page("pages/learn_labs.py", "Labs", "What happens if you change it?"),
        Page("pages/learn_two_probabilities.py", "Venn–Abers", "Why two probabilities instead of one?"),
        Page("pages/learn_class.py", "Live quiz", "What does the whole class think?"),
        GLOSSARY_PAGE,
    ),
    "Study": (
        Page("pages/study_run.py", "Run", "Do a paper’s results hold on my data?"),
        Page("pages/study_results.py", "Results", "Which method is best over many data sets?"),
        Page("pages/study_simulations.py", "Simulations", "What do the papers’ simulations show?"),
    ),
}

GUARANTEE = "What do Venn–Abers intervals guarantee?"
QUESTIONS = {
    "playground": "When does a probability tell the truth?",
    "cl_gl": "How much of the loss is miscalibration, and how much is grouping?",
    "tree_depth": "How does tree depth change probabilities?",
    "tree_count": "How many trees does a forest need?",
    "leaf_estimates": "Which probability should a leaf predict?",
    "finite": "Where should a tree stop splitting?",
    "fair_on_average": "How often does some group look wrong by chance?",
    "looking": "How often can I repeat a test?",
    "triangle": "Can the confidence be right but the class probabilities wrong?",
    "three_classes": "Can the confidence be right but the class probabilities wrong?",
    "questions": "What have you learnt?",
    "pooling": "How does isotonic regression find its steps?",
    "theorem": GUARANTEE,
    "narrowing": "How fast do Venn–Abers intervals get narrower?",
    "regret": "Which single probability should you use?",
    "log_loss": "How often is a prediction of 0 or 1 wrong?",
    "which_model": "Which models give calibrated probabilities, and when?",
    "overlap": "Where does calibrating a forest help?",
    "calibration_size": "How many rows does a calibrator need?",
}
"""View of a page → its question; the other proofs ask ``GUARANTEE``."""


def of(script: str) -> Page:
    return next(page for pages in PAGES.values() for page in pages if page.script == script)


def question(page: Page, recipe: Recipe) -> str:
    """Return the question of the page, or of its open view."""
    name = f"{page.key}.experiment"
    if name not in SETTINGS:
        return unbroken(page.question)
    view = recipe.setting(name)
    return QUESTIONS.get(view, GUARANTEE if view in EXPERIMENTS else page.question)


def explores() -> bool:
    """Tell whether an Explore page is open."""
    return of(st.session_state["page"]) in PAGES["Explore"]


def theme() -> Theme:
    return DARK if st.context.theme.type == "dark" else LIGHT


def python() -> str:
    """Return Python code that computes the numbers of the open page."""
    recipe = state.recipe()
    page = of(st.session_state["page"])
    paged = page.key in {one.page for one in EXPERIMENTS.values()}
    experiment = chosen_experiment(dict(recipe.settings), page.key) if paged else None
    if page.key == "labs" and recipe.setting("labs.experiment") == "triangle":
        experiment = EXPERIMENTS["three_classes"]  # the same model, with many rows
    if experiment is not None:
        return experiment.to_python(dict(recipe.settings), recipe.seed)
    return page_source(page.key, recipe, state.files())


def link() -> str:
    """Return the address of the open page, with all settings."""
    return browser.link(state.here())
