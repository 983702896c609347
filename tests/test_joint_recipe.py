"""A Recipe with K classes: each view is the two-class Evaluation of its column, by definition and by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calib import Recipe, check, evaluate, sources
from calib.analysis.differences import differences
from calib.analysis.validation import OVERALL_METRICS, performance
from calib.calibrators import CALIBRATORS, OneVsRest
from calib.evaluate import calibrate, fit
from calib.export import report_html
from calib.figures.base import ReportOptions
from calib.figures.class_intervals import CLASS_INTERVALS
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.placements import PLACEMENTS

X, CODES = load_wine(return_X_y=True)
NAMES = ("barolo", "grignolino", "barbera")
DATA = Dataset("wine", X, CODES == 2, labels=CODES, names=NAMES)
KEYS = ("none", "isotonic", "venn_abers", "temperature", "structured_matrix", "pairwise")
RECIPE = Recipe(model="naive_bayes", calibrators=KEYS)
WHOLE = evaluate(RECIPE, DATA)


def by_hand(key):
    """Probabilities of the test rows, from scikit-learn's splits and the calibrator alone."""
    train, test = train_test_split(np.arange(len(X)), test_size=0.3, stratify=CODES, random_state=0)
    train, test = np.sort(train), np.sort(test)
    proper, held = train_test_split(train, test_size=1 / 3, stratify=CODES[train], random_state=0)
    model = GaussianNB().fit(X[proper], CODES[proper])
    P = model.predict_proba(X[test])
    if key == "none":
        return test, P
    joint = OneVsRest(key) if key in ("isotonic", "venn_abers") else CALIBRATORS[key]()
    return test, joint.fit(model.predict_proba(X[held]), CODES[held]).predict(P)


@pytest.mark.parametrize("key", ["none", "isotonic", "venn_abers", "structured_matrix", "pairwise"])
def test_all_classes_by_hand(key):
    test, P = by_hand(key)
    assert WHOLE.rows.tolist() == test.tolist()
    np.testing.assert_allclose(WHOLE.whole.distributions[key], P, atol=1e-9)


@pytest.mark.parametrize("k", range(3))
def test_a_view_is_the_two_class_evaluation_of_its_column(k):
    view, P = WHOLE.of(k), WHOLE.whole.distributions
    alone = check(WHOLE.whole.y == k, {key: P[key][:, k] for key in KEYS})
    for key in KEYS:
        np.testing.assert_array_equal(view.predictions[key].p, P[key][:, k])
    common = [
        name for name in alone.metrics if name not in ("lower", "upper", "width")
    ]  # which only pairs give
    np.testing.assert_array_equal(view.with_view(alone.recipe).metrics[common], alone.metrics[common])
    assert view.dataset.classes == (f"not {NAMES[k]}", NAMES[k])
    assert view.verdict.finding == alone.verdict.finding
    assert view.flow[0]["test"].events == (WHOLE.whole.y == k).sum()


def test_the_confidence_is_what_each_calibrator_gives_to_the_models_own_class():
    chosen = WHOLE.whole.distributions["none"].argmax(axis=1)
    each = np.arange(len(chosen))
    assert WHOLE.of_confidence
    assert WHOLE.y.tolist() == (chosen == WHOLE.whole.y).tolist()
    for key in KEYS:
        np.testing.assert_array_equal(WHOLE.predictions[key].p, WHOLE.whole.distributions[key][each, chosen])
    np.testing.assert_array_equal(WHOLE.scores, WHOLE.whole.distributions["none"].max(axis=1))
    assert np.isnan(WHOLE.flow[0]["train"].events)
    own = WHOLE.of("top", "isotonic")  # by name: the calibrated model's own class
    np.testing.assert_array_equal(
        own.predictions["isotonic"].p, WHOLE.whole.distributions["isotonic"].max(axis=1)
    )


def test_tables_of_a_confidence_have_no_metric_of_a_predicted_label():
    assert not {"accuracy", "accuracy_gap"} & set(WHOLE.metrics)
    assert set(differences(WHOLE, ("brier", "accuracy")).table["metric"]) == {"brier"}
    assert set(performance(WHOLE, OVERALL_METRICS)["metric"]) == set(OVERALL_METRICS) - {"accuracy"}
    assert "accuracy" in WHOLE.of(1).metrics


def test_pairs_of_a_class_are_those_of_its_own_calibrator_and_explain_it():
    view = WHOLE.of(1)
    (fitted,) = view.fitted("venn_abers")
    pairs = fitted.predict_interval(view.scores)
    np.testing.assert_array_equal(view.predictions["venn_abers"].pairs, pairs)
    with pytest.raises(InputError, match="calibrates all classes together"):
        view.fitted("structured_matrix")
    with pytest.raises(InputError, match="calibrates all classes together"):
        WHOLE.fitted("venn_abers")


@pytest.mark.parametrize(
    "placement", [key for key, each in PLACEMENTS.items() if each.for_k and key != "none"]
)
@pytest.mark.parametrize("evaluation", ["holdout", "folds"])
def test_every_calibrator_answers_in_every_placement(placement, evaluation):
    keys = tuple(
        key for key, method in CALIBRATORS.everything().items() if method.input == "score" or key in KEYS
    )
    recipe = Recipe(
        params={"n_estimators": 10},
        placement=placement,
        evaluation=evaluation,
        folds=3,
        cv=3,
        calibrators=keys,
    )
    found = evaluate(recipe, DATA)
    assert found.refused == {}
    for P in found.whole.distributions.values():
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-9)


