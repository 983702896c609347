"""The regret of one probability for two: the rising and the falling regret meet at the minimax rule.

Vovk and Petej (2014), section 4, eq. 10 (log loss) and 11 (square loss).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import MERGE_RULES, merge_pair
from calib.kernel.checks import Array
from calib.kernel.progress import Watch

GRID = 401


@dataclass(frozen=True, eq=False)
class Regrets:
    """Regrets of p for both losses, if the label is 0 (against p0) and if it is 1 (against p1), (g,).

    Attributes
    ----------
    rules
        Merge rule → its p.
    """

    p0: float
    p1: float
    p: Array
    against_p0: dict[str, Array]
    against_p1: dict[str, Array]
    rules: dict[str, float]

    def worst(self, loss: str, p: float) -> float:
        """Return the larger of the two regrets at p."""
        return float(
            max(_loss(loss, p, 0) - _loss(loss, self.p0, 0), _loss(loss, p, 1) - _loss(loss, self.p1, 1))
        )


def _loss(loss: str, p: Array | float, y: int) -> Array:
    p = np.asarray(p, dtype=float)
    with np.errstate(divide="ignore"):
        return (p - y) ** 2 if loss == "square" else -np.log(p if y else 1 - p)


def regret_curves(settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None) -> Regrets:
    """Compute regret curves over p in [0, 1] and the p of every merge rule; nothing is random.

    Parameters
    ----------
    settings
        p0 (below 1) and p1 (above 0).

    Examples
    --------
    >>> found = regret_curves({"p0": 0.0, "p1": 0.5})
    >>> {rule: round(p, 4) for rule, p in found.rules.items()}
    {'log': 0.3333, 'square': 0.375, 'midpoint': 0.25}
    >>> round(found.worst("log", 1 / 3), 4), round(found.worst("log", 0.25), 4)    # ln 1.5 and ln 2
    (0.4055, 0.6931)
    """
    p0, p1 = settings["p0"], settings["p1"]
    p = np.linspace(0, 1, GRID)
    return Regrets(
        p0,
        p1,
        p,
        {loss: _loss(loss, p, 0) - _loss(loss, p0, 0) for loss in ("log", "square")},
        {loss: _loss(loss, p, 1) - _loss(loss, p1, 1) for loss in ("log", "square")},
        {rule: float(merge_pair(p0, p1, rule)) for rule in MERGE_RULES},
    )
