"""Causes, detectable gaps and sentences of an audit."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from calib import Recipe, check, evaluate, load_sample
from calib.analysis.audit import audit
from calib.analysis.audit.of_evaluation import (
    audit_evaluation,
    audit_sentences,
    audited,
    causes,
    detectable_gap,
    how_off,
    level_limits,
    line_explains,
)
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError
from calib.sources import load
from tests.saying import assert_says


def planted(shift=0.25, rows=6000, second=0.0):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"job": rng.choice(list("abc"), rows), "place": rng.choice(list("xyz"), rows)})
    p = rng.uniform(0.3, 0.6, rows)
    truth = p + shift * (table["job"] == "b") + second * ((table["job"] == "a") & (table["place"] == "x"))
    return (rng.random(rows) < truth).astype(int), p, table


def test_one_cause_is_one_line():
    found = audit(*planted(), resamples=199)
    together = causes(found)
    assert [found.segments["segment"][each.line] for each in together] == ["job = b"]
    assert found.found > 1
    assert sorted([together[0].line, *together[0].others]) == list(range(found.found))


def test_two_causes_are_two_lines():
    found = audit(*planted(second=-0.25), resamples=199)
    assert [found.segments["segment"][each.line] for each in causes(found)] == [
        "job = b",
        "job = a and place = x",
    ]


@pytest.mark.parametrize(("bends", "said"), [(np.inf, "underconfident"), (-np.inf, "overconfident")])
def test_without_a_line_the_direction_is_that_of_the_residuals(bends, said):
    rng = np.random.default_rng(0)
    kind, x = rng.choice(list("ab"), 4000), rng.uniform(-1, 1, 4000)
    y = rng.random(4000) < expit(np.where(kind == "a", bends * x, x))  # a threshold separates group a
    found = audit(y, expit(x), pd.DataFrame({"kind": kind}), resamples=199)
    assert found.segments["segment"][0] == "kind = a"
    assert how_off(found, 0) == said


def test_a_gap_of_the_detectable_size_is_found_in_about_80_of_100_tables():
    rng, rows, hits = np.random.default_rng(3), 1500, 0
    table = pd.DataFrame({"job": np.repeat(list("abcde"), rows // 5)})
    p = np.full(rows, 0.4)
    first = audit(rng.random(rows) < p, p, table, resamples=199)
    gap = detectable_gap(first, rows // 5)
    truth = p + gap * (table["job"] == "b").to_numpy()
    for _ in range(40):
        hits += audit(rng.random(rows) < truth, p, table, resamples=199).found > 0
    assert 24 <= hits <= 39


def test_sentences_state_the_numbers_of_the_table():
    found = audit(*planted(), resamples=199)
    told = audit_sentences(found)
    worst = found.segments.iloc[0]
    assert_says(told[0], len(found.segments), "segments", "6,000 rows")
    means = (f"{100 * worst[column]:.1f} %" for column in ("predicted", "observed"))
    assert_says(told[1], "job = b", f"{worst['rows']:,} rows", *means, "p = 0.00500")


def test_an_evaluation_is_audited_by_its_columns_and_the_calibrator_is_named():
    y, p, table = planted()
    evaluation = check(
        y, {"none": p, "isotonic": CALIBRATORS["isotonic"]().fit(p, y).predict(p)}, features=table
    )
    found, own = audit_evaluation(evaluation, "none", resamples=99), audit(y, p, table, resamples=99)
    assert list(found.segments["segment"]) == list(own.segments["segment"])
    with pytest.raises(InputError, match="Isotonic.*fitted to these labels"):
        audit_evaluation(evaluation, "isotonic", resamples=99)


def test_a_segment_is_written_as_conditions_that_its_rows_alone_meet():
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",))
    made = audited(
        evaluate(recipe, load_sample("loans")), "none", resamples=19, columns=("income", "work", "age")
    )
    assert len(made.found.segments) > 20
    for line in range(len(made.found.segments)):
        rows = made.evaluation.in_segment(made.conditions(line)).rows
        assert np.array_equal(rows, made.evaluation.rows[made.found.members(line)])


def test_signs_of_direction_in_names_do_not_hide_rows():
    y, p, table = planted()
    table["job"] = table["job"] + "\u202e"
    found = audit(y, p, table.rename(columns={"job": "\u202ejob"}), resamples=99)
    assert found.segments["segment"][0] == "job = b"
    assert np.array_equal(found.members(0), (table["job"] == "b\u202e").to_numpy())


def test_a_level_at_its_limit_is_at_the_threshold():
    """The limits are where the statistic of the level is the threshold, in a segment of rare events."""
    rng = np.random.default_rng(5)
    table, p = pd.DataFrame({"job": np.repeat(["a", "b"], 1000)}), np.full(2000, 0.02)
    found = audit((rng.random(2000) < p).astype(int), p, table, resamples=99)
    low, high = level_limits(found, int(np.flatnonzero(found.segments["segment"] == "job = a")[0]))
    assert 0 < -low < high  # few events are bounded below
    for limit, sign in ((low, -1), (high, 1)):
        z = limit * 1000 / np.sqrt(1000 * 0.02 * 0.98)
        skewness = (1 - 2 * 0.02) / np.sqrt(1000 * 0.02 * 0.98)
        normal = 6 / skewness * (np.cbrt(skewness * z / 2 + 1) - 1) + skewness / 6  # Wilson & Hilferty 1931
        assert normal == pytest.approx(sign * found.threshold)


def test_an_evaluation_is_searched_once_for_all_who_ask_and_every_segment_has_its_cause():
    y, p, table = planted()
    evaluation = check(y, p, features=table)
    made = audited(evaluation, resamples=99)
    assert audited(evaluation, "none", resamples=99).found is made.found
    frame = made.to_frame()
    assert frame["cause"].notna().sum() == made.found.found
    assert list(frame["cause"][: made.found.found]) == [1] * made.found.found


def test_weights_can_be_ignored_but_counts_stay():
    y, p, table = planted()
    rng = np.random.default_rng(7)
    weights, counts = rng.gamma(1, size=len(y)), rng.integers(1, 3, len(y))
    made, bare = (
        audited(check(y, p, features=table, sample_weight=weights), resamples=99, unweighted=True),
        audited(check(y, p, features=table), resamples=99),
    )
    pd.testing.assert_frame_equal(made.found.segments, bare.found.segments)
    assert (made.unweighted, bare.unweighted) == (True, False)
    assert made.predicted == pytest.approx(p.mean())
    told, other = (
        audited(check(y, p, features=table, sample_weight=counts), resamples=99, unweighted=each)
        for each in (True, False)
    )
    pd.testing.assert_frame_equal(told.found.segments, other.found.segments)
    assert not told.unweighted


def test_a_deployment_base_rate_is_refused_because_its_weights_depend_on_labels():
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",), base_rate=0.5)
    with pytest.raises(InputError, match="Remove the deployment base rate"):
        audited(evaluate(recipe, load_sample("loans")))


def test_the_sample_with_a_hidden_group_is_calibrated_and_the_group_is_found():
    recipe = Recipe(data="sample:hidden_group", content="predictions", calibrators=("none",))
    made = audited(evaluate(recipe, load(recipe)))
    (cause,) = made.causes
    worst = made.found.segments.iloc[cause.line]
    assert worst["segment"] == "age = 60 to 79 and employment = self-employed"
    assert (worst["rows"], round(worst["predicted"], 2), round(worst["observed"], 2)) == (476, 0.36, 0.52)
    assert made.conditions(cause.line) == ("age=60.0..", "employment=self-employed")


def test_predictions_that_are_wrong_on_average_are_called_so():
    y, p, table = planted(shift=0.0)
    assert not audited(check(y, p, features=table), resamples=19).off_on_average
    assert audited(check(y, p * 0.8, features=table), resamples=19).off_on_average


def estimated(seed, calibrating, group):
    """Test rows of Platt scaling fitted on few rows: a well-specified map, with or without a group that is off."""
    rng = np.random.default_rng(seed)
    n = 1500 + calibrating
    table = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.normal(size=n), "job": rng.choice(list("wxyz"), n)}
    )
    x = table["a"] + 0.7 * table["b"]
    off = np.where(table["job"] == "w", 1.0, -0.33) * group
    y, s = (rng.random(n) < expit(x - 0.3 + off)).astype(int), expit(1.5 * x).to_numpy()
    p = CALIBRATORS["platt"](on="log-odds").fit(s[:calibrating], y[:calibrating]).predict(s[calibrating:])
    return audit(y[calibrating:], p, table.iloc[calibrating:].reset_index(drop=True), resamples=99)


@pytest.mark.parametrize("group", [False, True])
def test_an_error_of_the_calibrators_fit_is_told_from_one_of_a_group(group):
    """Of 60 tables with 300 calibration rows 18 have an alarm, of which 16 are called so; with a group, none."""
    found = [estimated(seed, 300 if not group else 20_000, group) for seed in range(8 if group else 24)]
    alarms = [line_explains(each) for each in found if each.found]
    assert len(alarms) == 8 if group else len(alarms) >= 4
    assert not any(alarms) if group else np.mean(alarms) >= 0.7


def test_the_sentence_names_the_calibrator_and_its_rows_and_only_if_there_is_one():
    y, p, table = planted(shift=0.0)
    wrong = check(y, {"platt": p * 0.8, "none": p * 0.8}, features=table)
    assert audited(wrong, "none", resamples=19).fit_sentence == ""
    made = audited(wrong, "platt", resamples=19)
    assert_says(made.fit_sentence, "logistic recalibration of all rows", "fit of Platt scaling")
    group = audited(check(*[y, {"platt": p}], features=table), "platt", resamples=19)
    assert group.fit_sentence == ""


def test_predictions_as_they_are_are_audited_on_every_row():
    """The sample's hidden group is found whatever other calibrators hold rows out."""
    recipe = Recipe(data="sample:hidden_group", content="predictions", calibrators=("none", "platt"))
    made = audited(evaluate(recipe, load(recipe)), "none")
    assert made.evaluation.size_text == "10,000 rows"
    assert made.found.segments["p_value"].iloc[0] < 0.05
    assert "employment = self-employed" in made.found.segments["segment"].iloc[0]
