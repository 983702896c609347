"""The metric table: what it shows of a model that is right, and where its stars stand."""

import re

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.recommendation.advice import recommend
from calib.calibrators import name_of
from calib.figures import FIGURES, formatted_metrics, formatted_side_by_side
from calib.figures.compared import prepare
from calib.figures.metrics import starred
from calib.kernel.wording import brief, change
from calib.metrics import METRICS, metric_table
from calib.metrics.confidence_intervals import confidence_interval
from calib.metrics.paired_intervals import difference_interval
from tests.analysis.given import given_evaluation
from tests.evaluated import evaluated
from tests.saying import assert_says


@pytest.mark.parametrize("n", [93, 225, 540])
def test_what_a_perfect_model_seems_to_lose_is_said_to_be_chance(n):
    """Over many samples its miscalibration is, on average, the number that stands beside it."""
    shown = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = rng.random(n)
        evaluation = given_evaluation((rng.random(n) < p).astype(int), {"none": p}).metrics.loc["none"]
        shown.append((evaluation["miscalibration"], evaluation["miscalibration_chance"]))
    lost, chance = np.mean(shown, axis=0)
    assert lost == pytest.approx(chance, rel=0.1)
    assert lost < 0.6 * n ** (-2 / 3)


def test_a_model_that_is_wrong_loses_more_than_chance():
    rng = np.random.default_rng(0)
    p = rng.random(540)
    evaluation = given_evaluation((rng.random(540) < p).astype(int), {"none": p**3}).metrics.loc["none"]
    assert evaluation["miscalibration"] > 3 * evaluation["miscalibration_chance"]


def test_everyday_tables_have_no_murphy_terms_over_100_bins():
    everyday = {key for key, metric in METRICS.items() if metric.everyday}
    assert everyday.isdisjoint({"reliability", "resolution", "within"})
    assert {"miscalibration", "miscalibration_chance", "discrimination"} <= everyday


def stars(values, key="log_loss"):
    return METRICS[key].best(values).tolist()


def test_an_infinite_value_is_never_the_best():
    assert stars([np.inf, 0.5, 0.4]) == [False, False, True]
    assert stars([np.inf, np.inf]) == [False, False]
    assert stars([0.5, np.nan]) == [True, False]
    assert stars([np.inf, 0.9], "slope") == [False, True]


def test_exact_values_decide_and_are_written_so_that_no_other_reads_like_the_best():
    values = [0.12341, 0.12339, 0.2, 0.123390000000001]
    assert stars(values) == [False, True, False, True]
    assert starred(METRICS["brier"], values) == ["0.12341", "0.12339 ★", "0.20000", "0.12339 ★"]
    assert starred(METRICS["brier"], [0.3, 0.1 + 0.2]) == ["0.300", "0.300"]


def test_equal_values_share_the_star_and_where_all_are_there_is_none():
    y = np.array([0, 1, 1, 0])
    p, worse = np.array([0.0, 0.5, 1.0, 1.0]), np.array([0.5, 0.0, 1.0, 1.0])
    table = formatted_metrics(
        given_evaluation(y, {"none": p, "ppa": p, "platt": worse}), ["brier", "log_loss", "accuracy"]
    )
    assert list(table["Brier score"].str.contains("★")) == [True, True, False]
    assert all(text.startswith("∞ (clipped: ") for text in table["Log loss"])
    twins = {"A": given_evaluation(y, {"none": p}), "B": given_evaluation(y, {"none": p})}
    assert (
        not formatted_side_by_side(twins, ["brier", "log_loss"]).map(lambda text: "★" in text).any(axis=None)
    )


def test_side_by_side_an_infinite_log_loss_has_no_ring_and_no_praise():
    y, p = np.array([0, 1, 1, 0]), np.array([1.0, 0.5, 1.0, 0.2])
    record = prepare({"A": given_evaluation(y, {"none": p})}, metric="log_loss")
    assert not record.table["best"].any()
    assert "Best" not in record.title


def test_the_table_is_that_of_the_metrics():
    y, p = np.array([0, 1, 1, 0] * 10), np.linspace(0.1, 0.9, 40)
    evaluation = given_evaluation(y, {"none": p})
    pd.testing.assert_frame_equal(
        evaluation.metrics, metric_table(evaluation.predictions, bins=evaluation.recipe.bins)
    )


