"""A calibrated tree: the probability and the test rows of every node, and the path of one row.

Johansson, Löfström, Boström (trees, 2019), §3.1: one fixed tree whose leaves carry a label and an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from calib.analysis.depth import DepthFit
from calib.calibrators import interval_methods
from calib.evaluate import fit_calibrator
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import place_of
from calib.kernel.weights import are_whole, or_ones
from calib.models import TreeNode, tree_nodes
from calib.recipe import Recipe


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Nodes of one tree, in the tree's order, with one interval method.

    Attributes
    ----------
    tests, positives : arrays (nodes,)
        Test rows that pass through each node, and those of class 1 among them, by weight if rows have weights.
    leaves : int array (n,)
        The leaf of every row of the data.
    rows
        Numbers of the rows, from 1.
    labels
        Labels y of the rows.
    roles
        "trained", "calibrates" or "test" for each row.
    classes : (negative, positive)
    base_rate
        The change from the base rate of the test rows to that of deployment, if one is stated.
    """

    nodes: tuple[TreeNode, ...]
    method: str
    leaf: str
    deepest: bool
    tests: np.ndarray
    positives: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    roles: np.ndarray
    classes: tuple[str, str]
    base_rate: BaseRate | None = None

    @property
    def depth(self) -> int:
        return max(node.depth for node in self.nodes)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The two children of each node, "≤" before ">"; none for a leaf."""
        below: list[tuple[int, ...]] = [()] * len(self.nodes)
        for node in self.nodes[1:]:
            below[node.parent] += (node.number,)
        return tuple(below)

    @cached_property
    def leaves_below(self) -> np.ndarray:
        """Return the number of leaves below each node, 1 for a leaf; int array (nodes,)."""
        count = np.array([int(node.leaf) for node in self.nodes])
        for node in reversed(self.nodes[1:]):
            count[node.parent] += count[node.number]
        return count

    def path_to(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the nodes from the root to this node, inclusive."""
        way = [number]
        while (parent := self.nodes[way[-1]].parent) >= 0:
            way.append(parent)
        return tuple(reversed(way))

    def position(self, row: int) -> int:
        """Return a row's position in the data by its number; refuse numbers that do not exist."""
        return place_of(
            row, self.rows, f"the {len(self.rows):,} rows of the data. This row may have been excluded"
        )

    def path_of(self, row: int) -> tuple[int, ...]:
        """Return the nodes on a row's path, by its number, from the root to its leaf."""
        return self.path_to(int(self.leaves[self.position(row)]))

    def table(self, numbers: tuple[int, ...] | None = None) -> pd.DataFrame:
        """Return one line per node, by default the leaves in order of p, with its prediction and its test rows."""
        chosen = (
            [self.nodes[i] for i in numbers] if numbers is not None else [n for n in self.nodes if n.leaf]
        )
        tests = np.array([self.tests[node.number] for node in chosen])
        positives = np.array([self.positives[node.number] for node in chosen])
        with np.errstate(invalid="ignore"):
            observed = positives / tests
        if self.base_rate is not None:
            observed = self.base_rate.adjust(observed)
        table = pd.DataFrame(
            {
                "node": [node.number for node in chosen],
                "depth": [node.depth for node in chosen],
                "rule": [node.rule for node in chosen],
                "n": [node.n for node in chosen],
                "label": [self.classes[int(node.label)] for node in chosen],
                "score": [node.score for node in chosen],
                "p0": [node.p0 for node in chosen],
                "p1": [node.p1 for node in chosen],
                "p": [node.p for node in chosen],
                "test rows": tests,
                "observed": observed,
            }
        )
        if numbers is not None:
            return table
        return table.sort_values(["p", "score", "n"], kind="stable", ignore_index=True)


def grown_tree(recipe: Recipe, point: DepthFit, *, method: str = "venn_abers") -> GrownTree:
    """Return the tree of the growth "tree" at a depth, calibrated by an interval method with the Recipe's merge rule.

    Raises
    ------
    InputError
        If the method cannot answer.
    """
    checks.one_of(method, interval_methods(), "method")
    data, (part,) = point.fitted.dataset, point.fitted.parts
    prepare, tree = part.placed.model[0], part.placed.model[-1]
    calibrator = fit_calibrator(recipe, method, part.placed)
    nodes = tree_nodes(tree, calibrator, say=prepare.wording())
    leaves = tree.apply(prepare.transform(data.X))
    roles = np.full(data.n, "trained", dtype=object)
    roles[part.train[part.placed.index]] = "calibrates"
    roles[part.test] = "test"
    y, weight = data.y[part.test], or_ones(part.weight, len(part.test))
    return GrownTree(
        nodes,
        method,
        point.leaf,
        point.deepest,
        _rows_below(nodes, leaves[part.test], weight),
        _rows_below(nodes, leaves[part.test], weight * y),
        leaves,
        data.row_numbers,
        data.y,
        roles,
        data.classes,
        None
        if recipe.base_rate is None
        else BaseRate(float(np.average(y, weights=weight)), recipe.base_rate),
    )


def _rows_below(nodes: tuple[TreeNode, ...], leaves: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return how many rows of these weights pass through each node, by the leaves that they reach."""
    rows = np.bincount(leaves, weights, minlength=len(nodes))
    if are_whole(rows):
        rows = rows.astype(np.intp)
    for node in reversed(nodes[1:]):  # children have larger numbers than their parents
        rows[node.parent] += rows[node.number]
    return rows
