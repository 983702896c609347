"""Bring a file, choose a model and calibrators, read a number off the page: it is the one that ``calib`` computes."""

import pytest

from calib.calibrators import CALIBRATORS
from calib.data import limits
from calib.data.too_large import BYTES_OF_END
from calib.sources import digest
from tests.browser import files
from tests.waiting import until

LABEL = {key: method.label for key, method in CALIBRATORS.items()}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("churn.csv", files.as_csv(files.churn()), id="csv"),
        pytest.param("churn.arff", files.as_arff(files.churn(seed=3)), id="arff", marks=pytest.mark.soak),
    ],
)
def test_the_page_shows_the_numbers_that_evaluate_gives_for_the_same_file(tab, name, content):
    tab.open("explore_data").upload(name, content)
    assert tab.recipe_query() == {"data": f"upload:{digest(content)}", "file": name, "target": "outcome"}
    assert "400" in tab.headline()["Rows"]
    tab.go("Reliability")
    tab.choose("model", "Logistic regression")
    tab.choose("calibrators", LABEL["beta"])
    query = tab.recipe_query()
    assert query["model"] == "logistic_regression"
    assert query["calibrators"].split(",") == ["none", "auto", "platt", "isotonic", "venn_abers", "beta"]
    evaluation = files.evaluation_of(query, name, content)
    label, value = files.headline_of(evaluation)
    assert tab.headline()[label] == value
    assert LABEL["beta"] in tab.page.locator(".stPlotlyChart .legend").text_content()


@pytest.mark.soak
def test_predictions_made_elsewhere_need_no_model(tab):
    content = files.as_csv(files.judged())
    tab.open("explore_data").upload("scores.csv", content)
    assert tab.recipe_query()["content"] == "predictions"
    tab.go("Reliability")
    assert tab.by_key("model").count() == 0
    for column in ("p_bold", "p_modest"):
        if column != "p_bold":
            tab.choose("score", column)
        evaluation = files.evaluation_of(tab.recipe_query(), "scores.csv", content)
        label, value = files.headline_of(evaluation)
        assert tab.headline()[label] == value


@pytest.mark.soak
def test_names_in_a_file_are_shown_as_text(tab):
    """HTML, Markdown and formulas in names and cells stay what they are: letters. None turns what is written after."""
    html, marked = (
        "\u202e<img src=x onerror=alert(1)>",
        "**bold** [here](http://example.org) :red[x] $x^2$ www.example.org",
    )
    frame = files.churn(120).rename(columns={"fee": html, "months": marked})
    frame[f"constant {marked} `code` <b>"] = 7
    frame["outcome"] = frame["outcome"].replace({"left": f"left {marked}", "stayed": f"stayed {html}"})
    dialogs = []
    tab.page.on("dialog", lambda dialog: dialogs.append(dialog.message) or dialog.dismiss())

    def letters_only() -> None:
        assert tab.page.locator("img[src=x], a[href*='example.org'], .katex").count() == 0
        assert tab.page.locator(".stAlert :is(b, em, code), .stMetric :is(strong, em, a)").count() == 0
        assert "\u202e" not in tab.page.get_by_test_id("stMain").inner_text()
        assert dialogs == []

    tab.open("explore_data").upload("<i>name</i> **x**.csv", files.as_csv(frame))
    assert "**bold** [here]" in " ".join(tab.alerts())
    assert any("**bold** [here]" in label for label in tab.headline())
    letters_only()
    tab.go("Reliability")
    until(
        lambda: "**bold** [here]" in tab.page.get_by_test_id("stMain").inner_text(),
        "the page names the label",
    )
    letters_only()
    tab.go("Data").upload("[link](http://example.org) <b>.csv", b"a,b\n")
    assert "[link](" in " ".join(tab.alerts())
    letters_only()


def test_a_file_that_is_too_large_is_refused_with_the_query_for_its_columns(tab, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.write(b"outcome,p_forest\n" + b"1,0.75\n0,0.25\n1,0.5\n" * (BYTES_OF_END // 20))
        file.truncate(2 * limits.UPLOAD_LIMIT)  # none of the other bytes is written, nor read
    tab.open("explore_data")
    tab.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(large)
    said = tab.page.get_by_role("alert").filter(has_text="The file has 2 GB, but the limit is 1 GB")
    said.wait_for()
    query = tab.page.get_by_test_id("stCode").inner_text()
    assert 'GROUP BY "p_forest", "outcome"' in query
    assert "FROM 'large.csv'" in query
