"""Graphs of expert metrics hold the metrics' own numbers, and draw them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calib.calibrators import label_of
from calib.export.charts import in_report
from calib.figures import FIGURES, LIGHT
from calib.kernel.records import Predictions
from calib.kernel.wording import briefly
from calib.metrics import METRICS, cumulative_differences, smoothed_residuals
from tests.figures.evaluations import evaluation


def test_the_graph_of_cumulative_differences_is_the_walk_of_every_calibrator():
    result = evaluation()
    record = FIGURES["cumulative"].prepare(result)
    table, figure = record.to_frame(), FIGURES["cumulative"].draw(record, LIGHT)
    lines = {trace.name: trace for trace in figure.data}
    for key, one in result.predictions.items():
        walk = cumulative_differences(one.y, one.p)
        np.testing.assert_array_equal(table[table["calibrator"] == key]["cumulative"], walk.walk[1:])
        np.testing.assert_array_equal(lines[label_of(key)].y, walk.walk)
        refused = METRICS["kuiper_p"].function(one.y, one.p) < 0.05
        assert (label_of(key) in record.title) == refused


def test_the_smooth_diagram_shows_the_smoothed_frequency_where_there_are_predictions():
    result = evaluation()
    record = FIGURES["smooth_calibration"].prepare(result)
    table, figure = record.to_frame(), FIGURES["smooth_calibration"].draw(record, LIGHT)
    errors = {key: METRICS["smooth_ece"].function(one.y, one.p) for key, one in result.predictions.items()}
    low, high = min(errors, key=errors.get), max(errors, key=errors.get)
    least, most = briefly(errors[low], errors[high])
    assert record.title.endswith(f"from {least} ({label_of(low)}) to {most} ({label_of(high)})")
    own_lines = [trace for trace in figure.data if trace.legendgroup]
    for trace, (key, one) in zip(own_lines, result.predictions.items(), strict=True):
        found, own = smoothed_residuals(one.y, one.p), table[table["calibrator"] == key]
        np.testing.assert_allclose(
            own["observed"], np.interp(own["probability"], found.points, found.observed)
        )
        np.testing.assert_array_equal(trace.y, own["observed"])
        assert (own["density"] > 0.05).all()


@pytest.mark.parametrize(
    ("figure", "metric"), [("smooth_calibration", "smooth_ece"), ("cumulative", "kuiper_p")]
)
def test_a_report_holds_them_where_their_metric_is_asked_for(figure, metric):
    predicted = evaluation()
    assert not in_report(FIGURES[figure], predicted)
    recipe = predicted.recipe.replace(**{"reliability.more_metrics": (metric,)})
    assert in_report(FIGURES[figure], predicted.with_view(recipe))


@pytest.mark.parametrize("figure", ["smooth_calibration", "cumulative"])
def test_weighted_rows_are_drawn_as_repeated_rows(figure):
    result = evaluation()
    counts = np.random.default_rng(0).integers(1, 4, len(result.y)).astype(float)
    again = np.repeat(np.arange(len(result.y)), counts.astype(int))
    weighed = {key: replace(one, weight=counts) for key, one in result.predictions.items()}
    rows = {key: Predictions(one.y[again], one.p[again]) for key, one in result.predictions.items()}
    tables = [
        FIGURES[figure].prepare(replace(result, predictions=each)).to_frame() for each in (weighed, rows)
    ]
    pd.testing.assert_frame_equal(*tables)
