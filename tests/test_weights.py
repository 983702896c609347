"""Whole weights through the chain are repeated rows: predictions, metrics, curves, tables, advice, number by number."""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from calib.analysis import curves, decision, differences, sample_size, subgroups
from calib.analysis.recommendation import advice
from calib.analysis.validation import flow, rows_needed
from calib.calibrators import CALIBRATORS, INPUT_TABLES
from calib.evaluate import calibrate, evaluate, fit
from calib.figures import FIGURES
from calib.figures.validation import formatted_flow
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics import METRICS, Metric
from calib.recipe import Recipe
from calib.sources import load

RNG = np.random.default_rng(3)
N = 240
SCORE = RNG.beta(1.2, 2.0, N).round(2)
Y = (RNG.random(N) < 0.15 + 0.6 * SCORE).astype(int)
WEIGHT = RNG.integers(1, 6, N)
PART = np.repeat([0, 1, 2], [60, 90, 90])
EXACT = ("venn", "venn_abers", "isotonic", "none", "histogram")
KEYS = tuple(key for key in CALIBRATORS if CALIBRATORS[key].input not in INPUT_TABLES)
FILE = Recipe(split="file", calibrators=KEYS, bins=7)


def table(weighted: bool, time=None) -> Dataset:
    """The same rows, once with weights and once each repeated."""
    rows = np.arange(N) if weighted else np.repeat(np.arange(N), WEIGHT)
    more = {"weight": WEIGHT.astype(float)} if weighted else {}
    X = pd.DataFrame({"s": SCORE[rows]}, index=np.arange(len(rows)))
    moment = None if time is None else time[rows]
    return Dataset("given", X, Y[rows], predictions=True, part=PART[rows], time=moment, **more)


@pytest.fixture(scope="module")
def both():
    return evaluate(FILE, table(True)), evaluate(FILE, table(False))


def repeated(evaluation, values):
    return np.repeat(values, evaluation.weight.astype(int), axis=0)


def test_fractions_are_told_as_rows_and_what_they_are_worth():
    """Kish: (Σw)²/Σw² over the test rows; what is said on pages and in reports is one number everywhere."""
    weight = RNG.gamma(2, size=N)
    data = dataclasses.replace(table(True), weight=weight)
    found = evaluate(FILE.replace(calibrators=("none", "platt", "venn_abers")), data)
    tested = weight[PART == 2]
    worth = round(tested.sum() ** 2 / (tested @ tested))
    assert found.size_text == f"90 test rows (effective number {worth})"
    assert rows_needed(found)[1].rows == worth
    told = formatted_flow(flow(found), "1").set_index("Step")
    assert told.loc["Test", ["Rows", "Effective rows"]].tolist() == ["90", str(worth)]
    # Sampling weights of 1, 2 and 4 are scaled before: nobody who gave them knows of fractions
    assert "count repeated rows" in found.refused["venn_abers"]
    assert "fraction" not in found.refused["venn_abers"]


@pytest.mark.parametrize("key", KEYS)
def test_predictions_are_those_of_the_repeated_rows(both, key):
    one, many = (each.predictions[key] for each in both)
    for name in ("p", "lower", "upper", "p0", "p1"):
        own, other = getattr(one, name), getattr(many, name)
        assert (own is None) == (other is None)
        if own is not None:
            own = repeated(both[0], own)
            if key in EXACT:
                np.testing.assert_array_equal(own, other)
            else:
                np.testing.assert_allclose(own, other, rtol=0, atol=1e-9)


def test_the_rows_behind_them_are_counted(both):
    assert [each.size for each in both] == [len(both[1].y)] * 2
    assert both[0].calibration_size == len(both[1].calibration_y)
    assert both[0].share == pytest.approx(both[1].share)


def test_every_metric_is_that_of_the_repeated_rows(both):
    for keys in (None, list(METRICS)):
        one, many = (each.metrics if keys is None else each.measured(keys) for each in both)
        pd.testing.assert_frame_equal(one, many, rtol=0, atol=1e-9)


@pytest.mark.parametrize("binning", ["uniform", "quantile"])
def test_binned_metrics_of_either_kind(both, binning):
    one, many = (each.with_view(FILE.replace(binning=binning, bins=9)).metrics for each in both)
    pd.testing.assert_frame_equal(one, many, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "curve",
    [
        lambda y, p, **w: curves.binned_curve(y, p, bins=8, **w),
        lambda y, p, **w: curves.binned_curve(
            y, p, bins=8, strategy="quantile", interval="clopper_pearson", **w
        ),
        lambda y, p, **w: curves.corp_curve(y, p, band="confidence", repeats=40, **w),
        lambda y, p, **w: curves.corp_curve(y, p, band="consistency", repeats=40, **w),
        lambda y, p, **w: curves.smooth_curve(y, p, **w),
        lambda y, p, **w: curves.histogram(y, p, **w),
    ],
)
def test_curves_and_bands_are_those_of_the_repeated_rows(curve):
    one = curve(Y, SCORE, sample_weight=WEIGHT)
    many = curve(np.repeat(Y, WEIGHT), np.repeat(SCORE, WEIGHT))
    pd.testing.assert_frame_equal(one.to_frame(), many.to_frame(), rtol=1e-9, atol=1e-9)


