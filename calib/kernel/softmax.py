"""Fit multinomial regression on the logits of K classes: softmax(W z + b), with a ridge penalty towards the identity.

Vector, matrix, Dirichlet and structured scaling are this fit with different penalties; vector scaling has a diagonal
W. Newton's method within a trust region finds the minimum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

from calib.kernel.checks import Array

STEEPNESS = 1e-9
MOST_NEWTON_STEPS = 200
MOST_EXACT = 200  # parameters; with more, the Hessian is applied but never formed
SEPARATED_PER_ROW = 1e-6  # nats per row: the logits separate the classes


@dataclass(frozen=True, eq=False)
class SoftmaxFit:
    """Fitted logits ``W z + b``.

    Attributes
    ----------
    weights : (K, K)
    intercepts : (K,)
    loss
        Mean log loss, without the penalty.
    bounded
        Whether the search stopped before a minimum, for example because the logits separate the classes.
    """

    weights: Array
    intercepts: Array
    loss: float
    bounded: bool


def fit_softmax(
    z: Array,
    y: Array,
    row_weights: Array,
    *,
    diagonal: bool = False,
    penalty: Array | None = None,
    intercept_penalty: float = 0.0,
    start: SoftmaxFit | None = None,
    steepness: float = STEEPNESS,
) -> SoftmaxFit:
    """Minimise the mean log loss plus Σ penalty ∘ (W − I)² + intercept_penalty Σ b².

    A constant added to all logits has no effect. Of all minimisers, the one is returned whose intercepts, and columns
    of W − I if W is not diagonal, sum to 0.

    Parameters
    ----------
    z : (n, K)
    y : int (n,) in 0 … K − 1
    row_weights : (n,)
    diagonal
        Whether W stays diagonal.
    penalty : (K, K)
        Penalties, not negative.
    start
        Initial fit of the same kind; the identity if None.
    steepness
        Norm of the gradient of the mean loss at which the search stops.

    Examples
    --------
    >>> z = np.log([[0.25, 0.25, 0.5]] * 4)
    >>> fit = fit_softmax(z, np.array([0, 0, 1, 2]), np.ones(4), diagonal=True)
    >>> softmax(z * fit.weights.diagonal() + fit.intercepts, axis=1)[0].round(6)    # the frequencies
    array([0.5 , 0.25, 0.25])
    """
    k = z.shape[1]
    ridge = np.column_stack(
        [np.zeros((k, k)) if penalty is None else penalty, np.full(k, float(intercept_penalty))]
    )
    problem = (_Diagonal if diagonal else _Full)(z, y, row_weights / row_weights.sum(), ridge)
    x = np.zeros(problem.shape) if start is None else problem.packed(start)
    found = _minimum(problem, x, steepness)
    change = problem.expanded(found.x)
    loss = problem.loss(found.x)
    steep = np.linalg.norm(problem.gradient(found.x)) > 1e3 * steepness
    return SoftmaxFit(
        np.eye(k) + change[:, :-1], change[:, -1], loss, bool(steep or loss < SEPARATED_PER_ROW)
    )


def _minimum(problem: _Problem, x: Array, steepness: float) -> Any:
    """Return scipy's result. The exact method overflows if curvature is almost zero; the iterative one does not."""
    common = {
        **{"jac": problem.gradient, "callback": problem.separated},
        "options": {"gtol": steepness, "maxiter": MOST_NEWTON_STEPS},
    }
    if x.size <= MOST_EXACT:
        with contextlib.suppress(OverflowError):
            return minimize(
                problem.objective, x.ravel(), method="trust-exact", hess=problem.hessian, **common
            )
    return minimize(problem.objective, x.ravel(), method="trust-ncg", hessp=problem.curvature, **common)


