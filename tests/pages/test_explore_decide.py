"""Decide: the costs move the threshold, the numbers are those of ``decide``, and nothing is fitted again."""

import json

import numpy as np
import pytest

from calib import Recipe
from calib.analysis.decision import decide, thresholds_in_use
from calib.figures import formatted_costs
from calib.kernel.wording import change
from calib.sources import load
from scripts.statements import reads
from tests.evaluated import evaluated, of_address
from tests.pages.app import COLOURS, faults, go, headline, keys, messages, page, press, titles
from tests.saying import assert_any_says

QUICK = {"data": "sample:rare_faults", "model": "naive_bayes"}


def decision_of(at):
    recipe = at.session_state["recipe"]
    return decide(evaluated(recipe), **recipe.stated_settings("decide", "cost_false_alarm", "cost_miss"))


def tables(at, column):
    """The tables of the page that have this column."""
    return [table.value for table in at.dataframe if column in table.value.columns]


def threshold(at):
    """Return the printed threshold."""
    return headline(at)["Threshold"]


def test_the_numbers_of_the_page_are_those_of_decide():
    at = page("explore_decide", **QUICK, **{"decide.cost_false_alarm": "2", "decide.cost_miss": "6"})
    assert faults(at) == []
    decision = decision_of(at)
    best = decision.cheapest
    said = headline(at)
    assert threshold(at) == "0.250"
    assert any(
        label.startswith("Realised cost") and reads(value, decision.table.realised[best])
        for label, value in said.items()
    )
    line = decision.table.loc[best]
    (realised,) = [each for each in at.metric if each.label.startswith("Realised cost")]
    assert best != decision.reference
    assert realised.delta == change(line.difference, line.difference_lower, line.difference_upper, 2)
    assert COLOURS[realised.color] == ("green" if line.difference_upper < 0 else "gray"), (
        "no colour for what may be sampling variability"
    )
    rows = decision.undecided["venn_abers"]
    assert said["Undecided · Venn–Abers"] == f"{100 * rows.mean():.2g} %"
    assert tables(at, "False alarms")[0].equals(formatted_costs(decision))
    (listed,) = tables(at, "lower end")
    np.testing.assert_array_equal(listed["row"], decision.undecided_frame("venn_abers", 200)["row"])
    assert set(load(at.session_state["recipe"]).X.columns) <= set(listed.columns)
    assert len(at.get("plotly_chart")) == 2


def test_a_cost_moves_the_threshold_and_fits_nothing(monkeypatch):
    at = page("explore_decide", **QUICK)
    before = titles(at)

    def forbidden(*args, **kwargs):
        raise AssertionError("fitted again")

    monkeypatch.setattr("pages.ui.evaluations.fit", forbidden)
    monkeypatch.setattr("pages.ui.evaluations.calibrate", forbidden)
    at.number_input(key="decide.cost_miss").set_value(1.0).run()
    assert faults(at) == []
    assert threshold(at) == "0.500"
    assert at.session_state["recipe"].setting("decide.cost_miss") == 1.0
    assert at.query_params["decide.cost_miss"] == "1.0"
    assert titles(at) != before
    at.select_slider(key="thresholds").set_value((0.1, 0.3)).run()
    assert (at.query_params["decide.lowest"], at.query_params["decide.highest"]) == ("0.1", "0.3")
    axis = json.loads(at.get("plotly_chart")[1].proto.spec)["layout"]["xaxis"]
    assert axis["range"] == [0.1, 0.3]
    go(at, "explore_reliability")
    assert at.session_state["recipe"].setting("decide.cost_miss") == 1.0


def test_of_rare_events_a_range_of_thresholds_is_proposed_and_taken_by_a_click():
    at = page("explore_decide", data="sample:rare_faults", model="naive_bayes", calibrators="platt,isotonic")
    end = thresholds_in_use(of_address(**at.query_params))
    assert "decide.highest" not in at.query_params
    press(at, f"Show thresholds up to {end:g}")
    assert at.session_state["recipe"].setting("decide.highest") == end
    assert at.select_slider(key="thresholds").value == (0, end)
    assert "narrow_thresholds" not in keys(at)
    common = page("explore_decide", **QUICK | {"data": "sample:breast_cancer"})
    assert "narrow_thresholds" not in keys(common)


def test_without_intervals_it_says_which_method_would_tell():
    at = page("explore_decide", **QUICK, calibrators="none,platt")
    assert any("Venn–Abers" in text and "sidebar" in text for text in messages(at))
    assert tables(at, "lower end") == []
    weighed = QUICK | {"data": "sample:breast_cancer", "weight": "mean_radius", "calibrators": "none,platt"}
    assert_any_says(messages(page("explore_decide", **weighed)), "weights", "counts of rows")


def test_two_methods_with_intervals_can_be_chosen_between():
    at = page("explore_decide", **QUICK, calibrators="venn,venn_abers", **{"decide.interval": "venn"})
    assert at.segmented_control(key="decide.interval").value == "venn"
    assert sum(label.startswith("Undecided") for label in headline(at)) == 2
    at.segmented_control(key="decide.interval").set_value("venn_abers").run()
    assert at.session_state["recipe"].setting("decide.interval") == "venn_abers"


def test_margins_say_which_method_cannot_decide_and_show_the_others():
    at = page("explore_decide", data="sample:breast_cancer", model="svm", calibrators="none,platt")
    assert faults(at) == []
    assert any("Uncalibrated is not shown" in text.replace("*", "") for text in messages(at))
    assert "Realised cost · Platt scaling" in headline(at)
    at = page("explore_decide", data="sample:breast_cancer", model="svm", calibrators="none")
    assert faults(at) == []
    assert any("None of the chosen calibrators" in text for text in messages(at))


@pytest.mark.parametrize(
    "query",
    [
        {"data": "sample:predictions", "content": "predictions"},
        {**QUICK, "evaluation": "folds", "folds": "3"},
    ],
)
def test_predictions_brought_from_elsewhere_and_folds_are_decided_too(query):
    at = page("explore_decide", **query)
    assert faults(at) == []
    decision = decision_of(at)
    (cost,) = [value for label, value in headline(at).items() if label.startswith("Realised cost")]
    assert reads(cost, decision.table.realised[decision.cheapest])


def test_a_bad_cost_in_an_address_is_refused_by_name():
    at = page("explore_decide", **QUICK, **{"decide.cost_miss": "-1"})
    assert any("cost_miss" in text for text in messages(at))
    assert at.session_state["recipe"] == Recipe()


def test_the_source_of_the_page_gives_its_numbers():
    at = page("explore_decide", **QUICK, **{"decide.cost_miss": "3"})
    names = {"print": lambda *args: None}
    exec(next(code.value for code in at.code if "decision = " in code.value), names)
    assert formatted_costs(names["decision"]).equals(tables(at, "False alarms")[0])


def test_undecided_rows_at_a_base_rate_are_counted_as_rows():
    at = page("explore_decide", data="sample:breast_cancer", base_rate="0.003")
    decision = decision_of(at)
    rows = int(decision.undecided["venn_abers"].sum())
    assert rows, "there is something to count"
    (shown,) = [each for each in at.metric if each.label.startswith("Undecided")]
    assert shown.delta == f"{rows} of {len(decision.evaluation.y)} rows"
    assert_any_says([each.value for each in at.markdown], f"For {rows} test rows", "of the weight")
