"""A step whose picture a script draws: nothing tells before the guess; then the marks move in from the diagonal."""

import pytest
from playwright.sync_api import expect

from calib.analysis.curves import FEW_IN_BIN, curve_of
from calib.evaluate import evaluate
from calib.export.lessons import picture
from calib.kernel.wording import percent
from calib.lessons import LESSONS
from calib.sources import load
from tests.waiting import until

STEPS = [step for lesson in LESSONS.values() for step in lesson.steps if step.moving]
STEP = STEPS[0]
# Every height that the first mark has had
WATCH = """() => {
    window.heights = []
    const note = () => {
        const mark = document.querySelector(".moving .marks circle")
        if (mark) heights.push(Number(mark.getAttribute("cy")))
    }
    new MutationObserver(note).observe(document.body, { attributeFilter: ["cy"], childList: true, subtree: true })
}"""
CENTRES = "marks => marks.map(mark => [Number(mark.getAttribute('cx')), Number(mark.getAttribute('cy'))])"


def place(p, q):
    """Where the diagram draws a prediction and a frequency, in its units (diagram.js)."""
    return 56 + 440 * p, 16 + 440 * (1 - q)


@pytest.mark.parametrize(
    ("scheme", "width", "motion"),
    [
        ("light", 1366, "no-preference"),
        ("dark", 390, "reduce"),
        pytest.param("dark", 390, "no-preference", marks=pytest.mark.soak),
    ],
)
def test_the_calibrator_s_marks_move_from_those_of_the_model_and_the_switch_leads_back(
    new_tab, scheme, width, motion
):
    tab = new_tab(width=width, color_scheme=scheme, reduced_motion=motion)
    tab.open(STEP.page, **STEP.recipe.to_query(), lesson=STEP.place)
    evaluation = evaluate(STEP.recipe, load(STEP.recipe))
    curves = [curve_of(evaluation, key) for key in evaluation.predictions]
    before, after = (
        [place(p, q) for p, q, n in zip(one.mean_p, one.observed, one.count, strict=True) if n >= FEW_IN_BIN]
        for one in curves
    )
    marks = tab.page.locator(".moving .marks circle")

    def arrived(where):
        until(lambda: marks.evaluate_all(CENTRES) == [pytest.approx(at, abs=0.01) for at in where], "there")

    arrived(before)
    assert "Isotonic" not in tab.page.locator("svg.moving").get_attribute("aria-label")
    assert tab.page.get_by_role("switch", name="Isotonic regression").count() == 0, "it is the answer"
    tab.page.evaluate(WATCH)
    point = tab.page.get_by_role("slider", name="your guess")
    point.focus()
    for key in (*["ArrowLeft"] * 20, *["ArrowRight"] * 19, "Enter"):
        tab.page.keyboard.press(key)
    tab.page.locator(".moving .guessed .area").wait_for(state="attached")
    arrived(after)
    heights, ends = tab.page.evaluate("heights"), (before[0][1], after[0][1])
    if motion == "reduce":
        assert all(min(abs(height - end) for end in ends) < 0.01 for height in heights), "there at once"
    else:
        assert heights[0] == pytest.approx(ends[0], abs=0.01), "from where the model's marks were"
    for p, q, n in zip(curves[1].mean_p, curves[1].observed, curves[1].count, strict=True):
        told = f"predicted {percent(p)}, observed {percent(q)}"
        assert (told in tab.page.locator("svg.moving").get_attribute("aria-label")) == (n >= FEW_IN_BIN)
    switch = tab.page.get_by_role("switch", name="Isotonic regression")
    expect(switch).to_be_checked()
    switch.uncheck()
    arrived(before)
    assert tab.faults() == []


def test_other_settings_are_drawn_by_plotly(tab):
    other = STEP.recipe.replace(bins=9)
    tab.open(STEP.page, **other.to_query(), lesson=STEP.place, guess="off")
    expect(tab.by_key("lesson").get_by_test_id("stPlotlyChart")).to_be_visible()
    assert tab.page.locator("svg.moving").count() == 0


def test_sheets_and_phones_of_a_class_have_plotlys_picture():
    assert {picture(step).key for step in STEPS} == {"reliability"}
