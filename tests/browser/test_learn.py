"""Learn pages in a browser: ask, show on one click, follow a slider, and come back from the copied link."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.saying import assert_says
from tests.waiting import until


@pytest.mark.soak  # the moves: tests/pages/test_learn_algorithms.py; a copied link: test_links.py
def test_a_prediction_a_move_and_the_link_back(tab, new_tab):
    tab.experiment("pooling")
    topic = ["Pool adjacent violators, step by step"]
    assert tab.chart_titles() == topic, "the picture is there before any answer, and tells none"
    tab.press("Skip").press("Step forward")
    seen = tab.chart_titles()
    assert seen[0].startswith("Move 2 of 6")
    query = dict(parse_qsl(urlsplit(tab.link()).query))
    chosen = query.pop("two_probabilities.experiment")
    assert query == {f"{chosen}.guess": "skip", f"{chosen}.step": "1"}
    other = new_tab().experiment(chosen, **query)
    assert other.chart_titles() == seen


@pytest.mark.soak
def test_the_losses_stack_and_follow_the_depth(tab):
    tab.experiment("cl_gl", **{"cl_gl.guess": "skip", "cl_gl.leaf": "laplace", "cl_gl.n": "200"})
    before = tab.chart_titles()
    assert len(before) == 3
    tab.slide("cl_gl.depth", -4)
    after = tab.chart_titles()
    assert after[2] == before[2]
    assert after[:2] != before[:2]
    assert tab.recipe_query()["cl_gl.depth"] == "8"


def test_the_keyboard_keeps_its_place_and_goes_into_a_popover_and_out_of_it(tab):
    """Not to the top of the page where a button has gone, nor past all other controls to what a popover holds."""
    tab.experiment("finite")
    press, at = tab.page.keyboard.press, "() => document.activeElement.innerText.split('\\n')[0]"

    def is_at(name):
        until(lambda: tab.page.evaluate(at) == name, f"the keyboard is at {name}")

    tab.by_key("guess_skip").get_by_role("button").focus()
    press("Enter")
    is_at("Download")
    press("Enter")
    tab.page.get_by_test_id("stPopoverBody").get_by_text("Numbers (CSV)").wait_for()
    press("Tab")
    is_at("Numbers (CSV)")
    tab.download(lambda: press("Enter"))  # while it is made the button is switched off
    is_at("Numbers (CSV)")
    press("Shift+Tab")
    is_at("Download")
    press("Tab")
    for _ in range(12):
        press("Tab")
        if not tab.page.evaluate("() => !!document.activeElement.closest('[data-testid=stPopoverBody]')"):
            break
    assert tab.page.evaluate("() => !!document.activeElement.closest('.st-key-cuts, [class*=st-key-cuts]')")
    tab.by_key("take_one_leaf").get_by_role("button").focus()
    press("Enter")
    tab.settle()
    is_at("One leaf")


def line_in_address(tab):
    return tab.recipe_query().get("finite.line")


@pytest.mark.soak
def test_a_click_on_a_point_turns_its_label_and_the_next_click_turns_it_back(tab):
    tab.experiment("pooling", **{"pooling.guess": "skip", "pooling.points": "1:0 2:1 3.1234567:1 4:0"})
    tab.click_chart("pooling", 2, 1)
    assert tab.recipe_query()["pooling.points"] == "1:0 2:0 3.1234567:1 4:0"
    assert tab.chart_titles()[0].startswith("Move 1 of 1")
    tab.click_chart("pooling", 2, 0)
    assert tab.recipe_query()["pooling.points"] == "1:0 2:1 3.1234567:1 4:0"


FOUR = {"finite.guess": "skip", "finite.line": "1:0.1:0 2:0.4 | 3:0.5:1 4:0.9:1"}


@pytest.mark.soak  # a point that is dragged: test_points.py
def test_the_finite_example_is_clicked_cut_and_taken_from_the_cloud(tab):
    tab.experiment("finite", **FOUR)
    tab.click_chart("finite", 3, 0.5)
    assert line_in_address(tab) == "1:0.1:0 2:0.4 | 3:0.5:0 4:0.9:1"
    tab.click_chart("finite", 3, 0.5).click_chart("finite", 2, 0.4)
    assert line_in_address(tab) == "1:0.1:0 2:0.4:1 | 3:0.5:1 4:0.9:1"
    tab.click_chart("finite", 3.5, -0.1).click_chart("finite", 2.5, -0.1)
    assert line_in_address(tab) == "1:0.1:0 2:0.4:1 3:0.5:1 | 4:0.9:1"
    # one leaf: p is 3/4 and c 0.475; GL is twice the variance of the probabilities, CL twice (p - c)²
    tab.click_chart("finite_all", 2 * ((0.1**2 + 0.4**2 + 0.5**2 + 0.9**2) / 4 - 0.475**2), 2 * 0.275**2)
    assert line_in_address(tab) == "1:0.1:0 2:0.4:1 3:0.5:1 4:0.9:1"
    assert tab.chart_titles()[0].startswith("1 leaf in 1 group cost ")


@pytest.mark.soak
def test_the_finite_example_s_table_is_edited_and_what_is_refused_stays_to_be_mended(tab):
    tab.experiment("finite", **FOUR)
    table = tab.by_key("points").get_by_test_id("stDataFrame")
    tab.type_cell(table, 1, 1, 0.3)
    assert line_in_address(tab) == "1:0.1:0 2:0.3 | 3:0.5:1 4:0.9:1"
    tab.type_cell(table, 2, 1, 1.5)
    (alert,) = tab.alerts()
    assert_says(alert, "Points", "[0, 1]", "position 3", "1.5")
    assert line_in_address(tab) == "1:0.1:0 2:0.3 | 3:0.5:1 4:0.9:1"
    assert len(tab.chart_titles()) == 3
    tab.type_cell(table, 2, 1, 0.6)
    assert tab.alerts() == []
    assert line_in_address(tab) == "1:0.1:0 2:0.3 | 3:0.6:1 4:0.9:1"


@pytest.mark.soak
def test_show_python_of_cl_and_gl_holds_the_stacked_picture(tab):
    tab.experiment("cl_gl", **{"cl_gl.guess": "skip", "cl_gl.n": "50", "cl_gl.against": "leaf"})
    tab.page.get_by_role("button", name="Show Python").click()
    source = tab.page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text()
    assert 'experiment.simulate("cl_gl_sweep", random_state=0' in source
    assert "against='leaf'" in source
    assert 'FIGURES["cl_gl_sweep"].prepare(result' in source
