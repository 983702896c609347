"""The address of a former page, with its settings, leads to the view that took its place."""

from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from pages.ui import current, former
from tests.browser.driver import started
from tests.sweep import sweep
from tests.where import where


@pytest.mark.parametrize("page", sweep(list(former.FORMER), "learn_lessons", "learn_overlap"))
def test_a_former_address_leads_to_its_view(tab, page):
    view = former.FORMER[page]
    tab.open()  # only a server that has run app.py once knows these addresses
    stem, chosen = where(view) if page != "learn_lessons" else ("learn_two_probabilities", {})
    tab.page.goto(f"{tab.address}/{page}?{urlencode({'bins': 7})}")
    tab.page.wait_for_url(lambda url: urlsplit(url).path == f"/{stem}")
    question = current.QUESTIONS.get(view, "Why two probabilities instead of one?")
    expect(tab.page.get_by_role("heading", name=question, level=1)).to_be_visible()
    query = tab.settle().recipe_query()
    assert query["bins"] == "7"
    assert query.get(f"{next(iter(chosen), '.').partition('.')[0]}.experiment", view) == view
    assert tab.faults() == []


def test_a_former_link_keeps_its_experiment_and_its_settings(tab):
    tab.open()
    query = {"validity.experiment": "regret", "regret.p0": "0.2", "tree_depth.experiment": "tree_count"}
    tab.page.goto(f"{tab.address}/learn_validity?{urlencode(query)}")
    tab.page.wait_for_url(lambda url: urlsplit(url).path == "/learn_two_probabilities")
    expect(tab.page.get_by_role("heading", name=current.QUESTIONS["regret"], level=1)).to_be_visible()
    assert tab.settle().recipe_query() == {"two_probabilities.experiment": "regret", "regret.p0": "0.2"}


def test_a_former_address_may_be_the_first_request_of_a_fresh_server(new_tab):
    """Streamlit by itself looks for it among the scripts, and says that it is not found."""
    with started() as address:
        tab = new_tab(address)
        tab.page.goto(f"{address}/learn_validity")
        tab.page.wait_for_url(lambda url: urlsplit(url).path == "/learn_two_probabilities")
        assert tab.settle().faults() == []
        tab.page.goto("about:blank")  # the server goes before the tab


def test_the_menu_of_learn_has_five_entries():
    names = [page.name for page in current.PAGES["Learn"]]
    assert names == ["Story", "Labs", "Venn–Abers", "Live quiz", "Glossary"]
