"""A guess in the picture of a step follows a finger, as it goes: the page does not scroll instead."""

import pytest

from calib.lessons import LESSONS

STEPS = [step for lesson in LESSONS.values() for step in lesson.steps if step.question is not None]
DOWN = "document.querySelector('.stMain').scrollTop"


@pytest.mark.parametrize(
    ("kind", "edge"), [pytest.param("mark", 0.1, marks=pytest.mark.soak), ("curve", 0.01)]
)
def test_a_guess_follows_a_finger_to_its_end_and_the_page_stays(new_tab, kind, edge):
    step = next(step for step in STEPS if step.question.kind == kind)
    tab = new_tab(width=390, has_touch=True).open(step.page, **step.recipe.to_query(), lesson=step.place)
    area = tab.page.locator(".guess .area")
    area.evaluate("area => area.scrollIntoView({block: 'center'})")
    before, box = tab.page.evaluate(DOWN), area.bounding_box()
    touch = tab.page.context.new_cdp_session(tab.page)

    low, high = step.question.over

    def finger(act: str, *shares: float) -> None:
        points = [
            {
                "x": box["x"] + (low + share * (high - low)) * box["width"],
                "y": box["y"] + share * box["height"],
            }
            for share in shares
        ]
        touch.send("Input.dispatchTouchEvent", {"type": act, "touchPoints": points})

    finger("touchStart", edge)  # from the upper left to the lower right, a curve over all that is asked for
    for i in range(1, 11):
        finger("touchMove", min(1 - edge, max(edge, i / 10)))
    finger("touchEnd")
    drawn = tab.page.locator(".guess g path").get_attribute("d")
    heights = [float(place.split()[1].split("h")[0]) for place in drawn[1:].split("L")]
    bottom = tab.page.evaluate("document.querySelector('.guess .area').y.baseVal.value") + box["height"]
    assert heights[-1] == pytest.approx(bottom - edge * box["height"], abs=0.06 * box["height"])
    assert heights == sorted(heights)
    assert tab.page.evaluate(DOWN) == before
    tab.press("Show the data")
    tab.by_key("asked").get_by_text("Ask me again").wait_for()
    assert tab.faults() == []
