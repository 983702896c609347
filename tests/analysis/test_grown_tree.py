"""The tree as it is drawn: nodes counted by hand, ways walked by hand, rules that hold for the rows they name."""

import re

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, load_sample
from calib.analysis.depth import grow
from calib.analysis.grown_tree import grown_tree
from calib.calibrators import VennAbers
from calib.data import prepare
from calib.evaluate import split
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.models import class_one_score

RECIPE = Recipe(merge="midpoint")
RNG = np.random.default_rng(4)
N = 400
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, N).astype(float),
        "sex": pd.Categorical(RNG.choice(["f", "m"], N)),
        "town": pd.Categorical(RNG.choice(["A", "B", "C"], N)),
        "dose": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "smokes": RNG.random(N) < 0.4,
    },
    index=RNG.permutation(1000)[:N],  # rows of a file of which some were left out
)
Y = (
    RNG.random(N) < 0.15 + 0.3 * (TABLE["sex"] == "m") + 0.4 * TABLE["dose"].isna() * (TABLE["age"] > 50)
).astype(int)
DATA = Dataset("made", TABLE, Y.to_numpy(), classes=("well", "ill"))


@pytest.fixture(scope="module", params=["frequency", "laplace"])
def point(request):
    return next(p for p in grow(RECIPE, DATA, "tree", 4) if p.leaf == request.param)


@pytest.fixture(scope="module")
def tree(point):
    return grown_tree(RECIPE, point)


def walk(point, row):
    """The numbers of the nodes that one row passes, by comparing its own numbers with the thresholds."""
    model = point.fitted.parts[0].placed.model
    values = model[0].transform(DATA.X.iloc[[row]])[0].astype(np.float32)
    grown, node, way = model[-1].tree_, 0, [0]
    while grown.children_left[node] >= 0:
        below = (
            grown.children_left
            if values[grown.feature[node]] <= grown.threshold[node]
            else grown.children_right
        )
        node = int(below[node])
        way.append(node)
    return tuple(way)


def test_every_rows_way_is_the_one_walked_by_hand(point, tree):
    for position, row in enumerate(DATA.X.index[:120]):
        assert tree.path_of(int(row) + 1) == walk(point, position)


def test_training_and_test_rows_are_counted_in_every_node_they_pass(point, tree):
    (part,) = point.fitted.parts
    ways = [set(walk(point, position)) for position in range(DATA.n)]
    trained = sorted(set(part.train) - set(part.train[part.placed.index]))
    for node in tree.nodes:
        here = [position for position in range(DATA.n) if node.number in ways[position]]
        assert node.n == len(set(here) & set(trained))
        assert tree.tests[node.number] == len(set(here) & set(part.test))
        assert tree.positives[node.number] == DATA.y[sorted(set(here) & set(part.test))].sum()


def test_roles_are_those_of_the_split(tree):
    ((train, test),) = split(RECIPE, DATA)
    assert set(np.flatnonzero(tree.roles == "test")) == set(test)
    assert set(np.flatnonzero(tree.roles != "test")) == set(train)
    assert (tree.roles == "calibrates").sum() == pytest.approx(len(train) / 3, abs=1)


def says(condition, row):
    """Whether one condition of a rule is true of a row of the table, by the words alone."""
    if match := re.fullmatch(r"(\w+) is (known|missing|true|false)", condition):
        value = row[match[1]]
        meant = {"known": not pd.isna(value), "missing": pd.isna(value), "true": value, "false": not value}
        return bool(meant[match[2]])
    if match := re.fullmatch(r"(\w+) ([=≠]) (\w+)", condition):
        return (row[match[1]] == match[3]) == (match[2] == "=")
    low, name, sign, end = re.fullmatch(
        r"(?:(\S+) < )?(\w+) (≤|>) (\S+)", condition.replace("−", "-")
    ).groups()
    inside = row[name] <= float(end) if sign == "≤" else row[name] > float(end)
    return inside and (low is None or float(low) < row[name])


