"""The playground in a browser: handles, address and file; its numbers are tested in tests/export/test_playground.py."""

import re

import pytest
from playwright.sync_api import expect

from calib.analysis.recommendation.advice import recommend
from calib.analysis.selection import selected_rows, sentence_after, telling_mark
from calib.evaluate import evaluate
from calib.export.playground import playground_html
from calib.recipe import Recipe
from calib.sources import load
from tests.sweep import sweep
from tests.waiting import until


def brier(page) -> float:
    cell = page.locator(".playground tbody td").first
    expect(cell).not_to_be_empty()  # filled at the first frame
    return float(cell.inner_text())


def test_a_handle_changes_the_numbers_at_once_and_the_address_after_it(tab):
    tab.experiment("playground", **{"playground.slope": "0.5", "playground.calibrator": "isotonic"})
    level, slope = (
        tab.page.get_by_role("slider", name=name, exact=True).first for name in ("Level", "Slope")
    )
    expect(slope).to_have_attribute("aria-valuenow", "0.5")
    expect(tab.page.get_by_role("radio", name="Isotonic regression")).to_be_checked()
    before = brier(tab.page)
    level.focus()
    for _ in range(10):
        tab.page.keyboard.press("ArrowUp")
    expect(level).to_have_attribute("aria-valuenow", "1")
    assert brier(tab.page) != before
    until(
        lambda: tab.page.wait_for_timeout(50) or float(tab.recipe_query().get("playground.level", 0)) == 1,
        "the address has the level",
    )
    shown = brier(tab.page)
    tab.page.reload()
    until(lambda: tab.page.wait_for_timeout(50) or brier(tab.page) == shown, "the same after a reload")
    assert tab.faults() == []


def test_a_handle_is_dragged_and_a_curve_is_drawn_with_the_pointer(tab):
    tab.experiment("playground")
    slope = tab.page.get_by_role("slider", name="Slope", exact=True).first
    box = slope.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y + 60, steps=4)
    tab.page.mouse.up()
    until(
        lambda: tab.page.wait_for_timeout(50) or 0.1 <= float(slope.get_attribute("aria-valuenow")) < 0.9,
        "a flatter curve",
    )
    picture = tab.page.locator(".playground")
    picture.evaluate("at => { at.dataset.same = 'yes' }")
    tab.page.get_by_role("button", name="Draw a curve").click()
    pencil = tab.page.get_by_role("slider", name="Drawn curve")
    expect(pencil).to_be_visible()
    box = tab.page.locator(".playground svg").bounding_box()
    left, width, top = box["x"], box["width"], box["y"]
    tab.page.mouse.move(left + 0.3 * width, top + 0.3 * width)
    tab.page.mouse.down()
    tab.page.mouse.move(left + 0.7 * width, top + 0.3 * width, steps=6)
    tab.page.mouse.up()
    until(
        lambda: (
            tab.page.wait_for_timeout(50) or len(tab.recipe_query().get("playground.curve", "").split()) == 21
        ),
        "the address has the curve",
    )
    tab.settle()
    expect(picture).to_have_attribute("data-same", "yes")  # not drawn anew below the reader's hand
    assert tab.faults() == []


@pytest.mark.parametrize("scheme", sweep(["light", "dark"], "dark"))
def test_the_file_runs_alone_and_keeps_its_settings_in_its_address(new_tab, tmp_path, scheme):
    file = tmp_path / "playground.html"
    file.write_bytes(playground_html({"slope": 0.5}))
    page = new_tab(color_scheme=scheme).page
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"file://{file}#rows=1000&calibrator=venn_abers")
    expect(page.locator(".playground .said")).to_contain_text("1,000 rows")
    expect(page.get_by_role("radio", name="Venn–Abers")).to_be_checked()
    level = page.get_by_role("slider", name="Level", exact=True).first
    level.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_url(re.compile("level=-0.1"))
    page.reload()
    expect(level).to_have_attribute("aria-valuenow", "-0.1")
    assert errors == []
    assert all(url.startswith("file://") for url in asked)