def test_methods_that_need_more_than_one_score_are_refused_by_name():
    found = evaluate(RECIPE.replace(calibrators=("none", "rank", "multicalibration")), DATA)
    assert list(found.predictions) == ["none"]
    assert "rank calibration" in found.refused["rank"]
    assert "ulticalibration" in found.refused["multicalibration"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"view_class": "merlot"},
            "view_class must be one of the classes 'barolo', 'grignolino' and 'barbera'",
        ),
        ({"base_rate": 0.2}, "base_rate: with three or more classes"),
        ({"placement": "full"}, "supported by placement='full'"),
        ({"placement": "oob", "model": "random_forest"}, "supported by placement='oob'"),
        ({"model": "svm"}, "gives no probabilities"),
        ({"model": "tuned_forest", "placement": "split"}, "Only binary classification"),
    ],
)
def test_what_is_not_for_k_classes_is_refused_by_name(change, said):
    with pytest.raises(InputError, match=said):
        evaluate(RECIPE.replace(**change), DATA)


def test_the_calibrators_are_fitted_once_for_all_views(monkeypatch):
    fitted = fit(RECIPE, DATA)
    first = calibrate(RECIPE, fitted)
    monkeypatch.setattr(OneVsRest, "fit", None)  # may not be asked again
    for name in NAMES:
        view = calibrate(RECIPE.replace(view_class=name), fitted)
        assert view.whole is first.whole
        assert view.recipe.view_class == name


def test_weights_and_clusters_go_with_the_rows():
    rng = np.random.default_rng(0)
    weight, cluster = rng.integers(1, 4, len(X)).astype(float), np.arange(len(X)) // 2
    data = Dataset("wine", X, CODES == 2, labels=CODES, names=NAMES, weight=weight, cluster=cluster)
    found = evaluate(RECIPE.replace(split="cluster", cluster="who", weight="w"), data)
    k = 1
    alone = check(
        found.whole.y == k,
        {key: P[:, k] for key, P in found.whole.distributions.items()},
        weight[found.rows],
        cluster[found.rows],
    )
    np.testing.assert_allclose(found.of(k).metrics["brier"], alone.metrics["brier"], atol=1e-12)
    for view in (found, found.of(k)):  # counts of lines, of rows by weight, and of those of class 1
        lines, rows, events = view.flow[0]["test"]
        assert (lines, rows, events) == (len(view.y), view.weight.sum(), view.weight @ view.y)
    assert set(cluster[found.rows]).isdisjoint(cluster[np.setdiff1d(np.arange(len(X)), found.rows)])


def test_a_period_and_a_segment_narrow_all_classes():
    rows = WHOLE.dataset.row_numbers[WHOLE.rows]
    half = evaluate(RECIPE.replace(period=f"1..{rows[30]}"), DATA)
    assert len(half.whole.y) == len(half.y) == 31
    np.testing.assert_array_equal(half.of(2).predictions["none"].p, WHOLE.of(2).predictions["none"].p[:31])
    first = evaluate(RECIPE.replace(segment=("x1=0..13",)), DATA)
    assert (X[first.rows, 0] <= 13).all()
    assert len(first.whole.y) == len(first.rows) < len(WHOLE.rows)


def test_a_class_that_a_part_lacks_keeps_its_column_and_is_named():
    few = np.r_[np.flatnonzero(CODES != 2), np.flatnonzero(CODES == 2)[:2]]
    data = Dataset("few", X[few], CODES[few] == 2, labels=CODES[few], names=NAMES)
    for seed in range(6):
        found = evaluate(RECIPE.replace(seed=seed), data)
        assert found.refused == {}
        assert found.whole.distributions["isotonic"].shape[1] == 3
        lacking = 2 not in found.of(2).calibration_y.nonzero()[0] and not found.of(2).calibration_y.any()
        assert any("no calibration row" in note for note in found.notes) == lacking


def test_links_tables_report_and_csv_hold_all_classes():
    table = load_iris(as_frame=True).frame.rename(columns={"target": "kind"})
    table["kind"] = pd.Series(["setosa", "versicolor", "virginica"])[table["kind"]].to_numpy()
    recipe = RECIPE.replace(data="upload:00ff", target="kind", view_class="virginica")
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert json.loads(recipe.to_json())["view_class"] == "virginica"
    found = evaluate(recipe, sources.load(recipe, {"00ff": table}))
    assert found.dataset.classes[1] == "virginica"
    frame = found.frame()
    np.testing.assert_array_equal(frame["isotonic: setosa"], found.whole.distributions["isotonic"][:, 0])
    assert (frame["class"] == "virginica").tolist() == (frame["y"] == 1).tolist()
    report = report_html(found).decode()
    assert "All classes together" in report
    for name in ("setosa", "virginica", "Top-label ECE", "Class-wise ECE"):
        assert name in report
    against = evaluate(
        recipe.replace(positive="virginica", view_class=None),
        sources.load(recipe.replace(positive="virginica"), {"00ff": table}),
    )
    assert against.whole is None


def test_the_report_shows_the_row_that_is_widest_for_the_method_with_intervals_there_is():
    """Without Venn–Abers, Venn's."""
    found = evaluate(RECIPE.replace(calibrators=("none", "venn")), DATA)
    source, options = CLASS_INTERVALS.reported(found, ReportOptions())
    assert options == {"calibrator": "venn"}
    record = CLASS_INTERVALS.prepare(source, **options)
    widest = found.rows[found.predictions["venn"].width.argmax()]
    assert record.row == found.dataset.row_numbers[widest]
    assert f"Row {record.row}: " in report_html(found).decode()
