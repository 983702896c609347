"""Lanes of groups: what was observed beside what was predicted, faint where rows are few, ringed where it is off."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.curves import binomial_interval
from calib.analysis.selection import selected_rows
from calib.analysis.subgroups import group_rows
from calib.figures import DARK, FIGURES
from tests.analysis.given import given_evaluation
from tests.figures.evaluations import evaluation
from tests.saying import assert_says

FIGURE = FIGURES["groups"]


def test_observed_and_predicted_are_those_of_pandas():
    e = evaluation(calibrators=("none", "platt"))
    values = e.dataset.X["b"].iloc[e.rows]
    record = FIGURE.prepare(e, values)
    figure = FIGURE.draw(record, DARK)
    index = group_rows(values).index
    observed, *predicted = figure.data
    for key, trace in zip(("none", "platt"), predicted, strict=True):
        groups = pd.DataFrame({"y": e.y, "p": e.predictions[key].p}).groupby(index)
        lower, upper = binomial_interval(groups["y"].sum(), groups.size())
        np.testing.assert_allclose(observed.x, groups["y"].mean())
        np.testing.assert_allclose(trace.x, groups["p"].mean())
        np.testing.assert_allclose(observed.x + observed.error_x.array, upper)
        np.testing.assert_allclose(observed.x - observed.error_x.arrayminus, lower)
    assert "#0000" not in figure.to_json()
    assert len(record.to_frame()) == 2 * len(record.grouping.names)


def test_by_default_the_recipes_group_and_else_the_first_column():
    e = evaluation()
    assert FIGURE.prepare(e).title.startswith("Grouped by a,")
    assert FIGURE.prepare(e, group="b").title.startswith("Grouped by b,")


def test_small_groups_are_faint_and_said():
    y = np.tile([0, 1], 30)
    values = pd.Series(["large"] * 56 + ["small"] * 4, name="size")
    record = FIGURE.prepare(given_evaluation(y, {"none": np.full(60, 0.5)}), values)
    assert_says(record.caption, "1 group", "fewer than 10 rows")
    for trace in FIGURE.draw(record).data:
        assert trace.marker.opacity[1] < 0.5 < trace.marker.opacity[0]


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        ({"none": [0.3, 0.7]}, "no group’s mean prediction is clearly wrong"),
        ({"none": [0.5, 0.5]}, "mean predictions are clearly wrong in 2 of 2 groups"),
        (
            {"none": [0.5, 0.5], "platt": [0.3, 0.7]},
            "Uncalibrated is clearly wrong on average in 2 of 2 groups, Platt scaling in none",
        ),
    ],
)
def test_the_title_counts_the_groups_that_are_off(predicted, words):
    group = np.repeat([0, 1], 500)
    y = np.r_[np.tile([0] * 7 + [1] * 3, 50), np.tile([1] * 7 + [0] * 3, 50)]
    predictions = {key: np.array(p)[group] for key, p in predicted.items()}
    record = FIGURE.prepare(given_evaluation(y, predictions), pd.Series(group, name="g"))
    assert words in record.title
    ringed = [np.array(t.marker.line.width) == 2 for t in FIGURE.draw(record).data[1:]]
    assert [bool(r.all()) for r in ringed] == [p == [0.5, 0.5] for p in predicted.values()]


def test_picked_rows_are_counted_in_their_groups_and_names_are_shown_as_text():
    e = evaluation()
    selection = ("none:0.3:0.7",)
    values = pd.Series(np.where(e.y == 1, "<b>yes</b>", "no"), name="label")
    figure = FIGURE.draw(FIGURE.prepare(e, values, selection=selection))
    rows = selected_rows(e, selection)
    for text in figure.layout.yaxis.ticktext:
        label = 1 if "yes" in text else 0
        assert f"{(e.y == label).sum()} rows, {(e.y[rows] == label).sum()} picked" in text
        assert "<b>" not in text
