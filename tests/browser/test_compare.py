"""What is taken along opens and holds the numbers of the page; a saved calibrator works on a new file."""

import io
import json
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.recommendation.advice import recommend
from calib.data import read_table
from calib.export import read_calibrator
from tests.browser.test_downloads import read_csv
from tests.evaluated import evaluated

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}


@pytest.fixture(scope="module")
def evaluation():
    recipe = Recipe.from_query(QUICK)
    return evaluated(recipe)


def taken(tab, name: str, within=None) -> bytes:
    return tab.download((within or tab.page).get_by_role("button", name=name, exact=True).click)


@pytest.mark.soak
def test_the_zip_holds_the_numbers_of_every_kept_recipe(tab, evaluation):
    tab.open("explore_compare", **QUICK)
    tab.press("Keep these settings")
    tab.choose("model", "Logistic regression")
    archive = zipfile.ZipFile(io.BytesIO(taken(tab, "All charts and numbers (ZIP)")))
    side = read_csv(archive.read("side_by_side.csv")).set_index(["recipe", "calibrator"])
    kept = side.loc["Naive Bayes, held-out set"]
    np.testing.assert_allclose(kept["brier"], evaluation.metrics["brier"], rtol=1e-15)
    assert {recipe for recipe, _ in side.index} == {
        "Logistic regression, held-out set",
        "Naive Bayes, held-out set",
    }
    names = archive.namelist()
    for end in ("reliability.html", "reliability.svg", "reliability.png", "venn_abers.json"):
        assert sum(name.endswith(end) for name in names) == 2, end


@pytest.mark.soak
def test_every_chart_gives_pictures_the_calibrator_its_link_and_its_source(tab, evaluation):
    tab.open("explore_decide", **QUICK)
    tab.by_key("net_benefit_downloads").get_by_role("button", name="Download").click()
    body = tab.page.get_by_test_id("stPopoverBody")
    body.wait_for()
    assert b"Net benefit" in taken(tab, "Picture (SVG)", body)
    assert taken(tab, "Picture (PNG)", body).startswith(b"\x89PNG")
    assert taken(tab, "Document (PDF)", body).startswith(b"%PDF")
    saved = read_calibrator(taken(tab, "Calibrator (JSON)", body))
    choice = recommend(evaluation).choice
    np.testing.assert_array_equal(saved.predict(evaluation.scores).p, evaluation.predictions[choice].p)
    link, source = body.get_by_test_id("stCode").all_inner_texts()
    assert link.strip().endswith("explore_decide?data=sample%3Abreast_cancer&model=naive_bayes")
    assert "FIGURES['net_benefit'].prepare(decide(evaluation))" in source


@pytest.mark.soak
def test_a_saved_calibrator_is_applied_to_a_new_file(tab):
    tab.open("explore_compare", **QUICK)
    content = taken(tab, "Calibrator (JSON)", tab.by_key("one_calibrator"))
    scores = pd.DataFrame({"id": ["=1+1", "b", "c"], "score": [0.001, 0.5, 0.999]})
    for key, name, data in (
        ("calibrator_file", "venn_abers.json", content),
        ("scores_file", "new.csv", scores.to_csv(index=False).encode()),
    ):
        with tab.page.expect_response(lambda response: "/upload_file/" in response.url):
            tab.by_key(key).locator("input[type=file]").set_input_files(
                {"name": name, "mimeType": "application/octet-stream", "buffer": data}
            )
        tab.settle()
    table = read_table(taken(tab, "Calibrated table (CSV)"), "calibrated.csv")
    np.testing.assert_array_equal(table["p"], read_calibrator(content).predict(scores["score"]).p)
    assert table["id"][0] == "'=1+1"
    assert json.loads(content)["made"]["recipe"]["model"] == "naive_bayes"


@pytest.mark.soak
def test_the_sql_that_is_downloaded_runs_where_the_scores_are(tab, evaluation):
    """In a table of SQLite, beside the scores that the page has calibrated."""
    tab.open("explore_compare", **QUICK)
    select = taken(tab, "SQL", tab.by_key("one_calibrator")).decode()
    scores = pd.DataFrame({"score": evaluation.scores})
    with closing(sqlite3.connect(":memory:")) as base:
        scores.to_sql("scores", base)
        found = pd.read_sql(f"SELECT {select} FROM scores", base)
    predictions = evaluation.predictions[recommend(evaluation).choice]
    np.testing.assert_array_equal(found["p"], predictions.p)


@pytest.mark.soak
def test_costs_travel_in_the_link(tab, new_tab):
    tab.open("explore_decide", **QUICK)
    tab.type_number("decide.cost_miss", 9)
    assert tab.recipe_query()["decide.cost_miss"] == "9.0"
    tab.page.get_by_text("1 / (1 + 9)").wait_for()
    other = new_tab().open("explore_decide", **tab.recipe_query())
    assert other.headline() == tab.headline()