@pytest.mark.parametrize(
    ("positives", "said", "title"),
    [
        (
            1,
            {"none": 0.01, "platt": 0.02},
            "Lowest Brier score: 0.0017, the uncalibrated model; no other is clearly different",
        ),
        (
            300,
            {"none": 0.5, "platt": 0.5, "isotonic": 0.5},
            "Lowest Brier score: 0.25, the uncalibrated model, shared with 2 others",
        ),
        # 0.6 loses 0.16 or 0.36 for 0.25, 0.01 ± 0.008 more on average; 0.53 loses 0.0009 ± 0.0024 more
        (
            300,
            {"none": 0.5, "platt": 0.6, "isotonic": 0.53},
            "Lowest Brier score: 0.250, the uncalibrated model; 1 of 2 others is clearly different",
        ),
        (
            300,
            {"none": 0.5, "platt": 0.53},
            "Lowest Brier score: 0.250, the uncalibrated model; no other is clearly different",
        ),
    ],
)
def test_the_best_side_by_side_is_named_where_rows_can_tell_and_with_those_that_share_its_place(
    positives, said, title
):
    y = np.r_[np.ones(positives, int), np.zeros(600 - positives, int)]
    evaluation = given_evaluation(y, {key: np.full(600, p) for key, p in said.items()})
    assert prepare({"one": evaluation}, "brier").title == title


def test_compared_marks_have_their_intervals_on_an_axis_that_holds_them_and_no_more():
    y, rng = np.tile([0, 1], 300), np.random.default_rng(0)
    p = np.clip(0.5 + 0.3 * (y - 0.5) + rng.normal(scale=0.1, size=600), 0.01, 0.99)
    evaluation = given_evaluation(y, {"none": p, "platt": np.clip(p + 0.05, 0, 1)})
    record = prepare({"one": evaluation}, "brier")
    for line in record.table.itertuples():
        expected = confidence_interval("brier", y, evaluation.predictions[line.calibrator].p)
        assert (line.lower, line.upper) == pytest.approx(expected)
    figure = FIGURES["compared"].draw(record)
    low, high = figure.layout.xaxis.range
    ends = record.table[["lower", "upper"]].to_numpy()
    assert low < ends.min() < ends.max() < high
    assert low > 0.5 * ends.min()  # it does not begin at 0
    for trace, line in zip(figure.data, record.table.itertuples(), strict=False):
        assert trace.x[0] + trace.error_x.array[0] == pytest.approx(line.upper)


@pytest.mark.parametrize("data", ["rare_faults", "breast_cancer"])
def test_the_recommended_method_is_named_below_the_picture_if_another_one_has_the_best_value(data):
    evaluation = evaluated(Recipe(data=f"sample:{data}", model="naive_bayes"))
    record, choice = prepare({"one": evaluation}), recommend(evaluation).choice
    brier = evaluation.metrics["brier"]
    said = f"recommended calibrator is {name_of(choice)} ({brief(brier[choice])})"
    assert (said in record.recommended) == bool(record.recommended) == (brier.idxmin() != choice)
    assert name_of(brier.idxmin()) in record.title
    if record.recommended:
        ends = (
            evaluation.sample,
            *(evaluation.predictions[key].p for key in (brier.idxmin(), choice)),
        )
        gap, low, high = difference_interval("brier", *ends)
        assert low <= 0 <= high
        assert_says(
            record.recommended, "Brier score", "not clear", name_of(brier.idxmin()), change(gap, low, high)
        )
        other = prepare({"one": evaluation}, "ece").recommended
        assert "Brier score" in other or not other


def test_a_long_name_of_a_recipe_does_not_make_the_finding_longer_than_a_line():
    y = np.tile([0, 1], 300)
    evaluation = given_evaluation(y, {"none": np.full(600, 0.5), "platt": np.full(600, 0.6)})
    other = given_evaluation(y, {"none": np.full(600, 0.55), "platt": np.full(600, 0.6)})
    title = prepare({60 * "x": evaluation, "other": other}).title
    assert 60 * "x" not in title
    assert 12 * "x" + "…" in title
    assert len(title) < 119


def test_pages_speak_of_settings_and_rows_of_marks_not_of_recipes_and_lanes():
    y = np.tile([0, 1], 60)
    one = given_evaluation(y, {"none": np.linspace(0.1, 0.9, 120), "platt": np.linspace(0.2, 0.8, 120)})
    record = prepare({"one": one, "two": one})
    said = f"{record.title} {record.caption} {record.alt} {record.recommended}"
    said += " ".join(entry.label for entry in FIGURES.values())
    assert not re.search(r"\b(Recipes?|lanes?)\b", said)