def test_the_start_pages_switch_moves_the_ringed_mark_in_the_page(new_tab):
    evaluation = evaluate(Recipe(), load(Recipe()))
    mark, choice = telling_mark(evaluation), recommend(evaluation).choice
    rows = selected_rows(evaluation, mark.selection)
    tab = new_tab(reduced_motion="reduce").open()
    ring, switch = tab.page.locator(".ring circle"), tab.page.get_by_role("switch", name="Calibrate")
    expect(tab.page.locator(".stPlotlyChart")).to_be_hidden()  # drawn until the script is there
    for key in (mark.calibrator, choice, mark.calibrator):
        if key == choice:
            switch.check()
        else:
            switch.uncheck()
        mean = evaluation.predictions[key].p[rows].mean()
        assert float(ring.get_attribute("cx")) == pytest.approx(56 + 440 * mean, abs=0.01)
        told = sentence_after(evaluation, mark, choice) if key == choice else ""
        expect(tab.page.locator(".calibrated [role=status]")).to_have_text(told)
    assert tab.page.locator(".st-key-moving .stPlotlyChart").count() == 1
    assert not tab.unanswered  # the switch asks nothing of the server
    assert tab.faults() == []


def test_its_tasks_can_be_done_by_a_reader_alone_and_say_what_they_taught(tab):
    tab.experiment("playground")
    task = tab.page.locator(".playground .task")
    expect(task).to_contain_text("Task 1 of 3")
    slope, level, high = (
        tab.page.locator(f".playground svg [role=slider][aria-label='{name}']")
        for name in ("Slope", "Level", "High predictions")
    )
    box = high.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 70, y, steps=5)
    tab.page.mouse.up()
    expect(task).to_contain_text("Task 1 is done: The same people had the same outcomes")
    tab.press("Reset")
    expect(slope).to_have_attribute("aria-valuenow", "1")
    for name, value in (("rows", 100), ("bins", 30)):
        _slide(tab, name, value)
    expect(task).to_contain_text("Task 2 is done: With few rows per bin")
    for _ in range(4):
        level.press("Shift+ArrowUp")
    tab.page.locator(".playground input[value=platt]").check(force=True)
    expect(task).to_contain_text("Task 3 is done: A calibrator lowers the Brier score a lot")
    expect(task).to_contain_text("You have done all tasks.")


def test_the_model_says_something_else_of_the_same_people_and_the_cost_follows(tab):
    tab.experiment("playground")
    picture = tab.page.locator(".playground svg")
    high, limit = (picture.get_by_role("slider", name=name) for name in ("High predictions", "Threshold"))
    positives = picture.locator(".people.positive")

    def people() -> int:
        return positives.get_attribute("d").count("M")

    expect(picture.locator(".threshold text").first).to_contain_text("cost")
    cost = picture.locator(".threshold text").first.text_content
    before, first, dots = people(), cost(), positives.get_attribute("d")
    for _ in range(4):
        high.press("Shift+ArrowRight")
    until(lambda: tab.page.wait_for_timeout(50) or positives.get_attribute("d") != dots, "the dots move")
    assert people() == before, "the same people have the event"
    for _ in range(4):
        limit.press("Shift+ArrowRight")
    expect(picture.locator(".threshold text").first).to_contain_text("act above 40 %")
    assert cost().split("cost")[1] != first.split("cost")[1]
    assert not tab.unanswered  # nothing is asked of the server while a handle moves


def test_neither_the_first_draw_nor_a_reset_does_a_task(tab):
    done = {"playground.slope": "0.5"}
    tab.experiment("playground", **done)
    task = tab.page.locator(".playground .task")
    expect(task).to_contain_text("Task 1 of 3")
    tab.press("Reset")
    tab.settle()
    assert "done" not in task.inner_text()


def _slide(tab, name, value):
    tab.page.locator(f".playground input[data-name={name}]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')) }", value
    )
