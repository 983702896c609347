"""Too few rows are said to be too few, and the limits have their reason."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from calib.analysis.recommendation.advice import recommend
from calib.analysis.sample_size import FEWEST_TO_COMPARE, FEWEST_TO_FIT, FEWEST_TO_JUDGE, too_few
from tests.analysis.given import given_evaluation
from tests.saying import assert_says, says


@pytest.mark.parametrize(("rare", "warned"), [(FEWEST_TO_FIT - 1, True), (FEWEST_TO_FIT, False)])
@pytest.mark.parametrize("rare_class", [0, 1])
def test_a_calibration_set_with_few_rows_of_a_class_is_warned_of(rare, warned, rare_class):
    calibration_y = np.r_[np.full(200, 1 - rare_class), np.full(rare, rare_class)]
    y = np.tile([0, 1], 300)
    found = too_few(
        given_evaluation(y, {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}, calibration_y)
    )
    assert [problem.severity for problem in found] == ["warning"] * warned
    if warned:
        assert str(rare) in found[0].message
        assert found[0].remedy


def test_folds_are_counted_one_by_one():
    said = {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}
    y, calibration_y = np.tile([0, 1], 300), np.r_[np.zeros(2000, int), np.ones(100, int)]
    assert too_few(given_evaluation(y, said, calibration_y)) == ()
    (found,) = too_few(given_evaluation(y, said, calibration_y, evaluation="folds", folds=10))
    assert_says(found.message, "210 rows", "only 10", "minority class")


def test_a_very_small_share_is_known_between_two_numbers_that_differ():
    said = {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}
    (found,) = too_few(given_evaluation(np.tile([0, 1], 300), said, np.r_[np.zeros(1166, int), 1]))
    low, high = re.search(r"is between ([\d.]+) % and ([\d.]+) %", found.message).groups()
    assert 100 * beta(1, 1167).ppf(0.025) <= float(low) <= 100 / 1167 <= float(high)
    assert float(high) == pytest.approx(100 * beta(2, 1166).ppf(0.975), rel=0.2)


def test_without_a_calibrator_or_a_calibration_set_there_is_nothing_to_warn_of():
    y = np.tile([0, 1], 300)
    assert too_few(given_evaluation(y, {"none": np.full(600, 0.5)}, [0, 1])) == ()
    assert too_few(given_evaluation(y, {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}, [])) == ()


@pytest.mark.parametrize(
    ("rare", "severity"),
    [
        (FEWEST_TO_COMPARE - 1, "warning"),
        (FEWEST_TO_COMPARE, "info"),
        (FEWEST_TO_JUDGE - 1, "info"),
        (FEWEST_TO_JUDGE, None),
    ],
)
def test_few_test_rows_are_remarked_on_and_very_few_warned_of(rare, severity):
    y = np.r_[np.zeros(500, int), np.ones(rare, int)]
    found = too_few(given_evaluation(y, {"none": np.full(len(y), 0.2)}))
    assert [problem.severity for problem in found] == ([severity] if severity else [])
    assert all(says(problem.message, rare, "test rows", "minority class") for problem in found)


def test_the_reason_for_the_limit_holds():
    """On a calibrated score, Platt's line misses by more than 10 points below the limit, by less than 5 far above."""
    from calib.calibrators import CALIBRATORS
    from calib.metrics import true_calibration_error

    rng = np.random.default_rng(12)
    grid = np.linspace(0.01, 0.6, 200)

    def cost(rare):
        n = round(rare / 0.2)
        costs = []
        for _ in range(60):
            s = rng.beta(1, 4, n)
            y = (rng.random(n) < s).astype(int)
            if 0 < y.sum() < n:
                costs.append(true_calibration_error(grid, CALIBRATORS["platt"]().fit(s, y).predict(grid)))
        return np.sqrt(np.mean(costs))

    assert cost(FEWEST_TO_FIT // 2) > 0.1
    assert cost(10 * FEWEST_TO_FIT) < 0.05


def test_rows_of_a_single_cluster_are_too_few_to_tell_anything():
    """ "Leave the probabilities as they are" was said of an overconfident forecast that no interval judged."""
    y = np.tile([0, 1], 300)
    given = given_evaluation(y, {"none": np.full(600, 0.9), "platt": np.full(600, 0.5)})
    one = replace(given, dataset=replace(given.dataset, cluster=np.zeros(600, dtype=int)))
    assert [problem.severity for problem in too_few(one)] == ["warning"]
    assert recommend(one).choice is None
    assert recommend(given).choice is not None
