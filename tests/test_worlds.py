"""The worlds of scripts/coverage.py: their values are those of closed forms and of very many rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from scripts import coverage, intervals
from scripts.worlds import CALIBRATED, OVERCONFIDENT, draw, world

MODELS = {"calibrated": CALIBRATED, "overconfident": OVERCONFIDENT}


def over_normal(function, shift):
    """The expectation of a function of a true probability whose log-odds are normal about ``shift``."""
    return quad(lambda z: function(expit(1.5 * z + shift)) * norm.pdf(z), -9, 9, limit=500)[0]


@pytest.mark.parametrize("prevalence", [0.5, 0.1, 0.02])
def test_the_truth_has_normal_log_odds_and_the_prevalence_as_its_mean(prevalence):
    made = world(prevalence, CALIBRATED)
    shift = float(np.median(logit(made.truth)))
    assert over_normal(lambda q: q, shift) == pytest.approx(prevalence, rel=1e-4)
    assert made.value("brier") == pytest.approx(over_normal(lambda q: q * (1 - q), shift), rel=1e-4)
    entropy = over_normal(lambda q: -q * np.log(q) - (1 - q) * np.log(1 - q), shift)
    assert made.value("log_loss") == pytest.approx(entropy, rel=1e-4)
    assert made.value("accuracy") == pytest.approx(over_normal(lambda q: max(q, 1 - q), shift), rel=1e-4)


@pytest.mark.parametrize(("model", "slope"), [("calibrated", 1.0), ("overconfident", 0.5)])
@pytest.mark.parametrize("prevalence", [0.5, 0.02])
def test_the_line_is_the_one_that_log_odds_were_multiplied_by(model, slope, prevalence):
    made = world(prevalence, MODELS[model])
    assert made.value("slope") == pytest.approx(slope, abs=1e-6)
    assert made.value("observed_expected") == pytest.approx(1, abs=1e-6)
    constant = logit(made.truth) - slope * logit(made.forecasts["none"])
    assert made.value("intercept") == pytest.approx(float(constant.mean()), abs=1e-6)
    level = made.value("in_the_large")
    assert made.mass @ expit(logit(made.forecasts["none"]) + level) == pytest.approx(prevalence, abs=1e-9)


@pytest.mark.parametrize("forecast", ["none", "platt", "isotonic"])
def test_values_are_those_of_a_million_rows(forecast):
    made = world(0.1, OVERCONFIDENT)
    rows = draw(made, 1_000_000, np.random.default_rng(3))
    p, error = rows.forecasts[forecast], 0.002
    assert made.value("brier", forecast) == pytest.approx(np.mean((p - rows.y) ** 2), abs=error)
    assert made.value("auc", forecast) == pytest.approx(roc_auc_score(rows.y, p), abs=error)
    place = np.minimum((20 * p).astype(int), 19)
    gaps = [abs(np.sum((rows.y - p)[place == at])) for at in range(20)]
    assert made.value("ece", forecast) == pytest.approx(np.sum(gaps) / len(p), abs=error)
    squares = [np.sum((rows.y - p)[place == at]) ** 2 / max(np.sum(place == at), 1) for at in range(20)]
    assert made.value("debiased_ce", forecast) ** 2 == pytest.approx(np.sum(squares) / len(p), abs=2e-4)


def test_a_calibrated_forecast_has_no_error_be_it_fine_or_of_three_values():
    for prevalence in (0.5, 0.1, 0.02):
        made = world(prevalence, CALIBRATED)
        for key in ("none", "isotonic"):
            assert made.value("ece", key) == pytest.approx(0, abs=1e-12)
        assert made.value("ici") == pytest.approx(0, abs=1e-6)
        assert len(np.unique(made.forecasts["isotonic"])) == 3


def test_where_the_model_says_p_class_1_comes_as_often_as_the_world_says():
    made = world(0.1, OVERCONFIDENT)
    rows = draw(made, 1_000_000, np.random.default_rng(5))
    edges = np.linspace(0, 1, 11)
    place = np.minimum((10 * rows.p).astype(int), 9)
    seen = np.bincount(place, rows.y) / np.bincount(place)
    assert made.frequency(edges) == pytest.approx(seen, abs=0.01)
    some = slice(None, None, 1000)
    assert made.truth_at(made.forecasts["none"][some]) == pytest.approx(made.truth[some], abs=1e-9)


def test_at_a_stated_base_rate_the_weighted_rows_are_those_of_the_world_moved_to_it():
    rows = draw(world(0.5, OVERCONFIDENT), 1_000_000, np.random.default_rng(7), stated=0.1)
    assert rows.world.share == pytest.approx(0.1)
    assert np.average(rows.y, weights=rows.weight) == pytest.approx(0.1)
    brier = np.average((rows.p - rows.y) ** 2, weights=rows.weight)
    assert rows.world.value("brier") == pytest.approx(brier, abs=0.002)


def test_rows_in_clusters_are_those_of_the_world_and_resemble_each_other():
    made = world(0.5, CALIBRATED)
    sums = []
    for seed in range(400):
        rows = draw(made, 100, np.random.default_rng(seed), clusters=10)
        assert len(np.unique(rows.cluster)) == 10
        sums.append(np.bincount(rows.cluster, rows.y - rows.p))
    assert np.mean(sums) == pytest.approx(0, abs=0.15)
    # ten independent rows would have ten times E[q(1 − q)]
    assert np.var(sums) > 1.5 * 10 * made.value("brier")


def test_what_one_draw_gives_is_counted_point_by_point():
    missing = np.nan
    found = (
        np.array([0.1, 0.2, missing, 0.4]),
        np.array([0, 0.3, 0, missing]),
        np.array([0.2, 0.4, 1, missing]),
    )
    assert coverage.summarised(found) == (0.5, pytest.approx(2 / 3), pytest.approx(0.15))
    assert coverage.summarised((0.5, 0.5, 0.5))[:2] == (1.0, 1.0)
    assert coverage.summarised((0.5, missing, missing))[1] == 0.0
    assert coverage.summarised(True)[:2] == (1.0, 1.0)


@pytest.mark.parametrize(("covering", "bold"), [(80, True), (89, False), (96, False)])
def test_a_number_is_bold_where_too_few_cover_beyond_what_the_draws_leave_open(covering, bold):
    covers = pd.Series([1.0] * covering + [0.0] * (100 - covering) + [np.nan] * 100)
    lines = pd.DataFrame({"covers": covers, "given": covers.notna() * 1.0, "width": 0.25})
    written = coverage.Cell.of(lines).written(test=False)
    assert written == (f"**{covering}** (50) · 0.25" if bold else f"{covering} (50) · 0.25")


def test_win_rates_are_those_of_very_many_data_sets():
    better = np.array([1.0, 0.0, 0.0])
    results = intervals._results(200_000, better, np.random.default_rng(9))
    beaten = (results[:, :, None] < results[:, None, :]).mean(axis=(0, 2)) * 3 / 2
    assert intervals._true_rates(better) == pytest.approx(beaten, abs=0.005)


def test_all_that_is_asked_for_is_found_and_a_section_replaces_itself():
    section = "\n\n".join(coverage.report(draws=2, jobs=1, only="base rate")) + "\n"
    assert section.startswith("## Do the intervals include the true values?")
    lines = [line for line in section.splitlines() if "| 5,000 |" in line]
    assert [line.count("|") for line in lines] == [9]
    twice = coverage.with_section(coverage.with_section("# A\n\nold\n", section), section)
    assert twice == f"# A\n\nold\n\n{section}"


@pytest.mark.parametrize("key", [*intervals.ON_ROWS, *intervals.TESTS])
def test_every_interval_and_test_answers_for_every_sample(key):
    one = (intervals.ON_ROWS | intervals.TESTS)[key]
    for sample in ("", "5 clusters", "weights 1, 3, 9", "base rate 10 %"):
        found = one.found(coverage.Case(n=200, sample=sample).rows(0))
        assert found or key == "splits"
        for each in found.values():
            share, given, _ = coverage.summarised(each)
            assert np.isnan(share) or 0 <= share <= 1
            assert np.isnan(given) or 0 <= given <= 1
