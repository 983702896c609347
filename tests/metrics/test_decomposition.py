import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from calib.kernel.binomial import null_draws
from calib.kernel.checks import InputError
from calib.metrics import (
    brier_score,
    chance_miscalibration,
    corp_decomposition,
    log_loss,
    loss_decomposition,
    murphy_decomposition,
)

from ..vectors import vector
from .cases import decimals, labelled, probabilities, random_case


@given(labelled(), st.sampled_from([1, 2, 10, 100]))
def test_murphy_terms_add_up_to_brier(case, bins):
    y, p = case
    m = murphy_decomposition(y, p, bins)
    assert m.reliability - m.resolution + m.uncertainty + m.within == pytest.approx(
        brier_score(y, p), abs=1e-12
    )


@given(labelled(decimals), st.sampled_from([3, 20, 100]))
def test_murphy_terms_equal_their_definition_in_exact_fractions(case, bins):
    y, p = case
    exact = [Fraction(round(v * 100), 100) for v in p]
    n, ones = len(y), sum(map(int, y))
    members = {}
    for i, v in enumerate(exact):
        members.setdefault(min(bins - 1, math.floor(v * bins)), []).append(i)
    reliability = resolution = Fraction(0)
    for inside in members.values():
        frequency = Fraction(sum(int(y[i]) for i in inside), len(inside))
        mean = sum(exact[i] for i in inside) / len(inside)
        reliability += len(inside) * (mean - frequency) ** 2 / n
        resolution += len(inside) * (frequency - Fraction(ones, n)) ** 2 / n
    m = murphy_decomposition(y, p, bins)
    assert m.reliability == pytest.approx(float(reliability), abs=1e-12)
    assert m.resolution == pytest.approx(float(resolution), abs=1e-12)
    assert m.uncertainty == pytest.approx(float(Fraction(ones, n) * (1 - Fraction(ones, n))), abs=1e-12)


@pytest.mark.parametrize("case", ["murphy100", "murphy100_shared_bins"])
def test_murphy_of_the_reference_vectors(case):
    given_ = vector(case)
    m = murphy_decomposition(given_["y"], given_["p"], bins=100)
    assert m.reliability == pytest.approx(given_["REL_float"], abs=1e-12)
    assert m.resolution == pytest.approx(given_["RES_float"], abs=1e-12)
    assert m.uncertainty == pytest.approx(given_["UNC_float"], abs=1e-12)
    assert m.within == pytest.approx(given_["residual_within_bin_float"], abs=1e-12)


@given(labelled())
def test_corp_terms_add_up_and_are_not_negative(case):
    y, p = case
    c = corp_decomposition(y, p)
    assert c.miscalibration - c.discrimination + c.uncertainty == pytest.approx(brier_score(y, p), abs=1e-12)
    assert min(c.miscalibration, c.discrimination, c.uncertainty) >= -1e-12


@given(labelled(st.integers(1, 99).map(lambda i: i / 100)))
def test_corp_of_the_log_loss_adds_up(case):
    y, p = case
    c = corp_decomposition(y, p, loss="log")
    assert c.miscalibration - c.discrimination + c.uncertainty == pytest.approx(log_loss(y, p), abs=1e-12)
    assert min(c.miscalibration, c.discrimination, c.uncertainty) >= -1e-12


@pytest.mark.parametrize(("loss", "key"), [("brier", "brier_float"), ("log", "log_loss")])
def test_corp_of_the_reference_vectors(loss, key):
    given_ = vector("corp")
    c = corp_decomposition(given_["y"], given_["p"], loss)
    assert c.miscalibration == pytest.approx(given_[key]["MCB"], abs=1e-12)
    assert c.discrimination == pytest.approx(given_[key]["DSC"], abs=1e-12)
    assert c.uncertainty == pytest.approx(given_[key]["UNC"], abs=1e-12)


def test_miscalibration_by_chance_is_the_mean_over_labels_resampled_from_the_predictions():
    p = np.sort(np.random.default_rng(1).random(300))
    drawn = null_draws(p, np.ones(300), 50, np.random.default_rng(0))
    expected = np.mean([corp_decomposition(labels, p).miscalibration for labels in drawn])
    assert chance_miscalibration(np.zeros(300), p) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("digits", [None, 2])
def test_corp_recalibrates_as_scikit_learns_isotonic_regression(digits):
    y, p = random_case(4, 700, digits)
    recalibrated = IsotonicRegression().fit(p, y).predict(p)
    c = corp_decomposition(y, p)
    assert c.miscalibration == pytest.approx(
        np.mean((p - y) ** 2) - np.mean((recalibrated - y) ** 2), abs=1e-12
    )


