"""Decisions among classes: against a search over all decisions, and the two-class page's arithmetic."""

import numpy as np
import pytest

from calib import Recipe, evaluate
from calib.analysis.class_decision import UNDECIDED, decide_class, least_cost, read_costs, write_costs
from calib.analysis.decision import decide
from calib.figures import FIGURES, formatted_costs
from calib.kernel.checks import InputError
from tests.test_joint_recipe import DATA, WHOLE

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("reject", [None, 0.3])
def test_no_other_decision_is_expected_to_cost_less(reject):
    P, costs = RNG.dirichlet([1, 1, 1, 1], 50), RNG.uniform(0, 9, (4, 4))
    decided, least = least_cost(P, costs, reject)
    for row, j, cost in zip(P, decided, least, strict=True):
        each = [sum(row[i] * costs[i, k] for i in range(4)) for k in range(4)]
        own = reject if j == UNDECIDED else each[j]
        assert cost == pytest.approx(own)
        assert own <= min([*each, *([reject] if reject is not None else [])]) + 1e-12


def test_costs_of_the_test_rows_row_by_row():
    stated = ("0>2=5", "1>0=0.5")
    found = decide_class(WHOLE, stated, reject=0.2)
    costs = read_costs(stated, DATA.names)
    assert write_costs(costs) == stated
    for key, P in WHOLE.whole.distributions.items():
        realised, expected, undecided = [], [], 0
        for row, y in zip(P, WHOLE.whole.y, strict=True):
            each = row @ costs
            if each.min() > 0.2:
                undecided += 1
                realised.append(0.2)
                expected.append(0.2)
            else:
                realised.append(costs[y, each.argmin()])
                expected.append(each.min())
        line = found.table.loc[key]
        assert line.realised == pytest.approx(np.mean(realised))
        assert line.expected == pytest.approx(np.mean(expected))
        assert line.undecided == pytest.approx(undecided / len(P))
        assert np.isnan(line.realised_lower) or line.realised_lower <= line.realised <= line.realised_upper
    best = min((np.mean(costs[WHOLE.whole.y, j]), name) for j, name in enumerate(DATA.names))
    assert found.constant == pytest.approx((best[1], best[0])) or found.constant[0] == best[1]


def test_of_one_class_the_matrix_gives_the_costs_of_two():
    """A false alarm costs 1, a miss 4: for decisions between "class 2" and "not" both pages say the same."""
    view = WHOLE.of(2)
    two = decide(view, cost_false_alarm=1, cost_miss=4).table.realised
    for key, P in WHOLE.whole.distributions.items():
        pairs = np.column_stack([1 - P[:, 2], P[:, 2]])
        decided, _ = least_cost(pairs, np.array([[0.0, 1.0], [4.0, 0.0]]))
        cost = np.where(view.y == 1, 4.0 * (decided == 0), 1.0 * (decided == 1)).mean()
        assert two[key] == pytest.approx(cost)


@pytest.mark.parametrize("text", ["0>1", "a>b=1", "0>1=-2", "0>1=x", "0>9=2", "0.5>1=2"])
def test_what_is_no_cost_is_refused_by_name(text):
    with pytest.raises(InputError, match="costs"):
        decide_class(WHOLE, Recipe(settings={"decide.costs": (text,)}).setting("decide.costs"))


def test_two_classes_are_refused_and_the_picture_holds_the_table():
    with pytest.raises(InputError, match="three or more classes"):
        decide_class(evaluate(Recipe(model="naive_bayes", positive="b"), _two()))
    found = decide_class(WHOLE)
    record = FIGURES["class_costs"].prepare(found)
    assert record.to_frame()["calibrator"].tolist() == [*WHOLE.predictions, f"always {found.constant[0]}"]
    assert FIGURES["class_costs"].draw(record).data
    assert formatted_costs(found).shape[0] == len(WHOLE.predictions)


def _two():
    from calib.kernel.records import Dataset

    return Dataset("two", RNG.normal(size=(60, 2)), np.arange(60) % 2, classes=("a", "b"))
