"""A long fit shows what it does and how far it is, can be called off and begun again, and blocks nothing else."""

import numpy as np
import pandas as pd
import pytest

from tests.browser import files

OPACITY = "getComputedStyle(document.querySelector('.stPlotlyChart')).opacity"


def scene(rows: int = 1500, columns: int = 300) -> bytes:
    """A wide table: 300 numbers a row, a few of them telling."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, columns)).round(4)
    target = (X[:, :5].sum(axis=1) + rng.normal(0, 2, rows) > 0).astype(int)
    return files.as_csv(pd.DataFrame(X, columns=[f"f{i}" for i in range(columns)]).assign(target=target))


def progress(tab):
    return tab.page.get_by_test_id("stProgress")


def test_a_fit_can_be_cancelled_and_begun_again_and_the_last_picture_stays(tab):
    tab.open("explore_reliability", model="naive_bayes")
    seen = tab.chart_titles()
    tab.go("Data").upload("scene.csv", scene())
    assert tab.recipe_query()["data"].startswith("upload:")
    tab.go("Reliability")
    shown = tab.chart_titles()
    assert shown != seen
    tab.choose("model", "Large random forest").unfold("Model settings")
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
    tab.slide("bins", 5).segment("binning", "Equal count").segment("band", "Confidence")
    after = tab.headline()
    assert not any("Fitting" in text for text in seen)
    changed = {name for name in before if before[name] != after[name]}
    assert changed
    assert all(name.startswith("ECE") for name in changed)
    assert tab.page.locator(".stPlotlyChart .js-fill").count() > fills  # the bands
