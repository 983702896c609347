"""Finite example: presets by one click, cuts by hand, points by the table; what cannot be loses nothing."""

import pytest

from calib.experiments.finite import FIRST_POINTS
from calib.experiments.finite.simulation import ForecastLine
from calib.recipe import Recipe
from pages.ui.learn.finite_example import clicked, edited
from tests.pages.app import (
    experiment,
    faults,
    go,
    messages,
    query,
    settings_in_address,
    settled,
    titles,
    verdicts,
)
from tests.saying import assert_says

CUTS = {"one_leaf": [], "one_split": [5], "pure_leaves": [2, 7, 8], "least": [0, 5, 9]}


def learn(line=None):
    settings = {"finite.guess": "skip"} | ({} if line is None else {"finite.line": line})
    return experiment("finite", **query(settings))


def line_of(at):
    return ForecastLine.of(settings_in_address(at).get("finite.line", FIRST_POINTS))


def test_it_asks_and_one_split_is_the_answer():
    at = experiment("finite")
    settled(at.button(key="guess_2").click().run())
    assert faults(at) == []
    own, costs, better = titles(at)[:3]
    assert_says(own, "2 leaves in 2 groups", "0.38")
    assert_says(costs, "One leaf", "0.50", "one split", "0.38", "pure leaves", "0.75", "lowest", "0.37")
    assert_says(better, "of 480 partitions", "better than yours")
    assert verdicts(at)[0].startswith(":green-badge[")


@pytest.mark.parametrize("name", CUTS)
def test_a_preset_is_one_click_and_stands_in_the_link(name):
    at = learn(
        "1:0.05:0 2:0.2:0 | 3:0.25:0 4:0.3:1 5:0.35 6:0.4 7:0.5 8:0.6:1 9:0.75:0 10:0.8:1 11:0.85 12:0.95:1"
    )
    settled(at.button(key=f"take_{name}").click().run())
    assert faults(at) == []
    assert line_of(at) == ForecastLine.of(FIRST_POINTS).cut_at(CUTS[name])
    taken = at.button(key=f"take_{name}")
    assert taken.proto.type == "primary"
    assert not taken.disabled, "the keyboard would be lost"
    assert at.pills(key="cuts").value == CUTS[name]


def test_cuts_are_added_moved_and_taken_away_by_hand():
    at = learn()
    settled(at.pills(key="cuts").set_value([5, 8]).run())
    assert line_of(at).cuts == (5, 8)
    settled(at.select_slider(key="cut_0").set_value(7).run())
    assert line_of(at).cuts == (7, 8)
    # Up to the next cut
    assert at.select_slider(key="cut_0").options == [f"{i} | {i + 1}" for i in range(1, 9)]
    settled(at.pills(key="cuts").set_value([8]).run())
    assert line_of(at).cuts == (8,)
    settled(at.pills(key="cuts").set_value(list(range(11))).run())
    assert titles(at)[0].startswith("12 leaves in 3 groups")
    assert not at.select_slider
    assert faults(at) == []


def test_a_click_turns_a_label_or_a_cut():
    line = ForecastLine.of(FIRST_POINTS)
    assert clicked(line, "turn", 0) == line.turned(0)
    assert clicked(line, "cut", 5).cuts == ()
    assert clicked(line, "cut", 2).cuts == (2, 5)


def change(rows=(), deleted=(), added=()):
    return {"edited_rows": dict(rows), "deleted_rows": list(deleted), "added_rows": list(added)}


ROWS = [
    {"position": 1.0, "posterior": 0.25, "label": 0, "cut": True},
    {"position": 2.0, "posterior": 0.5, "label": None, "cut": False},
    {"position": 3.0, "posterior": 0.75, "label": 1, "cut": False},
]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (change(), "1:0.25:0 | 2:0.5 3:0.75:1"),
        (change({1: {"posterior": 0.6}}), "1:0.25:0 | 2:0.6 3:0.75:1"),
        (change({1: {"label": 1, "cut": True}}), "1:0.25:0 | 2:0.5:1 | 3:0.75:1"),
        (change({0: {"label": None}}), "1:0.25 | 2:0.5 3:0.75:1"),
        (change({0: {"position": 2.5}}), "2:0.5 2.5:0.25:0 | 3:0.75:1"),  # its cut goes with it
        (change(deleted=[1]), "1:0.25:0 | 3:0.75:1"),
        (change({2: {"posterior": 1}}, deleted=[0]), "2:0.5 3:1:1"),
        (
            change(added=[{"position": 1.5, "posterior": 0.1, "label": 1}]),
            "1:0.25:0 | 1.5:0.1:1 2:0.5 3:0.75:1",
        ),
        (change(added=[{"position": 1.5}, {}]), "1:0.25:0 | 2:0.5 3:0.75:1"),  # not yet filled
    ],
)
def test_the_table_s_changes_become_a_line(changes, text):
    assert str(edited(ROWS, changes)) == text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (change({1: {"posterior": 1.5}}), "the probability at position 2 is 1.5"),
        (change({1: {"posterior": None}}), "the probability at position 2 is nan"),
        (change({1: {"position": None}}), "'nan:0.5' is not"),
        (change({1: {"position": 3}}), "3 is followed by 3"),
        (change({0: {"label": None}, 2: {"label": None}}), "at least one point must have a label"),
        (change(deleted=[0, 1]), "from 2 to 13 points, but has 1"),
        (change({2: {"cut": True}}), "must be between two points"),
    ],
)
def test_a_table_that_is_no_line_is_refused_by_one_message(changes, words):
    with pytest.raises(ValueError, match="finite.line") as refused:
        Recipe(settings={"finite.line": str(edited(ROWS, changes))})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "line", ["1:1.5:0 2:0.5:1", "1:0.5 2:0.5", "1:0.5:0", "2:0.5:0 2:0.5:1", "1:0.5:0 2:0.5:1 |", "x"]
)
def test_a_link_that_holds_no_line_says_so(line):
    at = learn(line)
    assert faults(at) == []
    (message,) = [text for text in messages(at) if "finite.line" in text]
    assert message.startswith("The link could not be followed")


def test_the_line_is_there_after_another_page():
    at = learn()
    settled(at.pills(key="cuts").set_value([1]).run())
    go(at, "learn_two_probabilities")
    go(at, "learn_labs")
    assert line_of(at).cuts == (1,)
    assert titles(at)[0].startswith("2 leaves")
    assert faults(at) == []


def test_the_longest_line_is_cut_anywhere():
    at = learn(" ".join(f"{i}:{i / 13:.3f}:{i % 2}" for i in range(13)))
    for cut in range(12):
        at.pills(key="cuts").set_value([cut]).run()
        assert faults(at) == []
        assert line_of(at).cuts == (cut,)
