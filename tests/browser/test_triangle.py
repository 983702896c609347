"""The triangle in a browser: a point to drag; its numbers are tested in tests/pages/test_triangle.py."""

import pytest
from playwright.sync_api import expect

from tests.waiting import until


def _drag(tab, point, probabilities):
    """Drag the point with the mouse to where cat, dog and fox have these probabilities."""
    box = tab.page.locator(".triangle svg").bounding_box()
    unit, corners = box["width"] / 576, ((58, 450), (518, 450), (288, 450 - 460 * 0.75**0.5))
    x, y = (
        box[("x", "y")[axis]]
        + unit * sum(p * corner[axis] for p, corner in zip(probabilities, corners, strict=True))
        for axis in (0, 1)
    )
    at = point.bounding_box()
    tab.page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y, steps=5)
    tab.page.mouse.up()


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1366, "light", marks=pytest.mark.soak), (390, "dark")]
)
def test_a_point_is_dragged_and_each_task_says_what_it_taught(new_tab, width, scheme):
    tab = new_tab(width=width, color_scheme=scheme)
    tab.experiment("triangle")
    task, point = (
        tab.page.locator(".triangle .task"),
        tab.page.get_by_role("slider", name="three probabilities"),
    )
    expect(task).to_contain_text("Task 1 of 3")
    expect(point).to_have_attribute("aria-valuetext", "cat 50 %, dog 30 %, fox 20 %")
    _drag(tab, point, (0.3, 0.6, 0.1))
    expect(point).to_have_attribute("aria-valuetext", "cat 30 %, dog 60 %, fox 10 %")
    cells = tab.page.locator(".triangle tbody td")
    assert cells.all_inner_texts() == ["30 %", "–", "10 %", "60 %", "–", "60 %", "10 %", "–", "30 %"]
    expect(task).to_contain_text("Task 1 is done: The confidence is right")
    tab.page.locator(".triangle input[value=vector]").check(force=True)
    expect(task).to_contain_text("Task 2 is done: Vector scaling has a power")
    expect(task).to_contain_text("the calibrator is its exact inverse")
    assert cells.all_inner_texts()[1::3] == cells.all_inner_texts()[2::3]
    tab.page.locator(".triangle input[value=temperature]").check(force=True)
    for name, value in (("tilt", 1), ("sharpness", 2)):
        tab.page.locator(f".triangle input[data-name={name}]").evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')) }", value
        )
    expect(task).to_contain_text("You have done all tasks.")


def test_the_keyboard_moves_the_point_and_a_link_restores_it(tab):
    tab.experiment("triangle")
    point = tab.page.get_by_role("slider", name="three probabilities")
    expect(point).to_have_attribute("aria-valuetext", "cat 50 %, dog 30 %, fox 20 %")
    # Each is awaited, because the last one is drawn and sent a moment after the key
    for key, shown, cat in (
        ("ArrowRight", "cat 48 %, dog 32 %, fox 20 %", "0.48"),
        ("Shift+ArrowUp", "cat 42 %, dog 26 %, fox 32 %", "0.422"),
    ):
        point.press(key)
        expect(point).to_have_attribute("aria-valuetext", shown)
        until(
            lambda cat=cat: tab.page.wait_for_timeout(50) or tab.recipe_query().get("triangle.cat") == cat,
            "the address has it",
        )
    tab.page.reload()
    expect(point).to_have_attribute("aria-valuetext", shown)
