"""The mark that the start page explains: its numbers are those of its rows."""

import re

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.selection import selected_rows, telling_mark
from calib.data.predictions import prepare_predictions
from tests.figures.evaluations import evaluation


@pytest.mark.parametrize("bins", [5, 10, 20])
@pytest.mark.parametrize("calibrators", [("none", "venn"), ("platt",)])
def test_it_is_the_bin_farthest_from_the_diagonal_in_standard_errors(bins, calibrators):
    result = evaluation(bins=bins, calibrators=calibrators)
    mark, p = telling_mark(result), result.predictions[calibrators[0]].p
    off = []
    for low, high in zip(np.arange(bins) / bins, np.arange(1, bins + 1) / bins, strict=True):
        rows = (p >= low) & ((p < high) | (high == 1))
        n = rows.sum()
        if n >= 10:
            expected = min(max(p[rows].mean(), 1 / n), 1 - 1 / n)
            gap = abs(result.y[rows].mean() - p[rows].mean())
            off.append((gap / np.sqrt(expected * (1 - expected) / n), low, n))
    assert (mark.low, mark.rows) == (pytest.approx(max(off)[1]), max(off)[2])
    rows = selected_rows(result, mark.selection)
    assert (mark.rows, mark.predicted, mark.observed) == pytest.approx(
        (len(rows), p[rows].mean(), result.y[rows].mean())
    )


def test_its_words_hold_its_numbers():
    result = evaluation()
    mark = telling_mark(result)
    rows = selected_rows(result, mark.selection)
    p, y = result.predictions["none"].p[rows], result.y[rows]
    n, predicted, events, observed = re.match(
        r"For these (\d+) rows the model predicted ([\d.]+) ?% on average; (\d+) are in class 'yes' \(([\d.]+) ?%\)\. ",
        mark.sentence,
    ).groups()
    assert (int(n), int(events)) == (len(rows), y.sum())
    assert (float(predicted), float(observed)) == pytest.approx((100 * p.mean(), 100 * y.mean()), rel=0.05)


@pytest.mark.parametrize(
    ("observed", "verdict"),
    [(0.5, "It overestimated."), (0.95, "It underestimated."), (0.85, "Chance alone may explain the gap.")],
)
def test_it_overestimated_only_beyond_what_the_farthest_of_all_bins_does_by_chance(observed, verdict):
    """Ten bins of 1000 calibrated predictions each, but for one."""
    middle = np.arange(0.05, 1, 0.1)
    share = np.where(np.isclose(middle, 0.85), observed, middle)
    y = np.concatenate([np.arange(1000) < round(1000 * each) for each in share]).astype(int)
    frame = pd.DataFrame({"target": y, "p": np.repeat(middle, 1000)})
    recipe = Recipe(
        content="predictions", target="target", positive=1, bins=10, calibrators=("none",), placement="none"
    )
    mark = telling_mark(evaluate(recipe, prepare_predictions(frame, "target", 1, ["p"])))
    assert mark.sentence.endswith(verdict)


def test_what_was_said_never_to_be_is_no_chance():
    """Of 1000 rows with a probability of 0 a few are positive; where it is 0.02, as many are chance."""
    for p, verdict in ((0.0, "It underestimated."), (0.02, "Chance alone may explain the gap.")):
        y = np.r_[np.arange(1000) < 20, np.arange(1000) < 500].astype(int)
        frame = pd.DataFrame({"target": y, "p": np.repeat([p, 0.5], 1000)})
        recipe = Recipe(
            content="predictions", target="target", positive=1, calibrators=("none",), placement="none"
        )
        mark = telling_mark(evaluate(recipe, prepare_predictions(frame, "target", 1, ["p"])))
        assert mark.sentence.endswith(verdict)


@pytest.mark.parametrize(("cluster", "verdict"), [(None, "It underestimated."), ("who", "Chance alone")])
def test_copies_of_a_row_are_no_more_evidence_than_the_row(cluster, verdict):
    """Twelve of twenty where half are promised, forty times each."""
    frame = pd.DataFrame({"target": np.arange(20) < 12, "p": 0.5, "who": np.arange(20)}).astype(
        {"target": int}
    )
    frame = frame.loc[frame.index.repeat(40)].reset_index(drop=True)
    recipe = Recipe(
        content="predictions",
        target="target",
        positive=1,
        cluster=cluster,
        calibrators=("none",),
        placement="none",
    )
    made = prepare_predictions(frame, "target", 1, ["p"], roles={"cluster": cluster})
    assert verdict in telling_mark(evaluate(recipe, made)).sentence


def test_few_rows_have_no_mark_to_be_read():
    assert telling_mark(evaluation(n=30, bins=50)) is None
