"""A control shows what is used, and writes nothing but what a person chose."""

import pytest

from calib.models import MODELS
from calib.recipe import Recipe
from pages.ui import current
from tests.pages.app import at_once, bring, experiment, faults, go, headline, messages, page, settled
from tests.sweep import sweep

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
PATHS = [page.script.removeprefix("pages/").removesuffix(".py") for page in current.PAGES["Explore"]]
# It is slow
SWEPT = sweep(PATHS, "explore_reliability", "explore_venn_abers", "explore_compare")


def recipe(at) -> Recipe:
    return at.session_state["recipe"]


def names(at) -> dict[str, str]:
    """Key → the name under which the widget is on the page."""
    return {key: drawn.name for key, drawn in at.session_state["widgets"].items()}


def test_a_third_stays_a_third_when_the_placement_goes_there_and_back():
    at = page(**QUICK)
    before = headline(at)
    for placement in ("cv", "split", "none", "train", "split"):
        settled(at.selectbox(key="placement").set_value(placement).run())
    assert recipe(at).calibration_size == 1 / 3
    assert at.slider(key="calibration_size").value == 33
    assert headline(at) == before
    assert "calibration_size" not in at.query_params


def test_a_percentage_is_written_when_it_is_moved():
    at = page(**QUICK)
    settled(at.slider(key="calibration_size").set_value(40).run())
    assert recipe(at).calibration_size == 0.4


def test_the_end_of_a_range_that_is_not_moved_stays_as_exact_as_it_was():
    at = page(**QUICK, **{"reliability.details": "rows", "reliability.selection": "platt:0.123456:0.654321"})
    at.slider(key="picked_range").set_value((0.3, at.slider(key="picked_range").value[1])).run()
    assert recipe(at).setting("reliability.selection") == ("platt:0.3:0.654321",)
    at.selectbox(key="picked_key").set_value("none").run()
    assert recipe(at).setting("reliability.selection") == ("none:0.3:0.654321",)


def test_nothing_reported_is_no_choice():
    at = page(**QUICK, **{"reliability.details": "sample_size"})
    at.segmented_control(key="reliability.details").set_value(None).run()
    assert not [text for text in messages(at) if "must be one of" in text]
    assert recipe(at).setting("reliability.details") == "sample_size"
    assert at.segmented_control(key="reliability.details").value == "sample_size"


def test_details_stay_when_another_model_is_fitted(monkeypatch):
    from pages.ui import jobs

    at = page(**QUICK, **{"reliability.details": "rows"})
    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    at.selectbox(key="model").set_value("decision_tree").run()
    settled(at)
    assert recipe(at).setting("reliability.details") == "rows"
    assert at.segmented_control(key="reliability.details").value == "rows"
    assert faults(at) == []


def test_a_control_keeps_its_name_when_it_is_moved_and_has_a_new_one_when_its_value_comes_from_elsewhere():
    at = page(**QUICK)
    before = names(at)
    at.slider(key="bins").set_value(11).run()
    assert names(at) == before  # the keyboard stays where it is
    at.query_params.clear()
    at.query_params.update(QUICK | {"bins": "37"})
    at.run()
    after = names(at)
    assert at.slider(key="bins").value == 37
    assert {key for key in before if after[key] != before[key]} == {"bins"}


def test_a_choice_of_several_keeps_its_name_in_whichever_order_it_was_made():
    at = experiment("finite", **{"finite.guess": "skip"})
    before = names(at)["cuts"]
    at.pills(key="cuts").set_value([8, 2]).run()
    assert dict(recipe(at).settings)["finite.line"].count("|") == 2
    assert names(at)["cuts"] == before  # the keyboard stays where it is


@pytest.mark.parametrize("stem", SWEPT)
def test_every_control_is_drawn_by_the_one_mechanism_that_shows_what_is_used(stem):
    """No widget of the sidebar has a key of its own making."""
    at = page(stem, **QUICK)
    drawn = set(names(at))
    kinds = (
        "selectbox",
        "slider",
        "multiselect",
        "number_input",
        "segmented_control",
        "toggle",
        "text_area",
        "pills",
    )
    keys = {widget.key for kind in kinds for widget in getattr(at.sidebar, kind, ())}
    assert keys <= drawn