def test_rules_hold_for_the_rows_that_end_there_and_for_no_other(tree):
    rules = {node.number: node.rule.split(" and ") for node in tree.nodes if node.leaf}
    words = {condition for rule in rules.values() for condition in rule}
    assert any("sex" in word for word in words)
    for position in range(100):
        row = DATA.X.iloc[position]
        conditions = words
        # a gap counts as the median: what is said of its size cannot be read off the row
        if pd.isna(row["dose"]):
            conditions = {word for word in words if not re.search(r"dose (≤|>)", word)}
        true = [n for n, rule in rules.items() if all(says(c, row) for c in rule if c in conditions)]
        assert tree.leaves[position] in true
        if conditions == words:
            assert true == [tree.leaves[position]]


def test_nodes_say_what_the_calibrator_says_of_their_score(point, tree):
    (part,) = point.fitted.parts
    held_out = DATA.X.iloc[part.train[part.placed.index]]
    scores = class_one_score(part.placed.model, held_out)
    method = VennAbers(merge="midpoint").fit(scores, DATA.y[part.train[part.placed.index]])
    own = np.array([node.score for node in tree.nodes])
    pair = method.predict_interval(own)
    assert np.array_equal(pair, [[node.p0, node.p1] for node in tree.nodes])
    assert np.allclose(pair.mean(axis=1), [node.p for node in tree.nodes], atol=1e-15)
    assert [node.label for node in tree.nodes] == [int(node.p > 0.5) for node in tree.nodes]


def test_children_and_leaves_below_fit_together(tree):
    for node in tree.nodes:
        assert tree.children[node.number] == tuple(n.number for n in tree.nodes if n.parent == node.number)
        below = [n for n in tree.nodes if n.leaf and node.number in tree.path_to(n.number)]
        assert tree.leaves_below[node.number] == len(below)


def test_the_table_is_the_leaves_by_rising_p_with_what_came_of_them(tree):
    table = tree.table()
    assert sorted(table["node"]) == [node.number for node in tree.nodes if node.leaf]
    assert table["p"].is_monotonic_increasing
    assert table["n"].sum() == tree.nodes[0].n
    assert table["test rows"].sum() == tree.tests[0] == (tree.roles == "test").sum()
    weighted = (table["observed"].fillna(0) * table["test rows"]).sum()
    assert weighted == pytest.approx(tree.positives[0]) == DATA.y[tree.roles == "test"].sum()
    assert set(table["label"]) <= {"well", "ill"}
    assert tree.table((0, 1))["node"].tolist() == [0, 1]


def test_a_row_that_is_not_there_is_refused_by_its_number(tree):
    missing = next(i for i in range(1, 2000) if i - 1 not in set(DATA.X.index))
    with pytest.raises(InputError, match=f"Row {missing} .*not .*400 rows"):
        tree.path_of(missing)


def test_words_of_a_real_table_are_its_columns():
    data = load_sample("loans")
    tree = grown_tree(Recipe(), grow(Recipe(), data, "tree", 3)[0], method="venn")
    columns = "|".join(map(re.escape, data.X.columns))
    assert all(re.search(columns, node.condition) for node in tree.nodes[1:])
    assert tree.method == "venn"


def test_a_weighted_rows_tree_says_of_its_leaves_what_the_repeated_rows_say():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"x": rng.normal(size=600).round(1), "part": np.repeat([0, 1, 2], 200)})
    table["n"] = rng.integers(1, 5, 600)
    table["target"] = (rng.random(600) < 1 / (1 + np.exp(-table["x"]))).astype(int)
    table["part"] = table["part"].map(dict(enumerate(("train", "calibrate", "test"))))
    recipe = Recipe(part="part", split="file", weight="n", base_rate=0.2)
    repeated = table.loc[table.index.repeat(table["n"])].assign(n=1)
    one, other = (
        grown_tree(
            recipe, grow(recipe, prepare(each, "target", roles={"part": "part", "weight": "n"}), "tree", 3)[0]
        )
        for each in (table, repeated)
    )
    pd.testing.assert_frame_equal(one.table(), other.table(), rtol=1e-9)
