"""Lessons stand in the order in which they need each other: no question uses a term that no step has introduced yet."""

import re

import pytest

from calib.experiments import chosen_experiment
from calib.lessons.glossary import GLOSSARY
from tests.lessons.every import EVERY

INTRODUCED = {
    "auc": ("bank", 4),
    "brier": ("bank", 3),
    "calibrated": ("bank", 5),
    "calibrator": ("bank", 3),
    "platt": ("bank", 3),
    "band": ("diagram", 4),
    "ece": ("diagram", 2),
    "posterior": ("diagram", 2),
    "isotonic": ("venn_abers", 1),
    "pool": ("venn_abers", 1),
    "log_loss": ("venn_abers", 3),
    "dir": ("venn_abers", 4),
    "venn_abers": ("venn_abers", 4),
    "p0p1": ("venn_abers", 6),
    "valid": ("venn_abers", 8),
    "venn": ("venn_abers", 8),
}
"""Term → the step that introduces it."""
KEYS = list(EVERY)


def says(key: str, text: str) -> bool:
    """Whether a text uses a term, in the singular or the plural."""
    return any(re.search(rf"(?<![\w–]){re.escape(form)}s?(?!\w)", text) for form in GLOSSARY[key].written)


def asked_in(step) -> str:
    """All words of a step's question, its answers and their reasons."""
    asked = step.question or chosen_experiment(dict(step.recipe.settings), step.page.removeprefix("learn_"))
    text = asked.text if step.question else asked.question
    return " ".join((text, *asked.answers, *asked.why, step.question.remark if step.question else ""))


def uses(lesson):
    """Yield each term of a lesson's questions, with the number of its step; the questions at the end come after it."""
    parts = [(number, asked_in(step)) for number, step in enumerate(lesson.steps, 1)]
    end = [" ".join((one.text, *one.answers, *one.why)) for one in lesson.questions]
    for number, text in (*parts, *((len(lesson.steps) + 1, text) for text in end)):
        yield from ((key, number) for key in GLOSSARY if says(key, text))


@pytest.mark.parametrize("lesson", EVERY.values(), ids=EVERY)
def test_no_question_uses_a_term_before_a_step_introduces_it(lesson):
    early = [
        (key, number)
        for key, number in uses(lesson)
        if (KEYS.index(INTRODUCED[key][0]), INTRODUCED[key][1]) > (KEYS.index(lesson.key), number)
    ]
    assert early == []


@pytest.mark.parametrize("key", INTRODUCED)
def test_a_step_that_introduces_a_term_says_it(key):
    lesson, number = INTRODUCED[key]
    step = EVERY[lesson].steps[number - 1]
    assert says(key, " ".join((step.text, asked_in(step), step.look, step.point)))
