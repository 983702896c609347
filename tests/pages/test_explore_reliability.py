"""The Reliability page: what stands there is what the functions say, whatever is looked at."""

import io
from threading import Event

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from calib import Recipe
from calib.analysis.curves import binned_curve
from calib.analysis.differences import differences, repeat_splits
from calib.analysis.recommendation.advice import over_splits, recommend
from calib.analysis.sample_size import sample_size
from calib.analysis.selection import selected_frame
from calib.figures import FIGURES, formatted_differences
from calib.kernel.wording import change, number
from calib.sources import load
from pages.ui import evaluations, jobs
from pages.ui.explore import base_rate
from tests.evaluated import of_address
from tests.pages.app import (
    at_once,
    bring,
    faults,
    go,
    headline,
    jobs_of,
    keys,
    messages,
    page,
    settled,
    table,
    titles,
)
from tests.saying import assert_any_says, assert_says, says
from tests.waiting import LIMIT, until

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}


def words(at):
    return " ".join(element.value.replace("\\", "") for element in at.markdown)


def test_the_advice_is_that_of_the_test_rows():
    at = page(**QUICK)
    advice = recommend(of_address(**QUICK))
    assert advice.answer.removesuffix(".") in titles(at)
    assert all(text in words(at) for text in advice.reasons)


def test_the_first_number_is_the_own_models_then_what_the_recommended_method_makes_of_it():
    at, evaluation = settled(page(model="naive_bayes")), of_address(model="naive_bayes")
    choice = recommend(evaluation).choice
    assert choice not in (None, "none")
    found = differences(evaluation)
    line = found.line("brier", choice)
    decimals = len(change(line.value, line.low, line.high, 2).split()[0].partition(".")[2])
    own, then = (f"{evaluation.metrics.brier[key]:.{decimals}f}" for key in ("none", choice))
    assert headline(at)["Brier score"] == f"{own} → {then}"
    for metric, name in zip(at.metric, ("brier", "ece", "log_loss", "accuracy"), strict=True):
        line = found.line(name, choice)
        if np.isfinite(line.value):
            assert metric.delta == change(line.value, line.low, line.high, 2)
        else:
            p = [evaluation.predictions[key].p for key in ("none", choice)]
            before, after = (log_loss(evaluation.y, each) for each in p)
            assert metric.delta == f"clipped: {number(after - before)}"


@pytest.mark.parametrize("details", ["rows", "variability"])
def test_another_tab_changes_nothing_above_it(details):
    at = settled(page(**QUICK, **{"reliability.repeats": "3"}))
    before = [element.value for element in at.markdown][: len(recommend(of_address(**QUICK)).reasons) + 1]
    at.segmented_control(key="reliability.details").set_value(details).run()
    settled(at)
    assert [element.value for element in at.markdown][: len(before)] == before
    assert faults(at) == []


def test_few_rows_are_said_to_be_few():
    at = page(**QUICK, calibration_size="0.05")
    assert any("of them in the minority class" in caption.value for caption in at.caption)
    assert any("in the minority class" in caption.value for caption in page(**QUICK).caption)


def test_differences_stand_in_the_metric_section():
    at = settled(page(**QUICK))
    evaluation = of_address(**QUICK)
    expected = formatted_differences(differences(evaluation))
    pd.testing.assert_frame_equal(table(at, "Brier score"), expected, check_dtype=False)


def test_every_curve_is_drawn_in_every_layout():
    at = page(**QUICK, band="consistency")
    for layout, charts in (("overlaid", 1), ("side", 4)):
        at.segmented_control(key="reliability.layout").set_value(layout).run()
        for curve in ("binned", "corp", "smoothed"):
            at.segmented_control(key="curve").set_value(curve).run()
            assert faults(at) == []
            assert len(at.get("plotly_chart")) == charts