def test_differences_advice_and_warnings_are_those_of_the_repeated_rows(both):
    one, many = (differences.differences(each) for each in both)
    pd.testing.assert_frame_equal(one.table, many.table, rtol=0, atol=1e-9)
    assert one.basis.replace(" in 90 lines", "", 1) == many.basis
    told, expected = (repr(advice.recommend(each)) + each.verdict.sentence for each in both)
    assert told.replace(" in 90 lines", "") == expected
    assert list(map(dataclasses.asdict, sample_size.too_few(both[0]))) == list(
        map(dataclasses.asdict, sample_size.too_few(both[1]))
    )


def test_decisions_are_those_of_the_repeated_rows(both):
    one, many = (decision.decide(each, cost_false_alarm=1, cost_miss=3) for each in both)
    pd.testing.assert_frame_equal(one.table, many.table, rtol=0, atol=1e-9)
    assert (one.never, one.always) == pytest.approx((many.never, many.always))
    p, q = (each.predictions["platt"].p for each in both)
    np.testing.assert_allclose(
        decision.net_benefit(both[0].y, p, weight=both[0].weight),
        decision.net_benefit(both[1].y, q),
        atol=1e-12,
    )


def test_subgroups_are_those_of_the_repeated_rows(both):
    values = pd.Series(RNG.choice(["a", "b", "c"], len(both[0].y)))
    groups = [
        subgroups.group_rows(values),
        subgroups.group_rows(pd.Series(repeated(both[0], values.to_numpy()))),
    ]
    # the order of groups is by table rows: compare by name
    one, many = (
        subgroups.judge_groups(each, grouping).table.set_index(["calibrator", "group"]).sort_index()
        for each, grouping in zip(both, groups, strict=True)
    )
    pd.testing.assert_frame_equal(one, many, rtol=0, atol=1e-9, check_dtype=False)


@pytest.mark.parametrize("key", ["reliability", "widths", "interval_means", "interval_bins"])
def test_figures_show_the_repeated_rows(both, key):
    one, many = (FIGURES[key].prepare(each) for each in both)
    pd.testing.assert_frame_equal(one.to_frame(), many.to_frame(), rtol=1e-9, atol=1e-9, check_dtype=False)
    assert (one.title if hasattr(one, "title") else one.finding) == (
        many.title if hasattr(many, "title") else many.finding
    )


@pytest.mark.parametrize("placement", ["split", "train"])
@pytest.mark.parametrize("evaluation", ["holdout", "folds"])
def test_a_split_in_time_holds_for_both_alike(placement, evaluation):
    time = RNG.integers(0, 40, N).astype(float)
    recipe = Recipe(
        split="time", placement=placement, evaluation=evaluation, folds=3, calibrators=("none", "venn_abers")
    )
    one, many = (evaluate(recipe, table(weighted, time)).metrics for weighted in (True, False))
    pd.testing.assert_frame_equal(one, many, rtol=0, atol=1e-9)


def test_a_random_split_parts_counts_and_loses_none():
    counts = Dataset(
        "counts",
        pd.DataFrame({"s": SCORE}),
        Y,
        predictions=True,
        weight=RNG.integers(1, 10**9, N).astype(float),
    )
    for recipe in (Recipe(), Recipe(evaluation="folds", folds=4), Recipe(placement="cv", cv=3)):
        evaluation = evaluate(recipe.replace(calibrators=KEYS), counts)
        assert not evaluation.refused
        held = evaluation.weight.sum() + (
            0 if recipe.evaluation == "folds" else evaluation.calibration_weight.sum()
        )
        assert held == counts.weight.sum()
        assert (evaluation.weight % 1 == 0).all()


def test_a_billion_rows_a_line_are_exact():
    """By fractions: at most 2^53 rows in all, every sum is exact."""
    score = np.array([0.1, 0.1, 0.5, 0.5, 0.9, 0.9])
    y = np.array([0, 1] * 3)
    weight = np.array([999_999_999.0, 1, 1_000_000_000, 999_999_998, 3, 999_999_996])
    fitted = CALIBRATORS["venn_abers"]().fit(score, y, sample_weight=weight)
    pairs = fitted.predict_interval([0.1, 0.5, 0.9])
    assert pairs[0].tolist() == [1 / 1_000_000_001, 2 / 1_000_000_001]
    assert pairs[1].tolist() == [999_999_998 / 1_999_999_999, 999_999_999 / 1_999_999_999]
    assert pairs[2].tolist() == [999_999_996 / 1_000_000_000, 999_999_997 / 1_000_000_000]


