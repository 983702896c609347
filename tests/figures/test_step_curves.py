"""The drawn steps are the calibrator's answers at every score; big data are thinned without moving the picture."""

import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.figures.step_curves import MOST_SINGLE_ROWS, MOST_STEPS, draw, prepare, thinned_steps
from calib.kernel.checks import InputError
from tests.figures.evaluations import evaluation
from tests.saying import assert_says


def at(x, y, scores, side):
    """The value of a line that steps at x, taken at scores."""
    return y[np.clip(np.searchsorted(x, scores, side) - 1, 0, len(y) - 1)]


def test_the_line_between_its_steps_is_the_interval():
    result = evaluation()
    record = prepare(result)
    (curve,) = record.curves
    x, p0, p1 = thinned_steps(curve, record.score_range)
    middles = (x[1:] + x[:-1]) / 2
    pairs = result.calibrators["venn_abers"][0].predict_interval(middles)
    np.testing.assert_array_equal(pairs, np.column_stack([p0[:-1], p1[:-1]]))
    tests = result.predictions["venn_abers"]
    np.testing.assert_array_equal(at(x, p0, result.scores, "right"), tests.p0)
    np.testing.assert_array_equal(at(x, p1, result.scores, "left"), tests.p1)


def test_every_calibration_row_and_every_test_row_is_in_its_lane():
    predicted = evaluation()
    lanes = prepare(predicted).lanes
    assert sorted(lanes["ones"]) == sorted(predicted.calibration_scores[predicted.calibration_y == 1])
    assert sorted(lanes["zeros"]) == sorted(predicted.calibration_scores[predicted.calibration_y == 0])
    assert lanes["tests"].tolist() == predicted.scores.tolist()
    traces = {trace.name: trace for trace in draw(prepare(predicted)).data}
    assert traces["calibration, class yes"].marker.symbol != traces["calibration, class no"].marker.symbol


def test_the_numbers_hold_between_the_scores_they_name():
    predicted = evaluation()
    table = prepare(predicted).to_frame()
    calibrator = predicted.calibrators["venn_abers"][0]
    for line in table.itertuples(index=False):
        low, high = line[1], line[2]
        middle = high - 1 if np.isinf(low) else low + 1 if np.isinf(high) else (low + high) / 2
        assert calibrator.predict_interval([middle]).tolist() == [[line.p0, line.p1]]


def test_cross_calibration_has_a_curve_a_fold_and_folds_one_a_fold_of_each():
    assert len(prepare(evaluation(placement="cv", cv=3)).curves) == 3
    assert len(prepare(evaluation(evaluation="folds", folds=2, placement="cv", cv=3)).curves) == 6


def test_the_full_placement_has_no_curves_and_says_why():
    full = evaluation(placement="full", model="decision_tree", params=(("max_depth", 2),), n=80)
    with pytest.raises(InputError, match="no step curves"):
        prepare(full)
    with pytest.raises(InputError, match="calibration scores"):
        prepare(evaluation(placement="none"))


@pytest.mark.parametrize("kind", ["separable", "mixed"])
def test_many_steps_are_thinned_within_a_pixel(kind):
    rng = np.random.default_rng(0)
    scores = rng.random(200_000)
    y = (scores > 0.4) if kind == "separable" else rng.random(200_000) < scores
    curve = VennAbers().fit(scores, y.astype(int)).step_curves()
    assert len(curve.thresholds) > MOST_STEPS
    x, p0, p1 = thinned_steps(curve, (0.0, 1.0))
    assert len(x) < 3100
    whole = np.concatenate([[0.0], curve.thresholds])
    for drawn, values in ((p0, curve.p0), (p1, curve.p1)):
        middles = np.append((whole[1:] + whole[:-1]) / 2, (whole[-1] + 1) / 2)
        exact = values[np.searchsorted(curve.thresholds, middles)]
        assert np.abs(at(x, drawn, middles, "right") - exact).max() <= 1e-3


def test_margins_run_over_all_scores_and_big_data_are_strips():
    margins = evaluation(model="svm")
    low, high = prepare(margins).score_range
    assert low < min(margins.scores.min(), margins.calibration_scores.min()) < 0
    assert high > max(margins.scores.max(), margins.calibration_scores.max())
    big = evaluation(given=True, n=150_000, test_size=0.7)
    record = prepare(big)
    figure = draw(record)
    strips = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(big.calibration_y) > MOST_SINGLE_ROWS
    assert sum(strip.customdata.sum() for strip in strips) == len(big.y) + len(big.calibration_y)
    assert len(figure.to_json()) < 5e5
    assert_says(record.caption, "darker", "more rows")
