"""The page for teachers describes every lesson, with the wrong answers that the lesson itself explains."""

import re

import pytest

from scripts import write_docs
from tests.lessons.every import EVERY

PARTS = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", write_docs.lessons(), re.M | re.S))


@pytest.mark.parametrize("lesson", EVERY.values(), ids=lambda lesson: lesson.key)
def test_a_lesson_says_when_to_teach_it_and_which_answers_are_wrong(lesson):
    assert len(lesson.when) > 20
    text = PARTS[lesson.title]
    assert lesson.when in text
    assert len(re.findall(r"^1\. ", text, re.M)) == len(lesson.steps)
    wrong = [
        answer
        for question in lesson.questions
        for i, answer in enumerate(question.answers, start=1)
        if i != question.right
    ]
    assert re.findall("^  - “(.*?)”:", text, re.M) == wrong
