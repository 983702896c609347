"""The kernel test against its definition pair by pair, its level for calibrated models, and its power."""

import re
from pathlib import Path

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.metrics.calibration_test import kernel_test
from scripts import kernel_test_rates as script

GUIDE = (Path(__file__).parents[2] / "docs/measurements.md").read_text(encoding="utf-8")


def drawn(power, seed, n=80, k=4):
    """Labels drawn from probabilities, and the same probabilities to a power."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(k), n)
    y = np.array([rng.choice(k, p=row) for row in P])
    return y, P**power / (P**power).sum(axis=1, keepdims=True)


def test_the_error_is_the_mean_over_pairs_of_kernel_times_product_of_residuals():
    y, P = drawn(2.0, 0, n=25)
    apart = [[np.sqrt(((a - b) ** 2).sum()) for b in P] for a in P]
    pairs = [(i, j) for i in range(25) for j in range(i)]
    width = np.median([apart[i][j] for i, j in pairs])
    residual = np.eye(4)[y] - P
    terms = [np.exp(-apart[i][j] / width) * residual[i] @ residual[j] for i, j in pairs]
    assert kernel_test(y, P).error == pytest.approx(np.mean(terms), abs=1e-12)


def test_calibrated_models_are_rejected_as_often_as_the_level_says_and_overconfident_ones_more_often():
    right, sharp = (
        np.array([kernel_test(*drawn(power, seed), redraws=39).p_value for seed in range(150)])
        for power in (1.0, 4.0)
    )
    assert (right <= 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert (right <= 0.5).mean() == pytest.approx(0.5, abs=3 * np.sqrt(0.25 / 150))
    assert (sharp <= 0.05).mean() > 0.6


def test_the_measured_rates_are_those_of_a_test_of_5_percent():
    """Each of the twelve cases within four standard errors of a share of 1,000 sets, their mean within three."""
    rates = [
        float(rate) for rate in re.findall(r"^\| \d+ \| \w+ \| [\d,]+ \| ([\d.]+) % \|", GUIDE, re.MULTILINE)
    ]
    assert len(rates) == len(script.CLASSES) * len(script.SHAPES) * len(script.SIZES)
    error = 100 * np.sqrt(0.05 * 0.95 / 1000)
    assert max(abs(rate - 5) for rate in rates) < 4 * error
    assert abs(np.mean(rates) - 5) < 3 * error / np.sqrt(len(rates))


@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_the_script_draws_labels_with_their_probabilities(alpha):
    y, P = script.drawn(10, 20_000, alpha, 0)
    assert np.abs(np.bincount(y, minlength=10) - P.sum(axis=0)).max() < 4 * np.sqrt(20_000 * 0.1)
    right = y == P.argmax(axis=1)
    assert abs(right.mean() - P.max(axis=1).mean()) < 4 * 0.5 / np.sqrt(20_000)


def test_it_finds_what_no_class_and_no_confidence_shows():
    """Two kinds of rows: their errors cancel in each class and in the confidence, but not in the whole vector."""
    P = np.tile([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3]], (400, 1))
    rng = np.random.default_rng(0)
    y = np.array([rng.choice(3, p=row) for row in P[::-1]])  # each kind comes as the other one says
    assert kernel_test(y, P).p_value < 0.05
    even = np.array([rng.choice(3, p=row) for row in P])
    assert kernel_test(even, P).p_value > 0.05


def test_of_many_rows_some_are_drawn_and_one_row_has_no_pair():
    y, P = drawn(1.0, 2)
    assert kernel_test(y, P, most_rows=30).rows == 30
    assert kernel_test(y, P, most_rows=30) == kernel_test(y, P, most_rows=30)
    assert kernel_test(y, P, most_rows=80) == kernel_test(y, P, most_rows=81)  # all 80
    with pytest.raises(InputError, match="number of rows"):
        kernel_test([0], [[0.5, 0.5]])
