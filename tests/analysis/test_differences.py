"""Differences from the uncalibrated model: each the one it says it is, and intervals that hold what they promise."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from calib import Recipe, evaluate
from calib.analysis.differences import (
    DIFFERENCE_METRICS,
    OtherSplits,
    differences,
    reference_of,
    repeat_splits,
    resampled_t,
)
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.records import Dataset
from tests.analysis.given import given_evaluation, jitter, known_truth
from tests.figures.evaluations import dataset, evaluation
from tests.intervals import joined


@pytest.mark.parametrize("binning", ["uniform", "quantile"])
def test_differences_of_ece_and_auc_are_those_of_the_metrics_and_their_intervals_include_them(binning):
    e = evaluation(calibrators=("none", "platt", "venn_abers"), binning=binning)
    found = differences(e, ("ece", "auc"))
    assert list(found.table["metric"].unique()) == ["ece", "auc"]
    for row in found.table.itertuples():
        values = e.metrics[row.metric]
        assert row.value == pytest.approx(values[row.calibrator] - values["none"], abs=1e-12)
        assert row.lower <= row.value <= row.upper
    assert found.basis == "90 test rows"


def test_the_difference_of_two_aucs_has_delongs_variance():
    """Pair by pair: the variance of the differences of the placements of either class, each over its rows."""
    y, truth, _, rng = known_truth(3, 300)
    p, other = truth, jitter(truth, rng, 0.8)
    win = [
        (each[y == 1][:, None] > each[y == 0]) + 0.5 * (each[y == 1][:, None] == each[y == 0])
        for each in (p, other)
    ]
    gap, m = win[0] - win[1], int(min(y.sum(), (1 - y).sum()))
    error = np.sqrt(gap.mean(axis=1).var(ddof=1) / gap.shape[0] + gap.mean(axis=0).var(ddof=1) / gap.shape[1])
    half = student.ppf(0.975, m - 1) * error
    line = differences(given_evaluation(y, {"none": other, "platt": p}), ("auc",)).line("auc", "platt")
    assert (line.low, line.high) == pytest.approx((gap.mean() - half, gap.mean() + half))


def test_every_difference_of_losses_is_joined_from_the_classes():
    e = evaluation(calibrators=("none", "platt", "venn_abers"))
    by_hand = {
        "brier": lambda p: (p - e.y) ** 2,
        "log_loss": lambda p: -np.log(np.where(e.y == 1, p, 1 - p)),
    }
    found = differences(e, by_hand).table
    assert len(found) == 4
    for row in found.itertuples():
        one, other = (by_hand[row.metric](e.predictions[key].p) for key in (row.calibrator, "none"))
        assert (row.lower, row.upper) == pytest.approx(joined(e.y, one - other), abs=1e-12)
        metrics = e.metrics[row.metric]
        assert row.value == pytest.approx(metrics[row.calibrator] - metrics["none"], abs=1e-12)


def test_equal_predictions_differ_by_nothing_and_nothing_is_sure_of_a_single_row():
    y, p = np.array([0, 1, 1]), np.array([0.1, 0.2, 0.7])
    assert (
        differences(given_evaluation(y, {"none": p, "ppa": p + 1e-17}))
        .table[["value", "lower", "upper"]]
        .eq(0)
        .all(axis=None)
    )
    one = differences(given_evaluation(y[:1], {"none": p[:1], "platt": p[:1] / 2}), ("brier",)).table
    assert one[["lower", "upper"]].isna().all(axis=None)


@pytest.mark.parametrize(("ones", "known"), [(1, False), (2, True)])
def test_of_a_class_with_a_single_row_nothing_tells_how_the_auc_varies(ones, known):
    y, p = np.r_[np.ones(ones, int), np.zeros(60, int)], np.r_[np.full(ones, 0.5), np.linspace(0.1, 0.9, 60)]
    other = np.r_[np.full(ones, 0.9), p[ones:]]
    line = differences(given_evaluation(y, {"none": p, "platt": other}), ("auc",)).line("auc", "platt")
    assert line.value > 0.2
    assert np.isfinite([line.low, line.high]).all() == known


@pytest.mark.parametrize(("other", "known"), [("squared", True), ("tied", False)])
def test_equal_aucs_of_a_single_positive_are_certain_only_where_all_rows_are_ordered_alike(other, known):
    y, p = np.r_[1, np.zeros(17, int)], np.r_[0.9, np.linspace(0.1, 0.5, 17)]
    p_other = {"squared": p**2, "tied": np.where(p > 0.6, 0.8, 0.2)}[other]  # the one is on top either way
    line = differences(given_evaluation(y, {"none": p, "platt": p_other}), ("auc",)).line("auc", "platt")
    assert line.value == 0
    assert np.isfinite([line.low, line.high]).all() == known


def test_without_the_uncalibrated_model_the_first_calibrator_is_the_reference():
    found = differences(evaluation(calibrators=("platt", "beta")), ("brier",))
    assert found.reference == "platt"
    assert list(found.table["calibrator"]) == ["beta"]
    assert reference_of(["venn", "none"]) == "none"


def test_if_every_calibrator_is_refused_there_is_nothing_to_compare():
    with pytest.raises(InputError, match="nothing to compare"):
        reference_of([])


def test_a_single_calibrator_differs_from_nothing():
    assert differences(evaluation(calibrators=("none",))).table.empty


def test_differences_asked_for_apart_are_those_asked_for_together():
    e = evaluation(calibrators=("none", "platt"))
    together = differences(e)
    apart = differences(e, ("accuracy", "brier", "auc", "log_loss")).joined(differences(e, ("ece",)))
    pd.testing.assert_frame_equal(apart.table, together.table)
    assert list(together.table["metric"]) == list(DIFFERENCE_METRICS)


def test_an_infinite_log_loss_makes_the_difference_infinite():
    y = np.r_[np.zeros(40, int), np.ones(40, int)]
    X = pd.DataFrame({"theirs": np.r_[np.linspace(0, 0.6, 40), np.linspace(0, 1, 40)]})
    recipe = Recipe(content="predictions", calibrators=("none", "platt"), test_size=0.5)
    found = differences(evaluate(recipe, Dataset("zeros", X, y, predictions=True)), ("log_loss",))
    assert found.table["value"][0] == -np.inf


def test_a_cancel_is_heard():
    watch = Watch()
    watch.cancel.set()
    with pytest.raises(Cancelled):
        differences(evaluation(), watch=watch)
    with pytest.raises(Cancelled):
        repeat_splits(Recipe(model="naive_bayes"), dataset(), watch=watch)


# --- repeated splits
# ------------------------------------------------------------------------------------------------

REPEATED = Recipe(model="logistic_regression", calibrators=("none", "platt", "venn_abers"), seed=5, bins=8)


@pytest.fixture(scope="module")
def repeats():
    return repeat_splits(REPEATED, dataset(), repeats=4)


def test_repeats_are_the_recipe_with_the_seeds_that_follow(repeats):
    for seed in (5, 6, 7, 8):
        alone = evaluate(REPEATED.replace(seed=seed), dataset()).metrics
        own = repeats.values[repeats.values["seed"] == seed].set_index("calibrator")
        np.testing.assert_allclose(
            own[list(DIFFERENCE_METRICS)], alone.loc[own.index, list(DIFFERENCE_METRICS)]
        )
    assert repeats.splits == 4
    assert repeats.test_to_training == pytest.approx(3 / 7)


def test_folds_are_repeated_as_holdouts():
    table = repeat_splits(REPEATED.replace(evaluation="folds"), dataset(), ("brier",), repeats=3).values
    same = repeat_splits(REPEATED, dataset(), ("brier",), repeats=3).values
    pd.testing.assert_frame_equal(table, same)


def test_differences_of_splits_are_means_of_pairs_with_the_corrected_interval(repeats):
    found = repeats.differences()
    wide = repeats.values.pivot_table(index="seed", columns="calibrator", values="brier")
    each = (wide["platt"] - wide["none"]).to_numpy()
    row = found.table.query("metric == 'brier' and calibrator == 'platt'").iloc[0]
    assert row["value"] == pytest.approx(each.mean())
    half = student.ppf(0.975, 3) * np.sqrt((1 / 4 + 0.3 / 0.7) * each.var(ddof=1))
    assert [row["lower"], row["upper"]] == pytest.approx([each.mean() - half, each.mean() + half])
    shown = found.runs.query("metric == 'brier' and calibrator == 'platt'")
    np.testing.assert_allclose(shown["value"], each, atol=1e-11)


def test_without_shared_rows_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=12)
    mean, half = resampled_t(values, 0.0)
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert [mean - half, mean + half] == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize(("values", "mean"), [([2.0], 2.0), ([1.0, np.inf], np.inf)])
def test_one_value_or_an_infinite_one_has_no_interval(values, mean):
    found, half = resampled_t(np.array(values), 0.5)
    assert found == mean
    assert np.isnan(half)


def test_a_calibrator_that_fails_on_some_split_is_left_out_and_infinite_splits_are_counted():
    values = pd.DataFrame(
        {
            "seed": [0, 0, 0, 1, 1],
            "calibrator": ["none", "isotonic", "beta", "none", "isotonic"],
            "log_loss": [0.5, np.inf, 0.4, 0.5, 0.4],
        }
    )
    found = OtherSplits(values, 0.5).differences()
    assert list(found.table["calibrator"]) == ["isotonic"]
    assert found.table["unknown"][0] == 1
    assert found.table["value"][0] == np.inf


def test_too_few_rows_are_refused():
    few = Dataset("few", pd.DataFrame({"x": np.arange(30.0)}), np.array([1] + [0] * 29))
    with pytest.raises(InputError, match="minority class has 1 row"):
        repeat_splits(REPEATED, few)


def test_the_corrected_interval_holds_the_truth_where_the_plain_one_does_not():
    """Means over overlapping test parts of one sample, nothing fitted."""
    rng = np.random.default_rng(1)
    n, splits, runs = 60, 15, 400
    plain = corrected = 0
    for _ in range(runs):
        values = rng.normal(size=n)
        tests = np.argsort(rng.random((splits, n)), axis=1)[:, :18]
        means = values[tests].mean(axis=1)
        for ratio in (0.0, 18 / 42):
            mean, half = resampled_t(means, ratio)
            plain, corrected = (
                plain + (ratio == 0 and abs(mean) <= half),
                corrected + (ratio > 0 and abs(mean) <= half),
            )
    assert plain / runs < 0.85
    assert corrected / runs > 0.9
