"""Counterexample: simplified Venn–Abers prediction is not valid for a score that only recognises training objects.

Vovk and Petej (2014), proposition 2: X is symmetric about 0, P(Y = 1 | X < 0) = 1/3, P(Y = 1 | X > 0) = 2/3, so P(Y =
1) = 1/2. The score is 0 or 1 on training objects, by their sign, and 2 on every other object. A new object then scores
above every calibration score, and its interval is about [2/3, 1].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.records import Dataset
from calib.synthetic.base import Array, SyntheticEntry, rows_setting


class SignExample:
    """Distribution with X ~ N(0, 1), in which the label agrees with the sign of X with probability 2/3.

    >>> SignExample().posterior([[-1.0], [0.5]]).round(4)
    array([0.3333, 0.6667])
    """

    def posterior(self, X: Any) -> Array:
        """Return 1/3 if x < 0, else 2/3, shape (n,)."""
        return np.where(checks.matrix(X, "X", columns=1)[:, 0] < 0, 1 / 3, 2 / 3)

    def sample(self, n: int, random_state: Any) -> Dataset:
        """Draw n independent rows with their posterior; unlike in other sets, class counts are random."""
        checks.in_range(n, "n", low=1, integer=True)
        rng = np.random.default_rng(random_state)
        X = rng.standard_normal((n, 1))
        posterior = self.posterior(X)
        return Dataset("Sign example", X, (rng.random(n) < posterior).astype(np.intp), posterior=posterior)


ENTRY = SyntheticEntry(
    key="sign",
    label="Sign example",
    build=lambda rng: SignExample(),
    parameters=(rows_setting(1000),),
    help="The sign of the only feature agrees with the label in two of three rows. Simplified Venn–Abers is "
    "not valid on these data.",
)
