"""Addresses of former pages, which are views of other pages now, so that old links lead to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")

FORMER = {
    "learn_playground": "playground",
    "learn_cl_gl": "cl_gl",
    "learn_tree_depth": "tree_depth",
    "learn_finite_example": "finite",
    "learn_fair_on_average": "fair_on_average",
    "learn_looking": "looking",
    "learn_three_classes": "three_classes",
    "learn_lessons": "lesson",
    "learn_algorithms": "pooling",
    "learn_validity": "theorem",
    "learn_which_model": "which_model",
    "learn_overlap": "overlap",
    "learn_calibration_size": "calibration_size",
}
"""Former page → the view that took its place."""
LESSON_END = "lessons.end"  # the former setting that opened the questions at the end of a lesson


def in_use(query: Mapping[str, Value]) -> dict[str, Value]:
    """Return query parameters without the settings of former pages: the experiment of each, and ``LESSON_END``.

    >>> in_use({"validity.experiment": "regret", "regret.p0": "0.2"})
    {'regret.p0': '0.2'}
    """
    gone = {LESSON_END, *(f"{page.removeprefix('learn_')}.experiment" for page in FORMER)}
    return {name: value for name, value in query.items() if name not in gone}


def view_of(page: str, query: Mapping[str, str | list[str]]) -> str:
    """Return the view that a link to a former page is about."""
    if page == "learn_lessons" and LESSON_END in query:
        return "questions"
    return str(query.get(f"{page.removeprefix('learn_')}.experiment", FORMER[page]))