def test_a_selection_in_the_link_lists_its_rows():
    query = QUICK | {"reliability.selection": "platt:0.2:0.9", "reliability.details": "rows"}
    at = page(**query)
    expected = selected_frame(of_address(**query), ["platt:0.2:0.9"])
    shown = table(at, "class")
    np.testing.assert_array_equal(shown["row"], expected["row"])
    ones = (expected["class"] == "malignant").sum()
    assert_says(words(at), "Platt scaling from 0.2 to 0.9", f"{len(expected)} rows", ones, "'malignant'")


def test_a_range_is_chosen_without_a_pointer_and_cleared_again():
    at = page(**QUICK, **{"reliability.details": "rows"})
    assert any("Click or tap a mark" in text for text in messages(at))
    at.slider(key="picked_range").set_value((0.0, 0.5)).run()
    assert at.session_state["recipe"].setting("reliability.selection") == ("none:0.0:0.5",)
    at.selectbox(key="picked_key").set_value("platt").run()
    assert at.session_state["recipe"].setting("reliability.selection") == ("platt:0.0:0.5",)
    assert at.query_params["reliability.selection"] == "platt:0.0:0.5"
    at.button(key="clear_rows").click().run()
    assert at.session_state["recipe"].setting("reliability.selection") == ()
    assert faults(at) == []


def test_other_models_stand_beside_with_their_own_numbers():
    query = QUICK | {
        "reliability.details": "models",
        "reliability.others": "logistic_regression,decision_tree",
    }
    at = settled(page(**query))
    assert faults(at) == []
    shown = table(at, "")
    for model, label in (("naive_bayes", "Naive Bayes"), ("decision_tree", "Decision tree")):
        metrics = of_address(**QUICK | {"model": model}).metrics
        rows = shown[shown[""] == label].set_index("Calibrator")
        assert rows.loc["Platt scaling", "Brier score"].removesuffix(" ★") == number(
            metrics.loc["platt", "brier"]
        )
    assert sum("★" in cell for cell in shown["Brier score"]) >= 1
    assert len(at.get("plotly_chart")) == 4


def test_a_model_with_margins_says_beside_which_calibrators_need_probabilities():
    at = settled(page(**QUICK, **{"reliability.details": "models", "reliability.others": "svm"}))
    assert faults(at) == []
    assert any("needs probabilities" in caption.value for caption in at.caption)


def test_a_model_that_is_not_there_is_left_out():
    at = page(**QUICK, **{"reliability.details": "models", "reliability.others": "oracle,naive_bayes"})
    assert faults(at) == []
    assert at.multiselect(key="reliability.others").value == []


def test_score_columns_stand_beside_each_other():
    query = {"data": "sample:predictions", "content": "predictions", "reliability.details": "models"}
    at = page(**query)
    options = at.multiselect(key="reliability.others").options
    at.multiselect(key="reliability.others").set_value(options[:1]).run()
    settled(at)
    assert faults(at) == []
    assert table(at, "")[""].nunique() == 2


def test_repeated_splits_are_made_and_shown_and_do_not_turn_the_advice():
    query = QUICK | {"reliability.details": "variability", "reliability.repeats": "4"}
    at = settled(page(**query))
    assert faults(at) == []
    recipe = Recipe.from_query(query)
    advice = recommend(of_address(**QUICK))
    assert advice.answer.removesuffix(".") in titles(at)
    assert all(text in words(at) for text in advice.reasons)
    beside = over_splits(advice.choice, repeat_splits(recipe, load(recipe), repeats=4))
    assert beside.startswith("Over 4 random splits")
    assert beside in words(at)
    assert len(at.get("plotly_chart")) == 3


def test_long_repeats_wait_for_a_press(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "UNASKED", -1.0)
    at = settled(page(**QUICK, **{"reliability.details": "variability", "reliability.repeats": "3"}))
    assert len(at.get("plotly_chart")) == 2
    at.button(key="start_repeats").click().run()
    settled(at)
    assert len(at.get("plotly_chart")) == 3


