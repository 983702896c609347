"""Groups: the page says what the search found, a segment filters every page, and no view makes the search again."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.audit import of_evaluation
from calib.analysis.grouping_losses import grouping_losses, partition_name
from calib.data import sample_table
from calib.figures import FIGURES
from calib.figures.audit import finding
from calib.kernel.declared import SETTINGS
from calib.kernel.wording import number, percent
from pages.ui import jobs
from pages.ui.text import plain
from tests.evaluated import evaluated
from tests.pages.app import bring, faults, go, headline, jobs_of, keys, messages, page, settled, table, titles
from tests.saying import assert_any_says

HIDDEN = {"data": "sample:hidden_group", "content": "predictions", "calibrators": "none"}
QUICK = {"groups.resamples": "99"}
GROUP = ("age=60.0..", "employment=self-employed")


def test_the_page_says_what_the_search_found():
    at = page("explore_groups", **HIDDEN, **QUICK)
    assert faults(at) == []
    made = of_evaluation.audited(evaluated(at.session_state["recipe"]), "none", resamples=99)
    assert finding(made) in titles(at)
    assert "age = 60 to 79 and employment = self-employed" in finding(made)
    assert headline(at)["Smallest adjusted p"] == number(made.found.p_value)
    assert "one group" in finding(made)
    numbers = of_evaluation.segment_numbers(made.found, made.causes[0].line)
    assert not any(plain(numbers) in each.value for each in at.markdown)  # the table has them
    worst = table(at, "More").iloc[0]
    assert f"{worst['Rows']:,} rows, predicted {100 * worst['Predicted']:.1f} %" in numbers
    assert_any_says([each.value for each in at.caption], "range", "excludes its upper end")
    assert len(at.get("plotly_chart")) == 4


def test_a_segment_filters_every_page_and_one_click_shows_all_again():
    at = page("explore_groups", **HIDDEN, **QUICK)
    at.button(key="filter_by_segment").click().run()
    settled(at)
    assert faults(at) == []
    assert at.session_state["recipe"].segment == GROUP
    assert headline(at)["All rows"] == headline(page("explore_groups", **HIDDEN, **QUICK))["All rows"]
    go(at, "explore_reliability")
    assert faults(at) == []
    rows = len(evaluated(at.session_state["recipe"]).y)
    assert rows == 476
    assert any(plain("age from 60 and employment = self-employed") in each.value for each in at.caption)
    assert any(f"{rows} " in each.value for each in at.caption)
    at.button(key="all_segments").click().run()
    assert at.session_state["recipe"].segment == ()


@pytest.mark.parametrize("stem", ["venn_abers", "decide", "watch", "compare"])
def test_other_pages_show_only_the_segment(stem):
    at = page(
        f"explore_{stem}",
        data="sample:loans",
        params='{"n_estimators":5}',
        calibrators="none,venn_abers",
        segment="work=employed",
    )
    assert faults(at) == []
    assert any("work" in each.value and "Only test rows" in each.value for each in at.caption)


def test_a_segment_that_does_not_suit_other_data_is_refused_by_name():
    at = page("explore_reliability", data="sample:loans", segment="employment=self-employed")
    assert any("no column matches the condition" in text for text in faults(at))


def test_other_data_end_the_segment():
    at = page("explore_data", **HIDDEN, segment="employment=self-employed")
    at.selectbox(key="data").set_value("sample:loans").run()
    assert at.session_state["recipe"].segment == ()


def test_the_repair_is_one_click_and_its_predictions_are_searched():
    at = page("explore_groups", **HIDDEN, **QUICK)
    settled(at.button(key="repair").click().run())
    assert faults(at) == []
    recipe = at.session_state["recipe"]
    assert recipe.calibrators == ("none", "multicalibration")
    made = of_evaluation.audited(evaluated(recipe), "multicalibration", resamples=99)
    assert finding(made) in titles(at)
    assert "repair" not in keys(at)


def test_a_segment_of_a_calibrator_with_intervals_has_its_mean_interval():
    chosen = {"calibrators": "none,venn_multicalibration", "groups.calibrator": "venn_multicalibration"}
    at = page("explore_groups", **HIDDEN | QUICK | chosen)
    assert faults(at) == []
    made = of_evaluation.audited(evaluated(at.session_state["recipe"]), "venn_multicalibration", resamples=99)
    rows = made.found.members(0)
    predictions = made.evaluation.predictions["venn_multicalibration"]
    low, high = predictions.lower[rows].mean(), predictions.upper[rows].mean()
    mean = f"{percent(low)} to {percent(high)}"
    assert_any_says([each.value for each in at.caption], "Mean interval", mean)
    assert low < predictions.p[rows].mean() < high


def test_a_view_does_not_search_again(monkeypatch):
    at = page("explore_groups", **HIDDEN, **QUICK)
    calls = []
    monkeypatch.setattr(of_evaluation, "audit", lambda *given, **how: calls.append(given))
    at.segmented_control(key="groups.view").set_value("column").run()
    at.segmented_control(key="groups.view").set_value("search").run()
    at.toggle(key="groups.in_report").set_value(True).run()
    assert faults(at) == []
    assert "Smallest adjusted p" in headline(at)
    assert calls == []
    assert len(jobs_of(at, "audit")) == 1


def test_the_grouping_loss_is_that_of_every_partition():
    at = page("explore_groups", **HIDDEN, **{"groups.view": "loss"})
    assert faults(at) == []
    found = grouping_losses(evaluated(at.session_state["recipe"]), "none")
    for each in found.losses:
        assert headline(at)[partition_name(each.partition)] == number(each.lower)
    assert FIGURES["grouping_loss"].prepare(found).title in titles(at)


def test_links_to_the_subgroups_of_reliability_lead_here():
    at = page(
        "explore_reliability",
        data="sample:loans",
        model="naive_bayes",
        **{"reliability.details": "groups", "reliability.group": "work"},
    )
    assert faults(at) == []
    assert any(text.startswith("Grouped by work,") for text in titles(at))
    recipe = at.session_state["recipe"]
    assert (recipe.setting("groups.view"), recipe.setting("reliability.details")) == ("column", "metrics")


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"base_rate": "0.3"}, "Remove the deployment base rate"),
        ({"groups.min_rows": "5000"}, f"“{SETTINGS['groups.min_rows'].label}”"),
        (
            {
                "data": "sample:predictions",
                "content": "predictions",
                "calibrators": "none",
                "groups.columns": "gone",
            },
            "gone",
        ),
    ],
)
def test_what_cannot_be_searched_is_said_with_the_remedy(changes, remedy):
    query = {"data": "sample:loans", "model": "naive_bayes", "calibrators": "none"} | changes
    at = page("explore_groups", **query)
    assert at.exception == []
    assert any(remedy in text for text in messages(at))


def test_predictions_that_were_fitted_to_these_labels_are_refused_by_name():
    rng = np.random.default_rng(0)
    x, kind = rng.integers(0, 6, 900), rng.choice(list("ab"), 900)
    y = rng.random(900) < 0.1 + 0.13 * x
    score = pd.Series(y).groupby(x).transform("mean")
    table = pd.DataFrame({"kind": kind, "score": score, "target": y.astype(int)})
    at = bring(page("explore_data"), "own.csv", table.to_csv(index=False).encode())
    go(at, "explore_groups")
    at.session_state["recipe"] = at.session_state["recipe"].replace(calibrators=("none",))
    settled(at.run())
    assert any("fitted to these labels" in text and "Uncalibrated" in text for text in messages(at))


def test_groups_can_be_made_by_columns_the_model_does_not_see():
    at = page(
        "explore_groups",
        data="sample:loans",
        model="naive_bayes",
        exclude="income",
        **{"groups.view": "column", "reliability.group": "income"},
    )
    assert faults(at) == []
    options = at.selectbox(key="reliability.group").options
    assert {"income", "loan_id", "purpose"} <= set(options)
    assert sample_table("loans")[1] not in options
    assert any(title.startswith("Grouped by income,") for title in titles(at))
    at.selectbox(key="reliability.group").set_value("purpose").run()
    assert any(title.startswith("Grouped by purpose,") for title in titles(at))
    at.toggle(key="reliability.group_diagrams").set_value(True).run()
    assert faults(at) == []
    assert len(at.get("plotly_chart")) > 3  # the groups, and a diagram of each


def test_synthetic_data_have_groups_by_their_features():
    at = page("explore_groups", data="synthetic:gaussian", model="naive_bayes", **{"groups.view": "column"})
    assert faults(at) == []
    control = at.selectbox(key="reliability.group")
    assert control.value is None  # what stands selected here stands in the report
    assert not any(title.startswith("Grouped by ") for title in titles(at))
    control.set_value(control.options[0]).run()
    assert any(title.startswith(f"Grouped by {control.options[0]}") for title in titles(at))


def test_the_groups_of_one_column_are_drawn_before_a_long_search(monkeypatch):
    monkeypatch.setattr(jobs, "UNASKED", -1.0)
    at = page("explore_groups", **HIDDEN, **QUICK)
    assert faults(at) == []
    assert [chart.proto.id.rpartition("chart_")[2] for chart in at.get("plotly_chart")] == ["groups"]
    settled(at.button(key="start_audit").click().run())
    assert "groups" not in [chart.proto.id.rpartition("chart_")[2] for chart in at.get("plotly_chart")]
