"""One metric per calibrator as marks: each at its value, beside values from elsewhere."""

import numpy as np
import pytest

from calib.export.cards import picture
from calib.figures import DARK, FIGURES
from calib.kernel.checks import InputError
from calib.lessons import LESSONS
from tests.figures.evaluations import evaluation

FIGURE = FIGURES["scores"]


def test_each_mark_is_at_the_mean_squared_error_and_each_level_at_its_value():
    found = evaluation(calibrators=("none", "platt"))
    record = FIGURE.prepare(found, levels={"Before": 0.2})
    by_hand = {key: np.mean((each.p - found.y) ** 2) for key, each in found.predictions.items()}
    drawn = {trace.name: trace.x for trace in FIGURE.draw(record, DARK).data}
    assert drawn["Uncalibrated"][0] == pytest.approx(by_hand["none"])
    assert drawn["Platt scaling"][0] == pytest.approx(by_hand["platt"])
    assert drawn["Before"] == (0.2, 0.2)
    assert record.to_frame()["name"].tolist() == ["Uncalibrated", "Platt scaling", "Before"]
    assert record.title.startswith(
        f"Brier score: {min(('Uncalibrated', 'Platt scaling'), key=lambda name: drawn[name][0])} has"
    )


def test_all_marks_and_levels_are_within_the_axis():
    figure = FIGURE.draw(FIGURE.prepare(evaluation(), levels={"Far": 0.9}))
    low, high = figure.layout.xaxis.range
    assert all(low <= x < high for trace in figure.data for x in trace.x)


def test_a_metric_without_a_finite_value_is_refused():
    found = evaluation(calibrators=("none",))
    certain = type(found).from_predictions(found.y, {"wrong": 1.0 - found.y})
    with pytest.raises(InputError, match="finite"):
        FIGURE.prepare(certain, "log_loss")


def test_a_printed_step_that_asks_about_a_score_draws_it_with_what_it_compares():
    step = LESSONS["not_useful"].steps[2]
    record = picture(step).record
    assert (record.metric, record.levels) == ("ece", step.picture["levels"])