def test_what_is_right_up_to_rounding_is_perfectly_reliable():
    assert murphy_decomposition([1] + [0] * 9, [0.1] * 10).reliability == 0


@pytest.mark.parametrize("dust", [2.0**-52, -(2.0**-52)])
def test_what_is_right_up_to_rounding_has_no_miscalibration_and_none_by_chance(dust):
    y = np.repeat([0, 1, 0, 1, 1], [4, 4, 1, 1, 1])
    p = np.repeat([0.0, 1.0, 2 / 3], [4, 4, 3]) + dust
    p = np.clip(p, 0, 1)
    assert corp_decomposition(y, p).miscalibration == 0
    assert chance_miscalibration(np.zeros(12), np.full(12, 1 - 2.0**-52)) == 0


def test_corp_is_perfect_for_its_own_recalibration_and_infinite_for_a_certain_mistake():
    y, p = random_case(6, 300)
    order = np.argsort(p)
    fit = isotonic_regression(y[order].astype(float)).x
    assert corp_decomposition(y[order], fit).miscalibration == pytest.approx(0, abs=1e-12)
    assert corp_decomposition([1, 0], [0.0, 0.5], loss="log").miscalibration == math.inf


@st.composite
def with_posterior(draw, chances=probabilities):
    p = draw(st.lists(chances, min_size=1, max_size=30))
    posterior = draw(st.lists(probabilities, min_size=len(p), max_size=len(p)))
    return np.array(posterior), np.array(p)


def expected_brier(posterior, p):
    return np.mean(posterior * (1 - p) ** 2 + (1 - posterior) * p**2)


def expected_log(posterior, p):
    return -np.mean(
        [
            (a * math.log(b) if a else 0) + ((1 - a) * math.log1p(-b) if a < 1 else 0)
            for a, b in zip(posterior, p, strict=True)
        ]
    )


@given(with_posterior())
def test_exact_groups_add_up_to_the_expected_brier_score(case):
    d = loss_decomposition(*case)
    assert d.calibration + d.grouping + d.irreducible == pytest.approx(expected_brier(*case), abs=1e-12)
    assert d.groups == len(set(case[1]))
    assert d.remainder == 0
    assert not d.corrected


@given(with_posterior(st.integers(1, 99).map(lambda i: i / 100)))
def test_exact_groups_add_up_to_the_expected_log_loss(case):
    d = loss_decomposition(*case, loss="log")
    assert d.calibration + d.grouping + d.irreducible == pytest.approx(expected_log(*case), abs=1e-9)
    assert min(d.calibration, d.grouping, d.irreducible) >= -1e-12


@given(with_posterior(st.sampled_from([0.1, 0.3, 0.5, 0.9])))
def test_terms_equal_their_definition_group_by_group(case):
    posterior, p = case
    calibration = grouping = kl_calibration = kl_grouping = 0.0

    def kl(first, second):
        return sum(float(u * math.log(u / v)) for u, v in zip(first, second, strict=True) if u > 0)

    for value in set(p):
        inside = posterior[p == value]
        c, c0 = float(inside.mean()), float((1 - inside).mean())
        calibration += inside.size * (value - c) ** 2
        grouping += sum((c - inside) ** 2)
        kl_calibration += inside.size * kl((c, c0), (value, 1 - value))
        kl_grouping += sum(kl((a, 1 - a), (c, c0)) for a in inside.tolist())
    brier, log = loss_decomposition(posterior, p), loss_decomposition(posterior, p, loss="log")
    n = p.size
    assert [brier.calibration, brier.grouping] == pytest.approx([calibration / n, grouping / n], abs=1e-12)
    assert [log.calibration, log.grouping] == pytest.approx([kl_calibration / n, kl_grouping / n], abs=1e-9)
    assert brier.irreducible == pytest.approx(np.mean(posterior * (1 - posterior)), abs=1e-12)


def test_posteriors_next_to_one_have_a_finite_grouping_loss():
    posterior = np.array([1.0, 1.0, 1.0, 1 - 2**-53])  # their mean rounds to 1
    d = loss_decomposition(posterior, np.full(4, 0.75), loss="log")
    assert d.grouping == pytest.approx(0, abs=1e-12)
    assert d.calibration == pytest.approx(math.log(4 / 3))


