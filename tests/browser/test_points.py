"""Points that are dragged, by mouse and keyboard: numbers follow while they move, links and pictures after the drop."""

import re

import pytest

from calib.calibrators import VennAbers
from calib.kernel.wording import brief, number
from tests.waiting import until
from tests.where import where

FOUR = where("pooling")[1] | {
    "pooling.guess": "skip",
    "pooling.points": "0.2:0 0.4:1 0.6:0 0.8:1",
    "pooling.score": "0.5",
}


def said(tab, key) -> list[str]:
    """p0, p1 and p as they stand over the picture."""
    text = tab.by_key(f"points_{key}").locator(".said").inner_text()
    return [part.rpartition(" ")[2] for part in text.split(",")]


def expected(points: str, score: float) -> list[str]:
    scores, labels = zip(
        *((float(s), int(y)) for s, y in (p.split(":") for p in points.split())), strict=True
    )
    one = VennAbers().fit(scores, labels).explain(score)
    return [number(one.zero.value), number(one.one.value), number(one.p)]


def centre(mark) -> tuple[float, float]:
    box = mark.locator(".reach").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pick_up(tab, mark) -> tuple[float, float]:
    mark.scroll_into_view_if_needed()
    x, y = centre(mark)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    return x, y


def test_a_dragged_point_tells_its_numbers_at_once_and_the_link_after_the_drop(tab):
    tab.experiment("pooling", **FOUR)
    marks = tab.by_key("points_pooling").get_by_role("slider")
    assert said(tab, "pooling") == expected(FOUR["pooling.points"], 0.5)
    (left, _), (right, _) = centre(marks.nth(1)), centre(marks.nth(4))
    x, y = pick_up(tab, marks.nth(2))
    tab.page.mouse.move(x + 0.3 * (right - left) / 0.6, y, steps=3)
    moved = "0.2:0 0.7:1 0.6:0 0.8:1"
    assert said(tab, "pooling") == expected(moved, 0.5)
    assert tab.recipe_query() == FOUR  # nothing is asked of the server before the drop
    tab.page.mouse.up()
    tab.holds(FOUR | {"pooling.points": moved})
    assert tab.chart_titles()[0].startswith("Done after 0 moves")

    marks.nth(0).focus()
    for _ in range(2):
        tab.page.keyboard.press("Shift+ArrowRight")
    assert said(tab, "pooling") == expected(moved, 0.6)
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    moved = moved.replace("0.2:0", "0.2:1")
    assert said(tab, "pooling") == expected(moved, 0.6)
    tab.holds(FOUR | {"pooling.points": moved, "pooling.score": "0.6"})
    assert marks.nth(1).get_attribute("aria-valuetext") == "score 0.2, Row of class 1"
    assert said(tab, "pooling") == expected(moved, 0.6)
    assert has_focus(marks.nth(1)), "whatever the drop has changed on the page"


def test_a_point_follows_a_finger_and_the_page_stays(new_tab):
    tab = new_tab(width=390, has_touch=True).experiment("pooling", **FOUR)
    mark = tab.by_key("points_pooling").get_by_role("slider").nth(0)
    mark.scroll_into_view_if_needed()
    x, y = centre(mark)
    down = "document.querySelector('.stMain').scrollTop"
    before = tab.page.evaluate(down)
    touch = tab.page.context.new_cdp_session(tab.page)

    def finger(act: str, *points: dict[str, float]) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": act, "touchPoints": points})

    finger("touchStart", {"x": x, "y": y})
    for i in range(1, 9):  # as a finger goes: never quite level
        finger("touchMove", {"x": x - 8 * i, "y": y - 5 * i})
    finger("touchEnd")
    assert centre(mark)[0] == pytest.approx(x - 64, abs=2)
    until(lambda: "pooling.score" in tab.recipe_query(), "the score was dropped elsewhere")
    assert tab.page.evaluate(down) == before
    assert has_focus(mark)


def has_focus(mark) -> bool:
    return mark.evaluate("mark => mark.getRootNode().activeElement === mark")


# Milliseconds from a movement of the pointer to a page laid out with the new numbers, the slowest of 40.
SLOWEST = """mark => {
    const reach = mark.querySelector('.reach').getBoundingClientRect(), times = [];
    mark.setPointerCapture = () => {};
    const tell = (type, x) => mark.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: reach.top + 15}));
    tell('pointerdown', reach.left + 15);
    for (let i = 1; i <= 40; i++) {
        const begin = performance.now();
        tell('pointermove', reach.left + 15 + 5 * i);
        mark.getBoundingClientRect();
        times.push(performance.now() - begin);
    }
    tell('pointercancel', 0);
    return Math.max(...times);
}"""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("view", "key", "query"),
    [
        (
            "pooling",
            "pooling",
            {"pooling.points": " ".join(f"{i / 60:.4f}:{i % 2}" for i in range(60))},
        ),
        ("finite", "finite", {}),
        ("", "explained", {"model": "naive_bayes"}),
    ],
)
def test_the_numbers_follow_within_a_tenth_of_a_second(tab, view, key, query):
    tab.experiment(view, **query) if view else tab.open("explore_venn_abers", **query)
    if key == "explained":
        tab.unfold("What if: drag the calibration rows")
    picture = tab.by_key(f"points_{key}")
    before = picture.locator(".said").inner_text()
    assert re.search("p = ", before)
    took = picture.get_by_role("slider").first.evaluate(SLOWEST)
    print(f"{key}: at most {took:.1f} ms")
    assert took < 100


@pytest.mark.soak
def test_the_calibration_set_of_one_prediction_and_the_line_are_dragged_too(tab):
    tab.open("explore_venn_abers", model="naive_bayes").unfold("What if: drag the calibration rows")
    before = said(tab, "explained")
    marks = tab.by_key("points_explained").get_by_role("slider")
    count, mark = marks.count(), marks.nth(6)
    mark.focus()
    for _ in range(4):  # far enough that the picture above shows another part of the axis
        tab.page.keyboard.press("Shift+ArrowRight")
    until(lambda: "venn_abers.what_if" in tab.recipe_query(), "the link holds what was moved")
    tab.settle()
    assert (marks.count(), has_focus(mark)) == (count, True)
    assert said(tab, "explained") != before
    p = brief(float(said(tab, "explained")[2]))
    assert any("moved" in title and title.endswith(f"p = {p}") for title in tab.chart_titles())
    tab.press("Reset the rows")
    assert said(tab, "explained") == before

    tab.experiment("finite", **{"finite.guess": "skip"})
    mark = tab.by_key("points_finite").get_by_role("slider").nth(1)
    mark.focus()
    tab.page.keyboard.press("Shift+ArrowUp")
    until(lambda: "2:0.3:0" in tab.recipe_query().get("finite.line", ""), "the link holds the line")
