"""Lanes of differences: the numbers of calib.analysis, each metric on its own scale, chance said to be chance."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.differences import DIFFERENCE_METRICS, Differences, differences, repeat_splits
from calib.calibrators import label_of
from calib.evaluate.estimate import Difference
from calib.figures import DARK, FIGURES, formatted_differences
from tests.figures.evaluations import dataset, evaluation

FIGURE = FIGURES["differences"]


@pytest.fixture(scope="module")
def resampled():
    return differences(evaluation(calibrators=("none", "platt", "venn_abers")))


@pytest.fixture(scope="module")
def repeated():
    recipe = Recipe(model="logistic_regression", calibrators=("none", "platt", "venn_abers"))
    return repeat_splits(recipe, dataset(), repeats=4).differences()


def made(*lines, runs=None) -> Differences:
    found = (
        Difference(metric, key, "ten resamples", None, *ends, unknown=unknown)
        for metric, key, *ends, unknown in lines
    )
    return Differences(tuple(found), "none", "ten resamples", runs)


def panel(metric, found):
    i = list(dict.fromkeys(found.table["metric"])).index(metric)
    return f"x{i + 1}" if i else "x"


@pytest.mark.parametrize("kind", ["resampled", "repeated"])
def test_every_difference_stands_in_its_lane_with_its_interval(kind, request):
    found = request.getfixturevalue(kind)
    figure = FIGURE.draw(FIGURE.prepare(found), DARK)
    for row in found.table.itertuples():
        (mark,) = [
            t
            for t in figure.data
            if (t.xaxis or "x") == panel(row.metric, found) and t.name == label_of(row.calibrator)
        ]
        assert mark.x[0] == pytest.approx(row.value)
        ends = (mark.x[0] - mark.error_x.arrayminus[0], mark.x[0] + mark.error_x.array[0])
        assert ends == pytest.approx((row.lower, row.upper), abs=1e-12)
        low, high = figure.layout[panel(row.metric, found).replace("x", "xaxis")].range
        assert low < min(0, row.lower)
        assert max(0, row.upper) < high
    assert "#0000" not in figure.to_json()


def test_every_split_is_a_dot(repeated):
    figure = FIGURE.draw(FIGURE.prepare(repeated))
    dots = {t.xaxis or "x": [] for t in figure.data}
    for t in figure.data:
        if t.name is None:
            dots[t.xaxis or "x"] += list(t.x)
    for metric in DIFFERENCE_METRICS:
        runs = repeated.runs[repeated.runs["metric"] == metric]["value"]
        np.testing.assert_allclose(sorted(dots[panel(metric, repeated)]), sorted(runs))


def test_an_evaluation_is_resampled_by_itself(resampled):
    record = FIGURE.prepare(evaluation(calibrators=("none", "platt", "venn_abers")))
    pd.testing.assert_frame_equal(record.differences.table, resampled.table)
    assert set(record.to_frame()["kind"]) == {"interval"}


def test_chosen_calibrators_alone_are_shown(resampled):
    assert set(FIGURE.prepare(resampled, ["platt"]).to_frame()["calibrator"]) == {"platt"}


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        ([("platt", -0.2, -0.1), ("venn", -0.2, -0.1)], "Both calibrators clearly lower"),
        (
            [("platt", -0.2, -0.1), ("venn", -0.2, 0.1)],
            "Platt scaling clearly lowers the Brier score of the uncalibrated model; ",
        ),
        (
            [("platt", -0.2, -0.1)],
            "Platt scaling clearly lowers the Brier score of the uncalibrated model",
        ),
        ([("platt", -0.2, 0.1), ("venn", 0.1, 0.2)], "No calibrator clearly lowers"),
        (
            [("platt", 0.0012, 0.0052)],
            "Platt scaling clearly raises the Brier score of the uncalibrated model",
        ),
        ([("platt", 0.1, 0.2), ("venn", 0.1, 0.2)], "Every calibrator clearly raises"),
        ([], "nothing to compare with the uncalibrated model"),
    ],
)
def test_the_title_counts_what_is_more_than_sampling_variability(intervals, words):
    found = made(*[("brier", key, (low + high) / 2, low, high, 0) for key, low, high in intervals])
    record = FIGURE.prepare(found)
    assert words in record.title
    assert len(FIGURE.draw(record).data) == len(intervals)


def test_what_is_infinite_is_written_and_not_drawn():
    runs = pd.DataFrame(
        {"seed": [0, 1], "metric": "log_loss", "calibrator": "isotonic", "value": [np.inf, -0.1]}
    )
    found = made(("log_loss", "isotonic", np.inf, np.nan, np.nan, 1), runs=runs)
    figure = FIGURE.draw(FIGURE.prepare(found))
    name, unknown = (words.text for words in figure.layout.annotations)
    assert name == "<b>Log loss</b>: better to the left"
    assert unknown == "infinite in 1 split"
    assert [t.name for t in figure.data] == [None]
    assert np.isfinite(figure.layout.xaxis.range).all()
    assert formatted_differences(found).loc["Isotonic regression", "Log loss"] == "–"


def test_the_table_marks_what_is_more_than_sampling_variability():
    found = made(("brier", "platt", -0.0155, -0.0209, -0.0099, 0), ("brier", "beta", 0.01, -0.01, 0.03, 0))
    table = formatted_differences(found)
    assert table.loc["Platt scaling", "Brier score"] == "−0.0155 [−0.0209, −0.0099] ●"
    assert table.loc["Beta calibration", "Brier score"] == "+0.0100 [−0.0100, 0.0300]"
