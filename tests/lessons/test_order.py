"""Lessons stand in the order in which they need each other: no question uses a term that no step has introduced yet."""

import re

import pytest

from calib.experiments import chosen_experiment
from calib.lessons import LESSONS
from calib.lessons.glossary import GLOSSARY

INTRODUCED = {
    "auc": ("why_calibrate", 4),
    "brier": ("why_calibrate", 3),
    "calibrated": ("why_calibrate", 5),
    "calibrator": ("why_calibrate", 3),
    "platt": ("why_calibrate", 3),
    "band": ("reliability_diagram", 4),
    "corp": ("reliability_diagram", 6),
    "ece": ("reliability_diagram", 2),
    "posterior": ("reliability_diagram", 2),
    "isotonic": ("labels_to_steps", 1),
    "log_loss": ("labels_to_steps", 4),
    "pool": ("labels_to_steps", 1),
    "venn_abers": ("labels_to_steps", 5),
    "p0p1": ("two_probabilities", 2),
    "valid": ("two_probabilities", 1),
    "venn": ("two_probabilities", 1),
    "bias": ("when_it_helps", 1),
    "tce": ("when_it_helps", 1),
    "cl": ("not_useful", 5),
    "gl": ("not_useful", 5),
    "group": ("not_useful", 5),
    "il": ("not_useful", 5),
    "rf_opt": ("when_it_helps", 3),
}
"""Term → the step that introduces it."""
KEYS = list(LESSONS)


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


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
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
    step = LESSONS[lesson].steps[number - 1]
    assert says(key, " ".join((step.text, asked_in(step), step.look, step.point)))


def needs(lesson) -> set[str]:
    """The lessons that introduce the terms of this lesson's questions."""
    return {INTRODUCED[key][0] for key, _ in uses(lesson)} - {lesson.key}


def named_in(lesson) -> set[str]:
    """The lessons that its line for teachers names."""
    quoted = re.findall("“(.*?)”", lesson.when)
    return {key for key, one in LESSONS.items() if any(one.title.startswith(title) for title in quoted)}


def with_what_they_need(keys: set[str]) -> set[str]:
    more = keys | {other for key in keys for other in named_in(LESSONS[key])}
    return more if more == keys else with_what_they_need(more)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_lesson_tells_teachers_which_lessons_it_needs_and_they_stand_before_it(lesson):
    named = named_in(lesson)
    assert needs(lesson) <= with_what_they_need(named)
    assert all(KEYS.index(key) < KEYS.index(lesson.key) for key in named)
    assert bool(named) == (lesson.key != KEYS[0])
