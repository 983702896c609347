"""Watch: the page says what ``over_time`` found, and what to do."""

from dataclasses import replace

import numpy as np
import pytest

from calib.analysis.watch.over_time import over_time, summary
from calib.analysis.watch.table import DO
from calib.kernel.records import Predictions
from calib.kernel.segment import in_period
from calib.study.papers.ten_setups import setup_recipes, setup_table
from pages.ui import chart
from pages.ui.text import plain
from tests.evaluated import evaluated
from tests.pages.app import faults, headline, messages, page
from tests.saying import assert_any_says
from tests.sweep import sweep

DAILY = {"data": "sample:drift_abrupt", "content": "predictions", "time": "day", "calibrators": "none"}


def test_the_page_tells_of_the_sudden_change():
    at = page("explore_watch", **DAILY)
    assert faults(at) == []
    found = over_time(evaluated(at.session_state["recipe"]), "none")
    assert found.watched.cause == "level"
    assert headline(at)["Evidence now"] == "> 100,000"
    assert any(plain(summary(found)) in each.value for each in at.header)
    assert any(DO["offset"] in each.value for each in at.markdown)
    assert len(at.get("plotly_chart")) == 3
    at.number_input(key="watch.alpha").set_value(0.001).run()
    assert faults(at) == []
    assert at.session_state["recipe"].setting("watch.alpha") == 0.001


def test_a_period_filters_the_other_pages_and_one_click_shows_all_again():
    period = {"period": "2023-11-01..2023-11-30"}
    at = page("explore_watch", **DAILY, **period)
    assert faults(at) == []
    assert headline(at)["Evidence now"] == "> 100,000"  # of all periods
    at = page("explore_reliability", **DAILY, **period)
    assert faults(at) == []
    assert any(plain("2023-11-01 to 2023-11-30") in each.value for each in at.caption)
    at.button(key="all_periods").click().run()
    assert at.session_state["recipe"].period is None


FITTED = {
    "data": "sample:dated",
    "time": "ordered",
    "split": "time",
    "params": '{"n_estimators":5}',
    "calibrators": "none,venn_abers",
    "period": "2023-07-16..2023-09-14",
}
SHOWN = {
    "reliability": "reliability",
    "venn_abers": "pairs",
    "trees": "depth",
    "out_of_bag": "setups",
    "decide": "costs",
    "compare": "compared",
}


@pytest.mark.parametrize("stem", sweep(SHOWN, "reliability", "out_of_bag"))
def test_every_page_shows_only_the_period(stem, monkeypatch):
    shown, show = [], chart.show
    monkeypatch.setattr(
        chart, "show", lambda key, *given, **how: shown.append((key, given)) or show(key, *given, **how)
    )
    at = page(f"explore_{stem}", **FITTED)
    assert faults(at) == []
    recipe = at.session_state["recipe"]
    assert recipe.period is not None
    assert any("Only test rows of the period" in each.value for each in at.caption)
    whole = evaluated(recipe.replace(period=None))
    rows = int(in_period(whole.when, recipe.period).sum())
    assert 0 < rows < len(whole.y)
    drawn = [given[0] for key, given in shown if key == SHOWN[stem]][-1]
    if stem == "trees":
        assert {int(n) for table in drawn for n in table["rows"]} == {rows}
    elif stem == "out_of_bag":
        own = {key: evaluated(one) for key, one in setup_recipes(recipe).items() if key == "split"}
        assert {len(one.y) for one in own.values()} == {rows}
        assert drawn["brier"].to_numpy() == pytest.approx(setup_table(own)["brier"].to_numpy())
    else:
        for one in drawn.values() if isinstance(drawn, dict) else [getattr(drawn, "evaluation", drawn)]:
            assert len(one.y) == rows


def test_without_a_date_rows_count_in_order():
    at = page("explore_watch", **{key: value for key, value in DAILY.items() if key != "time"})
    assert faults(at) == []
    assert any("Date or time" in each.help for each in at.caption)


def test_a_base_rate_is_refused():
    at = page("explore_watch", **DAILY, base_rate="0.3")
    assert faults(at) == []
    assert any("Remove the deployment base rate" in text for text in messages(at))


def test_features_with_several_calibrators_are_watched_one_at_a_time():
    at = page("explore_watch", calibrators=["none", "platt"])
    assert faults(at) == []
    at.selectbox(key="watch.calibrator").set_value("platt").run()
    assert faults(at) == []
    assert at.session_state["recipe"].setting("watch.calibrator") == "platt"


def test_one_wrong_prediction_of_0_is_a_finding_of_its_own(monkeypatch):
    """Its evidence is infinite, which pictures and numbers survive."""

    def with_one(evaluation, key, **options):
        p = evaluation.predictions[key].p.copy()
        p[np.flatnonzero(evaluation.y == 1)[0]] = 0
        changed = replace(evaluation, predictions={key: Predictions(evaluation.y, p)})
        return over_time(changed, key, **options)

    monkeypatch.setattr("pages.ui.explore.watch.over_time", with_one)
    at = page("explore_watch", **DAILY)
    assert faults(at) == []
    assert headline(at)["Evidence now"] == "infinite"
    assert_any_says(
        [each.value for each in at.markdown], "For 1 row the model predicted 0 %, but the event happened"
    )
    assert any("a prediction of 0 or 1 was wrong" in each.value for each in at.header)
