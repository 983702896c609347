"""The page for teachers names every lesson, and of misconceptions only those that the lessons themselves take apart."""

import re
from pathlib import Path

from calib.lessons import LESSONS

TEXT = (Path(__file__).parents[2] / "docs" / "for_teachers.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))


def test_every_lesson_has_its_hour():
    assert set(PARTS) == {"An hour", *(lesson.title for lesson in LESSONS.values())}
    for lesson in LESSONS.values():
        assert lesson.summary in PARTS[lesson.title]
        assert f"{len(lesson.steps)} steps." in PARTS[lesson.title]


def test_what_classes_get_wrong_are_the_wrong_answers_of_the_lesson():
    for lesson in LESSONS.values():
        wrong = {
            (answer, why)
            for question in lesson.questions
            for i, (answer, why) in enumerate(zip(question.answers, question.why, strict=True), 1)
            if i != question.right
        }
        assert set(re.findall(r"^  - “(.*?)”: (.*)$", PARTS[lesson.title], re.M)) == wrong
