"""A long fit shows what it does and how far it is, can be called off and begun again, and blocks nothing else."""

import pytest

# Of the picture with all that is around it
OPACITY = """(() => {
    let opacity = 1
    for (let at = document.querySelector('.stPlotlyChart'); at; at = at.parentElement)
        opacity *= getComputedStyle(at).opacity
    return opacity
})()"""


def progress(tab):
    return tab.page.get_by_test_id("stProgress")


@pytest.mark.soak  # without a browser: tests/pages/test_explore_venn_abers.py
def test_a_fit_can_be_cancelled_and_begun_again_and_the_last_picture_stays(tab):
    few = {"model": "large_forest", "params": '{"n_estimators":5}'}
    tab.open("explore_reliability", data="sample:digits", **few).unfold("Model settings")
    shown = tab.chart_titles()
    trees = tab.by_key("params.n_estimators").locator("input")
    trees.fill("2000")
    trees.press("Enter")
    progress(tab).wait_for()
    assert "Fitting the model" in progress(tab).inner_text()
    tab.page.wait_for_function(f"() => {OPACITY} < 0.5")  # the last picture, dimmed
    tab.by_key("cancel_fits").get_by_role("button").click()
    tab.settle()
    assert any("Cancelled" in text for text in tab.alerts())
    assert tab.chart_titles() == shown

    tab.by_key("fit_again_fits").get_by_role("button").click()
    progress(tab).wait_for()
    tab.choose("model", "Naive Bayes")  # another model is there at once, however long the forest takes
    assert tab.chart_titles() != shown
    tab.page.wait_for_function(f"() => {OPACITY} == 1")


@pytest.mark.soak
def test_a_finished_fit_is_kept_and_a_view_change_neither_fits_nor_moves_the_scores(tab):
    tab.open("explore_reliability", data="sample:digits")
    before, fills = tab.headline(), tab.page.locator(".stPlotlyChart .js-fill").count()
    seen = []
    tab.page.expose_function("saw", lambda text: seen.append(text))
    tab.page.evaluate(
        """() => new MutationObserver(() => document.querySelectorAll('[data-testid="stProgress"]').forEach(
            bar => saw(bar.innerText))).observe(document.body, {childList: true, subtree: true, characterData: true})"""
    )
    tab.slide("bins", 15).segment("binning", "Equal count").segment("band", "Confidence")
    after = tab.headline()
    assert not any("Fitting" in text for text in seen)
    changed = {name for name in before if before[name] != after[name]}
    assert changed
    assert all(name.startswith("ECE") for name in changed)
    assert tab.page.locator(".stPlotlyChart .js-fill").count() > fills  # the bands