def test_the_page_leads_to_the_validation_report():
    at = page(**QUICK)
    (link,) = [each.proto for each in at.get("page_link") if each.proto.label == "Write a validation report"]
    assert link.page == "explore_compare"


def test_an_infinite_log_loss_is_explained_where_it_is_met_first():
    at = page(model="naive_bayes")  # digits: exactly 0 or 1, and wrong
    captions = [
        each.value for each in at.caption if "values use predictions limited to the range from" in each.value
    ]
    assert len(captions) == 2  # under the headline numbers and under the table
    at = page(model="naive_bayes", calibrators="platt")
    assert not any("values use predictions limited to the range from" in each.value for each in at.caption)


def test_the_interactive_chart_has_the_title_of_the_pictures(downloads):
    page(**QUICK)
    evaluation = of_address(**QUICK)
    title = FIGURES["reliability"].prepare(evaluation).title
    written = downloads["Interactive chart (HTML)"]().decode()
    assert f"<h1>{title}</h1>" in written
    assert_says(written, "Reliability diagram", "breast_cancer", "Naive Bayes")


def test_the_csv_under_the_chart_holds_the_numbers_drawn(downloads):
    page(**QUICK)
    table = pd.read_csv(io.BytesIO(downloads["Numbers (CSV)"]()), encoding="utf-8-sig")
    evaluation = of_address(**QUICK)
    assert list(table["calibrator"].unique()) == list(evaluation.predictions)
    for key, predictions in evaluation.predictions.items():
        curve = binned_curve(evaluation.y, predictions.p, bins=20)
        rows = table[table["calibrator"] == key]
        for name in ("mean_p", "observed", "count", "lower", "upper"):
            np.testing.assert_allclose(rows[name], getattr(curve, name), rtol=1e-12)


def test_folds_judge_every_row():
    at = page(**QUICK)
    at.segmented_control(key="evaluation").set_value("folds").run()
    at.number_input(key="folds").set_value(4).run()
    settled(at)
    assert faults(at) == []
    assert at.session_state["recipe"].folds == 4
    assert any("on 569 test rows" in caption.value for caption in at.caption)
    assert not any(slider.key == "test_size" for slider in at.slider)


def test_looking_at_details_never_fits_the_model_again(monkeypatch):
    from pages.ui import evaluations

    calls = []
    for name in ("fit", "calibrate"):
        real = getattr(evaluations, name)
        monkeypatch.setattr(
            evaluations, name, lambda *a, real=real, name=name: calls.append(name) or real(*a)
        )
    at = page(**QUICK)
    for details in ("rows", "models", "metrics"):
        at.segmented_control(key="reliability.details").set_value(details).run()
    at.segmented_control(key="curve").set_value("corp").run()
    assert calls == ["fit", "calibrate"]


def test_details_and_selection_are_kept_over_a_change_of_page_and_forgotten_with_the_data():
    at = page(
        **QUICK,
        **{
            "reliability.details": "rows",
            "reliability.selection": "none:0.0:0.5",
            "reliability.group": "mean_radius",
            "reliability.others": "svm",
        },
    )
    go(at, "explore_data")
    go(at, "explore_reliability")
    recipe = at.session_state["recipe"]
    assert (recipe.setting("reliability.details"), recipe.setting("reliability.selection")) == (
        "rows",
        ("none:0.0:0.5",),
    )
    at.selectbox(key="data").set_value("sample:digits").run()
    recipe = settled(at).session_state["recipe"]
    assert (
        recipe.setting("reliability.selection"),
        recipe.setting("reliability.group"),
        recipe.setting("reliability.others"),
    ) == ((), None, ())


DETAILS = ("metrics", "rows", "models", "variability", "sample_size")


@pytest.mark.parametrize("calibrators", ["platt", "none", "none,rank"])
def test_one_calibrator_or_a_refused_one_is_no_fault(calibrators):
    at = page(**QUICK, calibrators=calibrators, **{"reliability.repeats": "3"})
    for details in DETAILS:
        settled(at.segmented_control(key="reliability.details").set_value(details).run())
        assert faults(at) == []


