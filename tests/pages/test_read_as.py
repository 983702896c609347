"""The pages ask how a table is to be read, take the answer with one click, and change it with another."""

import pytest

from calib.data import TableFile
from calib.evaluate import evaluate
from calib.recipe import Recipe
from calib.sources import digest, load
from tests.kinds import KINDS
from tests.pages.app import bring, go, messages, page
from tests.saying import assert_any_says

ASKED = [name for name, kind in KINDS.items() if kind.answers]
OF_ALL = "a convention that the ranks contradict", "one column per class that does not add up"


def brought(name: str):
    kind = KINDS[name]
    return bring(page("explore_data", calibrators="none"), kind.name, kind.content), kind


def answers(at) -> list:
    return [each for each in at.button if str(each.key).startswith("choose_")]


def written(at) -> list[str]:
    return [each.value.replace("\\", "") for each in at.caption]


def score(at, kind) -> float:
    recipe = Recipe.from_query(dict(at.query_params))
    data = load(recipe, {digest(kind.content): TableFile(kind.name, kind.content)})
    return evaluate(recipe, data).metrics["brier"].iloc[0]


@pytest.mark.parametrize("name", OF_ALL)
def test_every_answer_is_one_click_and_can_be_changed(name):
    at, kind = brought(name)
    assert any("No result is computed until you choose" in each.value for each in at.caption)
    for word, expected in kind.answers.items():
        (button,) = [
            each
            for each in at.button
            if each.key.startswith("choose_") and word in each.label.replace("\\", "")
        ]
        at = button.click().run()
        assert any("read as" in text for text in written(at))
        assert score(at, kind) == pytest.approx(expected, abs=1e-9)
        at = go(at, "explore_reliability")
        assert any("read as" in text for text in written(at))
        at = at.button(key="ask_again").click().run()
        assert answers(at)  # and nothing of the old answer is left
        assert not at.metric
        at = go(at, "explore_data")


@pytest.mark.soak
@pytest.mark.parametrize("name", ASKED)
def test_every_kind_of_question_is_asked_on_the_page(name):
    at, kind = brought(name)
    labels = [each.label.replace("\\", "") for each in answers(at)]
    assert all(any(word in label for label in labels) for word in kind.answers)


def test_classes_are_refused_on_the_page():
    at, _ = brought("predicted classes 0 and 1")
    assert_any_says(messages(at), "predicted classes, not probabilities")


def test_another_reading_is_one_click_away():
    at, kind = brought("confidence of two classes")
    (other,) = [each for each in at.button if "prediction is right" in each.label]
    at = other.click().run()
    assert any("is right" in text for text in written(at))
    assert score(at, kind) == pytest.approx(kind.brier, abs=1e-9)
