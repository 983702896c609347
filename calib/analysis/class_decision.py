"""Decisions among three or more classes: the class of least expected cost, and its cost (Elkan 2001; Chow 1970).

With P(class i) = p_i and the cost c_ij of deciding for class j when class i occurs, the expected cost of deciding for j
is Σ_i p_i c_ij. The decision is the j of least expected cost; with a cost of leaving a row undecided, rows whose least
expected cost is higher stay undecided (Chow's rule).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.analysis.decision import Costed, with_costs
from calib.analysis.differences import reference_of
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.metrics.losses import mean

UNDECIDED = -1
FROM, COST = ">", "="
HIGHEST_COST = 1e9


@dataclass(frozen=True, eq=False)
class ClassDecision(Costed):
    """Decisions among classes.

    Attributes
    ----------
    costs : (K, K)
        Row: the class that occurs; column: the class decided for.
    reject
        The cost of leaving a row undecided, or None.
    decided
        Calibrator → int (m,), the class decided for, −1 for an undecided row.
    table
        Its further columns are undecided (share) and correct (share of the decided rows).
    constant
        (class, realised cost) of always deciding for the class that is cheapest on these test rows.
    """

    costs: np.ndarray
    reject: float | None
    decided: Mapping[str, np.ndarray]
    constant: tuple[str, float]


def read_costs(stated: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Return the cost matrix (K, K): 1 for a mistake and 0 for a correct decision, except where costs are stated.

    Parameters
    ----------
    stated
        Texts "i>j=cost": deciding for class j, by its number, when class i occurs.

    Raises
    ------
    InputError
        For another form, an unknown class, or a cost outside 0 … 10⁹.

    Examples
    --------
    >>> read_costs(["0>2=5"], ["dog", "cat", "owl"])
    array([[0., 1., 5.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    costs = 1.0 - np.eye(len(names))
    for text in stated:
        i, j, cost = check_cost(text, "costs")
        if max(i, j) >= len(names):
            raise InputError(f"costs: {text!r} names class {max(i, j)}, but there are {len(names)} classes.")
        costs[i, j] = cost
    return costs


def write_costs(costs: np.ndarray) -> tuple[str, ...]:
    """Return the texts of a cost matrix that ``read_costs`` reads.

    >>> write_costs(np.array([[0, 1, 5], [1, 0, 1], [1, 1, 0]]))
    ('0>2=5',)
    """
    usual = 1.0 - np.eye(len(costs))
    return tuple(f"{i}{FROM}{j}{COST}{costs[i, j]:g}" for i, j in np.argwhere(costs != usual))


def check_cost(text: str, name: str) -> tuple[int, int, float]:
    """Return (i, j, cost) of a text "i>j=cost"; refuse any other."""
    which, _, cost = str(text).partition(COST)
    i, _, j = which.partition(FROM)
    try:
        return int(i), int(j), float(checks.in_range(float(cost), name, 0, HIGHEST_COST))
    except ValueError:
        raise InputError(
            f"{name}: {checks.short_repr(text)} is not a cost. Write I>J=COST, such as 0>2=5, with a cost from 0 to "
            f"{HIGHEST_COST:g}."
        ) from None


def check_cost_text(text: str, name: str) -> str:
    """Return a text "i>j=cost" unchanged; refuse any other."""
    check_cost(text, name)
    return text


def decide_class(
    evaluation: Evaluation, costs: Sequence[str] = (), reject: float | None = None
) -> ClassDecision:
    """Decide for the class of least expected cost, by every calibrator's probabilities.

    Intervals come from ``calib.metrics.confidence_intervals.mean_interval`` over the test rows.

    Parameters
    ----------
    evaluation
        An Evaluation of three or more classes.
    costs
        As for ``read_costs``.
    reject
        The cost of leaving a row undecided, at least 0; None decides every row.

    Raises
    ------
    InputError
        For two classes, or for costs that cannot be read.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from calib import Recipe, evaluate
    >>> from calib.kernel.records import Dataset
    >>> X, y = load_iris(return_X_y=True)
    >>> data = Dataset("iris", X, y == 0, labels=y, names=("setosa", "versicolor", "virginica"))
    >>> found = decide_class(evaluate(Recipe(model="naive_bayes", calibrators=("none", "isotonic")), data))
    >>> bool(np.isclose(found.table.realised["none"], 1 - found.table.correct["none"]))    # each mistake costs 1
    True
    """
    whole = evaluation.whole
    if whole is None:
        raise InputError("These costs apply only to three or more classes.")
    matrix = read_costs(costs, whole.names)
    if reject is not None:
        checks.in_range(reject, "reject", 0)
    keys = list(whole.predictions)
    reference, weight = reference_of(keys), evaluation.weight
    answers = {key: least_cost(P, matrix, reject) for key, P in whole.distributions.items()}
    decided = {key: decision for key, (decision, _) in answers.items()}
    table = pd.DataFrame(
        {key: _shares(whole.y, decision, weight) for key, decision in decided.items()},
        index=["undecided", "correct"],
    ).T.rename_axis("calibrator")
    expected = [promised for _, promised in answers.values()]
    realised = [realised_class_costs(whole.y, decision, matrix, reject) for decision in decided.values()]
    always = np.array([mean(matrix[whole.y, j], weight) for j in range(len(matrix))])
    return ClassDecision(
        evaluation,
        with_costs(table, evaluation, expected, realised, reference),
        reference,
        matrix,
        reject,
        decided,
        (whole.names[int(always.argmin())], float(always.min())),
    )


def least_cost(
    P: np.ndarray, costs: np.ndarray, reject: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the decision of least expected cost, int (m,), −1 for undecided, and that cost (m,).

    >>> least_cost(np.array([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]), 1 - np.eye(3), reject=0.4)
    (array([-1,  0]), array([0.4, 0.1]))
    """
    expected = P @ costs
    decided, least = expected.argmin(axis=1), expected.min(axis=1)
    if reject is None:
        return decided, least
    return np.where(least > reject, UNDECIDED, decided), np.minimum(least, reject)


def realised_class_costs(
    y: np.ndarray, decided: np.ndarray, costs: np.ndarray, reject: float | None
) -> np.ndarray:
    """Return the realised cost of each decision, (m,)."""
    cost = costs[y, decided]
    return cost if reject is None else np.where(decided == UNDECIDED, reject, cost)


def _shares(y: np.ndarray, decided: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """Return the share of undecided rows, and that of correct decisions among the decided; NaN if there are none."""
    there = decided != UNDECIDED
    right = (decided == y)[there].astype(float)
    among = None if weight is None else weight[there]
    return mean((~there).astype(float), weight), mean(right, among) if there.any() else np.nan
