"""A base rate stated on the page: before and after, on every page, estimated by a click; small predictions apart."""

import json

import numpy as np
import pytest

from calib import Recipe, evaluate
from calib.analysis.decision import decide
from calib.analysis.label_shift import compare_base_rates, estimate_of_rows
from calib.evaluate import calibrate, fit
from calib.export import read_calibrator
from calib.figures import formatted_costs, formatted_rates
from calib.sources import load
from tests.evaluated import of_address
from tests.pages.app import bring, go, headline, page, settled
from tests.saying import assert_any_says, assert_says

QUICK = {"data": "sample:rare_faults", "model": "naive_bayes", "calibrators": "none,platt"}


def captions(at):
    return [element.value.replace("\\", "") for element in at.caption]


def test_a_stated_rate_moves_the_page_shows_both_and_goes_along(downloads):
    at = page(**QUICK, **{"reliability.details": "base_rate"})
    at.number_input(key="base_rate").set_value(0.8).run()
    settled(at)
    assert at.session_state["recipe"].base_rate == 0.008
    evaluation = of_address(**QUICK, base_rate="0.008")
    shown = next(element.value for element in at.dataframe if "Where" in element.value.columns)
    assert shown.to_dict() == formatted_rates(evaluation, compare_base_rates(evaluation)).to_dict()
    first = headline(at)["Brier score"].partition(" → ")[0]
    assert float(first) == pytest.approx(evaluation.metrics.brier["none"], abs=5e-5)
    assert any("0.8 % (1 in 120)" in expander.label for expander in at.expander)
    content = downloads["Calibrator (JSON)"]()
    assert json.loads(content)["base_rate"]["stated"] == 0.008
    again = read_calibrator(content).predict(evaluation.scores)
    np.testing.assert_array_equal(again.p, evaluation.predictions["platt"].p)
    at = go(at, "explore_decide")
    assert any("a base rate of 0.8 %" in caption.value for caption in at.caption)
    costs = [element.value for element in at.dataframe if "Realised cost" in element.value.columns]
    here = Recipe.from_query(QUICK)
    assert [each.to_dict() for each in costs] == [
        formatted_costs(decide(evaluate(recipe, load(recipe)))).to_dict()
        for recipe in (here.replace(base_rate=0.008), here)
    ]
    assert at.number_input(key="base_rate").value == pytest.approx(0.8)
    at.button(key="empty_base_rate").click().run()
    assert at.session_state["recipe"].base_rate is None


def test_the_rate_of_rows_without_labels_is_taken_by_a_click_and_not_before():
    at = page(**QUICK, **{"reliability.details": "base_rate"})
    recipe = Recipe.from_query(QUICK)
    data = load(recipe)
    rows = data.X.iloc[np.flatnonzero(data.y == 1).repeat(3).tolist() + list(range(1500))]
    at.get("file_uploader")[0].set_value(("sample.csv", rows.to_csv(index=False).encode(), "text/csv")).run()
    fitted = fit(recipe, data)
    keys = [estimate_of_rows(calibrate(recipe, fitted), fitted, rows, key) for key in recipe.calibrators]
    assert at.session_state["recipe"].base_rate is None
    said = " ".join(element.value for element in at.markdown)
    found = next(one for one in keys if one.finding in said)
    at.button(key="take_rate").click().run()
    assert at.session_state["recipe"].base_rate == pytest.approx(found.rate, rel=1e-3)


def test_axes_are_in_log_odds_by_themselves_if_half_of_the_predictions_are_small_with_one_click_back():
    at = page(**QUICK)
    assert_any_says(captions(at), "Log-odds axes", "half of the predictions")
    assert "reliability.axes" not in at.query_params
    settled(at.button(key="whole_axes").click().run())
    assert at.session_state["recipe"].setting("reliability.axes") == "probability"
    assert at.query_params["reliability.axes"] == "probability"
    assert not any("Log-odds axes" in text for text in captions(at))
    at = page(data="sample:breast_cancer", model="naive_bayes")
    assert not any("Log-odds axes" in text for text in captions(at))


@pytest.mark.parametrize("stem", ["explore_reliability", "explore_out_of_bag"])
def test_a_rate_that_the_test_rows_cannot_stand_for_is_refused_in_words(stem):
    at = page("explore_data", model="random_forest")
    rows = [f"{i * i},2026-01-{i + 1:02},{'y' if i > 12 or i % 2 else 'n'}\n" for i in range(20)]
    bring(at, "late.csv", "".join(["x,when,target\n", *rows]).encode())
    at.selectbox(key="time").set_value("when").run()
    go(at, stem)
    at.selectbox(key="split").set_value("time").run()
    settled(at.number_input(key="base_rate").set_value(10).run())
    assert not at.exception
    (error,) = at.error
    assert_says(error.value, "all test rows", "one class")
