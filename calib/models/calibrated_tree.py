"""Calibrated trees: fixed, readable models in which every leaf has a rule, a label and an interval.

All rows in a leaf share one score, so an inductive calibrator gives the leaf one p0, one p1 and one p (Johansson,
Löfström, Boström 2019, §3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calib.kernel.checks import InputError
from calib.models.leaves import parents
from calib.models.probability_tree import ProbabilityTree

Wording = Callable[[int, float, float], str]


@dataclass(frozen=True)
class TreeNode:
    """Node of a tree, with everything that its drawing shows.

    Attributes
    ----------
    number, parent
        Numbers in the tree's own numbering; the root is 0 with parent −1.
    depth
        Depth; 0 for the root.
    condition
        Condition that leads here from the parent ("" for the root).
    rule
        All conditions from the root, shortened.
    n
        Number of training rows.
    label
        Class that p predicts.
    score
        The tree's own probability of class 1.
    p0, p1, p
        Pair and probability of the calibrator at this score; None if it gives none.
    """

    number: int
    parent: int
    depth: int
    leaf: bool
    condition: str
    rule: str
    n: int
    label: Any
    score: float
    p0: float | None
    p1: float | None
    p: float | None


def tree_nodes(
    tree: ProbabilityTree,
    calibrator: Any = None,
    feature_names: Sequence[str] | None = None,
    say: Wording | None = None,
) -> tuple[TreeNode, ...]:
    """Return every node of a fitted tree with its calibrated probability, in the tree's own order.

    Parameters
    ----------
    calibrator
        Calibrator fitted on scores of this tree; without one, p is the tree's own score.
    feature_names
        Names (d,) for the rules; by default those seen in ``fit``, or x0, x1, ….
    say
        Function (feature number, low, high) → text of the rule low < feature ≤ high, instead of names and numbers.
    """
    check_is_fitted(tree)
    grown, score = tree.tree_, tree.node_probability_
    say = say or _numbers(_names(tree, feature_names))
    p = score if calibrator is None else calibrator.predict(score)
    pair = calibrator.predict_interval(score) if getattr(calibrator, "gives_interval", False) else None
    parent = parents(grown)
    conditions: list[str] = []
    bounds: list[dict[int, tuple[float, float]]] = []  # feature → (above, up to) along the path, by node
    depths: list[int] = []
    # Class weights change counts, and single rows do not know these weights
    rows = grown.n_node_samples if tree.class_weight else grown.weighted_n_node_samples.round()
    nodes = []
    for i, above in enumerate(parent.tolist()):
        if above < 0:
            conditions.append("")
            bounds.append({})
            depths.append(0)
        else:
            feature, threshold = int(grown.feature[above]), float(grown.threshold[above])
            left = grown.children_left[above] == i
            low, high = bounds[above].get(feature, (-np.inf, np.inf))
            # a split is inside the bounds of its ancestors
            now = (low, threshold) if left else (threshold, high)
            conditions.append(say(feature, *((-np.inf, threshold) if left else (threshold, np.inf))))
            bounds.append({**bounds[above], feature: now})
            depths.append(depths[above] + 1)
        nodes.append(
            TreeNode(
                number=i,
                parent=above,
                depth=depths[i],
                leaf=bool(grown.children_left[i] < 0),
                condition=conditions[i],
                rule=" and ".join(say(f, *ends) for f, ends in bounds[i].items()) or "every row",
                n=int(rows[i]),
                label=tree.classes_[int(p[i] > 0.5)],
                score=float(score[i]),
                p0=None if pair is None else float(pair[i, 0]),
                p1=None if pair is None else float(pair[i, 1]),
                p=float(p[i]),
            )
        )
    return tuple(nodes)


def _names(tree: ProbabilityTree, given: Sequence[str] | None) -> list[str]:
    if given is None:
        return list(getattr(tree, "feature_names_in_", [f"x{i}" for i in range(tree.n_features_in_)]))
    if len(given) != tree.n_features_in_:
        raise InputError(f"feature_names must name {tree.n_features_in_} features, but has {len(given)}.")
    return list(given)


def _numbers(names: Sequence[str]) -> Wording:
    def say(feature: int, low: float, high: float) -> str:
        name = names[feature]
        if np.isinf(low):
            return f"{name} ≤ {high:.6g}"
        if np.isinf(high):
            return f"{name} > {low:.6g}"
        return f"{low:.6g} < {name} ≤ {high:.6g}"

    return say
