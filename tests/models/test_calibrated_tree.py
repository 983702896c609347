"""The readable tree against the tree itself: rules that hold, counts that count, the calibrator's intervals."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from calib.calibrators import Platt, VennAbers
from calib.kernel.checks import InputError
from calib.models import ProbabilityTree, tree_nodes

X, Y = make_classification(300, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
TREE = ProbabilityTree(max_depth=4, leaf="laplace", random_state=0).fit(X[:200], Y[:200])
VA = VennAbers().fit(TREE.predict_proba(X[200:])[:, 1], Y[200:])


def leaf_table(*args, **options):
    """The leaves by rising score, one row each under its node's number."""
    leaves = sorted((node for node in tree_nodes(*args, **options) if node.leaf), key=lambda node: node.score)
    table = pd.DataFrame([vars(node) for node in leaves]).set_index("number")
    return table.astype({"p0": float, "p1": float})


def holds(rule, row):
    """Whether a rule such as "0.1 < x0 ≤ 2 and x1 > 3" is true of a row, by Python's own comparison."""
    if rule == "every row":
        return True
    return eval(rule.replace("≤", "<="), {f"x{i}": value for i, value in enumerate(row)})


def test_every_row_satisfies_the_rule_of_its_leaf_and_no_other():
    table, leaves = leaf_table(TREE), TREE.apply(X)
    for row, leaf in zip(X[:100], leaves[:100], strict=True):
        assert [number for number, rule in table["rule"].items() if holds(rule, row)] == [leaf]


def test_n_counts_the_training_rows_and_all_leaves_hold_all():
    table, leaves = leaf_table(TREE), TREE.apply(X[:200])
    assert table["n"].to_dict() == {leaf: int((leaves == leaf).sum()) for leaf in table.index}
    assert table["n"].sum() == 200


def test_a_leaf_says_what_the_calibrated_tree_predicts():
    table, leaves = leaf_table(TREE, VA), TREE.apply(X)
    scores = TREE.predict_proba(X)[:, 1]
    assert np.array_equal(table.loc[leaves, ["p0", "p1"]].to_numpy(), VA.predict_interval(scores))
    assert np.array_equal(table.loc[leaves, "p"].to_numpy(), VA.predict(scores))
    assert np.array_equal(table.loc[leaves, "label"].to_numpy(), (VA.predict(scores) > 0.5).astype(int))
    assert np.array_equal(leaf_table(TREE).loc[leaves, "label"].to_numpy(), TREE.predict(X))
    assert table["score"].is_monotonic_increasing


def test_nodes_are_linked_and_each_condition_is_its_side_of_the_split():
    nodes = tree_nodes(TREE, VA)
    assert [node.number for node in nodes] == list(range(TREE.tree_.node_count))
    assert (nodes[0].parent, nodes[0].depth, nodes[0].condition, nodes[0].rule) == (-1, 0, "", "every row")
    assert max(node.depth for node in nodes) == TREE.get_depth()
    for node in nodes:
        children = [child for child in nodes if child.parent == node.number]
        assert len(children) == (0 if node.leaf else 2)
        if children:
            assert sum(child.n for child in children) == node.n
            assert {child.depth for child in children} == {node.depth + 1}
            left, right = children
            assert left.condition.replace("≤", ">") == right.condition
            assert re.fullmatch(r"x\d ≤ -?[\d.e-]+", left.condition)


def test_without_an_interval_there_is_no_pair():
    scores = TREE.predict_proba(X[200:])[:, 1]
    platt = leaf_table(TREE, Platt().fit(scores, Y[200:]))
    assert platt[["p0", "p1"]].isna().all(axis=None)
    bare = leaf_table(TREE)
    assert np.array_equal(bare["p"], bare["score"])


def test_feature_names_come_from_the_data_or_the_caller():
    frame = pd.DataFrame(X[:200], columns=["age", "dose", "size", "stage"])
    named = ProbabilityTree(max_depth=2, random_state=0).fit(frame, Y[:200])
    assert all(re.search("age|dose|size|stage", rule) for rule in leaf_table(named)["rule"])
    assert tree_nodes(TREE, feature_names=list("abcd"))[1].condition[0] == "abcd"[TREE.tree_.feature[0]]
    with pytest.raises(InputError, match=r"feature_names must .*\b4 features.*\b2\b"):
        leaf_table(TREE, feature_names=["a", "b"])


def test_a_single_leaf_is_every_object():
    stump = ProbabilityTree(min_samples_leaf=200).fit(X[:200], Y[:200])
    assert leaf_table(stump)["rule"].tolist() == ["every row"]
