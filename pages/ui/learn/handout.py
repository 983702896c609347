"""What a teacher takes to class: the handout of a lesson, and its summary card."""

from __future__ import annotations

import streamlit as st

from calib.export import chromium
from calib.export.lessons import handout_pdf, lesson_card, lesson_handout
from calib.lessons import Lesson
from pages.ui import downloads, jobs

HELP = (
    "The handout contains the questions of all steps, space for guesses, exercises, and solutions on "
    "separate sheets."
)


def offer(lesson: Lesson) -> None:
    """Offer the handout, drawn on request, as PDF, or as a page to print if no browser can make a PDF."""
    if not st.toggle("Handout", key=f"handout_{lesson.key}", help=HELP):
        return
    pdf = chromium.can_draw()
    make = handout_pdf if pdf else lesson_handout
    kind = f"lesson_handout_{lesson.key}"  # on the list of lessons, several may be drawn at once
    found = jobs.run_one(kind, "Drawing", lesson.key, lambda watch: make(lesson, watch=watch), for_all=True)
    if found is None:
        return
    name, mime = (
        (f"{lesson.key}.pdf", "application/pdf") if pdf else (f"{lesson.key}_handout.html", "text/html")
    )
    downloads.button(f"Handout ({'PDF' if pdf else 'HTML'})", found, name, mime, f"{kind}_file")


def card(lesson: Lesson) -> None:
    """Offer the summary card, which is drawn on request."""
    if not st.toggle("Draw a summary card to print on one sheet", key="card"):
        return
    found = jobs.run_one(
        "lesson_card", "Drawing", lesson.key, lambda watch: lesson_card(lesson, watch=watch), for_all=True
    )
    if found is not None:
        downloads.button("Summary card (HTML)", found, f"{lesson.key}.html", "text/html", "card_file")