def test_out_of_bag_is_offered_to_models_with_bags_only_and_a_link_to_it_names_what_to_choose():
    at = page(data="sample:breast_cancer", model="gradient_boosting")
    assert not any("Out of bag" in option for option in at.selectbox(key="placement").options)
    at = page(**QUICK, placement="oob")
    (said,) = [text for text in messages(at) if "no out-of-bag rows" in text]
    bagged = [model.label for model in MODELS.values() if model.bagged]
    assert all(label in said for label in [*bagged, "Out of bag", "Held-out set", "Naive Bayes"])
    settled(at.button(key="use_held_out").click().run())
    assert recipe(at).placement == "split"
    assert recipe(at).calibration_size == 1 / 3
    assert at.slider(key="calibration_size").value == 33
    at = page(**QUICK, placement="oob")
    settled(at.button(key="use_forest").click().run())
    assert (recipe(at).model, recipe(at).placement) == ("random_forest", "oob")
    assert headline(at)


@pytest.mark.parametrize("stem", SWEPT)
def test_names_from_the_file_show_no_signs_that_keep_markdown_quiet(stem):
    """What is shown as text shows itself: the signs belong where Markdown is read."""
    lines = ["a_b,c,target"] + [f"{i % 7},{i % 5},{'*odd*: [x]' if i % 3 else '_even_'}" for i in range(90)]
    at = go(
        bring(page("explore_data", model="naive_bayes"), "odd_names.csv", "\n".join(lines).encode()), stem
    )
    assert faults(at) == []
    assert not [text.value for text in at.text if "\\" in text.value]


def test_a_file_is_asked_for_by_its_name_and_another_one_is_said_to_be_another():
    content = b"x,target\n" + b"".join(b"%d,%s\n" % (i, b"no" if i % 3 else b"yes") for i in range(60))
    at = bring(page("explore_data"), "Customer_Churn.csv", content)
    query = dict(at.query_params)
    assert recipe(at).file == "Customer_Churn.csv"
    link = {name: value[0] if isinstance(value, list) else value for name, value in query.items()}
    other = at_once("explore_data", **link)
    assert any("Upload Customer_Churn.csv again to continue" in text for text in messages(other))
    bring(other, "Customer_Churn.csv", content + b"99,no\n")
    assert any("This Customer_Churn.csv is not the file" in text for text in messages(other))
    assert recipe(other) == recipe(at)
    bring(other, "copy.csv", content)
    assert messages(other) == messages(at)
    assert recipe(other) == recipe(at)
    other = bring(at_once("explore_data", **link), "another.csv", content + b"99,no\n")
    other.button(key="go_on").click().run()
    assert recipe(other).file == "another.csv"
    assert faults(other) == []


@pytest.mark.parametrize(
    ("changes", "hidden"),
    [
        ({"placement": "none"}, {"options.platt.on", "options.isotonic.between"}),
        ({"model": "svm"}, {"options.platt.on", "options.platt.clip"}),
        ({"options": '{"platt.on": "score"}'}, {"options.platt.clip"}),
        ({"data": "sample:dated", "time": "ordered", "split": "time"}, {"seed"}),
    ],
)
def test_a_setting_that_another_one_switches_off_is_hidden(changes, hidden):
    """The sweep over all pages and controls is in test_no_idle_control.py."""
    assert hidden.isdisjoint(names(page(**QUICK | changes)))


def test_depth_and_leaves_are_no_settings_where_the_page_varies_them_and_a_tree_refused_has_no_rows():
    weighed = {"weight": "mean_radius", "params": '{"n_estimators": 2}', "model": "random_forest"}
    shown = names(page("explore_trees", **QUICK | weighed))
    assert {"params.max_features", "trees.interval"} <= set(shown)
    assert {"params.max_depth", "params.leaf", "params.m", "trees.depth", "trees.row"}.isdisjoint(shown)
    assert "merge" not in names(page("explore_out_of_bag", **QUICK | {"weight": "mean_radius"}))


@pytest.mark.parametrize("stated", ["1e-06", "1e-08", "0.9999999999"])
def test_any_base_rate_of_a_link_is_shown(stated):
    """A hundred times one in a million is a little less than 0.0001."""
    at = page(**QUICK, base_rate=stated)
    assert faults(at) == []
    assert at.number_input(key="base_rate").value == pytest.approx(100 * float(stated))
