"""A step whose picture a script draws: nothing tells before the guess; then the marks move in from the diagonal."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from calib.analysis.curves import FEW, curve_of
from calib.evaluate import evaluate
from calib.export.cards import picture
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


def opened(tab):
    return tab.open(STEP.page, **STEP.recipe.to_query(), lesson=STEP.place)


def place(p, q):
    """Where the diagram draws a prediction and a frequency, in its units (diagram.js)."""
    return 56 + 440 * p, 16 + 440 * (1 - q)


def guessed(tab, presses):
    """Place the mark by the arrow keys, from where the model is taken at its word, and show the data."""
    mark = tab.page.get_by_role("slider", name="your guess")
    mark.focus()
    for _ in range(presses):
        tab.page.keyboard.press("ArrowDown")
    value = float(mark.get_attribute("aria-valuenow"))
    tab.page.keyboard.press("Enter")
    tab.page.locator(".moving .guessed circle").wait_for()
    return value


@pytest.mark.parametrize(
    ("scheme", "width", "motion"),
    [("light", 1366, "no-preference"), ("dark", 1366, "reduce"), ("dark", 390, "no-preference")],
)
def test_nothing_tells_before_the_guess_and_then_the_marks_move_in_beside_it(new_tab, scheme, width, motion):
    tab = opened(new_tab(width=width, color_scheme=scheme, reduced_motion=motion))
    svg = tab.page.locator("svg.moving")
    expect(svg).to_be_visible()
    expect(tab.page.locator(".st-key-moving .stPlotlyChart")).to_be_hidden()
    assert svg.locator("g:not(.axes, .diagonal) *").count() == 0, "axes and diagonal only"
    assert "%" not in svg.get_attribute("aria-label")
    expect(tab.page.locator(".st-key-moving")).not_to_contain_text("618")
    tab.page.evaluate(WATCH)
    value = guessed(tab, 30)
    assert value == pytest.approx(0.4, abs=1e-6)
    evaluation = evaluate(STEP.recipe, load(STEP.recipe))
    bins = curve_of(evaluation, "none")
    shown = bins.mean_p >= STEP.picture["after"][0]
    mean, observed = bins.mean_p[shown], bins.observed[shown]
    assert 0 < shown.sum() < len(shown), "the next step asks about the others"
    places = [place(*at) for at in zip(mean, observed, strict=True)]
    marks = svg.locator(".marks circle")
    until(
        lambda: marks.evaluate_all(CENTRES) == [pytest.approx(at, abs=0.01) for at in places],
        "the marks are where calib has them",
    )
    (x, y), first = places[0], tab.page.evaluate("heights")
    if motion == "reduce":
        assert first == [pytest.approx(y, abs=0.01)] * len(first), "they are there at once"
    else:
        assert first[0] == pytest.approx(place(mean[0], mean[0])[1], abs=0.01)
        assert observed[0] < mean[0], "and so they fall"
        assert all(one <= other for one, other in pairwise(first)), "they fall from the diagonal"
    ring = svg.locator(".guessed circle")
    assert [float(ring.get_attribute(name)) for name in ("cx", "cy")] == pytest.approx(place(0.7, 0.4))
    for p, q in zip(mean, observed, strict=True):
        assert f"predicted {percent(p)}, observed {percent(q)}" in svg.get_attribute("aria-label")
    x, y = places[1]
    box = svg.bounding_box()
    unit = box["width"] / 510
    tab.page.mouse.move(box["x"] + x * unit, box["y"] + y * unit)
    expect(svg.locator(".values")).to_contain_text("49 rows: predicted")
    expect(svg.locator(".values")).to_contain_text("70 %, observed 27 %")
    if width == 1366:  # asked again, it is as empty as before
        tab.press("Ask me again")
        expect(svg.locator("g:not(.axes, .diagonal) *")).to_have_count(0)


def test_the_calibrator_s_marks_move_from_those_of_the_model_and_the_switch_leads_back(tab):
    step = next(one for one in STEPS if one.question.shows == ("Uncalibrated",))
    tab.open(step.page, **step.recipe.to_query(), lesson=step.place)
    evaluation = evaluate(step.recipe, load(step.recipe))
    curves = [curve_of(evaluation, key) for key in evaluation.predictions]
    before, after = (
        [place(p, q) for p, q, n in zip(one.mean_p, one.observed, one.count, strict=True) if n >= FEW]
        for one in curves
    )
    marks = tab.page.locator(".moving .marks circle")

    def arrived(where):
        until(lambda: marks.evaluate_all(CENTRES) == [pytest.approx(at, abs=0.01) for at in where], "there")

    arrived(before)
    assert "Platt" not in tab.page.locator("svg.moving").get_attribute("aria-label")
    assert tab.page.get_by_role("switch", name="Platt scaling").count() == 0, "it is the answer"
    tab.page.evaluate(WATCH)
    point = tab.page.get_by_role("slider", name="your guess")
    point.focus()
    for key in (*["ArrowLeft"] * 20, *["ArrowRight"] * 19, "Enter"):
        tab.page.keyboard.press(key)
    tab.page.locator(".moving .guessed .area").wait_for(state="attached")
    arrived(after)
    first = tab.page.evaluate("heights")[0]
    assert first == pytest.approx(before[0][1], abs=0.01), "from where the model's marks were"
    switch = tab.page.get_by_role("switch", name="Platt scaling")
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
