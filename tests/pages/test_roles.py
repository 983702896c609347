"""Roles of columns on the pages: a column has one, they go into the link, and no control is without effect."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.split_optimism import random_recipe, split_optimism
from calib.data import TableFile
from calib.evaluate import evaluate
from calib.recipe import Recipe
from calib.sources import digest, load
from pages.ui.explore import compare
from tests.data.test_onnx_model import TABLE as SCORED
from tests.data.test_onnx_model import P as SCORED_P
from tests.data.test_onnx_model import logistic
from tests.pages.app import bring, faults, go, headline, messages, page, press, settled
from tests.saying import assert_any_says
from tests.sweep import sweep

RNG = np.random.default_rng(5)
N = 300
TABLE = pd.DataFrame(
    {
        "x": RNG.normal(size=N).round(3),
        "day": pd.date_range("2024-01-01", periods=N).astype(str),
        "patient_id": np.repeat(np.arange(60), 5) + 100,
        "set": np.array(["train", "validation", "test"])[np.arange(N) % 3],
        "copies": RNG.integers(1, 4, N),
    }
)
TABLE["target"] = np.where(RNG.random(N) < 1 / (1 + np.exp(-TABLE["x"])), "yes", "no")
CONTENT = TABLE.to_csv(index=False).encode()


def brought(content=CONTENT, name="t.csv"):
    return bring(page("explore_data", model="naive_bayes", calibrators="none,platt"), name, content)


def again(at, content=CONTENT, name="t.csv"):
    recipe = Recipe.from_query(dict(at.query_params))
    return recipe, load(recipe, {digest(content): TableFile(name, content)})


def judged_on(at, table, name="new.csv"):
    content = table.to_csv(index=False).encode()
    at.toggle(key="judge_elsewhere").set_value(True).run()
    return content, at.file_uploader(key="other_file").set_value((name, content, "text/csv")).run()


def test_a_model_that_is_there_already_scores_the_table_and_a_link_asks_for_it_again():
    model = logistic("both").SerializeToString()  # of two columns in order
    rows = SCORED.assign(more=1.5).rename(columns={"y": "target"})
    content = rows.to_csv(index=False).encode()
    at = brought(content)
    at.toggle(key="own_model").set_value(True).run()
    at.file_uploader(key="model_file").set_value(("credit.onnx", model, "application/octet-stream")).run()
    assert any("does not match the model" in message for message in messages(at))
    asked = next(table.value for table in at.dataframe if "fits" in table.value)
    assert dict(zip(asked["column"], asked["fits"], strict=True)) == {
        "a": "yes",
        "b": "yes",
        "more": "the model does not use this column",
    }
    at.multiselect(key="exclude").set_value(["more"]).run()
    assert faults(at) == []
    assert not any(
        control.key in ("content", "data_params.scores")
        for control in (*at.segmented_control, *at.multiselect)
    )
    recipe = Recipe.from_query(dict(at.query_params))
    uploads = {digest(content): TableFile("t.csv", content), digest(model): model}
    evaluation = evaluate(recipe, load(recipe, uploads))
    np.testing.assert_allclose(evaluation.predictions["none"].p, SCORED_P[evaluation.rows], rtol=1e-9)
    reliability = go(at, "explore_reliability")
    shown = headline(reliability)["Brier score"].split(" ")[0]
    assert float(shown) == pytest.approx(evaluation.metrics.loc["none", "brier"], abs=0.005)
    link = bring(page("explore_data", **recipe.to_query()), "t.csv", content)
    assert any("Upload credit.onnx again" in message for message in messages(link))
    link.file_uploader(key="model_file").set_value(("credit.onnx", model, "application/octet-stream")).run()
    assert (Recipe.from_query(dict(link.query_params)), faults(link)) == (recipe, [])
    link.toggle(key="own_model").set_value(False).run()
    assert Recipe.from_query(dict(link.query_params)).content == "features"


def test_another_file_is_the_test_part_of_the_report_too_and_a_link_asks_for_both(downloads, monkeypatch):
    monkeypatch.setattr(compare, "report_html", lambda evaluations, *args, **more: evaluations)
    own = TABLE[["x", "target"]].to_csv(index=False).encode()
    new, at = judged_on(brought(own), TABLE[["target", "x"]].iloc[:90])
    recipe = Recipe.from_query(dict(at.query_params))
    uploads = {digest(c): TableFile(n, c) for n, c in (("t.csv", own), ("new.csv", new))}
    evaluation = evaluate(recipe, load(recipe, uploads))
    assert len(evaluation.y) == 90
    assert any("Evaluated on new.csv" in caption.value.replace("\\", "") for caption in at.sidebar.caption)
    reliability = go(at, "explore_reliability")
    shown = headline(reliability)["Brier score"].split(" ")[0]
    assert float(shown) == pytest.approx(evaluation.metrics.loc["none", "brier"], abs=0.005)
    go(at, "explore_compare")
    (reported,) = downloads["Report (HTML)"]().values()
    pd.testing.assert_frame_equal(reported.metrics, evaluation.metrics)
    link = page("explore_data", **recipe.to_query())
    assert any("Upload t.csv and new.csv again" in message for message in messages(link))
    link = bring(link, "new.csv", new)
    assert any("Upload t.csv again" in message for message in messages(link))
    link = bring(link, "t.csv", own)
    assert Recipe.from_query(dict(link.query_params)) == recipe
    assert faults(link) == []
    assert not any("Upload" in message for message in messages(link))
    link.toggle(key="judge_elsewhere").set_value(False).run()
    assert Recipe.from_query(dict(link.query_params)).split == "random"


def test_what_of_another_file_does_not_fit_is_said_and_the_way_back_is_there():
    _, at = judged_on(brought(), TABLE[["target", "x"]].iloc[:90])
    assert_any_says(messages(at), "new.csv", "not match", "t.csv", "no column")
    assert faults(at.toggle(key="judge_elsewhere").set_value(False).run()) == []


def test_nothing_is_taken_unasked_and_a_column_has_one_role():
    at = brought()
    assert not {"weight", "time", "cluster", "part", "split"} & set(at.query_params)
    at.selectbox(key="time").select("day").run()
    at.selectbox(key="weight").select("copies").run()
    at.selectbox(key="cluster").select("day").run()  # the last role that it was given
    recipe, data = again(at)
    assert (recipe.weight, recipe.time, recipe.cluster, recipe.split) == ("copies", None, "day", "random")
    assert_any_says([each.label for each in at.expander], "weight copies", "cluster day")
    assert list(data.X) == ["x", "patient_id", "set"]
    assert "day" not in at.multiselect(key="exclude").options
    assert f"{TABLE['copies'].sum():,}" in str([metric.delta for metric in at.metric])
    at.selectbox(key="cluster").select_index(0).run()
    assert again(at)[0].cluster is None
    assert faults(at) == []


@pytest.mark.parametrize(
    ("button", "split"),
    [("Split by time", "time"), ("Split by cluster", "cluster"), ("Split by this column", "file")],
)
def test_a_proposal_is_taken_by_a_click_and_the_diagram_is_that_of_the_split(button, split):
    at = brought()
    press(at, button)
    assert not any(b.label.startswith(button) for b in at.button)
    go(at, "explore_reliability")
    assert faults(at) == []
    recipe, data = again(at)
    assert recipe.split == split
    evaluation = evaluate(recipe, data)
    assert f"{evaluation.size:,} test rows" in " ".join(caption.value for caption in at.caption)
    assert at.selectbox(key="split").value == split


def test_only_settings_that_the_split_leaves_open_are_asked_for():
    at = page("explore_reliability", data="sample:dated", model="naive_bayes", time="ordered")

    def keys():
        kinds = ("selectbox", "slider", "number_input", "segmented_control")
        return {widget.key for kind in kinds for widget in at.get(kind)}

    assert "split" in keys()
    assert "data_params.gap" not in keys()
    settled(at.selectbox(key="split").select("time").run())
    assert "data_params.gap" in keys()
    settled(at.number_input(key="data_params.gap").set_value(30.0).run())
    assert faults(at) == []
    assert dict(Recipe.from_query(dict(at.query_params)).data_params) == {"gap": 30.0}
    at = page("explore_reliability", data="sample:dated", model="naive_bayes")
    assert "split" not in keys()
    at = go(brought(), "explore_data")
    press(at, "Split by this column")
    go(at, "explore_reliability")
    assert not {"test_size", "calibration_size", "evaluation"} & keys()


def test_what_a_random_split_would_have_claimed_is_told_after_a_press_only():
    at = page(
        "explore_reliability",
        data="sample:dated",
        model="naive_bayes",
        time="ordered",
        split="time",
        calibrators="none,platt",
    )
    assert any("Comparing with a random split" in text.value.replace("\\", "") for text in at.markdown)
    assert not any("would have given a Brier" in text.value for text in at.markdown)
    press(at, "Start")
    recipe = Recipe.from_query(dict(at.query_params))
    found = split_optimism(*(evaluate(each, load(each)) for each in (recipe, random_recipe(recipe))))
    said = [text.value.replace("\\", "") for text in at.markdown if "would have given a Brier" in text.value]
    assert said in ([found.sentence("platt")], [found.sentence("none")])
    assert faults(at) == []


def test_a_table_of_counts_is_proposed_and_judged_as_the_rows_that_it_stands_for():
    at = page("explore_data", data="sample:counts", content="predictions")
    press(at, "Use as counts")
    assert headline(at)["Class 1: yes"] == "28.5 %"
    assert not any("looks like counts" in text for text in messages(at))
    go(at, "explore_reliability")
    assert faults(at) == []
    assert any("299,984,164 test rows" in caption.value for caption in at.caption)


def test_one_split_cannot_be_repeated_and_no_number_of_splits_is_asked_for():
    at = page(
        "explore_reliability",
        **{
            "data": "sample:dated",
            "model": "naive_bayes",
            "time": "ordered",
            "split": "time",
            "reliability.details": "variability",
        },
    )
    assert faults(at) == []
    assert not [w for w in at.number_input if w.key == "reliability.repeats"]


@pytest.mark.parametrize(
    "stem",
    [
        *("explore_out_of_bag", "explore_decide"),
        *sweep(("explore_venn_abers", "explore_compare", "explore_trees")),
    ],
)
def test_the_other_pages_stand_with_weights_and_clusters(stem):
    at = brought()
    at.selectbox(key="cluster").select("patient_id").run()
    at.selectbox(key="weight").select("copies").run()
    go(at, stem)
    settled(at.selectbox(key="split").select("cluster").run()) if stem != "explore_compare" else None
    assert not at.exception
    assert [e.value for e in at.error] == []


@pytest.mark.parametrize("stem", ["explore_trees", "explore_out_of_bag"])
def test_pages_of_trees_leave_out_what_a_split_in_time_cannot_have(stem):
    quick = '{"min_samples_leaf":100,"n_estimators":2}'
    at = page(stem, data="sample:dated", time="ordered", split="time", params=quick)
    assert faults(at) == []
    assert at.get("plotly_chart")


SURVEY = TABLE[["x", "target"]].assign(sampling_weight=RNG.choice([1, 2, 4], N))


@pytest.mark.parametrize("name", ["sampling_weight", "weight"])
@pytest.mark.parametrize("answer", ["counts", "importance"])
def test_whole_weights_ask_what_they_are_and_every_page_tells_lines_from_rows(name, answer):
    table = SURVEY.rename(columns={"sampling_weight": name})
    content = table.to_csv(index=False).encode()
    at = brought(content)
    w = table[name].to_numpy(dtype=float)
    counted, worth = (
        f"{w.sum():,.0f} rows in {N:,} lines",
        f"{N:,} rows (effective number {w.sum() ** 2 / (w @ w):,.0f})",
    )
    (asked,) = [text for text in messages(at) if "Is each number a count of rows" in text]
    assert f"Counts: {counted}." in asked
    assert f"Weights: {worth}." in asked
    press(at, {"counts": "Use as counts", "importance": "Use as weights"}[answer])
    recipe, data = again(at, content)
    assert (recipe.weight, recipe.weight_as) == (name, answer)
    assert not any("Is each number a count of rows" in text for text in messages(at))
    told = " ".join(each.value for each in at.text)
    assert (counted if answer == "counts" else worth) in told
    go(at, "explore_reliability")
    evaluation = evaluate(recipe, data)
    captions = " ".join(each.value.replace("\\", "") for each in at.caption)
    assert f"{evaluation.size_text}." in captions
    assert faults(at) == []
    go(at, "explore_data")
    other = "importance" if answer == "counts" else "counts"
    at.segmented_control(key="weight_as").set_value(other).run()
    assert again(at, content)[0].weight_as == other
    at.selectbox(key="weight").select_index(0).run()  # no column has the role
    assert again(at, content)[0].weight_as is None
    assert "weight_as" not in [each.key for each in at.segmented_control]
    assert faults(at) == []


def test_of_a_weight_given_by_hand_it_is_asked_what_it_is():
    at = brought()
    at.selectbox(key="weight").select("copies").run()
    assert not any("Is each number a count of rows" in text for text in messages(at))  # its name says so
    content = SURVEY.rename(columns={"sampling_weight": "weight"}).to_csv(index=False).encode()
    at = brought(content)
    at.selectbox(key="weight").select("weight").run()
    assert_any_says(messages(at), "Until you choose", "weights")
    press(at, "Use as counts")
    assert again(at, content)[0].weight_as == "counts"
