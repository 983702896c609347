"""Intervals of all classes of one row: the title is about the class that the page's table and pairs are about."""

import numpy as np
import pytest

from calib.figures import FIGURES
from calib.kernel.wording import number, percent
from tests.saying import assert_says
from tests.test_joint_recipe import WHOLE

ENTRY = FIGURES["class_intervals"]


def most_probable(key: str) -> np.ndarray:
    return WHOLE.whole.predictions[key].p.argmax(axis=1)


def row_at(position: int) -> int:
    return int(WHOLE.dataset.row_numbers[WHOLE.rows][position])


@pytest.mark.parametrize("same", [True, False], ids=["the same class", "another class"])
def test_the_title_is_about_the_class_that_the_model_predicts(same):
    joint, key = WHOLE.whole, "venn_abers"
    at = int(np.flatnonzero((most_probable(key) == joint.chosen) == same)[0])
    pair, k = WHOLE.predictions[key], joint.chosen[at]
    title = ENTRY.prepare(WHOLE, key, row_at(at)).title
    assert title.startswith(f"Row {row_at(at)}: class '{joint.names[k]}' with {percent(pair.p[at])}")
    assert f"[{number(pair.p0[at])}, {number(pair.p1[at])}]" in title
    assert ("this class" in title) == bool(WHOLE.y[at])
    assert ("more probable" in title) != same
    if not same:
        assert_says(title.rpartition(". ")[2], "After calibration", joint.names[most_probable(key)[at]])


def test_a_probability_outside_its_interval_says_why():
    pair = WHOLE.predictions["venn_abers"]
    outside = (pair.p < pair.p0) | (pair.p > pair.p1)
    assert outside.any()
    assert not outside.all()
    for at in (np.argmax(outside), np.argmin(outside)):
        title = ENTRY.prepare(WHOLE, "venn_abers", row_at(at)).title
        assert ("division by the sum" in title) == outside[at]