def test_predictions_brought_from_elsewhere_have_every_detail():
    rng = np.random.default_rng(0)
    p = rng.random(150)
    made = pd.DataFrame(
        {"label": (rng.random(150) < p).astype(int), "first": p.round(3), "second": (p**2).round(3)}
    )
    at = page("explore_data")
    bring(at, "predictions.csv", made.to_csv(index=False).encode())
    go(at, "explore_reliability")
    for details in DETAILS:
        settled(at.segmented_control(key="reliability.details").set_value(details).run())
        assert faults(at) == []
    at.segmented_control(key="reliability.details").set_value("rows").run()
    at.slider(key="picked_range").set_value((0.0, 0.9)).run()
    assert {"first", "second"} <= set(table(at, "class").columns)


@pytest.mark.soak
@pytest.mark.parametrize("rows", [100_000, 1_000_000])
def test_many_predictions_are_drawn_small(rows, monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.8, rows).round(6)
    made = pd.DataFrame({"label": (rng.random(rows) < p**1.3).astype(int), "score": p})
    at = page("explore_data")
    bring(at, "many.csv", made.to_csv(index=False).encode())
    settled(at.switch_page("pages/explore_reliability.py").run())
    for details in ("rows", "sample_size"):
        at.segmented_control(key="reliability.details").set_value(details).run()
    for curve in ("binned", "corp", "smoothed"):
        at.segmented_control(key="curve").set_value(curve).run()
        for bins in (13, 14):
            at.slider(key="bins").set_value(bins).run()
            assert faults(at) == []
            assert all(len(chart.proto.spec) < 2_000_000 for chart in at.get("plotly_chart"))


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (-0.0164, ("−0.016", "gray", "off")),
        (0.25, ("+0.25", "gray", "off")),
        (-1e-7, ("−1e−07", "gray", "off")),
        (0.0, (None, "gray", "off")),
    ],
)
def test_a_difference_without_an_interval_is_signed_and_praises_none(change, shown):
    from pages.ui.tables import difference

    found = difference(change)
    assert (found["delta"], found["delta_color"], found["delta_arrow"]) == shown


def test_an_unknown_difference_is_not_shown():
    from pages.ui.tables import difference

    assert difference(float("nan"))["delta"] is difference(float("inf"))["delta"] is None


def test_the_rows_needed_are_those_of_the_analysis():
    evaluation = of_address(**QUICK)
    at = page(**QUICK, **{"reliability.details": "sample_size"})
    assert faults(at) == []
    key = recommend(evaluation).choice or "none"
    # The Decide page's costs, 1 and 5
    found = sample_size(evaluation.y, evaluation.predictions[key].p, 1 / 6)
    table = next(frame.value for frame in at.dataframe if "Rows needed" in frame.value.columns)
    assert [text.replace(",", "") for text in table["Rows needed"]] == [str(one.rows) for one in found.needed]
    assert table["Width here"].tolist() == [number(one.here) for one in found.needed]
    assert found.finding in words(at)


def test_metrics_that_experts_expect_are_shown_when_they_are_chosen():
    at = page(**QUICK)
    at.multiselect(key="reliability.more_metrics").set_value(["ici", "smooth_ece"]).run()
    table = next(frame.value for frame in at.dataframe if "Brier score" in frame.value.columns)
    measured = of_address(**QUICK).measured(["ici", "smooth_ece"])
    assert table["ICI"].str.removesuffix(" ★").tolist() == [number(value) for value in measured["ici"]]
    assert list(table.columns[:2]) == ["ICI", "Smooth calibration error"]  # in sight
    assert any("The smooth calibration error ranges from" in title for title in titles(at))
    at.multiselect(key="reliability.more_metrics").set_value(["kuiper_p"]).run()
    assert any("Kuiper" in title for title in titles(at))
    assert faults(at) == []
    assert page(**QUICK, **{"reliability.more_metrics": "ici"}).multiselect(
        key="reliability.more_metrics"
    ).value == ["ici"]


