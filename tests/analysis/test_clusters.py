"""Rows of one cluster know of each other: four copies of every row, known to be copies, say no more than the row.

So each interval of the copies is that of the rows alone, and not half as wide.
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from calib.analysis.choice import advise
from calib.analysis.decision import decide, mean_intervals
from calib.analysis.differences import differences
from calib.analysis.subgroups import Grouping, judge_groups
from calib.evaluate import Evaluation
from calib.figures import FIGURES
from calib.kernel.records import Predictions
from calib.metrics import bootstrap_interval
from tests.analysis.judged import judged, world

N, COPIES = 240, 4


@pytest.fixture(scope="module")
def alone() -> Evaluation:
    y, _, said, rng = world(0, N, lambda p: p**1.5)
    return judged(y, {"none": said, "platt": np.full(N, 0.5), "beta": rng.random(N)})


@pytest.fixture(scope="module")
def copies(alone) -> Evaluation:
    """Every row four times, in an order of their own; who they are is no running number."""
    whose = np.random.default_rng(1).permutation(np.repeat(np.arange(N), COPIES))
    y = alone.y[whose]
    found = judged(y, {key: each.p[whose] for key, each in alone.predictions.items()})
    return replace(found, dataset=replace(found.dataset, cluster=7 * whose + 3))


def test_differences_costs_and_advice_are_no_surer_of_copies(alone, copies):
    one, four = (differences(each, random_state=2) for each in (alone, copies))
    ends = ["value", "lower", "upper"]
    np.testing.assert_allclose(four.table[ends], one.table[ends], atol=1e-12)
    assert "rows of one cluster together" in four.basis
    assert "cluster" not in one.basis
    np.testing.assert_allclose(advise(copies).table["chance"], advise(alone).table["chance"], rtol=1e-9)
    costs, of_copies = decide(alone).table, decide(copies).table
    for name in ("realised_lower", "difference_upper", "expected_upper"):
        np.testing.assert_allclose(of_copies[name], costs[name], atol=1e-12)


def test_many_rows_have_the_normal_interval_of_their_clusters():
    values = np.random.default_rng(3).normal(size=6000)
    whose = np.repeat(np.arange(6000), COPIES)
    low, high = mean_intervals(values[None, whose], 0, cluster=whose)
    half = 1.959963984540054 * values.std(ddof=1) / np.sqrt(6000)
    np.testing.assert_allclose([low[0], high[0]], values.mean() + np.array([-half, half]), rtol=1e-9)


def test_groups_are_off_as_often_as_the_rows_alone(alone, copies):
    """Of p = ½ the squared error of a row is its variance, so that both ways of judging agree exactly."""
    whose = (copies.dataset.cluster - 3) // 7
    index = (np.arange(N) % 3).astype(np.intp)
    names = ("a", "b", "c")
    one = judge_groups(alone, Grouping(names, index), ["platt"]).table
    four = judge_groups(copies, Grouping(names, index[whose]), ["platt"]).table
    for name in ("observed", "lower", "upper", "z"):
        np.testing.assert_allclose(four[name], one[name], atol=1e-9)
    np.testing.assert_array_equal(four["count"], COPIES * one["count"])


def test_weights_are_drawn_with_their_clusters(alone):
    """A cluster of two rows and one row that counts twice are the same draw."""
    y, p = alone.y, alone.predictions["none"].p
    once, weight = np.arange(N), np.where(np.arange(N) < 100, 2.0, 1.0)
    twice = np.r_[once, np.arange(100)]
    drawn = bootstrap_interval("ece", y, p, random_state=4, sample_weight=weight, cluster=once)
    apart = bootstrap_interval("ece", y[twice], p[twice], random_state=4, cluster=twice)
    assert (drawn.lower, drawn.upper) == pytest.approx((apart.lower, apart.upper), abs=1e-12)


def test_groups_of_no_rows_and_of_one_class_have_an_interval(copies):
    said = {"none": Predictions(np.zeros_like(copies.y), copies.predictions["none"].p)}
    none = replace(copies, y=np.zeros_like(copies.y), predictions=MappingProxyType(said))
    grouping = Grouping(("a", "b"), np.zeros(len(copies.y), dtype=np.intp))
    table = judge_groups(none, grouping).table
    assert table["lower"].iloc[0] == 0
    assert 0 < table["upper"].iloc[0] < 0.1


def test_what_allows_for_clusters_says_so(alone, copies):
    captions = [FIGURES["groups"].prepare(each, group="x").caption for each in (alone, copies)]
    assert ["rows of one cluster" in caption for caption in captions] == [False, True]