class _Problem:
    """Objective as a function of parameters x (K, q), flattened: each class adds q parameters' terms to its logit.

    Attributes
    ----------
    free : bool (q,)
        Parameters whose common change in all classes has no effect; a penalty keeps their sum at 0.
    quadratic : (K, q, q)
        Matrices of the penalty Σ_k x_k' quadratic_k x_k.
    """

    shape: tuple[int, int]
    free: Array
    quadratic: Array

    def __init__(self, z: Array, y: Array, share: Array) -> None:
        self.z, self.share, self.places = z, share, (np.arange(len(y)), y)
        self.stiff = (1 - 1 / z.shape[1]) / z.shape[1]  # approximate curvature of a parameter
        self.seen: bytes | None = None
        self.lost: tuple[bytes, float] = (b"", 0.0)

    def design(self, k: int) -> Array:
        """Return the design matrix (n, q) of class k's parameters."""
        raise NotImplementedError

    def added(self, x: Array) -> Array:
        """Return the change of the logits by x, (n, K)."""
        raise NotImplementedError

    def gathered(self, residual: Array) -> Array:
        """Return the derivatives by x, (K, q), from those by the logits, (n, K)."""
        raise NotImplementedError

    def expanded(self, x: Array) -> Array:
        """Return [W − I, b], (K, K + 1)."""
        raise NotImplementedError

    def packed(self, fit: SoftmaxFit) -> Array:
        raise NotImplementedError

    def _pull(self, x: Array) -> Array:
        """Return half the derivative of the penalties, (K, q)."""
        x = x.reshape(self.shape)
        return np.einsum("kab,kb->ka", self.quadratic, x) + self.stiff * self.free * x.sum(axis=0)

    def probabilities(self, x: Array) -> Array:
        """Return the softmax at x, (n, K), cached for the many products of a step."""
        if self.seen != x.tobytes():
            self.seen, self.kept = x.tobytes(), softmax(self.z + self.added(x), axis=1)
        return self.kept

    def loss(self, x: Array) -> float:
        """Return the mean log loss at x, cached because the search and ``separated`` ask for it."""
        at = x.tobytes()
        if self.lost[0] != at:
            self.lost = at, float(-self.share @ log_softmax(self.z + self.added(x), axis=1)[self.places])
        return self.lost[1]

    def objective(self, x: Array) -> float:
        return self.loss(x) + float(x @ self._pull(x).ravel())

    def separated(self, x: Array) -> None:
        """Stop the search if nothing is left to gain."""
        if self.loss(x) < SEPARATED_PER_ROW:
            raise StopIteration

    def gradient(self, x: Array) -> Array:
        residual = self.probabilities(x).copy()
        residual[self.places] -= 1
        return (self.gathered(residual * self.share[:, None]) + 2 * self._pull(x)).ravel()

    def curvature(self, x: Array, direction: Array) -> Array:
        p, change = self.probabilities(x), self.added(direction)
        change = self.share[:, None] * p * (change - (p * change).sum(axis=1, keepdims=True))
        return (self.gathered(change) + 2 * self._pull(direction)).ravel()

    def hessian(self, x: Array) -> Array:
        p, (k, q) = self.probabilities(x), self.shape
        found = np.empty((k, q, k, q))
        common = 2 * self.stiff * np.diag(self.free.astype(float))
        designs = [self.design(i) for i in range(k)]
        changes = np.stack([design * -each[:, None] for design, each in zip(designs, p.T, strict=True)])
        for i, design in enumerate(designs):
            weighted = design.T * (self.share * p[:, i])
            blocks = weighted @ changes[i:] + common  # with this class and the later ones
            blocks[0] = weighted @ (design * (1 - p[:, i])[:, None]) + common
            found[i, :, i:], found[i:, :, i] = blocks.transpose(1, 0, 2), blocks.transpose(0, 2, 1)
            found[i, :, i] += 2 * self.quadratic[i]
        return found.reshape(k * q, k * q)


