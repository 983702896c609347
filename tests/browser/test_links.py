"""An address is the whole state of a page: it can be sent, opened anywhere, and tells what it lacks."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from calib.recipe import Recipe
from pages.ui import current
from pages.ui.learn import live_quiz
from tests.browser import files
from tests.browser.driver import serving
from tests.where import where

PAGES = [page for pages in current.PAGES.values() for page in pages]


@pytest.mark.soak
@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_the_first_request_of_a_fresh_server_opens_the_page_in_its_frame_with_its_query(new_tab, page):
    query = {"data": "sample:breast_cancer", "model": "naive_bayes", "bins": "7"}
    path = page.script.removeprefix("pages/").removesuffix(".py")
    with serving() as address:
        tab = new_tab(address).open(path, **query)
        asked = tab.page.get_by_role("heading", level=1).inner_text().strip()
        assert asked == current.question(page, Recipe())
        assert tab.in_menu(page.name).count() == 1
        # The address of a live quiz holds the code of its room alone
        kept = {} if page.script == live_quiz.SCRIPT else query
        assert {name: value for name, value in tab.recipe_query().items() if name in query} == kept
        assert urlsplit(tab.page.url).path == f"/{path}"
        assert tab.faults() == []


def test_a_copied_link_gives_the_same_picture_to_another_reader_who_shares_nothing_else(tab, new_tab):
    tab.open("explore_reliability", data="sample:breast_cancer", model="naive_bayes", bins="18")
    tab.segment("binning", "Equal count")
    seen = tab.headline(), tab.chart_titles()
    link = urlsplit(tab.link())
    query = dict(parse_qsl(link.query))
    assert query == {
        "data": "sample:breast_cancer",
        "model": "naive_bayes",
        "binning": "quantile",
        "bins": "18",
    }
    other = new_tab().experiment("pooling")
    assert other.recipe_query() == where("pooling")[1]
    other.open(link.path.strip("/"), **query)
    assert (other.headline(), other.chart_titles()) == seen
    assert other.in_view("bins").get_by_role("slider").input_value() == "18"
    assert other.slide("bins", 1).recipe_query() == query | {"bins": "19"}
    tab.page.bring_to_front()
    assert tab.slide("bins", -1).recipe_query() == query | {"bins": "17"}


@pytest.mark.soak
def test_a_link_to_an_upload_asks_for_that_file_and_then_restores_everything(tab, new_tab):
    content = files.as_csv(files.churn())
    tab.open("explore_data").upload("churn.csv", content)
    tab.go("Reliability").choose("model", "Naive Bayes").segment("binning", "Equal count")
    seen, query = tab.headline(), tab.recipe_query()
    link = urlsplit(tab.link())
    assert dict(parse_qsl(link.query)) == query
    with serving() as address:
        other = new_tab(address).open(link.path.strip("/"), **query)
        other.page.get_by_text("Upload churn.csv again to continue").first.wait_for()
        assert other.page.get_by_test_id("stPlotlyChart").count() == 0
        other.page.get_by_test_id("stMain").get_by_role("link", name="Go to Data").click()
        other.page.wait_for_url("**/explore_data**")
        other.settle()
        other.page.get_by_text("Upload churn.csv again to continue").first.wait_for()
        other.upload("renamed.csv", content)
        assert other.recipe_query() == query
        other.go("Reliability")
        assert (other.headline(), other.recipe_query()) == (seen, query)
        assert other.faults() == []


@pytest.mark.soak
def test_a_broken_link_says_which_value_is_wrong_and_what_is_allowed(tab):
    tab.open("explore_reliability", bins="1000")
    (message,) = [text for text in tab.alerts() if "bins" in text]
    assert "2 to 100" in message
    assert "Brier score" in " ".join(tab.headline())


def test_the_back_button_leads_back_and_undoes_changes(tab):
    query = {"data": "sample:breast_cancer", "model": "naive_bayes", "bins": "9"}
    tab.open("explore_reliability", **query).slide("bins", 1)
    tab.page.go_back()
    tab.holds(query)
    assert tab.in_view("bins").get_by_role("slider").input_value() == "9"
    tab.go("Data")
    assert "569" in tab.headline()["Rows"]
    tab.page.go_back()
    tab.settle().holds(query)
    assert "explore_reliability" in tab.page.url
    assert tab.in_view("bins").get_by_role("slider").input_value() == "9"


@pytest.mark.soak
def test_every_page_shows_the_settings_it_works_with(tab):
    """A widget of the same key on another page is another widget: it once stood at its lowest value there."""
    tab.open(
        "explore_reliability",
        data="sample:breast_cancer",
        model="naive_bayes",
        bins="9",
        **{"venn_abers.interval": "venn"},
    )
    tab.go("Venn–Abers").segment("venn_abers.details", "Are the intervals valid?")
    assert tab.in_view("bins").get_by_role("slider").input_value() == "9"
    assert (
        tab.by_key("venn_abers.interval").get_by_role("radio", name="Venn predictor", exact=True).is_checked()
    )
    tab.go("Reliability").slide("bins", 1)
    assert tab.recipe_query()["bins"] == "10"
    tab.page.goto(f"{tab.address}/?{urlencode(tab.recipe_query())}")  # the same page at the start address
    assert tab.settle().go("Reliability").in_view("bins").get_by_role("slider").input_value() == "10"


@pytest.mark.soak
def test_back_over_several_pages_and_a_reload_lose_nothing(tab):
    query = {"data": "sample:breast_cancer", "model": "naive_bayes", "bins": "9"}
    tab.open("explore_reliability", **query).go("Data").go("Compare and report")
    for _ in range(2):
        tab.page.go_back()
        tab.settle().holds(query)
    assert "explore_reliability" in tab.page.url
    tab.page.go_forward()
    tab.settle().holds(query)
    tab.page.reload()
    tab.settle().holds(query)
    assert "569" in tab.headline()["Rows"]


@pytest.mark.soak
def test_copy_link_copies_and_shows_the_address_where_the_browser_does_not_let_it(new_tab):
    query = {"data": "sample:breast_cancer", "model": "naive_bayes", "bins": "9"}
    tab = new_tab(fresh=True, permissions=["clipboard-read", "clipboard-write"])
    tab.open("explore_reliability", **query)
    tab.press("Copy link")
    tab.page.get_by_role("button", name="Link copied").wait_for()
    copied = urlsplit(tab.page.evaluate("navigator.clipboard.readText()"))
    assert (copied.path, dict(parse_qsl(copied.query))) == ("/explore_reliability", query)
    tab.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    tab.slide("bins", 1).press("Copy link")
    field = tab.by_key("copy_link").get_by_label("Address")
    field.wait_for(state="visible")
    assert "bins=10" in field.input_value()


@pytest.mark.soak
def test_the_keyboard_stays_at_the_file_picker_after_an_upload(tab):
    tab.open("explore_data")
    with tab.page.expect_file_chooser() as chosen:
        tab.by_key("file").get_by_test_id("stBaseButton-secondary").press("Enter")
    content = files.as_csv(files.churn())
    chosen.value.set_files({"name": "churn.csv", "mimeType": "text/csv", "buffer": content})
    tab.page.wait_for_url("**upload**")
    tab.page.wait_for_function(
        "() => document.querySelector('.st-key-file').contains(document.activeElement)"
    )


@pytest.mark.soak
def test_placements_there_and_back_change_nothing_and_show_what_is_used(tab):
    tab.open("explore_reliability", data="sample:breast_cancer", model="gradient_boosting")
    query, seen = tab.recipe_query(), tab.headline()
    tab.unfold("Split settings")
    tab.choose("placement", "Cross-calibration").choose("placement", "Held-out set")
    assert (tab.recipe_query(), tab.headline()) == (query, seen)
    assert tab.by_key("calibration_size").get_by_role("slider").input_value() == "33"
    tab.open("explore_reliability", **query, placement="oob")
    tab.press("Use Held-out set")
    assert (tab.recipe_query(), tab.headline()) == (query, seen)
    tab.unfold("Split settings")
    assert tab.by_key("calibration_size").get_by_role("slider").input_value() == "33"
