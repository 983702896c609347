"""The rows that a validation needs: the authors' equations another way, and simulations of what they promise."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import beta, kurtosis, norm, skew

from calib.analysis.decision import net_benefit
from calib.analysis.sample_size import (
    TARGET_WIDTHS,
    auc_width,
    fewest_rows,
    net_benefit_width,
    observed_expected_width,
    sample_size,
    slope_width,
)
from calib.kernel.checks import InputError
from calib.metrics import auc, calibration_line, observed_expected
from tests.saying import assert_says


@pytest.mark.parametrize("share", [0.018, 0.1, 0.5])
@pytest.mark.parametrize("area", [0.7, 0.8])
def test_the_rows_are_those_of_the_authors_equations(share, area):
    """Riley et al. 2021, as in their program: (1 − φ)/(φ SE²) for ln O/E, and for C the n at which Newcombe's
    standard error is SE, here as the root of a quadratic."""
    half = math.asinh(0.2 / 2) / 1.96  # of an interval that is 0.2 wide about 1
    assert fewest_rows(lambda n: observed_expected_width(n, share), 0.2) == math.ceil(
        (1 - share) / (share * half**2)
    )
    lower, upper = (1 - area) / (2 - area), area / (1 + area)
    spread, target = area * (1 - area) / (share * (1 - share)), (0.1 / (2 * 1.96)) ** 2
    linear, rest = spread * (lower + upper) / 2, spread * (1 - lower - upper)
    rows = (linear + math.sqrt(linear**2 + 4 * target * rest)) / (2 * target)
    assert fewest_rows(lambda n: auc_width(n, share, area), 0.1) == math.ceil(rows)


def test_the_slope_is_that_of_the_information_integral():
    """Log-odds ~ N(−5, 2.5²): the integral, where the paper's own program draws a million."""
    moments = [
        quad(
            lambda z, k=k: norm.pdf(z) * (2.5 * z - 5) ** k * expit(2.5 * z - 5) * expit(5 - 2.5 * z), -12, 12
        )[0]
        for k in range(3)
    ]
    rows = moments[0] / ((0.2 / 3.92) ** 2 * (moments[0] * moments[2] - moments[1] ** 2))
    p = expit(-5 + 2.5 * norm.ppf((np.arange(200_000) + 0.5) / 200_000))
    assert fewest_rows(lambda n: slope_width(n, p), 0.2) == pytest.approx(rows, rel=2e-3)


def test_the_rows_are_those_that_the_authors_printed():
    """Riley et al. 2021, heart valves, of which 1.8% fail: 9835 rows for the slope, 6443 for net benefit at 0.08.

    Log-odds of mean −5.8, variance 5, skewness −0.5 and kurtosis 4, as the examples of their program have them, in the
    distribution that it draws a million from: Ramberg et al. 1979, u^a − (1 − u)^b, here by its quantiles.
    """
    u = (np.arange(200_000) + 0.5) / 200_000
    shape = (1 - u) ** 0.04462388 - u**0.025827
    log_odds = -5.8 + math.sqrt(5) * (shape - shape.mean()) / shape.std()
    assert (skew(log_odds), kurtosis(log_odds, fisher=False)) == pytest.approx((-0.5, 4), abs=1e-3)
    p = expit(log_odds)
    assert p.mean() == pytest.approx(0.018, abs=6e-4)
    rows = fewest_rows(lambda n: slope_width(n, p), 0.2)
    assert rows == 9844  # 36 is how far the answers for draws of a million are apart
    assert abs(rows - 9835) < 36
    act = p > 0.08
    right = p[act].sum() / p.sum(), (1 - p)[~act].sum() / (1 - p).sum()
    # The program rounds the standard error to three decimals, sensitivity and specificity to two
    asked = 2 * 1.96 * 0.051
    exact, rounded = (
        fewest_rows(lambda n, given=given: net_benefit_width(n, 0.018, *given, 0.08), asked)
        for given in (right, np.round(right, 2))
    )
    assert (exact, rounded) == (6413, 6443)
    assert fewest_rows(lambda n: auc_width(n, 0.018, 0.8), 0.1) == 4252
    told = (Path(__file__).parents[2] / "docs" / "validation_report.md").read_text()
    assert "| 9,835 | 9,844 |" in told
    assert "| 6,443 | 6,443 |" in told


def test_the_rows_are_those_that_the_tests_of_the_authors_program_hold():
    """pmvalsampsize 0.1.0, for 1.8% of class 1: log-odds by their mean and spread, by a beta law of p, by C alone."""
    u = (np.arange(100_000) + 0.5) / 100_000
    z, spread = norm.ppf(u), math.sqrt(2) * norm.ppf(0.8)
    class_0 = -4.7 + spread * z
    laws = (
        (4501, 350, expit(-5 + 2.5 * z), None),  # 1000 draws, which differ by 350 (standard deviation)
        (1641, 35, beta.ppf(u, 0.5, 0.5).clip(1e-12, 1 - 1e-12), None),  # 1000 draws
        # 10 000 draws
        (16175, 650, expit(np.r_[class_0, class_0 + spread**2]), np.repeat([0.982, 0.018], len(u))),
    )
    for printed, noise, p, weights in laws:
        assert abs(fewest_rows(lambda n, p=p, w=weights: slope_width(n, p, w), 0.2) - printed) < 2 * noise
    # It steps up to the standard error of a width of 1 by 0.0001, and passes it
    assert fewest_rows(lambda n: observed_expected_width(n, 0.018), 1) == 905 + 1


