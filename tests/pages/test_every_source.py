"""Every sample and every synthetic set opens on every page; every model of the menu gives a diagram."""

from pathlib import Path

import pytest

from calib.calibrators import CALIBRATORS
from calib.data import SAMPLES
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.synthetic import SYNTHETIC
from pages.ui import current
from tests.pages.app import faults, headline, messages, page, settled, titles
from tests.sweep import sweep

SOURCES = [f"sample:{key}" for key in SAMPLES] + [f"synthetic:{key}" for key in SYNTHETIC]
IN_SHORT = ("sample:breast_cancer", "sample:predictions", "synthetic:gaussian")  # the others by make soak
SWEPT = sweep(SOURCES, *IN_SHORT)
SMALL = {
    "tuned_forest": '{"draws":2,"n_estimators":10}',
    "curtailed_forest": '{"n_estimators":20}',
    "large_forest": '{"n_estimators":50}',
}


def kind_of(source, stem="explore_reliability"):
    """Parameters that go with a source: predictions need no model, and a tree is a quick one, as are few of them."""
    if source == "sample:predictions":
        return {"content": "predictions"}
    if stem == "explore_trees":  # it grows forests of every depth
        return {"model": "random_forest", "params": '{"n_estimators":2,"min_samples_leaf":100}'}
    return {"model": "decision_tree"}


@pytest.mark.parametrize("source", SWEPT)
def test_every_set_opens_on_the_data_page(source):
    at = page("explore_data", data=source)
    assert faults(at) == []
    assert at.selectbox(key="data").value == source
    assert int(headline(at)["Rows"].replace(",", "")) >= 100


STEMS = [Path(entry.script).stem for entry in current.PAGES["Explore"]]
OWN = ("explore_data", "explore_reliability")  # pages with a test of their own


@pytest.mark.parametrize("source", SWEPT)
@pytest.mark.parametrize("stem", sweep([stem for stem in STEMS if stem not in OWN], "explore_trees"))
def test_every_set_opens_on_every_page_of_explore(stem, source):
    at = page(stem, data=source, **kind_of(source, stem))
    assert faults(at) == []
    assert at.title[0].value in {current.question(entry, Recipe()) for entry in current.PAGES["Explore"]}


@pytest.mark.parametrize("source", SWEPT)
def test_every_set_gives_a_diagram(source):
    at = page(data=source, **kind_of(source))
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 1
    assert any(label.startswith("Brier score") for label in headline(at))
    if source.startswith("synthetic:"):
        assert "TCE" in at.dataframe[0].value.columns


def test_the_menu_offers_every_model():
    at = page(data="sample:breast_cancer", model="naive_bayes")
    assert set(at.selectbox(key="model").options) == {
        entry.label for key, entry in MODELS.items() if key != "given"
    }


# Of a search, a pipeline, margins and probabilities
KINDS = ("tuned_forest", "neural_network", "svm", "decision_tree")


@pytest.mark.parametrize("model", sweep([key for key in MODELS if key != "given"], *KINDS))
def test_every_model_of_the_menu_gives_a_diagram(model):
    query = {"data": "sample:breast_cancer", "model": model}
    at = page(**query, **({"params": SMALL[model]} if model in SMALL else {}))
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize("placement", [key for key in PLACEMENTS if key != "full"])
def test_every_placement_gives_a_diagram_or_says_why_a_calibrator_is_missing(placement):
    at = page(data="sample:breast_cancer", placement=placement, params='{"n_estimators":5}')
    assert faults(at) == []
    refused = [text for text in messages(at) if "is not shown" in text]
    assert len(refused) == (4 if placement == "none" else 0)
    assert len(at.get("plotly_chart")) == 1


def test_margins_show_the_methods_that_take_them_and_name_those_that_do_not():
    at = page(data="sample:breast_cancer", model="svm", calibrators=",".join(CALIBRATORS))
    assert faults(at) == []
    needing = {method.label for method in CALIBRATORS.values() if method.input != "score"}
    refused = [text for text in messages(at) if "is not shown" in text]
    assert {text.split("**")[1] for text in refused} == needing
    shown = {method.label for method in CALIBRATORS.values() if method.input == "score"}
    assert set(at.dataframe[0].value.index) == shown


def test_only_refused_calibrators_leave_a_sentence_not_a_hole():
    at = page(data="sample:breast_cancer", model="svm", calibrators="beta,none")
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 0
    assert any("None of the chosen calibrators" in text for text in messages(at))


def test_a_fault_of_ours_says_what_is_kept_and_what_to_do(monkeypatch):
    def fails(*_):
        raise ZeroDivisionError("a value of the table")

    monkeypatch.setattr(CALIBRATORS["beta"], "_learn", fails)
    at = page(data="sample:breast_cancer", model="naive_bayes", calibrators='["beta"]')
    (said,) = (error.value for error in at.error)
    assert "(ZeroDivisionError)" in said
    assert "data and settings are safe" in said
    assert "undo your last change" in said
    assert "a value" not in said
    assert len(at.exception) == 1, "and tests still see that it is one"


def test_no_calibrator_at_all_leaves_a_sentence():
    at = page(data="sample:breast_cancer", model="naive_bayes")
    at.multiselect(key="calibrators").set_value([]).run()
    assert faults(at) == []
    assert any("None of the chosen calibrators" in text for text in messages(at))
    assert titles(at) == []


def test_side_by_side_gives_one_diagram_for_each_calibrator():
    query = {
        "data": "sample:breast_cancer",
        "model": "naive_bayes",
        "calibrators": "none,platt,venn_abers,isotonic",
    }
    at = page(**query, **{"reliability.layout": "side"})
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 3
    at = page(**query | {"calibrators": "none"}, **{"reliability.layout": "side"})
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize(
    ("content", "default"),
    [("features", "the minority class"), ("predictions", "names of the score columns")],
)
def test_the_positive_class_says_how_it_is_chosen(content, default):
    data = "sample:predictions" if content == "predictions" else "sample:loans"
    at = page("explore_data", data=data, content=content)
    assert default in at.selectbox(key="positive").help


def test_a_link_to_the_full_placement_says_its_price_before_it_begins(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "UNASKED", 0.0)
    query = {"data": "sample:breast_cancer", "model": "naive_bayes", "placement": "full", "test_size": "0.1"}
    at = page(**query)
    assert not at.metric
    (said,) = [text.value.replace("\\", "") for text in at.main.markdown if "model fits" in text.value]
    assert "115 model fits take about" in said
    at.button(key="start_fits").click().run()
    assert headline(settled(at))
    assert faults(at) == []


def test_very_many_rows_are_calibrated_in_the_background(monkeypatch):
    from pages.ui import evaluations, jobs

    query = {"data": "sample:breast_cancer", "model": "naive_bayes"}
    expected = headline(page(**query))
    monkeypatch.setattr(evaluations, "AT_ONCE_ROWS", 100)
    begun = []
    real = jobs.Job
    monkeypatch.setattr(
        jobs, "Job", lambda kind, *rest, **more: begun.append(kind) or real(kind, *rest, **more)
    )
    at = page(**query)
    assert "calibrations_fits" in begun
    assert headline(at) == expected
