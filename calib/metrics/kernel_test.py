"""Kernel test of canonical calibration: whether the whole vector of K probabilities is right (Widmann et al. 2019).

The squared kernel calibration error is SKCE = E k(P, P') (e_Y − P)·(e_Y' − P') of two independent rows, with e_y the
unit vector of class y. It is 0 if P(Y = · | P) = P, and more for every other model, which no error of the confidence or
of single classes promises. Its unbiased estimator is the mean over the pairs of rows (their SKCE_uq). The kernel is
Laplace's, exp(−‖p − p'‖ / ν), with ν the median distance between rows.

Labels are redrawn as if the probabilities were right, y* ~ p, as Bröcker and Smith (2007) do for two classes: with B
redraws, p = (1 + #{redraw ≥ seen}) / (B + 1) is exact whatever the number of rows, because kernel and ν depend on the
probabilities alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.metrics.calibration_test import ALPHA

REDRAWS = 199
MOST_KERNEL_ROWS = 500  # drawn at random of more, because time grows with the square


@dataclass(frozen=True)
class KernelTest:
    """Result of the kernel test.

    Attributes
    ----------
    error
        The unbiased estimate of SKCE; it may be negative.
    p_value
        In (0, 1]: small if the K probabilities are not jointly calibrated.
    rows
        How many were compared.
    """

    error: float
    p_value: float
    rows: int

    @property
    def rejects(self) -> bool:
        """Whether the probabilities are not calibrated, at the level ``ALPHA``."""
        return self.p_value <= ALPHA


def kernel_test(
    y: ArrayLike,
    p: ArrayLike,
    redraws: int = REDRAWS,
    most_rows: int = MOST_KERNEL_ROWS,
    random_state: int = 0,
) -> KernelTest:
    """Test whether all K probabilities are right together.

    Parameters
    ----------
    y : (n,) of 0 … K − 1
    p : (n, K)
    redraws
        B; the smallest p-value is 1 / (B + 1).
    most_rows
        Of more rows, so many are drawn.
    random_state
        Of the draws.

    Raises
    ------
    InputError
        For labels or probabilities that are not, and for fewer than two rows.

    Examples
    --------
    Two rows with the same prediction: k = 1, and (e_0 − p)·(e_1 − p) = 0.5·(−0.5) + (−0.5)·0.5.

    >>> kernel_test([0, 1], [[0.5, 0.5]] * 2).error
    -0.5
    >>> kernel_test([0] * 50, [[0.5, 0.5]] * 50).p_value
    0.005
    """
    labels, P = checks.labelled_rows(y, p)
    checks.in_range(redraws, "redraws", low=1, integer=True)
    checks.in_range(most_rows, "most_rows", low=2, integer=True)
    checks.in_range(len(labels), "the number of rows", low=2, integer=True)
    rng = np.random.default_rng(random_state)
    if len(labels) > most_rows:
        taken = np.sort(rng.choice(len(labels), most_rows, replace=False))
        labels, P = labels[taken], P[taken]
    n, kernel = len(labels), _kernel(P)
    pulled, within = kernel @ P, float((kernel * (P @ P.T)).sum())

    each, ones = np.arange(n), np.ones(n)

    def error(came: Array) -> float:
        """Return the mean of k (e_y − p)·(e_y' − p') over pairs, multiplied out."""
        of_class = (
            csr_array((ones, (came, each)), shape=(P.shape[1], n)) @ kernel
        )  # sums over the rows of a class
        together = float(of_class[came, each].sum())
        return (together - 2 * float(pulled[each, came].sum()) + within) / (n * (n - 1))

    seen, cumulative = error(labels), P.cumsum(axis=1)
    least = seen - 1e-12  # sums in another order are equal
    more = sum(error(_drawn(cumulative, rng)) >= least for _ in range(redraws))
    return KernelTest(seen, (1 + more) / (1 + redraws), n)


def _kernel(P: Array) -> Array:
    """Return k (n, n) of all pairs of rows, 0 for a row with itself."""
    distance = cdist(P, P)
    width = float(np.median(distance[np.triu_indices(len(P), 1)]))
    kernel = np.exp(-distance / width) if width > 0 else (distance == 0).astype(float)
    np.fill_diagonal(kernel, 0.0)
    return kernel


def _drawn(cumulative: Array, rng: np.random.Generator) -> Array:
    """Return one label per row from its cumulative probabilities (n, K)."""
    at = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
    return (at >= cumulative).sum(axis=1)