def test_fractional_weights_count_as_many_rows_as_their_mean_is_worth():
    weight = RNG.random(N) + 0.1
    data = dataclasses.replace(table(True), weight=weight)
    evaluation = evaluate(FILE, data)
    held = weight[PART == 2]
    scale = held.sum() / (held @ held)
    np.testing.assert_allclose(evaluation.weight, held * scale)
    y, p = Y[PART == 2], evaluation.predictions["none"].p
    assert evaluation.metrics.loc["none", "brier"] == pytest.approx(np.average((p - y) ** 2, weights=held))
    assert "Venn–Abers counts rows" in evaluation.refused["venn_abers"]
    assert any("are not shown" in note and "chance" in note for note in evaluation.notes)
    other = evaluate(FILE, dataclasses.replace(data, weight=weight / 1000))
    pd.testing.assert_frame_equal(
        other.measured(METRICS), evaluation.measured(METRICS), rtol=1e-9
    )  # any scale


def test_a_metric_without_weights_is_left_out_by_name(monkeypatch):
    mine = Metric("mine", "My score", lambda y, p: 0.0, False, "Nothing.")
    monkeypatch.setitem(METRICS._held, "mine", mine)
    evaluation = evaluate(FILE.replace(calibrators=("none",)), table(True))
    assert np.isnan(evaluation.metrics.loc["none", "mine"])
    assert any("My score" in note for note in evaluation.notes)
    assert not any(
        "My score" in note for note in evaluate(FILE.replace(calibrators=("none",)), table(False)).notes
    )


def test_a_model_is_trained_with_the_weights_and_one_that_cannot_is_named():
    X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
    weight = WEIGHT.astype(float)
    for model, takes in (
        ("logistic_regression", True),
        ("decision_tree", True),
        ("nearest_neighbours", False),
    ):
        recipe = Recipe(model=model, split="file", calibrators=("none",))
        evaluation = evaluate(recipe, Dataset("w", X, Y, weight=weight, part=PART))
        plain = evaluate(recipe, Dataset("w", X, Y, part=PART))
        same = np.array_equal(evaluation.predictions["none"].p, plain.predictions["none"].p)
        assert same == (not takes)
        assert any("does not support weights" in note for note in evaluation.notes) == (not takes)


@pytest.mark.parametrize("how", [{"evaluation": "folds"}, {"placement": "cv"}])
def test_heavy_rows_of_a_class_are_no_more_rows_to_make_folds_of(how):
    X, y = pd.DataFrame({"a": np.arange(12.0)}), np.arange(12) % 2
    recipe = Recipe(model="naive_bayes", test_size=0.5, folds=7, cv=4, **how)
    with pytest.raises(InputError, match=r"minority class has [36]"):
        evaluate(recipe, Dataset("heavy", X, y, weight=np.full(12, 9.0)))


@pytest.mark.parametrize("how", [{"test_size": 0.05}, {"evaluation": "folds", "folds": 2}])
def test_so_few_counts_that_none_is_tested_are_refused(how):
    scores = pd.DataFrame({"s": [0.2, 0.4, 0.6, 0.8]})
    few = Dataset("few", scores, np.array([0, 0, 1, 1]), weight=np.ones(4), predictions=True)
    refused, recipe = 0, Recipe(model="given", calibrators=("none",), placement="none", base_rate=0.1, **how)
    for seed in range(40):
        try:
            evaluation = evaluate(recipe.replace(seed=seed), few)
            assert len(evaluation.y)
        except InputError as error:
            refused += "one test set has no rows" in str(error)
    assert refused


def test_a_columns_weights_come_from_the_table():
    frame = pd.DataFrame(
        {"label": Y, "p": SCORE, "n": WEIGHT, "set": np.array(["train", "val", "test"])[PART]}
    )
    recipe = Recipe(
        data="upload:00", content="predictions", target="label", weight="n", part="set", split="file"
    )
    data = load(recipe, {"00": frame})
    assert list(data.X) == ["p"]
    np.testing.assert_array_equal(data.weight, WEIGHT)
    np.testing.assert_array_equal(data.part, PART)
    own = evaluate(recipe.replace(calibrators=("none",)), data).metrics
    pd.testing.assert_frame_equal(
        own, evaluate(FILE.replace(calibrators=("none",), bins=20), table(True)).metrics
    )


def test_weighted_rows_are_not_copied_without_need():
    """A million weighted scores fit into what a laptop spares: at most 110 bytes a row on top of what is kept."""
    rng, n = np.random.default_rng(0), 200_000
    scores = rng.random(n)
    frame = pd.DataFrame({"s": scores, "y": (rng.random(n) < scores).astype(int), "n": rng.integers(1, 5, n)})
    recipe = Recipe(
        data="upload:00",
        content="predictions",
        target="y",
        weight="n",
        calibrators=("none", "platt", "venn_abers"),
    )
    fitted = fit(recipe, load(recipe, {"00": frame}))
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        evaluation = calibrate(recipe, fitted)
        kept, peak = tracemalloc.get_traced_memory()
        assert peak < 110 * n
        assert len(evaluation.metrics) == 3
        assert tracemalloc.get_traced_memory()[0] - kept < n  # nothing that waits for the garbage collection
    finally:
        tracemalloc.stop()
        gc.enable()
