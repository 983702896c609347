"""The fits behind one answer: refitted here by scikit-learn, with the object added by hand, in every placement."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calib.analysis.explain import calibration_rows, explain, position_of, widest_row, with_moved_rows
from calib.calibrators import merge_pair
from calib.kernel.checks import InputError
from tests.figures.evaluations import evaluation, fitted

PLACED = (
    {},
    {"given": True},
    {"model": "svm"},
    {"placement": "train"},
    {"placement": "cv", "cv": 3},
    {"placement": "oob", "model": "random_forest", "params": (("n_estimators", 20),)},
    {"placement": "oob_whole", "model": "random_forest", "params": (("n_estimators", 20),)},
    {"placement": "full", "model": "decision_tree", "params": (("max_depth", 2),), "n": 80},
    {"evaluation": "folds", "folds": 3},
    {"evaluation": "folds", "folds": 2, "placement": "cv", "cv": 3},
)


def refitted(fit, label):
    """scikit-learn's isotonic fit to the objects of an AddedFit, label by label, at the object's score."""
    scores = np.repeat(fit.scores, fit.counts.astype(int))
    y = np.concatenate(
        [[1] * int(ones) + [0] * int(n - ones) for n, ones in zip(fit.counts, fit.ones, strict=True)]
    )
    assert fit.label == label
    return float(IsotonicRegression().fit(scores, y).predict([fit.score])[0])


@pytest.mark.parametrize("changes", PLACED, ids=str)
def test_the_fits_give_the_prediction_of_every_tenth_row(changes):
    result, made = evaluation(**changes), fitted(**changes)
    predictions = result.predictions["venn_abers"]
    for position in range(0, len(result.y), 10):
        row = int(result.dataset.X.index[result.rows[position]]) + 1
        one = explain(result, made, row)
        assert (one.row, one.position, one.label, one.name) == (
            row,
            position,
            result.y[position],
            result.dataset.classes[result.y[position]],
        )
        assert (one.p0, one.p1, one.p) == tuple(
            array[position] for array in (predictions.p0, predictions.p1, predictions.p)
        )
        pairs = [(fits.zero.value, fits.one.value) for fits in one.fits]
        for fits, pair in zip(one.fits, pairs, strict=True):
            assert pair == pytest.approx((refitted(fits.zero, 0), refitted(fits.one, 1)))
        if len(pairs) == 1:
            assert pairs[0] == pytest.approx((one.p0, one.p1))
            assert one.fits[0].p == pytest.approx(one.p)
        else:
            p0, p1 = np.array(pairs).T
            low, high = np.exp(np.log(1 - p0).mean()), np.exp(np.log(p1).mean())
            assert one.p == pytest.approx(high / (low + high))


@pytest.mark.parametrize("rule", ["log", "square", "midpoint"])
def test_the_merge_rule_is_the_recipes(rule):
    one = explain(evaluation(merge=rule), fitted(merge=rule), widest_row(evaluation(merge=rule)))
    assert one.recipe.merge == rule
    assert one.p == pytest.approx(float(merge_pair(one.p0, one.p1, rule)))


def test_a_pool_holds_the_objects_between_its_ends_and_the_object_itself():
    result, made = evaluation(), fitted()
    (part,) = made.parts
    for row in result.dataset.X.index[result.rows[::15]] + 1:
        one = explain(result, made, row).fits[0]
        for fit in (one.zero, one.one):
            inside = (part.placed.scores >= fit.pool[0]) & (part.placed.scores <= fit.pool[1])
            assert fit.rows == inside.sum() + 1
            assert fit.positives == part.placed.y[inside].sum() + fit.label
            assert fit.counts.sum() == len(part.placed.y) + 1


def test_out_of_bag_leaves_the_reference_object_out():
    changes = {"placement": "oob", "model": "random_forest", "params": (("n_estimators", 20),)}
    result, made = evaluation(**changes), fitted(**changes)
    (part,) = made.parts
    for position in range(0, len(result.y), 9):
        fit = explain(result, made, int(result.dataset.X.index[result.rows[position]]) + 1).fits[0].zero
        removed = int(part.tests.reference[position])
        left = np.delete(part.placed.scores, removed)
        assert fit.counts.sum() == len(left) + 1
        assert fit.scores.tolist() == sorted({*left.tolist(), fit.score})


def test_the_table_has_one_line_a_calibration_set_and_label():
    changes = {"placement": "cv", "cv": 3}
    predicted = evaluation(**changes)
    table = explain(predicted, fitted(**changes), widest_row(predicted)).to_frame()
    assert len(table) == 6
    np.testing.assert_allclose(table["p"], table["of class 1"] / table["rows"])


def test_the_widest_row_is_the_widest():
    result = evaluation()
    width = result.predictions["venn_abers"].width
    assert width[position_of(result, widest_row(result))] == width.max()


def test_rows_that_are_no_test_rows_are_refused_with_the_remedy():
    result, made = evaluation(), fitted()
    trained = int(result.dataset.X.index[made.parts[0].train[0]]) + 1
    for row in (trained, 2, 10**9):
        with pytest.raises(InputError, match=f"Row {row} .*not .*test rows.*Choose"):
            explain(result, made, row)


def test_without_calibration_scores_the_reason_is_the_calibrators():
    with pytest.raises(InputError, match="needs calibration scores"):
        explain(evaluation(placement="none"), fitted(placement="none"), 1)


def test_the_python_of_an_explanation_gives_its_numbers(monkeypatch):
    import plotly.graph_objects as go

    from calib import Recipe
    from calib.evaluate import calibrate, fit
    from calib.export import chart_source
    from calib.sources import load

    recipe = Recipe(
        data="sample:breast_cancer", model="naive_bayes", placement="cv", cv=3, calibrators=("venn_abers",)
    )
    made = fit(recipe, load(recipe))
    evaluation = calibrate(recipe, made)
    one = explain(evaluation, made, widest_row(evaluation))
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    names = {}
    exec(chart_source("explained", one, {"calibration_set": 2}), names)
    assert names["record"].to_frame().equals(one.to_frame())
    assert names["record"].fits[0].score == one.fits[1].score


@pytest.mark.parametrize("changes", [{}, {"placement": "cv", "cv": 3}], ids=str)
def test_rows_moved_by_hand_give_the_isotonic_fits_of_the_moved_set(changes):
    predicted = evaluation(**changes)
    one = explain(predicted, fitted(**changes), widest_row(predicted))
    assert (lambda same: (same.p0, same.p1, same.p))(with_moved_rows(one, "")) == pytest.approx(
        (one.p0, one.p1, one.p)
    )
    rows = calibration_rows(one.fits[0])
    assert rows["rows"].sum() == one.fits[0].zero.counts.sum() - 1
    first, last = rows.iloc[0], rows.iloc[-1]
    score, new = one.fits[0].score, last.score + 1
    text = f"{first.score:.17g}:{first.label:.0f}>{last.score:.17g}:{1 - first.label:.0f} {score:.17g}>{new:.17g}"
    moved = with_moved_rows(one, text)
    rows.loc[0, ["score", "label"]] = last.score, 1 - first.label
    x, y = (
        np.append(np.repeat(rows[name], rows["rows"]), add) for name, add in (("score", new), ("label", 0))
    )
    fits = [IsotonicRegression().fit(x, np.append(y[:-1], label)).predict([new])[0] for label in (0, 1)]
    assert (moved.fits[0].zero.value, moved.fits[0].one.value) == pytest.approx(tuple(fits))
    assert moved.fits[1:] == one.fits[1:]
    with pytest.raises(InputError, match="belong to another row"):
        with_moved_rows(one, "123.5:1>0:0")


def test_the_full_placement_has_no_rows_to_move():
    changes = PLACED[7]
    predicted = evaluation(**changes)
    with pytest.raises(InputError, match="no fixed calibration set"):
        with_moved_rows(explain(predicted, fitted(**changes), widest_row(predicted)), "")
