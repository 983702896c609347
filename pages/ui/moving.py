"""A reliability diagram drawn in the page, in which marks move; Plotly draws it until the script is there."""

from __future__ import annotations

from typing import Any

import streamlit as st

from calib.evaluate import Evaluation
from calib.export.playground import CALIBRATED, STYLE, marks_of, script
from pages.ui import headings, placing

LOW = 40  # units of the histogram's height, so that a room sees a diagram as large as possible
# Another run of the page leaves the picture as it is. Plotly's is hidden, also from the keyboard (styles/page.css).
BEGIN = """
const OPEN = new WeakMap()
export default function ({ data, parentElement }) {
    const root = parentElement.querySelector(".root"), now = JSON.stringify(data), before = OPEN.get(root)
    root.closest(".st-key-moving").dataset.drawn = "here"
    if (before?.now === now) return
    OPEN.set(root, { now, empty: !data.p })
    calibrated(root, { ...data, arriving: before?.empty && data.p })
}"""


@st.cache_resource
def _component():
    return st.components.v2.component(
        "calibration_explorer_calibrated",
        html='<div class="root"></div>',
        css=STYLE.read_text(encoding="utf-8"),
        js=script(CALIBRATED) + BEGIN,
        isolate_styles=False,  # a guess is placed over it (scripts/guess.js)
    )


def over_the_chart(told: dict[str, Any]) -> None:
    """Draw what ``calibrated.js`` is told in place of the chart in the same container of the key "moving"."""
    _component()(key="calibrated", data=told)


def in_step(evaluation: Evaluation, alt: str) -> None:
    """Draw the model's marks in a lesson's step, and only axes while the question is open."""
    told: dict[str, Any] = {"alt": alt}
    if not headings.empty():
        told = marks_of(evaluation, list(evaluation.predictions)[:1])
        if ghost := headings.ghost():
            told["guess"] = {"at": ghost.question.at, "value": ghost.guess, "label": placing.LABEL}
    over_the_chart(told | {"under": LOW})
