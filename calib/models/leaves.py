"""Estimate a probability from the rows in a tree node: relative frequency, Laplace, m-estimate, curtailment.

With n rows in a leaf, n_1 of class 1: ``n_1/n``, ``(n_1 + 1)/(n + 2)``, and in general ``(n_1 + m·prior)/(n + m)``
(Johansson, Löfström, Boström 2019, eq. 2.2–2.3; Laplace is m = 2, prior = ½, and for K classes m = K, prior = 1/K).
Curtailment (Zadrozny and Elkan 2001) climbs from a leaf to the first ancestor with at least v rows and uses that node
instead.

In a tree of a forest, the rows are those of its bootstrap sample, counted as often as they were drawn. With sample or
class weights, n is a sum of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel import checks

#: Key → label
LEAVES = {"frequency": "Frequency", "laplace": "Laplace", "m": "m-estimate"}


def check_leaf(leaf: Any, curtail: Any, m: Any, prior: Any) -> None:
    """Refuse leaf settings out of range, by name."""
    checks.one_of(leaf, LEAVES, "leaf")
    checks.in_range(curtail, "curtail", 0, integer=True)
    checks.in_range(m, "m", 0)
    if prior is not None:
        checks.in_range(prior, "prior", 0, 1)


def node_counts(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (n_1, n) of every node of a fitted ``tree_``, float arrays (nodes,); for K > 2 classes n_k, (nodes, K).

    ``tree_.value`` holds fractions since scikit-learn 1.3. If rows are counted, products that are whole numbers up to
    rounding are rounded, so that scores which are equal in exact arithmetic stay equal. Sums of weights are not exact;
    there n_1 is only kept from exceeding n.
    """
    n, shares = tree.weighted_n_node_samples, tree.value[:, 0]
    if shares.shape[1] > 2:
        return _class_counts(shares, n[:, None]), n
    return _class_counts(shares[:, 1], n), n


def _class_counts(shares: np.ndarray, n: np.ndarray) -> np.ndarray:
    ones = np.minimum(shares * n, n)
    whole = np.rint(ones)
    return np.where((n == np.rint(n)) & (np.abs(ones - whole) <= 1e-9 * n), whole, ones)


def parents(tree: Any) -> np.ndarray:
    """Return the number of every node's parent, −1 for the root; int array (nodes,)."""
    parent = np.full(tree.node_count, -1, dtype=np.intp)
    inner = np.flatnonzero(tree.children_left >= 0)
    parent[tree.children_left[inner]] = inner
    parent[tree.children_right[inner]] = inner
    return parent


def curtailed(tree: Any, v: int, start: np.ndarray | None = None) -> np.ndarray:
    """Return for every node the first of itself and its ancestors with at least v rows; itself if there is none.

    Parameters
    ----------
    start
        Result for a smaller v, from which to continue (int array (nodes,)).
    """
    n = tree.weighted_n_node_samples
    nodes = np.arange(tree.node_count)
    if n[0] < v:
        return nodes
    parent = parents(tree)
    target = nodes.copy() if start is None else start.copy()
    while (small := np.flatnonzero(n[target] < v)).size:
        target[small] = parent[target[small]]
    return target


def node_probabilities(
    tree: Any, leaf: str = "frequency", curtail: int = 0, m: float = 2.0, prior: float | None = None
) -> np.ndarray:
    """Return the probability of class 1 for rows that end in each node of a fitted ``tree_``, float array (nodes,).

    For K > 2 classes, return that of each class, (nodes, K).

    Parameters
    ----------
    prior
        Prior of class 1 in the m-estimate; None takes the share of class 1 (or of each class) in the training rows.
    """
    ones, n = node_counts(tree)
    if ones.ndim == 2:
        n = n[:, None]
        if prior is not None:
            raise checks.InputError("prior applies only to two classes. Omit it.")
    if leaf == "frequency":
        p = ones / n
    elif leaf == "laplace":
        p = (ones + 1) / (n + (2 if ones.ndim == 1 else ones.shape[1]))
    else:
        p = (ones + m * (ones[0] / n[0] if prior is None else prior)) / (n + m)
    return p if curtail <= 1 else p[curtailed(tree, curtail)]
