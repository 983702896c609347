"""Predictions of K classes: every view is the two-class Evaluation of the same numbers."""

import numpy as np
import pytest

from calib import Evaluation, Recipe, check, evaluate
from calib.kernel.checks import InputError
from calib.metrics import confidence_interval
from calib.sources import load

RNG = np.random.default_rng(0)
N = 900
P = RNG.dirichlet([1.0, 0.5, 2.0], N)
Y = np.array([RNG.choice(3, p=row) for row in P])
SHARP = P**3 / (P**3).sum(axis=1, keepdims=True)
WEIGHT = RNG.integers(1, 4, N)
CLUSTER = RNG.integers(0, 300, N)


def same(one, other):
    assert one.y.tolist() == other.y.tolist()
    for mine, theirs in zip(one.predictions.values(), other.predictions.values(), strict=True):
        np.testing.assert_array_equal(mine.p, theirs.p)
    shown = one.applicable(other.metrics)
    assert list(one.metrics) == shown
    np.testing.assert_array_equal(one.metrics.to_numpy(), other.metrics[shown].to_numpy())


def test_a_class_is_evaluated_against_the_rest():
    found = check(Y, {"plain": P, "sharp": SHARP}, WEIGHT, CLUSTER)
    assert found.classes == 3
    for k in range(3):
        alone = check(k == Y, {"plain": P[:, k], "sharp": SHARP[:, k]}, WEIGHT, CLUSTER)
        same(found.of(k), alone)
        assert found.of(k).verdict.sentence == alone.verdict.sentence
    assert found.of(1) is found.of(1)


def test_the_confidence_is_evaluated_against_whether_the_class_came():
    found = check(Y, {"plain": P, "sharp": SHARP})
    for name, rows in (("plain", P), ("sharp", SHARP)):
        alone = check(rows.argmax(axis=1) == Y, {name: rows.max(axis=1)})
        same(found.of("top", name), alone)
    assert found.verdict.finding == "no sign"
    assert found.of("top", "sharp").verdict.finding == "miscalibrated"


def test_a_confidence_has_no_metric_of_a_predicted_label():
    """The predicted class may be right with a confidence below 1/2, so a label 1 if p > 1/2 is another prediction."""
    found = check(Y, P)
    right, confidence = P.argmax(axis=1) == Y, P.max(axis=1)
    assert found.metrics.loc["none", "accuracy"] == right.mean()
    assert abs((right == (confidence > 0.5)).mean() - right.mean()) > 0.01  # the accuracy of two classes
    view = found.of("top")
    assert not {"accuracy", "accuracy_gap"} & set(view.metrics)
    assert view.measured(["accuracy", "label_lower"]).isna().all(axis=None)
    assert "accuracy" in found.of(1).metrics


def test_of_two_columns_it_is_the_two_class_evaluation_bit_by_bit():
    p = RNG.random(N)
    y = RNG.random(N) < p
    two = check(y, np.column_stack([1 - p, p]))
    assert isinstance(two, Evaluation)
    same(two.of(1), check(y, p))
    assert two.of(1) is two
    same(two.of(0), check(~y, 1 - p))
    same(two.of("top"), check((p > 0.5) == y, np.maximum(p, 1 - p)))


RECIPES = {
    "weights": ("sample:counts", {"weight": "count"}),
    "clusters": ("sample:customers", {"cluster": "customer_id", "split": "cluster"}),
    "time": ("sample:dated", {"time": "ordered", "split": "time"}),
    "base rate": ("sample:loans", {"base_rate": 0.3}),
}


def test_of_two_classes_counts_at_a_base_rate_stay_counts_in_every_view():
    recipe = Recipe(data="sample:counts", weight="count", model="naive_bayes", base_rate=0.3)
    two = evaluate(recipe, load(recipe))
    assert two.counts.sum() > len(two.y)
    for view in (two.of(0), two.of("top")):
        np.testing.assert_array_equal(view.counts, two.counts)
        assert view.tested == two.tested
    assert two.of(0) is two.of(0)
    low, high = confidence_interval(
        "brier", 1 - two.y, 1 - two.predictions["none"].p, two.weight, counts=two.counts
    )
    sample = two.of(0).sample
    assert confidence_interval(
        "brier", sample.y, two.of(0).predictions["none"].p, sample.weight, counts=sample.counts
    ) == (low, high)


@pytest.mark.parametrize("case", RECIPES)
def test_of_two_classes_the_other_class_has_the_numbers_of_its_probabilities_bit_by_bit(case):
    data, more = RECIPES[case]
    recipe = Recipe(data=data, model="naive_bayes", calibrators=("none", "platt"), **more)
    two = evaluate(recipe, load(recipe))
    same(two.of(1), two)
    other = two.view(0)
    alone = Evaluation.from_predictions(
        1 - two.y, {key: 1 - one.p for key, one in two.predictions.items()}, two.weight, two.cluster
    )
    same(other, alone.with_view(recipe))
    for metric in ("brier", "log_loss", "ece", "auc"):
        for key, one in alone.predictions.items():
            given = alone.y, one.p, alone.weight, alone.cluster
            theirs = other.y, other.predictions[key].p, other.weight, other.cluster
            assert confidence_interval(metric, *theirs) == confidence_interval(metric, *given)


