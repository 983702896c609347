"""A guess in the picture of a step, by keys and by the pointer; it stays beside the data. No bar lies over answers."""

import pytest

from calib.lessons import LESSONS
from tests.waiting import until

STEPS = [step for lesson in LESSONS.values() for step in lesson.steps]


def of_kind(kind):
    """The first step that asks for a guess of this kind."""
    return next(step for step in STEPS if step.question is not None and step.question.kind == kind)


def opened(tab, step):
    tab.open(step.page, **step.recipe.to_query(), lesson=step.place)
    tab.by_key("lesson").wait_for()
    return tab.settle()


def drawn_in(tab, step):
    """What is written in the picture of a step."""
    return tab.by_key("lesson").locator(".moving .guessed" if step.moving else ".js-plotly-plot .annotation")


def test_a_mark_is_moved_by_keys_and_stays_beside_the_data(tab):
    step = of_kind("mark")
    opened(tab, step)
    mark, show = (
        tab.page.get_by_role("slider", name="your guess"),
        tab.page.get_by_role("button", name="Show the data"),
    )
    mark.focus()
    assert not show.is_enabled()
    before = float(mark.get_attribute("aria-valuenow"))
    for _ in range(5):
        tab.page.keyboard.press("ArrowUp")
    after = float(mark.get_attribute("aria-valuenow"))
    assert after > before
    assert "lesson=" + step.place.replace(":", "%3A") in tab.page.url.replace(":", "%3A"), (
        "the keys move the mark only"
    )
    tab.page.keyboard.press("Enter")
    tab.by_key("asked").get_by_text("Ask me again").wait_for()
    mark.wait_for(state="detached")
    drawn_in(tab, step).get_by_text("your guess").first.wait_for()
    until(
        lambda: tab.page.evaluate("document.activeElement.innerText").startswith(("Next", "Three questions")),
        "the keyboard is where it goes on",
    )


def test_a_curve_is_drawn_by_the_pointer_and_nothing_is_there_to_accept_before(tab):
    step = of_kind("curve")
    opened(tab, step)
    area = tab.page.locator(".guess .area")
    area.wait_for()
    line, show = tab.page.locator(".guess g path"), tab.page.get_by_role("button", name="Show the data")
    assert not line.get_attribute("d")
    box, mouse = area.bounding_box(), tab.page.mouse

    def stroke(*shares: float) -> None:
        for at, share in enumerate(shares):
            mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"], steps=4)
            if not at:
                mouse.down()
        mouse.up()

    low, high = step.question.over
    stroke(low + 0.01, (low + high) / 2)
    assert not show.is_enabled(), "half of the curve is missing"
    stroke((low + high) / 2, high)
    heights = {point.split()[1] for point in line.get_attribute("d")[1:].split("L")}
    assert len(heights) == 1, "a level stroke makes a level curve"
    assert show.is_enabled()
    tab.press("Show the data")
    tab.by_key("asked").get_by_text("On average your curve is").wait_for()
    drawn_in(tab, step).get_by_text("too high", exact=True).wait_for()


@pytest.mark.soak  # by keys to the end: test_moving_diagram.py
def test_a_curve_is_drawn_by_keys(tab):
    opened(tab, of_kind("curve"))
    point, show = (
        tab.page.get_by_role("slider", name="your guess"),
        tab.page.get_by_role("button", name="Show the data"),
    )
    point.focus()
    tab.page.keyboard.press("ArrowDown")
    for key in (*["ArrowLeft"] * 20, *["ArrowRight"] * 19):
        tab.page.keyboard.press(key)
    until(show.is_enabled, "the whole curve is drawn")


COVERED = """() => {
    const moves = document.querySelector('.st-key-lesson_moves')
    const buttons = [...document.querySelectorAll('[class*="st-key-answers_"] button')]
    return buttons.filter(button => {
        button.scrollIntoView({block: 'nearest'})
        const [box, bar] = [button, moves].map(each => each.getBoundingClientRect())
        return (box.bottom > bar.top && box.top < bar.bottom) || box.bottom > innerHeight
    }).map(button => button.innerText)
}"""
QUICK = (STEPS[0], next(step for step in STEPS if step.page.startswith("learn_")))


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, id=step.place, marks=() if step in QUICK else pytest.mark.soak) for step in STEPS],
)
def test_every_answer_can_be_seen_clear_of_the_bar_that_leads_on(new_tab, step):
    tab = new_tab(width=1366)
    tab.page.set_viewport_size({"width": 1366, "height": 768})
    opened(tab, step)
    assert tab.page.locator('[class*="st-key-answers_"] button').count() >= 2
    assert tab.page.evaluate(COVERED) == []
