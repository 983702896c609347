"""Beside an infinite log loss stands scikit-learn's, wherever a page, a report or the command line prints it."""

import re

import numpy as np
import pytest
from sklearn import metrics

from calib import Recipe
from calib.analysis.depth import depth_scores, sweep_depths
from calib.analysis.differences import clipped, clipped_change, differences
from calib.analysis.label_shift import compare_base_rates
from calib.analysis.split_optimism import split_optimism
from calib.analysis.validation import performance
from calib.export import print_metrics, report_html
from calib.figures import (
    FIGURES,
    formatted_differences,
    formatted_metrics,
    formatted_rates,
    formatted_side_by_side,
)
from calib.figures.validation import formatted_performance
from calib.kernel.wording import number
from calib.metrics import log_loss_clipped
from calib.sources import load
from tests.evaluated import evaluated

TREE = Recipe(data="sample:breast_cancer", model="decision_tree", calibrators=("none", "platt"))


@pytest.fixture(scope="module")
def tree():
    """Its leaves are certain, and some of them wrong."""
    return evaluated(TREE)


def by_sklearn(evaluation, key="none"):
    p = evaluation.predictions[key].p
    return metrics.log_loss(evaluation.y, p, sample_weight=evaluation.weight)


@pytest.fixture(scope="module")
def words(tree):
    return f"∞ (clipped: {number(by_sklearn(tree))})"


def test_it_is_scikit_learns_with_and_without_weights():
    rng = np.random.default_rng(3)
    y, w = rng.integers(0, 2, 500), rng.random(500)
    p = rng.choice([0.0, 1.0, 1e-300, 1e-16, 1 - 1e-16, 1e-15, 0.3], 500)
    for weight in (None, w):
        assert log_loss_clipped(y, p, weight) == pytest.approx(
            metrics.log_loss(y, p, sample_weight=weight), rel=1e-13
        )


def test_infinite_values_alone_have_one_and_in_base_2_it_is_in_bits(tree):
    table = tree.measured(["brier", "log_loss", "log_loss_base2"])
    found = clipped(tree, table)
    assert np.isinf(table.loc["none", "log_loss"])
    assert found.loc["none", "log_loss"] == pytest.approx(by_sklearn(tree), rel=1e-12)
    assert found.loc["none", "log_loss_base2"] == pytest.approx(by_sklearn(tree) / np.log(2), rel=1e-12)
    assert found.notna().sum().sum() == 2
    change = by_sklearn(tree, "platt") - by_sklearn(tree)
    assert clipped_change(tree, "log_loss", "platt", "none") == pytest.approx(change, rel=1e-12)


def test_tables_of_metrics_have_it(tree, words):
    assert formatted_metrics(tree).loc["Uncalibrated", "Log loss"] == words
    side = formatted_side_by_side({"a": tree}, ["brier", "log_loss"])
    assert side["Log loss"][0] == words
    assert "∞" not in side["Log loss"][1]
    shown = formatted_performance(tree, performance(tree, ("brier", "log_loss")))
    assert shown.loc["Log loss", "Uncalibrated"] == words
    assert print_metrics(tree.metrics, "table", clipped(tree, tree.metrics)).count(words) == 1
    assert print_metrics(tree.metrics, "markdown", clipped(tree, tree.metrics)).count(words) == 1


def test_both_base_rates_have_their_own():
    moved = evaluated(TREE.replace(base_rate=0.1))
    shown = formatted_rates(moved, compare_base_rates(moved))
    expected = [f"∞ (clipped: {number(by_sklearn(one))})" for one in (moved.unadjusted, moved)]
    assert shown["Log loss"].tolist()[:2] == expected
    assert expected[0] != expected[1]


def test_a_change_against_infinity_is_that_of_the_clipped_losses(tree):
    change = number(by_sklearn(tree, "platt") - by_sklearn(tree))
    shown = formatted_differences(differences(tree))
    assert shown.loc["Platt scaling", "Log loss"] == f"clipped: {change}"
    assert not shown.apply(lambda column: column.str.contains("∞")).any(axis=None)


def test_the_chart_that_compares_names_it(tree, words):
    record = FIGURES["compared"].prepare({"a": tree}, metric="log_loss")
    assert words in record.alt
    hovered = [text for trace in FIGURES["compared"].draw(record).data for text in trace.customdata or ()]
    assert words in hovered
    assert "clipped" not in FIGURES["compared"].prepare({"a": tree}, metric="brier").to_frame()


def test_the_optimism_of_a_split_has_it(tree, words):
    other = evaluated(TREE.replace(seed=1))
    shown = split_optimism(tree, other).formatted()
    line = shown[(shown["Calibrator"] == "Uncalibrated") & (shown["Metric"] == "Log loss")].iloc[0]
    assert line["Honest split"] == words
    assert line["Random split"] == f"∞ (clipped: {number(by_sklearn(other))})"
    assert number(by_sklearn(tree) - by_sklearn(other)) in line["Optimism"]
    assert line["95 % interval"] == "–"


def test_the_finding_of_the_trees_has_it():
    data = load(TREE)
    tables = [depth_scores(TREE, point) for point in sweep_depths(TREE, data, forests=False)]
    record = FIGURES["depth"].prepare(tables, metric="log_loss")
    own = record.table.query("leaf == 'frequency' and calibrator == 'none'").iloc[-1]
    assert np.isinf(own.log_loss)
    assert f"∞ (clipped: {number(own.log_loss_clipped)}) at depth {own.depth}" in record.alt


def test_a_report_prints_no_infinite_log_loss_alone(tree, words):
    text = re.sub(r"<script.*?</script>", "", report_html(tree).decode(), flags=re.DOTALL)
    assert words in text
    assert "−∞" not in text
    assert re.findall(r"∞(?! \(clipped: )", re.sub(r"<[^>]+>", " ", text)) == []
