"""A stated base rate through the whole chain: all answers moved, all test rows weighted, all saved forms the same."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier, Recipe, evaluate
from calib.analysis.decision import decide
from calib.analysis.depth import grow
from calib.analysis.explain import explain, position_of, widest_row
from calib.analysis.grown_tree import grown_tree
from calib.analysis.label_shift import compare_base_rates
from calib.analysis.sample_size import too_few
from calib.calibrators import merge_pair
from calib.evaluate import calibrate, fit
from calib.export import calibrator_json, read_calibrator, report_html, write_calibrator
from calib.figures import FIGURES, formatted_rates
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.wording import brief
from calib.metrics import auc, brier_score
from calib.sources import with_data, with_positive, with_target
from calib.synthetic import GaussianPair
from tests.export.programs.engines import ENGINES
from tests.saying import assert_says

RATE = 0.03
SCORED = ("none", "platt", "isotonic", "beta", "venn", "venn_abers")


@pytest.fixture(scope="module")
def data():
    return GaussianPair([0, 0], np.eye(2), [1.5, 1], np.eye(2)).sample(900, random_state=1)


def recipe(**fields):
    return Recipe(**{"model": "naive_bayes", "calibrators": SCORED, "base_rate": RATE} | fields)


def odds(p):
    return p / (1 - p)


@pytest.fixture(scope="module")
def moved(data):
    return evaluate(recipe(), data)


def test_a_stated_rate_costs_no_fit_and_is_a_field_like_any_other():
    stated = recipe()
    assert stated.digest("fit") == recipe(base_rate=None).digest("fit")
    assert Recipe.from_query({"base_rate": "0.008"}).base_rate == 0.008
    assert Recipe.from_json('{"base_rate": null}').base_rate is None
    for wrong in (0, 1, -0.1, "none", True):
        with pytest.raises(InputError, match="base_rate must be"):
            Recipe.from_query({"base_rate": wrong}) if wrong == "none" else Recipe(base_rate=wrong)


def test_all_odds_move_by_one_ratio_from_the_rate_of_the_rows_behind_them(moved, data):
    before = evaluate(recipe(base_rate=None), data)
    part = np.setdiff1d(np.arange(data.n), before.rows)
    calibrates = before.calibration_y
    trained = (data.y[part].sum() - calibrates.sum()) / (len(part) - len(calibrates))
    for key in SCORED:
        here = trained if key == "none" else calibrates.mean()
        ratio = odds(RATE) / odds(here)
        said, was = moved.predictions[key], before.predictions[key]
        for name in ("p", "p0", "p1", "lower", "upper"):
            if getattr(was, name) is not None:
                a, b = getattr(said, name), getattr(was, name)
                np.testing.assert_allclose(a * (1 - b), ratio * b * (1 - a), atol=1e-14)
        np.testing.assert_array_equal(moved.unadjusted.predictions[key].p, was.p)
    assert moved.unadjusted.recipe == before.recipe


def test_pairs_are_merged_first_and_moved_after(moved):
    """So the order of p stays that of the table; of pairs that are moved first it need not."""
    predictions, was = moved.predictions["venn_abers"], moved.unadjusted.predictions["venn_abers"]
    assert auc(predictions.y, predictions.p) == auc(was.y, was.p)
    assert ((predictions.lower <= predictions.p) & (predictions.p <= predictions.upper)).all()
    other = merge_pair(predictions.p0, predictions.p1, "log")
    assert np.abs(other - predictions.p).max() > 1e-3
    p0, p1, rate = np.array([0.1, 0.28]), np.array([0.5, 0.3]), BaseRate(0.5, 50 / 51)
    assert (
        np.diff(rate.adjust(merge_pair(p0, p1))) < 0 < np.diff(merge_pair(rate.adjust(p0), rate.adjust(p1)))
    )


def test_metrics_and_decisions_are_those_of_classes_in_the_stated_shares(moved):
    y = moved.y
    assert moved.share == pytest.approx(RATE)
    for key, predictions in moved.predictions.items():
        apart = [brier_score(y[y == c], predictions.p[y == c]) for c in (0, 1)]
        assert moved.metrics.loc[key, "brier"] == pytest.approx((1 - RATE) * apart[0] + RATE * apart[1])
    table = decide(moved, cost_false_alarm=1, cost_miss=20).table
    p = moved.predictions["platt"].p
    alarm = p > 1 / 21
    cost = (1 - RATE) * alarm[y == 0].mean() + RATE * 20 * (~alarm[y == 1]).mean()
    assert table.loc["platt", "realised"] == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize("placement", ["none", "cv", "train", "full", "oob"])
def test_every_placement_is_moved_from_its_own_rows(data, placement):
    small = subset_of(data, 60 if placement == "full" else 300)
    model = {"model": "random_forest", "params": {"n_estimators": 10}} if placement == "oob" else {}
    found = evaluate(recipe(placement=placement, calibrators=("none", "venn_abers"), **model), small)
    for key, predictions in found.predictions.items():
        was = found.unadjusted.predictions[key]
        inside = (was.p > 0.01) & (was.p < 0.99)
        ratio = odds(predictions.p[inside]) / odds(was.p[inside])
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        assert ratio[0] == pytest.approx(odds(RATE) / odds(small.y.mean()), rel=0.2)


def subset_of(data, n):
    return type(data)(data.name, data.X.iloc[:n], data.y[:n])


def test_folds_are_moved_each_from_its_own_rate_and_the_truth_from_its_mean(data):
    found = evaluate(recipe(evaluation="folds", folds=4, calibrators=("none", "isotonic")), data)
    rates = {one.rate.fitted for one in found.calibrators["isotonic"]}
    assert len(rates) > 1
    assert found.share == pytest.approx(RATE)
    ratio = odds(found.posterior) / odds(found.unadjusted.posterior)
    np.testing.assert_allclose(ratio, odds(RATE) / odds(data.posterior.mean()), rtol=1e-9)


@pytest.mark.parametrize("placement", ["split", "cv"])
def test_saved_calibrators_and_programs_say_what_predict_says(data, placement):
    found = evaluate(
        recipe(placement=placement, calibrators=("none", "isotonic", "venn_abers", "platt")), data
    )
    for key, predictions in found.predictions.items():
        saved = read_calibrator(calibrator_json(found, key))
        document = json.loads(calibrator_json(found, key))
        assert document["base_rate"]["stated"] == RATE
        scores = found.scores
        if saved.columns == 1:
            np.testing.assert_array_equal(saved.predict(scores).p, predictions.p)
        else:
            scores = np.random.default_rng(0).random((200, saved.columns))
        answer = saved.predict(scores)
        wanted = np.column_stack([answer.p0, answer.p1, answer.p] if saved.gives_interval else [answer.p])
        for language, answer_of in ENGINES.items():
            got = answer_of(saved, scores)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12, err_msg=f"{key} {language}")


def test_a_file_whose_base_rate_is_none_is_refused_by_its_path(moved):
    document = json.loads(calibrator_json(moved, "platt"))
    for wrong in (0, 1, 1.5, "half"):
        document["base_rate"]["stated"] = wrong
        with pytest.raises(InputError, match=r"base_rate\.stated must"):
            read_calibrator(json.dumps(document))


def test_figures_tables_and_subsets_are_made_of_the_moved_numbers(moved):
    record = FIGURES["step_curves"].prepare(moved)
    rate = moved.calibrators["venn_abers"][0].rate
    plain = moved.unadjusted.calibrators["venn_abers"][0].step_curves()
    np.testing.assert_array_equal(record.curves[0].p1, rate.adjust(plain.p1))
    curves = FIGURES["reliability"].prepare(moved, bins=5, binning="quantile", curve="binned").bins["platt"]
    total = np.nansum(curves.observed * curves.count) / curves.count.sum()
    assert total == pytest.approx(RATE)
    # Few rows, in parts
    FIGURES["reliability"].draw(FIGURES["reliability"].prepare(moved, ["platt"], curve="binned"))
    assert not any("test row" in problem.message for problem in too_few(moved))
    half = moved.at(np.arange(100))
    assert len(half.unadjusted.y) == 100
    assert any("0.03 in deployment" in note for note in moved.notes)


def test_test_rows_of_one_class_stand_for_no_other_rate():
    ordered = GaussianPair([0], [[1]], [1], [[1]]).sample(200, random_state=0)
    y = np.where(np.arange(200) < 140, ordered.y, 0)
    table = type(ordered)("ordered", ordered.X, y, time=np.arange(200.0))
    with pytest.raises(InputError, match="are in one class"):
        evaluate(recipe(split="time", time="t", model="naive_bayes", calibrators=("none",)), table)


def test_a_tree_s_nodes_and_the_frequencies_in_them_are_moved(data):
    tree = recipe(model="decision_tree")
    points = {point.key: point for point in grow(tree, data, "tree", 3)}
    point = points["tree", "frequency", 3]
    moved, plain = (grown_tree(tree.replace(base_rate=rate), point).table() for rate in (RATE, None))
    y = data.y[point.fitted.parts[0].test].mean()
    np.testing.assert_allclose(moved["observed"], BaseRate(y, RATE).adjust(plain["observed"]))
    placed = point.fitted.parts[0].placed
    np.testing.assert_allclose(moved["p"], BaseRate(placed.y.mean(), RATE).adjust(plain["p"]))


def test_an_explanation_ends_with_the_move(data):
    fitted = fit(recipe(), data)
    found = calibrate(recipe(), fitted)
    row = widest_row(found)
    predictions = explain(found, fitted, row)
    at = position_of(found, row)
    assert (
        predictions.fits[0].zero.value == predictions.p0 == found.unadjusted.predictions["venn_abers"].p0[at]
    )
    assert predictions.adjusted[1] == tuple(
        getattr(found.predictions["venn_abers"], name)[at] for name in ("p0", "p1", "p")
    )
    record = FIGURES["explained"].prepare(predictions)
    assert record.derivation[-1].startswith("All odds are multiplied by")
    moved = brief(found.predictions["venn_abers"].p[at])
    assert_says(record.title, moved, "deployment base rate")


def test_a_stated_rate_stays_unless_another_class_label_or_table_is_asked_for():
    stated = Recipe(base_rate=RATE)
    for other in ({"seed": 3}, {"positive": "yes"}, {"target": "y"}, {"data": "sample:loans"}):
        assert stated.replace(**other).base_rate == RATE
    for changes in (with_positive("yes"), with_target("y"), with_data("sample:loans")):
        after = stated.replace(**changes)
        assert after.base_rate is None
        assert stated.lost(after, asked=changes.keys() - {"base_rate"}) == {"base_rate": RATE}


def test_a_report_holds_both_places_and_the_python_source_the_rate(moved):
    text = report_html(moved).decode()
    for line in formatted_rates(moved, compare_base_rates(moved)).itertuples(index=False):
        assert f">{line[4]}<" in text
    assert "at 3 %" in text
    assert f"base_rate={RATE}" in text
    assert "stated base rate" not in report_html(moved.unadjusted).decode()


@pytest.mark.parametrize("placement", ["split", "cv"])
def test_a_scikit_learn_classifier_and_what_is_written_of_it_are_moved(data, placement):
    X, y = data.X.to_numpy(), data.y
    made = [
        CalibratedClassifier(GaussianNB(), placement=placement, random_state=0, base_rate=r)
        for r in (None, RATE)
    ]
    plain, moved = (each.fit(X, y) for each in made)
    rate = moved.calibrator_.rate
    np.testing.assert_array_equal(moved.predict_proba(X)[:, 1], rate.adjust(plain.predict_proba(X)[:, 1]))
    np.testing.assert_array_equal(moved.predict_interval(X), rate.adjust(plain.predict_interval(X)))
    saved = read_calibrator(write_calibrator(moved.calibrator_))
    scores = np.random.default_rng(0).random((50, saved.columns)).squeeze()
    said = ENGINES["python"](moved, scores)[:, -1]
    np.testing.assert_allclose(said, saved.predict(scores).p, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="base_rate"):
        CalibratedClassifier(GaussianNB(), base_rate=1.5).fit(X, y)


def test_rows_of_one_class_by_weight_have_no_rate_to_move_from():
    y = np.arange(40) % 2
    weight = np.where(y, 5e-324, 1.0)
    weight[1] = 4.0  # of class 1 the only one that counts; where it does not calibrate, none does
    light = Dataset("light", pd.DataFrame({"a": np.arange(40.0)}), y, weight=weight)
    recipe = Recipe(model="naive_bayes", calibrators=("isotonic",), base_rate=0.2)
    told = set()
    for seed in range(20):
        with pytest.raises(InputError, match="base_rate: .* are in one class") as error:
            evaluate(recipe.replace(seed=seed), light)
        told.add(str(error.value))
    assert any("no base rate to adjust" in message for message in told)