@pytest.fixture(scope="module")
def estimates():
    """Every measure on 600 samples of 1000 rows from one world, and that world."""
    rng = np.random.default_rng(0)
    x = rng.normal(-1, 1.2, 400_000)
    world_p = expit(x)
    world_y = (rng.random(len(x)) < world_p).astype(int)
    found = []
    for _ in range(600):
        rows = rng.integers(0, len(x), 1000)
        y, p = world_y[rows], world_p[rows]
        benefit = float(net_benefit(y, p, np.array([0.3]))[0]) / y.mean()
        found.append([math.log(observed_expected(y, p)), calibration_line(y, p).slope, auc(y, p), benefit])
    return np.array(found), world_y, world_p


def test_the_widths_are_those_of_estimates_over_many_samples(estimates):
    found, y, p = estimates
    spread = dict(zip(TARGET_WIDTHS, 2 * 1.96 * found.std(axis=0), strict=True))
    share, act = y.mean(), p > 0.3
    predicted = slope_width(1000, p), auc_width(1000, share, auc(y, p))
    assert predicted[0] == pytest.approx(spread["slope"], rel=0.12)
    assert predicted[1] == pytest.approx(spread["auc"], rel=0.12)
    benefit = net_benefit_width(1000, share, act[y == 1].mean(), (~act)[y == 0].mean(), 0.3)
    assert benefit == pytest.approx(spread["net_benefit"], rel=0.12)
    # Riley's spread of O/E takes the labels for one frequency; the model's own spread makes it an upper
    # bound.
    assert spread["observed_expected"] < observed_expected_width(1000, share)
    constant = np.random.default_rng(1).binomial(1000, 0.25, 4000) / 250
    assert observed_expected_width(1000, 0.25) == pytest.approx(2 * 1.96 * np.log(constant).std(), rel=0.05)


def test_the_rows_needed_are_the_fewest_that_give_the_width(estimates):
    _, y, p = estimates
    found = sample_size(y[:5000], p[:5000], threshold=0.3)
    share = y[:5000].mean()
    rows = {one.measure: one.rows for one in found.needed}
    assert observed_expected_width(rows["observed_expected"], share) <= 0.2
    assert observed_expected_width(rows["observed_expected"] - 1, share) > 0.2
    for one in found.needed:
        assert (one.here <= one.asked) == (one.rows <= 5000)
    assert found.most == max(rows.values())
    assert list(found.to_frame()["measure"]) == list(TARGET_WIDTHS)


def test_what_tells_nothing_needs_rows_without_end():
    y = np.tile([0, 1], 20)
    assert math.isinf(sample_size(y, np.full(40, 0.5)).needed[1].rows)
    assert observed_expected_width(10, 1e-9) == math.inf


@pytest.mark.parametrize(
    ("y", "p", "more", "words"),
    [
        ([0, 0], [0.1, 0.2], {}, "both classes"),
        ([0, 1], [0.0, 1.0], {}, "exactly 0 or 1"),
        ([0, 1], [0.2, 0.7], {"threshold": 1.0}, "threshold"),
        ([0, 1], [0.2, 0.7], {"widths": {"slope": 0}}, "widths: slope"),
        ([0, 1], [0.2, 0.7], {"widths": {"charm": 0.1}}, "widths must be one of"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(y, p, more, words):
    with pytest.raises(InputError, match=words):
        sample_size(y, p, **more)


def test_a_net_benefit_of_nobody_acted_on_asks_for_no_rows():
    """It is 0 whatever the rows: a number of rows that are enough would be no answer."""
    y, p = np.tile([0, 1], 20), np.tile([0.1, 0.2], 20)
    found = sample_size(y, p, 0.5)
    assert "net_benefit" not in [one.measure for one in found.needed]
    assert_says(found.basis("Platt", "yes"), "No prediction", "above", "threshold 0.500")
    assert "net_benefit" in [one.measure for one in sample_size(y, p, 0.15).needed]


def test_counts_need_what_their_rows_need():
    y, p = np.array([0, 0, 1, 1]), np.array([0.2, 0.4, 0.6, 0.8])
    counts = np.array([30, 10, 5, 40])
    said = sample_size(y, p, 0.3, sample_weight=counts)
    spelt = sample_size(np.repeat(y, counts), np.repeat(p, counts), 0.3)
    assert said.rows == 85
    assert [(one.measure, one.rows) for one in said.needed] == [
        (one.measure, one.rows) for one in spelt.needed
    ]
    assert [one.here for one in said.needed] == pytest.approx([one.here for one in spelt.needed], rel=1e-12)
