"""The grouping loss of an Evaluation: that of its arrays by each partition, refused by name where it is not known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, check, evaluate, load_sample
from calib.analysis.grouping import PARTITIONS, grouping_loss
from calib.analysis.grouping_losses import finding, gain_of, gain_sentence, grouping_losses
from calib.kernel.checks import InputError
from calib.kernel.wording import number
from calib.sources import load


def rows(n=2000, gap=0.3):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=n), "k": rng.choice(list("ab"), n)})
    p = rng.uniform(0.3, 0.7, n)
    return (rng.random(n) < p + gap * ((table["k"] == "a") - 0.5)).astype(int), p, table


def test_each_partition_has_the_numbers_of_its_arrays():
    y, p, table = rows()
    found = grouping_losses(check(y, p, features=table), "none")
    assert [each.partition for each in found.losses] == list(PARTITIONS)
    for each in found.losses:
        own = grouping_loss(y, p, table, partition=each.partition)
        assert (each.lower, each.interval, each.p_value) == (own.lower, own.interval, own.p_value)
    assert found.brier == pytest.approx(np.mean((y - p) ** 2))
    assert found.best.interval[0] == max(each.interval[0] for each in found.losses)
    assert number(found.best.lower) in gain_of(found.best)


def test_without_a_gap_nothing_is_said_to_be_gained():
    y, p, table = rows(gap=0.0)
    assert "No grouping loss" in gain_sentence(check(y, p, features=table), "none")


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"sample_weight": np.linspace(0.5, 1, 2000)}, "Weight or count"),
        ({"cluster": np.arange(2000) // 4}, "Cluster"),
    ],
)
def test_weights_and_clusters_are_refused_with_the_remedy(changes, remedy):
    y, p, table = rows()
    evaluation = check(y, p, features=table, **changes)
    with pytest.raises(InputError, match=remedy):
        grouping_losses(evaluation, "none")
    assert gain_sentence(evaluation, "none") == ""


def test_a_significant_loss_of_uncertain_size_is_not_called_none():
    """The interval of the bound can include 0 although the test finds a loss."""
    recipe = Recipe(data="sample:hidden_group", content="predictions", calibrators=("none",))
    found = grouping_losses(evaluate(recipe, load(recipe)), "none")
    assert min(each.p_value for each in found.losses) < found.level == pytest.approx(0.05 / len(found.losses))
    uncertain = replace(
        found, losses=tuple(replace(each, interval=(0.0, each.interval[1])) for each in found.losses)
    )
    told = finding(uncertain)
    assert number(min(each.p_value for each in found.losses)) in told
    assert "No grouping loss" not in told
    y, p, table = rows(gap=0.0)
    assert "No grouping loss" in finding(grouping_losses(check(y, p, features=table), "none"))


def test_few_rows_and_a_base_rate_are_refused():
    y, p, table = rows(60)
    with pytest.raises(InputError, match=r"at least 100 test rows.*\b60\b"):
        grouping_losses(check(y, p, features=table), "none")
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",), base_rate=0.5)
    with pytest.raises(InputError, match="Remove the deployment base rate"):
        grouping_losses(evaluate(recipe, load_sample("loans")), "none")


def test_the_bound_of_the_hidden_group_is_below_its_grouping_loss():
    """True grouping loss: 0.15² · s/(1 − s) for a group of share s = 0.05, which is 0.0012."""
    recipe = Recipe(data="sample:hidden_group", content="predictions", calibrators=("none",))
    found = grouping_losses(evaluate(recipe, load(recipe)), "none")
    assert all(each.interval[0] <= 0.15**2 * 0.05 / 0.95 for each in found.losses)