def test_a_long_fit_of_many_rows_says_how_long_it_takes_and_waits_for_a_click(monkeypatch):
    monkeypatch.setattr(jobs, "UNASKED", 10.0)
    monkeypatch.setattr(evaluations, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(evaluations, "expected_seconds", lambda recipe, data, watch, short: 200.0)
    at = settled(page("explore_reliability", data="sample:breast_cancer", model="naive_bayes"))
    said = [text.value for text in at.markdown]
    assert_any_says(said, "569 rows", "3 minutes")
    assert not jobs_of(at, "fits")
    at = settled(at.button(key="start_fits").click().run())
    assert not faults(at)
    assert "start_fits" not in [button.key for button in at.button]
    monkeypatch.setattr(evaluations, "expected_seconds", lambda recipe, data, watch, short: 2.0)
    at = settled(page("explore_reliability", data="sample:breast_cancer", model="naive_bayes", seed="5"))
    assert not faults(at)
    assert "start_fits" not in [button.key for button in at.button]


def test_unlabelled_rows_are_read_and_scored_in_the_background_with_cancel(monkeypatch):
    monkeypatch.setattr("pages.ui.uploads.LARGE_UPLOAD", 10)
    at = page(**QUICK, **{"reliability.details": "base_rate"})
    X = load(Recipe(**QUICK)).X

    def upload(name, rows):
        content = X.head(rows).to_csv(index=False).encode()
        return at.file_uploader(key="unlabelled").set_value((name, content, "text/csv")).run()

    def estimated(rows):
        return says(words(at), f"base rate of these {rows} unlabelled rows")

    at = settled(upload("rows.csv", 100))
    assert estimated(100)
    with monkeypatch.context() as patch:
        patch.setattr(base_rate, "read_confined", lambda *_, watch, fewest: watch.cancel.wait(LIMIT))
        at = upload("more.csv", 200)
        assert estimated(100)
        assert any("Excluded or imputed data" in one.label for one in at.expander)  # the page goes on below
        at = at.button(key="cancel_reading_unlabelled").click().run()
    assert_any_says(messages(at), "more.csv", "cancelled", "Still using: rows.csv")
    assert estimated(100)
    ended = Event()
    with monkeypatch.context() as patch:
        patch.setattr(base_rate, "estimate_of_rows", lambda *_: ended.wait(LIMIT))
        at = upload("less.csv", 50)
        until(lambda: "cancel_base_rate" in keys(at.run()), "the rows are scored")
        at = at.button(key="cancel_base_rate").click().run()
        ended.set()
    assert not estimated(50)
    at = settled(at.button(key="fit_again_base_rate").click().run())
    assert estimated(50)
    assert faults(at) == []


def test_a_question_about_a_long_fit_cancels_the_fit_of_earlier_settings(monkeypatch):
    """Its estimate needs the processors, and nobody waits for the earlier fit."""
    monkeypatch.setattr(jobs, "UNASKED", 10.0)
    monkeypatch.setattr(evaluations, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(evaluations, "expected_seconds", lambda recipe, data, watch, short: 2.0)
    monkeypatch.setattr(evaluations, "fit", lambda recipe, data, watch: watch.cancel.wait(LIMIT))
    at = at_once("explore_reliability", data="sample:breast_cancer", model="naive_bayes", seed="8")
    (job,) = jobs_of(at, "fits")
    assert not job.cancelled
    monkeypatch.setattr(evaluations, "expected_seconds", lambda recipe, data, watch, short: 200.0)
    at.selectbox(key="model").set_value("logistic_regression").run()
    assert "start_fits" in [button.key for button in at.button]
    assert job.cancelled