class _Diagonal(_Problem):
    """Problem with diagonal W: x_k holds W_kk − 1 and b_k."""

    def __init__(self, z: Array, y: Array, share: Array, ridge: Array) -> None:
        super().__init__(z, y, share)
        k = z.shape[1]
        self.shape, self.free = (k, 2), np.array([False, not ridge[:, -1].any()])
        self.quadratic = np.stack([np.diag([ridge[i, i], ridge[i, -1]]) for i in range(k)])
        self.ones = np.ones(len(z))

    def design(self, k: int) -> Array:
        return np.column_stack([self.z[:, k], self.ones])

    def added(self, x: Array) -> Array:
        factors, intercepts = x.reshape(self.shape).T
        return self.z * factors + intercepts

    def gathered(self, residual: Array) -> Array:
        return np.column_stack([(residual * self.z).sum(axis=0), residual.sum(axis=0)])

    def expanded(self, x: Array) -> Array:
        factors, intercepts = x.reshape(self.shape).T
        return np.column_stack([np.diag(factors), intercepts])

    def packed(self, fit: SoftmaxFit) -> Array:
        return np.column_stack([fit.weights.diagonal() - 1, fit.intercepts])


class _Full(_Problem):
    """Problem with a full W: x_k R' holds row k of [W − I, b]; R makes curvatures similar, which saves steps."""

    def __init__(self, z: Array, y: Array, share: Array, ridge: Array) -> None:
        super().__init__(z, y, share)
        k = z.shape[1]
        self.shape, self.free = (k, k + 1), np.full(k + 1, not ridge.any())
        ones = np.column_stack([z, np.ones(len(z))])
        typical = ((ones.T * share) @ ones) * self.stiff + np.diag(2 * ridge.mean(axis=0))
        # Linearly dependent logits leave directions without curvature
        typical += 1e-12 * np.trace(typical) * np.eye(k + 1)
        self.scale = solve_triangular(cholesky(typical), np.eye(k + 1)) * np.sqrt(self.stiff)
        self.ones = ones @ self.scale
        self.quadratic = np.stack([(self.scale.T * row) @ self.scale for row in ridge])

    def design(self, k: int) -> Array:
        return self.ones

    def added(self, x: Array) -> Array:
        return self.ones @ x.reshape(self.shape).T

    def gathered(self, residual: Array) -> Array:
        return residual.T @ self.ones

    def expanded(self, x: Array) -> Array:
        return x.reshape(self.shape) @ self.scale.T

    def packed(self, fit: SoftmaxFit) -> Array:
        change = np.column_stack([fit.weights - np.eye(len(fit.weights)), fit.intercepts])
        return solve_triangular(self.scale, change.T).T


COLDEST, HOTTEST = 1e-3, 1e3
LOG_FLOOR = 1e-12  # added to the probabilities of K classes, so that their logarithms stay finite


def best_temperature(slope: Callable[[float], float], level: bool) -> tuple[float, bool]:
    """Return the T in [0.001, 1000] of least log loss (Guo et al. 2017), and whether the search stopped at an end.

    Parameters
    ----------
    slope
        Derivative of the log loss in 1/T, which is increasing.
    level
        Whether all scores of a row are equal, so that every temperature gives the same result.
    """
    low, high = 1 / HOTTEST, 1 / COLDEST
    if level:
        return 1.0, False
    if slope(low) >= 0:
        return HOTTEST, True
    if slope(high) <= 0:
        return COLDEST, True
    return 1 / float(brentq(slope, low, high, xtol=1e-15, rtol=1e-14)), False


def joint_temperature(logits: Array, y: Array, weights: Array) -> tuple[float, bool]:
    """Return the best temperature of logits (n, K) with labels 0 … K − 1, and whether the search stopped at an end."""
    logits = logits - logits.max(axis=1, keepdims=True)  # a constant per row changes nothing
    observed = weights @ logits[np.arange(len(y)), y]

    def slope(inverse: float) -> float:
        """Return the derivative of the log loss in 1/T, which is increasing."""
        return float(weights @ (softmax(inverse * logits, axis=1) * logits).sum(axis=1) - observed)

    return best_temperature(slope, not logits.any())
