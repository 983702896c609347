"""An exported page stands alone: nothing is loaded, nothing of the data is in it, and names are text."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from plotly.offline import get_plotlyjs

from calib import Recipe, evaluate
from calib.data import prepare
from calib.export import report_html, standalone_html
from calib.figures import DARK, FIGURES, LIGHT, formatted_metrics
from calib.kernel.records import Dataset

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SECRET = "cell-that-must-stay-home"


class Page(HTMLParser):
    """Tags with their attributes, and the text that people see."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.code: list[str] = []  # scripts and styles
        self.inside: list[str] = []
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        (self.code if self.inside else self.words).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    label = np.where(x + rng.normal(size=400) > 0, f"yes {EVIL}", "no")
    frame = pd.DataFrame(
        {f"x {EVIL}": x, "note": [f"{SECRET}-{i % 3}" for i in range(400)], "fixed": 1, "label": label}
    )
    return prepare(frame, "label", name=f"Sales {EVIL}")


@pytest.fixture(scope="module")
def evaluation(dataset):
    recipe = Recipe(model="naive_bayes", calibrators=("none", "platt", "venn_abers"), exclude=(f"z {EVIL}",))
    return evaluate(recipe, dataset)


def pages(evaluation):
    record = FIGURES["reliability"].prepare(evaluation)
    return {
        "figure": standalone_html(FIGURES["reliability"].draw(record), record.alt),
        "report": report_html(evaluation),
    }


@pytest.mark.parametrize("kind", ["figure", "report"])
def test_a_page_loads_nothing(evaluation, kind):
    page = Page(pages(evaluation)[kind])
    loading = {"src", "href", "action", "data", "poster", "srcset"}
    targets = [value for _, attributes in page.tags for name, value in attributes.items() if name in loading]
    assert [target for target in targets if target and not target.startswith("#")] == []
    assert not {"link", "iframe", "object", "embed", "img"} & {tag for tag, _ in page.tags}
    own = "".join(page.code).replace(get_plotlyjs(), "")
    assert len(own) < len("".join(page.code)) - 10**6
    assert re.findall(r"url\(|@import|fetch\(|XMLHttp|WebSocket|sendBeacon|import[ (]|\.src\b", own) == []


@pytest.mark.parametrize("kind", ["figure", "report"])
def test_names_are_text(evaluation, kind):
    page = Page(pages(evaluation)[kind])
    assert not any("onerror" in attributes for _, attributes in page.tags)
    assert b"<script>alert(1)" not in pages(evaluation)[kind]


def test_the_report_holds_recipe_digest_versions_and_numbers_but_no_cell(evaluation, dataset):
    page = Page(report_html(evaluation))
    assert EVIL in "".join(page.words)  # as text
    assert dataset.digest in page.text
    for line in evaluation.recipe.to_json().splitlines():
        assert line.strip() in page.text
    for package in ("numpy", "pandas", "scikit-learn", "plotly"):
        assert package in page.text
    for note in evaluation.notes:
        assert " ".join(note.split()) in page.text
    shown = formatted_metrics(evaluation, ["brier", "ece"])
    assert all(value in page.text for value in shown.to_numpy().ravel())
    content = report_html(evaluation).decode()
    assert SECRET not in content
    first = dataset.X.iloc[:, 0]
    assert not any(f"{value!r}" in content for value in first[:100])


def test_the_report_says_who_cannot_answer_and_why(dataset):
    evaluation = evaluate(Recipe(model="svm", calibrators=("platt", "beta")), dataset)
    assert evaluation.refused["beta"] in Page(report_html(evaluation)).text


def test_the_report_of_nothing_but_refusals_is_a_page_all_the_same(dataset):
    evaluation = evaluate(Recipe(model="svm", calibrators=("beta",)), dataset)
    assert evaluation.refused["beta"] in Page(report_html(evaluation)).text


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_page_wears_its_theme(evaluation, theme):
    record = FIGURES["reliability"].prepare(evaluation)
    content = standalone_html(FIGURES["reliability"].draw(record, theme), record.alt, theme).decode()
    own = re.sub(r"<script>.*?</script>", "", content, count=1, flags=re.DOTALL)
    assert f"background: {theme.paper}" in own
    assert theme.ink in own
    assert "#0000" not in own


def test_a_figure_s_page_is_labelled_for_those_who_cannot_see_it(evaluation):
    record = FIGURES["reliability"].prepare(evaluation)
    page = Page(standalone_html(FIGURES["reliability"].draw(record), record.alt))
    assert {"role": "img", "aria-label": record.alt} in [attributes for _, attributes in page.tags]
    assert any(tag == "title" for tag, _ in page.tags)
    assert ("html", {"lang": "en"}) in page.tags
