"""Watch: the page says what ``over_time`` found, and what to do."""

import pytest

from calib.analysis.watch.over_time import over_time
from calib.kernel.wording import brief
from tests.evaluated import evaluated
from tests.pages.app import faults, headline, messages, page

DAILY = {"data": "sample:drift_abrupt", "content": "predictions", "time": "day", "calibrators": "none"}


def test_the_page_tells_of_the_sudden_change():
    at = page("explore_watch", **DAILY)
    assert faults(at) == []
    found = over_time(evaluated(at.session_state["recipe"]).on_every_row(), "none")
    assert found.watched.cause == "level"
    assert headline(at)["Evidence now"] == brief(found.watched.now)
    assert any("intercept-only" in each.value for each in at.markdown)
    assert len(at.get("plotly_chart")) >= 2
    at.number_input(key="watch.alpha").set_value(0.001).run()
    assert faults(at) == []
    assert at.session_state["recipe"].setting("watch.alpha") == 0.001


def test_without_a_date_rows_count_in_order():
    at = page("explore_watch", **{key: value for key, value in DAILY.items() if key != "time"})
    assert faults(at) == []
    assert any("role time" in text for text in messages(at))


@pytest.mark.parametrize("changes", [{"base_rate": "0.3"}])
def test_weights_are_refused(changes):
    at = page("explore_watch", **DAILY, **changes)
    assert faults(at) == []
    assert any("each row once" in text for text in messages(at))
