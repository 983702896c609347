"""The clipped log loss, a finite number to show beside an infinite one.

A single wrong prediction of exactly 0 or 1 makes the log loss infinite, whatever the other rows show. Probabilities
clipped to 2.2e-16 … 1 − 2.2e-16 (``log_loss_clipped``, scikit-learn's ``log_loss``) give a comparable number.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from calib.evaluate import Evaluation
from calib.evaluate.estimate import PER_NAT


def clipped(evaluation: Evaluation, table: pd.DataFrame) -> pd.DataFrame:
    """Return the clipped value wherever ``table`` is infinite, and NaN elsewhere.

    Parameters
    ----------
    table
        Calibrators by metrics, as ``evaluation.measured`` returns.

    Examples
    --------
    >>> from calib import Recipe, evaluate, sources
    >>> recipe = Recipe(data="sample:breast_cancer", model="decision_tree", calibrators=("none", "platt"))
    >>> made = evaluate(recipe, sources.load(recipe))
    >>> made.measured(["log_loss"]).round(2)
           log_loss
    none        inf
    platt      0.18
    >>> clipped(made, made.measured(["log_loss"])).round(2)
           log_loss
    none       0.88
    platt       NaN
    """
    found = pd.DataFrame(np.nan, table.index, table.columns)
    for name, per_nat in PER_NAT.items():
        if name in table and np.isinf(table[name]).any():
            values = evaluation.measured(["log_loss_clipped"])["log_loss_clipped"]
            found[name] = (values * per_nat).where(np.isinf(table[name]))
    return found


CLIPPED = (
    "∞: at least one prediction of exactly 0 or 1 was wrong. “Clipped” values use predictions limited "
    "to the range from 2.2e−16 to 1 − 2.2e−16."
)


def clipped_sentence(table: pd.DataFrame) -> str:
    """Explain the infinite and clipped values of a table of metrics; empty if all are finite."""
    return CLIPPED if any(np.isinf(table[name]).any() for name in PER_NAT if name in table) else ""


def clipped_change(evaluation: Evaluation, metric: str, key: str, reference: str) -> float:
    """Return the change of a clipped log loss from ``reference`` to ``key``; NaN if both values are finite.

    Examples
    --------
    >>> from calib import Recipe, evaluate, sources
    >>> recipe = Recipe(data="sample:breast_cancer", model="decision_tree", calibrators=("none", "platt"))
    >>> made = evaluate(recipe, sources.load(recipe))
    >>> round(clipped_change(made, "log_loss", "platt", "none"), 2), clipped_change(made, "brier", "platt", "none")
    (-0.7, nan)
    """
    if metric not in PER_NAT or np.isfinite(evaluation.measured([metric])[metric][[key, reference]]).all():
        return math.nan
    values = evaluation.measured(["log_loss_clipped"])["log_loss_clipped"] * PER_NAT[metric]
    return float(values[key] - values[reference])