def test_changes_are_means_over_the_rows_with_intervals_that_cover():
    rng, hits = np.random.default_rng(3), 0
    for _ in range(200):
        some = rng.integers(0, N, 300)
        y = (rng.random((300, 1)) > P[some].cumsum(axis=1)).sum(axis=1).clip(0, 2)
        found = check(y, {"plain": P[some], "sharp": SHARP[some]}).differences().set_index("metric")
        each = ((SHARP[some] - np.eye(3)[y]) ** 2 - (P[some] - np.eye(3)[y]) ** 2).sum(axis=1)
        assert found.value["brier"] == pytest.approx(each.mean())
        truth = ((SHARP**2).sum(axis=1) - 2 * (SHARP * P).sum(axis=1) + (P**2).sum(axis=1)).mean()
        hits += found.lower["brier"] <= truth <= found.upper["brier"]
    assert hits >= 182  # 190 are expected, with a standard error of 3


def test_the_table_of_classes_is_of_each_class_and_the_largest_gap_is_first():
    table = check(Y, SHARP).by_class()
    gaps = SHARP.mean(axis=0) - np.array([np.mean(k == Y) for k in range(3)])
    np.testing.assert_allclose(table.gap.sort_index(), gaps, atol=1e-12)
    assert list(table.index) == np.argsort(-np.abs(gaps)).tolist()
    assert table.rows.sort_index().tolist() == np.bincount(Y).tolist()
    assert ((table.low < table.gap) & (table.gap < table.high)).all()


def test_the_interval_of_a_gap_holds_0_where_probabilities_are_right():
    """Of 1,500 intervals (500 tables of 400 rows), at least 95 % less chance."""
    inside = 0
    for _ in range(500):
        rows = RNG.dirichlet([1.0, 0.5, 2.0], 400)
        y = (rows.cumsum(axis=1) < RNG.random((400, 1))).sum(axis=1)
        table = check(y, rows).by_class()
        inside += int(((table.low <= 0) & (table.high >= 0)).sum())
    assert inside / 1500 >= 0.94


def test_scores_have_a_row_for_each_name():
    table = check(Y, {"plain": P, "sharp": SHARP}).metrics
    assert table.index.tolist() == ["plain", "sharp"]
    assert table.loc["sharp", "confidence_ece"] > table.loc["plain", "confidence_ece"]
    assert table.loc["sharp", "accuracy"] == table.loc["plain", "accuracy"]  # the order within rows is kept


@pytest.mark.parametrize("view", [{}, {"bins": 7}, {"bins": 9, "binning": "quantile"}])
def test_a_page_has_one_error_of_the_confidence_and_of_each_class(view):
    found = evaluate(
        Recipe(model="naive_bayes", calibrators=("none",), **view), load(Recipe(data="sample:all_digits"))
    )
    joint = found.whole
    assert found.metrics.loc["none", "ece"] == joint.metrics.loc["none", "confidence_ece"]
    each = joint.by_class("none")["ece"]
    views = {name: joint.of(k).metrics.loc["none", "ece"] for k, name in enumerate(joint.names)}
    assert each.to_dict() == pytest.approx(views)
    assert joint.metrics.loc["none", "classwise_ece"] == pytest.approx(np.mean(list(views.values())))
    low, high = joint.intervals("none").loc["confidence_ece", ["low", "high"]]
    assert (low, high) == pytest.approx(found.interval("ece", "none"), abs=5e-3)
    assert low < joint.intervals("none").loc["top_label_ece", "high"]


def test_figures_and_notebooks_show_a_view():
    found = check(Y, P)
    assert found.figure("reliability", 2, bins=5).to_json() == found.of(2).figure(bins=5).to_json()
    assert found.verdict.sentence.split(".")[0] in found._repr_html_().replace("&#x27;", "'")


def test_bad_input_is_refused_by_name():
    found = check(Y, P)
    for call, said in (
        (lambda: found.of(3), "k must be one of 0, 1, 2, 'top'"),
        (lambda: found.of("top", "forest"), "name must be one of 'none'"),
        (
            lambda: check(Y, {"a": P, "b": P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)}),
            "the same number of classes",
        ),
        (
            lambda: check(np.where(Y == 2, 1, Y), {"a": P, "b": np.full((N, 4), 0.25)}),
            "the same number of classes",
        ),
        (lambda: Evaluation.from_predictions(Y, {}), "no predictions"),
    ):
        with pytest.raises(InputError, match=said):
            call()
