"""The two samples with a known change are found, dated and named; periods add up to the whole."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.watch.over_time import over_time
from calib.figures import DARK, FIGURES, LIGHT
from calib.sources import load

FIRST = pd.Timestamp("2023-01-02")


def seen(key):
    recipe = Recipe(data=f"sample:{key}", content="predictions", time="day", calibrators=("none",))
    return over_time(evaluate(recipe, load(recipe)).on_every_row(), "none")


@pytest.mark.parametrize(
    ("key", "cause", "begin", "end"), [("drift_abrupt", "level", 270, 330), ("drift_slow", "slope", 200, 500)]
)
def test_samples_change_when_and_how_they_were_made_to(key, cause, begin, end):
    found = seen(key)
    alarm = found.watched.found
    assert alarm.cause == cause
    days = (pd.to_datetime([alarm.since_moment, alarm.moment]) - FIRST).days
    assert begin <= days[0] <= end
    assert days[1] > days[0]


def test_what_is_fitted_since_the_sudden_change_is_that_change():
    assert seen("drift_abrupt").fit().c_ == pytest.approx(0.6, abs=0.15)


def test_periods_add_up():
    found = seen("drift_abrupt")
    periods = found.periods
    assert periods["rows"].sum() == 6000
    assert periods["events"].sum() == found.y.sum()
    assert np.average(periods["gap"], weights=periods["rows"]) == pytest.approx((found.y - found.p).mean())
    assert ((periods["low"] <= periods["gap"]) & (periods["gap"] <= periods["high"])).all()
    calm = periods[periods["end"] < "2023-10-20"]
    assert ((calm["low"] <= 0) & (calm["high"] >= 0)).mean() >= 0.9


@pytest.mark.parametrize("key", ["watch_evidence", "watch_moved", "watch_periods"])
def test_figures_draw_what_was_found(key):
    found = seen("drift_abrupt")
    entry = FIGURES[key]
    record = entry.prepare(found)
    assert len(record.to_frame())
    for theme in (LIGHT, DARK):
        text = entry.draw(record, theme).to_json()
        assert "#0000" not in text
    if key == "watch_evidence":
        log = record.table["log10_evidence"].to_numpy()
        assert log.max() == pytest.approx(max(found.watched.path["log"]) / np.log(10))
