"""A question on how a table is read, answered with the mouse and with the keyboard alone, changed, and taken back."""

import pytest

from tests.kinds import KINDS

ASKED = [name for name, kind in KINDS.items() if kind.answers]
LAPTOP, PHONE = (1366, 768), (390, 844)
MOST_TABS = 200
TURNED = "a convention that the ranks contradict"


def brought(new_tab, name, size, **options):
    """Open the Data page in a window of this size, and upload the table of this kind."""
    kind, (width, height) = KINDS[name], size
    tab = new_tab(width=width, **options)
    tab.page.set_viewport_size({"width": width, "height": height})
    return tab.open("explore_data", calibrators="none").upload(kind.name, kind.content)


def answer(tab, place):
    return tab.by_key(f"choose_{place}").get_by_role("button")


def by_keyboard(tab, button):
    """Press Tab until the button has the focus, then Enter."""
    for _ in range(MOST_TABS):
        tab.page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    else:
        pytest.fail(f"{MOST_TABS} times Tab do not reach the button")
    tab.page.keyboard.press("Enter")
    return tab.settle()


def check_question(tab):
    """Check that a question is read without scrolling sideways, and that nothing is computed."""
    question = tab.by_key("question")
    assert "No result is computed until you choose" in question.inner_text()
    assert tab.page.get_by_test_id("stMetric").count() == 0
    assert tab.page.get_by_test_id("stPlotlyChart").count() == 0
    width = tab.page.viewport_size["width"]
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    for button in question.get_by_role("button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def read_as(tab):
    return tab.by_key("read_as").inner_text()


def test_a_question_is_answered_with_the_mouse_changed_and_taken_back(new_tab):
    tab = brought(new_tab, TURNED, LAPTOP)
    check_question(tab)
    answer(tab, 0).click()
    assert "'p' is read as the probability of '0', as stated" in read_as(tab.settle())
    tab.press("Change: probability of '1'")
    assert "'p' is read as the probability of '1', as stated" in read_as(tab)
    assert tab.recipe_query()["positive"] == "1"
    tab.press("Ask again")
    check_question(tab)
    assert "positive" not in tab.recipe_query()


def test_a_question_is_answered_and_changed_with_the_keyboard_alone_on_a_phone(new_tab):
    tab = brought(new_tab, TURNED, PHONE, color_scheme="dark")
    check_question(tab)
    by_keyboard(tab, answer(tab, 0))
    assert "'p' is read as the probability of '0', as stated" in read_as(tab)
    by_keyboard(tab, tab.page.get_by_role("button", name="Change: probability of '1'", exact=True))
    assert "'p' is read as the probability of '1', as stated" in read_as(tab)


@pytest.mark.soak
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=str)
@pytest.mark.parametrize("name", ASKED)
def test_every_question_is_answered_with_mouse_and_keyboard(new_tab, name, size):
    for give in (lambda button: button.click(), None):
        tab = brought(new_tab, name, size)
        check_question(tab)
        before = tab.by_key("question").inner_text()
        if give is None:
            by_keyboard(tab, answer(tab, 0))
        else:
            give(answer(tab, 0))
            tab.settle()
        question = tab.by_key("question")
        assert question.count() == 0 or question.inner_text() != before
        tab.press("Ask again")
        assert tab.by_key("question").inner_text() == before
