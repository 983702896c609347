"""The searches of groups are those of their definition, and the adjusted p-value is that of the audit."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from calib.analysis.audit import audit
from calib.experiments.fair_on_average import (
    VALUES,
    _searched,
    adjusted,
    by_cell,
    cells,
    deviations,
    fair_on_average,
    groups,
)


def drawn(rows=900, seed=0):
    rng = np.random.default_rng(seed)
    values, p = rng.integers(0, VALUES, (rows, 4)), rng.uniform(0.3, 0.7, rows)
    return values, p, (rng.random(rows) < p).astype(int)


def test_groups_are_all_values_and_their_conjunctions():
    values, _, _ = drawn()
    members = groups(values, 3)
    assert len(members) == 16 + 6 * 16 + 4 * 64
    found = {tuple(np.flatnonzero(row)) for row in members}
    for size in (1, 2, 3):
        for chosen in combinations(range(4), size):
            for wanted in product(range(VALUES), repeat=size):
                rows = [
                    all(row[c] == v for c, v in zip(chosen, wanted, strict=True)) for row in values.tolist()
                ]
                assert tuple(np.flatnonzero(rows)) in found


def test_a_deviation_is_the_z_of_its_rows():
    values, p, y = drawn()
    z = deviations(groups(values, 2), (y - p)[:, None], p * (1 - p))[:, 0]
    mine = (values[:, 0] == 1) & (values[:, 2] == 3)
    assert z[16 + 16 + 4 + 3] == pytest.approx(
        abs((y - p)[mine].sum()) / np.sqrt((p * (1 - p))[mine].sum()), rel=1e-4
    )
    few = deviations(groups(values[:30], 2), (y - p)[:30, None], (p * (1 - p))[:30])
    assert (few[16:] == 0).all(), "groups of a few rows are not tested"


def test_the_worst_group_and_its_p_value_are_those_of_the_audit():
    """The audit looks at more than the average and corrects for skewness, so p-values agree roughly."""
    values, p, y = drawn(4000, seed=3)
    rng = np.random.default_rng(0)
    hidden = (values[:, 0] == 2) & (values[:, 1] == 1)
    y[hidden] = rng.random(hidden.sum()) < p[hidden] + 0.25
    members = groups(values, 2)
    draws = rng.random((4000, 200)) < p[:, None]
    z = deviations(members, (y - p)[:, None], p * (1 - p))[:, 0]
    again = deviations(members, draws - p[:, None], p * (1 - p))
    found = audit(y, p, pd.DataFrame(values.astype(str), columns=list("abcd")), resamples=199)
    worst = np.flatnonzero(members[np.argmax(z)])
    np.testing.assert_array_equal(np.flatnonzero(found.members(0)), worst)
    assert found.segments.loc[0, "statistic"] == pytest.approx(z.max(), rel=0.15)
    assert adjusted(again.max(axis=0), z.max()) <= 0.01
    assert found.p_value <= 0.01
    assert found.threshold == pytest.approx(np.quantile(again.max(axis=0), 0.95), rel=0.15)


def test_an_adjusted_p_value_counts_the_redraws_that_reach_it():
    assert adjusted(np.array([1.0, 2.0, 3.0, 4.0]), 3.0) == 3 / 5
    assert adjusted(np.array([1.0]), 9.0) == 1 / 2


def test_the_audit_keeps_its_level_and_testing_alone_does_not():
    """Of 300 calibrated tables; 5 % give 15 ± 3.8."""
    alarms = np.array(
        [
            [found["naive"], found["audit"]]
            for seed in range(300)
            for _, found in _searched(np.random.default_rng([seed, 1]), 400, 1, 0.0, 2, (16,))
        ]
    )
    naive, share = alarms.mean(axis=0)
    assert 0.02 <= share <= 0.09
    assert naive == pytest.approx(1 - (1 - 2 * norm.sf(1.96)) ** 16, abs=0.1), "as of 16 independent tests"


def test_right_on_average_and_wrong_for_the_hidden_group():
    found = fair_on_average({"depth": 2, "shift": 0.3, "conditions": 1, "tables": 30})
    assert found.size == 0.25
    assert found.found["audit"][-1] == 1
    assert (found.found["naive"] + found.astray["naive"] <= 1).all()


def test_sums_of_cells_deviate_as_those_of_rows():
    """256 cells hold what the search needs of the rows."""
    values, p, y = drawn(900, seed=5)
    every, variance = (y - p)[:, None], p * (1 - p)
    of_rows = deviations(groups(values, 2), every, variance)
    of_cells = deviations(cells(2), by_cell(values, every), by_cell(values, variance[:, None])[:, 0])
    np.testing.assert_allclose(of_cells, of_rows, rtol=1e-4, atol=1e-5)
