"""Every page with a label of three classes: all of them together, then one class, by a click."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from calib.recipe import COMPARED_JOINTLY
from pages.ui import current
from tests.pages.app import bring, faults, go, messages, page, settled, table, titles

EXPLORE = [one.script.removeprefix("pages/").removesuffix(".py") for one in current.PAGES["Explore"]]
ONE_CLASS = {"explore_trees", "explore_out_of_bag"}


def wine() -> bytes:
    table = load_wine(as_frame=True).frame
    table["target"] = np.array(["barolo", "grignolino", "barbera"])[table["target"]]
    return table.to_csv(index=False).encode()


FEW_TREES = {"params": '{"n_estimators":5}'}


@pytest.fixture(scope="module")
def opened():
    return settled(bring(page("explore_data", **FEW_TREES), "wine.csv", wine()))


def test_by_the_menu_as_by_the_button_the_calibrators_are_those_for_all_classes():
    at = settled(
        bring(page("explore_data"), "wine.csv", wine())
    )  # other tests choose calibrators in their session
    at = go(at, "explore_reliability")
    assert faults(at) == []
    assert at.multiselect(key="calibrators").value == list(COMPARED_JOINTLY)


def test_every_page_shows_all_classes_and_then_one(opened):
    at = go(opened, "explore_reliability")
    assert at.selectbox(key="classes_together").value == ""
    assert "All 3 classes together" in titles(at)
    for stem in EXPLORE:
        at = go(at, stem)
        assert faults(at) == [], stem
        assert any("Choose a class" in message for message in messages(at)) == (
            stem in {*ONE_CLASS, "explore_venn_abers"}
        )
    at = go(at, "explore_trees")
    at = settled(at.button(key="one_barolo").click().run())
    assert at.query_params["view_class"] in ("barolo", ["barolo"])
    for stem in EXPLORE:
        at = go(at, stem)
        assert faults(at) == [], stem
    at = go(at, "explore_reliability")
    assert at.selectbox(key="view_class").value == "barolo"
    assert not any("base_rate" in (field.key or "") for field in at.number_input)


def test_with_many_classes_one_is_chosen_in_a_list():
    rows = np.random.default_rng(0).integers(0, 9, (390, 3))
    names = [f"class {k:02}" for k in range(13)]
    many = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(target=names * 30).sort_values("a")
    at = settled(bring(page("explore_data", **FEW_TREES), "many.csv", many.to_csv(index=False).encode()))
    at = go(at, "explore_out_of_bag")
    assert faults(at) == []
    offered = at.selectbox(key="class_here")
    assert len(offered.options) == 13
    assert offered.value is None
    at = settled(offered.set_value("class 12").run())
    assert faults(at) == []
    assert at.selectbox(key="view_class").value == "class 12"


def test_a_name_stands_for_one_number_only(opened):
    """The page of a confidence has no accuracy and no log loss of the name that the table of all classes uses."""
    at = go(opened, "explore_reliability")
    at = settled(at.selectbox(key="view_class").set_value("").run())
    at = settled(at.segmented_control(key="reliability.details").set_value("metrics").run())
    joint = set(table(at, "Confidence ECE").columns)
    confidence = set(table(at, "Miscalibration (CORP)").columns)
    assert {"Accuracy, all classes", "Log loss, all classes"} <= joint
    assert "Log loss" in confidence
    assert not joint & confidence
    assert not any("Accuracy" in frame.value.columns for frame in at.dataframe)
    at = go(at, "explore_compare")
    assert "Accuracy" not in at.segmented_control(key="compared.metric").options
    assert faults(at) == []
    scores = table(at, "Confidence ECE")
    assert list(scores["Calibrator"]) == list(table(at, "Miscalibration (CORP)")["Calibrator"])


def test_the_classes_are_beside_the_diagram_worst_first(opened):
    at = go(opened, "explore_reliability")
    shown = table(at, "Gap (% points)")
    assert list(shown.columns) == ["Class", "Gap (% points)", "Observed", "Predicted", "ECE", "Rows"]
    gaps = [abs(float(text.split()[0].replace("−", "-"))) for text in shown["Gap (% points)"]]
    assert gaps == sorted(gaps, reverse=True)


def test_one_class_against_the_rest_is_a_model_of_two_classes(opened):
    at = go(opened, "explore_reliability")
    at = settled(at.selectbox(key="classes_together").set_value("grignolino").run())
    assert faults(at) == []
    assert not any(select.key == "view_class" for select in at.selectbox)
    assert "All 3 classes together" not in titles(at)
    at = settled(at.selectbox(key="classes_together").set_value("").run())
    assert "All 3 classes together" in titles(at)


def test_calibrators_of_all_classes_are_offered_where_there_are_some(opened):
    at = go(opened, "explore_reliability")
    chosen = at.multiselect(key="calibrators")
    assert "Dirichlet calibration" in chosen.options
    assert "Rank calibration" not in chosen.options
    at = settled(chosen.set_value(["none", "dirichlet", "pairwise"]).run())
    assert faults(at) == []
    two = page("explore_reliability")
    assert "Dirichlet calibration" not in two.multiselect(key="calibrators").options


@pytest.mark.parametrize("chosen", [["none"], ["none", "pairwise"]])
def test_pairs_of_classes_are_shown_where_pairwise_calibration_is_chosen(opened, chosen):
    at = go(opened, "explore_reliability")
    before = list(at.multiselect(key="calibrators").value)
    at = settled(at.multiselect(key="calibrators").set_value(chosen).run())
    at = go(at, "explore_venn_abers")
    assert faults(at) == []
    assert any(" against class " in title for title in titles(at)) == ("pairwise" in chosen)
    at = go(at, "explore_reliability")
    settled(at.multiselect(key="calibrators").set_value(before).run())


def test_shares_of_the_classes_move_every_page_and_can_be_taken_back(opened):
    at = go(opened, "explore_reliability")
    at = settled(at.segmented_control(key="reliability.details").set_value("base_rate").run())
    assert "Adjust the class shares" in titles(at)
    rows = load_wine(as_frame=True).data.iloc[59:].to_csv(index=False).encode()  # no row of the first class
    at = settled(at.file_uploader(key="unlabelled").set_value(("rows.csv", rows, "text/csv")).run())
    assert faults(at) == []
    at = settled(at.button(key="take_shares").click().run())
    assert faults(at) == []
    stated = at.query_params["base_rates"]
    assert json.loads(stated if isinstance(stated, str) else stated[-1])["barolo"] < 0.2
    at.query_params["base_rates"] = '{"barbera":0.6,"barolo":0.2,"grignolino":0.2}'
    at = settled(at.run())
    assert faults(at) == []
    of_one = [stem for stem in EXPLORE if stem in {*ONE_CLASS, "explore_venn_abers"}]
    together = [stem for stem in EXPLORE if stem not in of_one]
    for name, stems in (("", together), ("barolo", [*of_one, "explore_reliability"])):
        at.query_params.pop("view_class", None)
        at.query_params.update({"view_class": name} if name else {})
        for stem in stems:
            at = go(at, stem)
            assert faults(at) == [], (stem, name)
    assert any("deployment class shares" in caption.value for caption in at.caption)
    at = settled(at.button(key="own_shares").click().run())
    assert "base_rates" not in at.query_params
    at.query_params.pop("view_class", None)  # as the other tests find it
    settled(at.run())


def test_trees_and_out_of_bag_show_the_losses_of_all_classes(opened):
    at = settled(bring(page("explore_data", **FEW_TREES), "wine.csv", wine()))
    at = go(at, "explore_trees")
    assert faults(at) == []
    offered = at.selectbox(key="trees.metric").options
    assert offered == [
        *(
            "Brier score, all classes",
            "Log loss, all classes",
            "Accuracy, all classes",
            "AUC, mean of classes",
        )
    ]
    assert any("summed over the classes" in caption.value for caption in at.caption)
    at = go(at, "explore_out_of_bag")
    assert faults(at) == []
    assert "All classes together" in titles(at)
    assert any("summed over the classes" in caption.value for caption in at.caption)
