"""What the browser kept is checked: anything that no reader can have answered is left out."""

import pytest

from calib.lessons import LESSONS
from pages.ui.learn.kept import _chosen, _placed
from pages.ui.learn.lessons import Guess

STEPS = LESSONS["venn_abers"].steps
OF_KIND = {step.question.kind: step for step in STEPS if step.question}
CURVE = [[0.2, 0.3], [0.7, 0.6]]


@pytest.mark.parametrize(
    ("kind", "guess"),
    [
        ("choice", [1, None]),
        ("choice", [0, None]),
        ("mark", [3, 0.6]),
        ("curve", [2, CURVE]),
        ("curve", [0, None]),
    ],
)
def test_an_answer_comes_back(kind, guess):
    place = OF_KIND[kind].place
    assert _placed({place: guess}) == {place: Guess(*guess)}


@pytest.mark.parametrize(
    ("kind", "guess"),
    [
        ("choice", [9, None]),
        ("choice", [1, 0.5]),
        ("choice", ["1", None]),
        ("choice", 1),
        ("mark", [1, 1.2]),
        ("mark", [1, CURVE]),
        ("curve", [1, [[0.2, "x"], [1, 1]]]),
        ("curve", [1, 0.5]),
        ("curve", [1, None]),
    ],
)
def test_what_no_reader_can_have_answered_is_left_out(kind, guess):
    assert _placed({OF_KIND[kind].place: guess}) == {}


def test_other_contents_of_the_storage_are_left_out():
    assert _placed({"venn_abers:99": [1, None], "x": [1, None]}) == _placed(None) == _placed([1]) == {}
    assert _chosen({"1": 2, "2": 7, "9": 1, "x": 1, "3": "1"}) == {1: 2}
    assert _chosen(5) == {}
