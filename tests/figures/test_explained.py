"""An explanation's words hold its numbers, its picture the fits, and neither grows with the data."""

import re

import numpy as np
import pytest

from calib import Recipe
from calib.analysis.explain import Explained, explain, widest_row
from calib.calibrators import VennAbers
from calib.figures import DARK, LIGHT
from calib.figures.explained import NEIGHBOURS, draw, prepare
from tests.figures.evaluations import evaluation, fitted
from tests.saying import assert_any_says, assert_says


def explained(**changes):
    predicted = evaluation(**changes)
    return explain(predicted, fitted(**changes), widest_row(predicted))


def by_hand(scores, y, score, merge="log"):
    one = VennAbers(merge).fit(scores, y).explain(score)
    return Explained(Recipe(merge=merge), 1, 0, 1, "yes", (one,), one.zero.value, one.one.value, one.p)


def test_the_words_of_an_example_done_by_hand():
    words = prepare(by_hand([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1], 0.25)).derivation
    first, *pools, last = words
    assert_says(first, "score 0.25", "5 calibration rows")
    assert_says(
        pools[0], "label 0", "2 calibration rows", "1 with label 1", "from 0.2 to 0.3", "p0 = 1 / 3 = 0.333"
    )
    assert_says(pools[1], "label 1", "from 0.2 to 0.3", "p1 = 2 / 3 = 0.667")
    assert_says(last, "p0 = 0.333", "p1 = 0.667", "p = 0.500")


def test_a_pool_of_its_own_and_a_pool_at_one_score():
    words = prepare(by_hand([1, 2], [0, 1], 3.0)).derivation
    for pool in words[1:3]:
        assert_says(pool, "1 calibration row with label 1", "from 2 to 3")
    alone = prepare(by_hand([1, 2], [0, 0], 3.0)).derivation
    assert_any_says(alone, "label 1", "own pool", "p1 = 1 / 1 = 1.00")
    tied = prepare(by_hand([1, 2, 2], [0, 1, 0], 2.0)).derivation
    assert_says(tied[1], "2 calibration rows", "1 with label 1", "at score 2")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "The model gives the score"),
        ({"placement": "train"}, "the calibrator is fitted on the same rows as the model"),
        ({"placement": "cv", "cv": 3}, "this is fold 1 of 3"),
        (
            {"placement": "oob", "model": "random_forest", "params": (("n_estimators", 20),)},
            "not part of the",
        ),
        (
            {"placement": "full", "model": "decision_tree", "params": (("max_depth", 2),), "n": 80},
            "was refitted",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_words_say_where_the_score_comes_from_and_hold_the_fractions(changes, words):
    one = explained(**changes)
    record = prepare(one)
    assert words in record.derivation[0]
    for fit, sentence in zip(record.fits, record.derivation[1:3], strict=True):
        positives, objects = re.search(r"= ([\d,]+) / ([\d,]+) =", sentence).groups()
        assert (int(positives.replace(",", "")), int(objects.replace(",", ""))) == (fit.positives, fit.rows)
    assert f"Row {one.row} (" in record.title


@pytest.mark.parametrize("rule", ["log", "square", "midpoint"])
def test_the_merge_rule_is_said(rule):
    said = evaluation(merge=rule)
    words = prepare(explain(said, fitted(merge=rule), widest_row(said))).derivation[3]
    assert {"log": "p1 / (1 − p0 + p1)", "square": "p0²/2", "midpoint": "(p0 + p1)/2"}[rule] in words


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_picture_holds_both_fits_near_the_object(theme):
    record = prepare(explained())
    figure = draw(record, theme)
    low, high = record.window
    for fit, place in zip(record.fits, ("y", "y2"), strict=True):
        traces = [trace for trace in figure.data if (trace.yaxis or "y") == place]
        assert (traces[-1].x[0], traces[-1].y[0]) == (fit.score, fit.value)
        # Below the marks of its neighbours, none of which it hides
        assert (traces[0].name, traces[0].x[0], traces[0].y[0]) == ("the row", fit.score, fit.label)
        seen = (fit.scores >= low) & (fit.scores <= high)
        points = [trace for trace in traces if trace.customdata is not None]
        assert sum(trace.customdata.sum() for trace in points) == fit.counts[seen].sum() - 1
        flat = next(trace for trace in traces if trace.line.width == 3)
        for x, y in zip(fit.scores[seen], fit.values[seen], strict=True):
            pieces = flat.x.reshape(-1, 3), flat.y.reshape(-1, 3)
            assert any(a <= x <= b and y == value for (a, b, _), (value, *_) in zip(*pieces, strict=True))
        assert low < fit.pool[0] <= fit.score <= fit.pool[1] < high


def test_every_fold_can_be_shown():
    one = explained(placement="cv", cv=3)
    for number, fits in enumerate(one.fits, 1):
        record = prepare(one, calibration_set=number)
        assert record.fits == (fits.zero, fits.one)
        assert f"fold {number} of 3" in record.derivation[0]


def test_a_pool_of_a_hundred_thousand_rows_is_a_small_picture():
    rng = np.random.default_rng(0)
    record = prepare(by_hand(rng.random(100_000), rng.integers(0, 2, 100_000), 0.5))
    assert len(draw(record).to_json()) < 1e6
    assert record.fits[0].rows > 1000
    small = prepare(by_hand(rng.random(1000), rng.integers(0, 2, 1000), -3.0))
    inside = (small.fits[0].scores >= small.window[0]) & (small.fits[0].scores <= small.window[1])
    assert inside.sum() >= NEIGHBOURS