@pytest.mark.parametrize("corrected", [False, True])
def test_binned_groups_equal_the_formulas_and_the_remainder_closes_the_sum(corrected):
    rng = np.random.default_rng(2)
    posterior = rng.random(999)
    p = np.clip(posterior + 0.1 * rng.normal(size=999), 0.01, 0.99)
    order = np.argsort(p)
    calibration = grouping = 0.0
    for inside in np.array_split(order, 9):
        c, s2, n = posterior[inside].mean(), posterior[inside].var(ddof=1), inside.size
        calibration += n / 999 * ((p[inside].mean() - c) ** 2 - (s2 / n if corrected else 0))
        grouping += n / 999 * (s2 if corrected else posterior[inside].var())
    d = loss_decomposition(posterior, p, groups=9, corrected=corrected)
    assert d.groups == 9
    assert d.calibration == pytest.approx(calibration, abs=1e-12)
    assert d.grouping == pytest.approx(grouping, abs=1e-12)
    total = d.calibration + d.grouping + d.irreducible + d.remainder
    assert total == pytest.approx(expected_brier(posterior, p), abs=1e-12)
    log = loss_decomposition(posterior, p, "log", groups=9)
    total = log.calibration + log.grouping + log.irreducible + log.remainder
    assert total == pytest.approx(expected_log(posterior, p), abs=1e-9)


def test_the_correction_is_the_default_for_binned_brier_only():
    posterior, p = np.array([0.2, 0.4, 0.6, 0.8]), np.array([0.1, 0.2, 0.7, 0.9])
    assert loss_decomposition(posterior, p, groups=2).corrected
    assert not loss_decomposition(posterior, p).corrected
    assert not loss_decomposition(posterior, p, loss="log", groups=2).corrected
    with pytest.raises(InputError, match="corrected"):
        loss_decomposition(posterior, p, loss="log", groups=2, corrected=True)


def test_the_correction_is_unbiased_and_the_plain_terms_are_not():
    """Two leaves that predict 0.3 and 0.6; posteriors uniform around 0.4 and 0.6, five rows per leaf."""
    rng = np.random.default_rng(3)
    leaf = np.repeat([0, 1], 5)
    p, middle = np.array([0.3, 0.6])[leaf], np.array([0.4, 0.6])[leaf]
    variance = 0.4**2 / 12
    runs = [middle + 0.4 * (rng.random(10) - 0.5) for _ in range(4000)]
    corrected = [loss_decomposition(run, p, corrected=True) for run in runs]
    plain = [loss_decomposition(run, p) for run in runs]
    assert np.mean([d.calibration for d in corrected]) == pytest.approx(0.005, abs=3e-4)
    assert np.mean([d.grouping for d in corrected]) == pytest.approx(variance, abs=3e-4)
    assert np.mean([d.calibration for d in plain]) == pytest.approx(0.005 + variance / 5, abs=3e-4)


def test_with_singletons_calibration_swallows_everything():
    posterior, p = np.array([0.2, 0.5, 0.9]), np.array([0.1, 0.6, 0.7])
    d = loss_decomposition(posterior, p)
    assert d.grouping == 0
    assert d.calibration == pytest.approx(np.mean((p - posterior) ** 2), abs=1e-15)
    assert loss_decomposition(posterior, p, corrected=True).calibration == d.calibration


def test_a_certain_prediction_against_an_uncertain_truth_has_infinite_log_calibration():
    d = loss_decomposition([0.5, 1.0], [0.0, 1.0], loss="log")
    assert d.calibration == math.inf
    assert d.grouping == 0
    binned = loss_decomposition([0.5, 0.5, 1.0, 1.0], [0.0, 0.25, 0.5, 1.0], loss="log", groups=2)
    assert math.isfinite(binned.calibration)
    assert binned.remainder == math.inf


@given(with_posterior(), st.integers(1, 12), st.sampled_from(["brier", "log"]))
def test_binned_groups_never_fail(case, groups, loss):
    d = loss_decomposition(*case, loss=loss, groups=groups)
    assert 1 <= d.groups <= groups


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"loss": "square"}, "loss"),
        ({"groups": 0}, "groups"),
        ({"groups": 2.0}, "groups"),
    ],
)
def test_bad_options_are_refused_by_name(arguments, says):
    with pytest.raises(InputError, match=says):
        loss_decomposition([0.5, 0.5], [0.5, 0.5], **arguments)


def test_bad_posteriors_and_losses_are_refused():
    with pytest.raises(InputError, match="posterior"):
        loss_decomposition([0.5, 1.5], [0.5, 0.5])
    with pytest.raises(InputError, match="Lengths differ"):
        loss_decomposition([0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="loss"):
        corp_decomposition([0, 1], [0.5, 0.5], loss="square")
    with pytest.raises(InputError, match="bins"):
        murphy_decomposition([0, 1], [0.5, 0.5], bins=0)
