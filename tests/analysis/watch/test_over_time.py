"""The two samples with a known change: found, dated, named; periods add up; missing labels hold up later rows."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from calib import Evaluation, Recipe, evaluate
from calib.analysis.watch.over_time import change_sentence, over_time, summary, unlabelled
from calib.data import prepare_predictions
from calib.evaluate.record import evaluated_on_all_rows
from calib.figures import DARK, FIGURES, LIGHT
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.segment import in_period, write_period
from calib.sources import load
from tests.saying import assert_says

FIRST = pd.Timestamp("2023-01-02")


def recipe_of(key):
    return Recipe(data=f"sample:{key}", content="predictions", time="day", calibrators=("none",))


def seen(key):
    recipe = recipe_of(key)
    return over_time(evaluate(recipe, load(recipe)), "none")


@pytest.mark.parametrize(
    ("key", "cause", "begin", "end"), [("drift_abrupt", "level", 290, 310), ("drift_slow", "slope", 200, 500)]
)
def test_samples_change_when_and_how_they_were_made_to(key, cause, begin, end):
    found = seen(key)
    alarm = found.watched.found
    assert alarm.cause == cause
    days = (pd.to_datetime([alarm.since_moment, alarm.moment]) - FIRST).days
    assert begin <= days[0] <= end
    assert days[1] > days[0]
    assert found.shifted is None
    assert not found.from_the_start


def test_what_is_fitted_since_the_sudden_change_is_that_change():
    found = seen("drift_abrupt").correction()
    assert found.calibrator.coefficients_ == pytest.approx([0.8, 1], abs=0.12)
    assert found.intercept[0] < 0.8 < found.intercept[2]


def test_periods_add_up():
    found = seen("drift_abrupt")
    periods, evaluation = found.table, found.evaluation
    assert periods["rows"].sum() == 12_000
    assert periods["events"].sum() == evaluation.y.sum()
    gap = (evaluation.y - evaluation.predictions["none"].p).mean()
    assert np.average(periods["gap"], weights=periods["rows"]) == pytest.approx(gap)
    assert ((periods["low"] <= periods["gap"]) & (periods["gap"] <= periods["high"])).all()
    calm = periods[periods["end"] < "2023-10-20"]
    assert ((calm["low"] <= 0) & (calm["high"] >= 0)).mean() >= 0.9


def made(n=600, when=None, seed=0, shift=0.0, unlabelled=None, p=None):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n) if p is None else p
    y = (rng.random(n) < 1 / (1 + np.exp(-(np.log(p / (1 - p)) + shift)))).astype(int)
    data = Dataset("made", pd.DataFrame({"p": p}), y, predictions=True, time=when, unlabelled=unlabelled)
    return evaluated_on_all_rows(Recipe(content="predictions", calibrators=("none",)), data, {"none": p})


@pytest.mark.parametrize(
    ("when", "names"),
    [
        (np.arange("2020-01-01", "2029-12-31", dtype="datetime64[D]")[::6][:600], "2020-01 to 2020-06"),
        (np.datetime64("2024-01-01") + np.arange(600) // 20, "week of 2024-01-01"),
        (np.datetime64("2024-01-01") + np.arange(600) // 120, "2024-01-01"),
        (np.datetime64("2024-01-01T00") + np.arange(600) // 40, "2024-01-01T00"),
        (np.datetime64("2024-01-01T00") + np.zeros(600, dtype=int), None),
        (np.arange(600) / 7, None),
        (np.zeros(600), None),
        (None, "rows 1 to 50"),
    ],
)
def test_periods_fit_the_calendar_and_keep_rows_of_one_time_together(when, names):
    found = over_time(made(when=when), "none")
    table = found.table
    assert table["rows"].sum() == 600
    assert 1 <= len(table) <= 24
    if names is not None:
        assert table["period"].iloc[0] == names
    for line in table.itertuples():
        kept = in_period(found.evaluation.when, write_period(line.begin, line.end))
        assert kept.sum() == line.rows
    for key in ("watch_evidence", "watch_moved", "watch_periods"):
        FIGURES[key].draw(FIGURES[key].prepare(found), LIGHT)


def test_rows_from_a_missing_label_on_wait_unless_they_are_left_out():
    when = np.datetime64("2024-01-01") + np.arange(600) // 20
    found = over_time(made(when=when, unlabelled=np.datetime64("2024-01-21")), "none")
    assert found.watched.rows == 400
    assert found.waiting == 200
    assert "2024-01-21" in unlabelled(found)
    everything = over_time(
        made(when=when, unlabelled=np.datetime64("2024-01-21")), "none", skip_unlabelled=True
    )
    assert everything.watched.rows == 600
    with pytest.raises(InputError, match="no label"):
        over_time(made(when=when, unlabelled=when[0]), "none")


def test_a_table_knows_its_first_row_without_a_label():
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-03", "2024-01-01", "2024-01-02"]),
            "p": [0.1, 0.8, 0.4],
            "y": [0, 1, None],
        }
    )
    assert prepare_predictions(frame, "y", roles={"time": "day"}).unlabelled == np.datetime64("2024-01-02")
    assert prepare_predictions(frame.drop(columns="day"), "y").unlabelled == 3
    assert prepare_predictions(frame.dropna(), "y").unlabelled is None


def test_wrong_from_the_first_day_is_said():
    found = over_time(made(2000, seed=1, shift=1.0), "none")
    assert found.from_the_start
    assert "start" in summary(found)


def test_a_shift_of_the_scores_alone_is_no_change_of_calibration():
    rng = np.random.default_rng(5)
    p = 1 / (1 + np.exp(-(rng.normal(0, 1, 6000) + np.repeat([0, 1.0], 3000))))
    found = over_time(made(6000, seed=3, p=p), "none")
    assert found.watched.found is None
    assert found.shifted is not None


def test_ties_are_watched():
    found = over_time(made(300, p=np.full(300, 0.5)), "none")
    assert found.watched.rows == 300
    assert found.watched.found is None


def test_one_class_is_evidence_against_even_odds():
    p = np.full(300, 0.5)
    data = Dataset("made", pd.DataFrame({"p": p}), np.zeros(300, dtype=int), predictions=True)
    found = over_time(evaluated_on_all_rows(Recipe(content="predictions"), data, {"none": p}), "none")
    assert found.watched.found is not None
    for key in ("watch_evidence", "watch_moved", "watch_periods"):
        FIGURES[key].draw(FIGURES[key].prepare(found), LIGHT)


def test_a_wrong_prediction_of_0_is_drawn_and_said():
    p = np.random.default_rng(0).uniform(0.05, 0.95, 600)
    y = (np.random.default_rng(1).random(600) < p).astype(int)
    p[250], y[250] = 0, 1
    when = np.datetime64("2024-01-01") + np.arange(600) // 20
    data = Dataset("made", pd.DataFrame({"p": p}), y, predictions=True, time=when)
    found = over_time(evaluated_on_all_rows(Recipe(content="predictions"), data, {"none": p}), "none")
    assert_says(summary(found), "2024-01-13", "0 or 1 was wrong")
    assert_says(change_sentence(found), "Apart from predictions of 0 or 1", "no clear change")
    drawn = FIGURES["watch_evidence"].prepare(found)
    assert drawn.alarm == pd.Timestamp("2024-01-13")
    assert np.isinf(drawn.table["log10_evidence"]).sum() == 30 - 12
    for key in ("watch_evidence", "watch_moved", "watch_periods"):
        for theme in (LIGHT, DARK):
            assert "Infinity" not in FIGURES[key].draw(FIGURES[key].prepare(found), theme).to_json()


def test_weights_and_a_base_rate_are_refused():
    weighted = Evaluation.from_predictions([0, 1, 1], [0.2, 0.6, 0.7], sample_weight=[1, 2, 3])
    with pytest.raises(InputError, match="each row once"):
        over_time(weighted, "none")
    recipe = recipe_of("drift_abrupt").replace(base_rate=0.3)
    with pytest.raises(InputError, match="base rate"):
        over_time(evaluate(recipe, load(recipe)), "none")


def test_a_period_leaves_only_its_test_rows():
    recipe = recipe_of("drift_abrupt").replace(period="2023-02-01..2023-02-28")
    found = evaluate(recipe, load(recipe))
    assert len(found.y) == 28 * 20
    assert found.when.min() == np.datetime64("2023-02-01")
    assert len(found.on_every_row().y) == 28 * 20
    whole = evaluate(recipe.replace(period=None), load(recipe))
    part = whole.in_period(recipe.period)
    assert found.metrics.equals(part.metrics)
    assert Recipe.from_query(recipe.to_query()) == recipe
    with pytest.raises(InputError, match="period"):
        whole.in_period("2030-01-01..2030-02-01")
    with pytest.raises(InputError, match="dates"):
        whole.in_period("a..b")
    with pytest.raises(InputError, match="period"):
        recipe.replace(period="2023")


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
        line = next(trace for trace in entry.draw(record).data if trace.customdata is not None)
        assert line.line.shape == "hv", "what is held changes at once when labels come"
        assert record.table["log10_evidence"].iloc[-1] == pytest.approx(found.watched.log_now / np.log(10))


@pytest.mark.parametrize("later", [False, True])
def test_the_name_of_the_level_is_away_from_the_alarms_own_line(later):
    record = FIGURES["watch_evidence"].prepare(seen("drift_abrupt"))
    when = record.table["when"]
    record = replace(record, alarm=when.iloc[-2 if later else 1])
    figure = FIGURES["watch_evidence"].draw(record)
    (name,) = (one for one in figure.layout.annotations if one.text.startswith("alarm at"))
    assert (name.x, name.xanchor) == ((0, "left") if later else (1, "right"))


def dated_scores(rng, n, months, rate=None):
    """Calibrated predictions of some months of 2024; a rate changes the share of class 1, not the scores of a class."""
    p = 1 / (1 + np.exp(-rng.normal(size=20 * n)))
    y = rng.random(20 * n) < p
    chosen = rng.choice(
        20 * n, n, p=None if rate is None else np.where(y, rate / y.sum(), (1 - rate) / (~y).sum())
    )
    p, y = p[chosen], y[chosen]
    days = np.datetime64(f"2024-{months[0]:02}-01") + np.sort(rng.integers(0, 30 * len(months), n))
    return pd.DataFrame({"day": days, "p": p, "y": y.astype(float)})


@pytest.fixture(scope="module")
def early_and_late():
    """Four months, and three more in which the base rate is 0.8 instead of one half."""
    rng = np.random.default_rng(0)
    return dated_scores(rng, 3000, (1, 2, 3, 4)), dated_scores(rng, 900, (6, 7, 8), rate=0.8)


@pytest.fixture(scope="module")
def unlabelled_later(early_and_late):
    """What is seen over time if only the early rows have labels."""
    early, late = early_and_late
    frame = pd.concat([early, late.assign(y=np.nan)], ignore_index=True)
    data = prepare_predictions(frame, "y", roles={"time": "day"}, positive="1")
    recipe = Recipe(data="sample:breast_cancer", content="predictions", time="day", calibrators=("none",))
    return over_time(evaluate(recipe, data), "none")


def test_rows_without_labels_are_counted_apart_and_raise_no_alarm(unlabelled_later):
    found = unlabelled_later
    assert found.watched.rows == 3000
    assert found.watched.found is None
    assert list(found.later["period"]) == [f"2024-{month:02}, labels incomplete" for month in (6, 7, 8)]
    assert found.later["rows"].sum() == 900


def test_scores_of_rows_without_labels_show_a_shift_that_labels_cannot_show_yet(
    unlabelled_later, early_and_late
):
    found, (_, late) = unlabelled_later, early_and_late
    for period, own in late.groupby(late["day"].dt.month):
        line = found.later[found.later["period"].str.startswith(f"2024-{period:02}")].iloc[0]
        assert line["p50"] == pytest.approx(own["p"].median())
        assert 0.65 < line["base_rate"] < 0.95  # 0.8; the observed frequency so far is one half
    assert found.shifted in set(found.later["period"])


def test_a_shift_of_rows_without_labels_is_drawn_and_said(unlabelled_later):
    record = FIGURES["watch_moved"].prepare(unlabelled_later)
    assert_says(record.title, "shifted", "most in")
    assert unlabelled_later.shifted.partition(",")[0] in record.title
    assert_says(record.caption, "without labels")
    assert len(record.table) == len(unlabelled_later.table) + 3
    assert record.table["gap"].isna().sum() == 3
    assert FIGURES["watch_moved"].draw(record).data


def test_without_missing_labels_nothing_waits():
    found = over_time(made(), "none")
    assert len(found.later) == 0


def test_names_of_periods_lie_beside_each_other_on_a_phone():
    """Of 358 pixels the plot has 286; a letter takes up to 7."""
    by_row = recipe_of("drift_abrupt").replace(time=None)
    for found in (seen("drift_abrupt"), over_time(evaluate(by_row, load(by_row)), "none")):
        record = FIGURES["watch_periods"].prepare(found)
        figure = FIGURES["watch_periods"].draw(record, LIGHT)
        names = sorted(
            (round(one.y, 3), one.x, len(one.text) - len("<b></b>")) for one in figure.layout.annotations
        )
        assert len(names) == len(record.names)
        for (row, left, letters), (other, right, _) in pairwise(names):
            assert row != other or 7 * letters <= 286 * (right - left)
