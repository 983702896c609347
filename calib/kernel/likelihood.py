"""Fit logistic regression without a penalty, for a few columns, and the weights of a mixture of predictions.

Platt scaling, beta calibration and the calibration line are this fit with different columns and targets. On separable
data, the likelihood has no maximum; the fit then stops when at most 1e-12 nats can be gained, and reports it.

Stacking: weights of several predictions that minimise the log loss of their mixture, with a prior.

Wolpert 1992, "Stacked generalization"; Breiman 1996, "Stacked regressions": weights that are not negative, fitted to
predictions of rows that were held out. The mixture is the weighted mean of log-odds, or of the log-probabilities of K
classes (the logarithmic pool of Genest and Zidek 1986). The prior is a Dirichlet density of the weights: it counts as
much as so many rows, and keeps every weight above 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp, softmax

from calib.kernel.checks import Array
from calib.kernel.rows import row_slices

NATS_LEFT = 1e-12
SEPARATED_LOSS = 1e-9  # nats: every row is predicted with certainty and correctly
LOSS_ROUNDING = 1e-13  # relative rounding error of a sum of losses; a smaller gain cannot be detected
MOST_NEWTON_STEPS = 200
FLAT_CURVATURE = 1e-12  # curvature, as a share of the largest, that a direction without any is given
# Slope per unit of score for scores that differ by less than 1e-300
LARGEST_SLOPE = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Fitted logistic regression, logit p = columns @ slopes + intercept.

    Attributes
    ----------
    slopes : (d,)
    loss
        Weighted sum of log losses.
    bounded
        Whether the likelihood has no maximum; the coefficients are then those at which the search stopped.
    """

    slopes: Array
    intercept: float
    loss: float
    bounded: bool


def log_loss_sum(logits: Array, targets: Array, weights: Array) -> float:
    """Return the weighted sum of the cross-entropy of targets in [0, 1] under logits of any size."""
    return sum(_loss(logits[piece], targets[piece], weights[piece]) for piece in row_slices(len(logits)))


def _loss(logits: Array, targets: Array, weights: Array) -> float:
    # ln(1 + exp(x)) in the form that is fastest in NumPy
    loss = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits)))
    return float(weights @ (loss - targets * logits))


def fit_logistic(columns: Array, targets: Array, weights: Array) -> LogisticFit:
    """Return the maximum likelihood fit for columns (n, d), targets (n,) in [0, 1] and weights (n,).

    A column without variation gets slope 0; of equally likely slopes, the shortest (in standard deviations) is
    returned.
    """
    weights = weights / weights.mean()
    # Shift, then scale: neither overflows, and scores that are large but close together keep their differences.
    middle = columns.min(axis=0) / 2 + columns.max(axis=0) / 2
    # Computed in place, because there may be millions of rows
    design = np.empty((columns.shape[0], columns.shape[1] + 1), order="F")
    unit, design[:, -1] = design[:, :-1], 1
    np.subtract(columns, middle, out=unit)
    reach = np.maximum(unit.max(axis=0), -unit.min(axis=0))
    reach[reach == 0] = 1
    unit /= reach
    centre = weights @ unit / weights.sum()
    unit -= centre
    spread = np.sqrt([np.einsum("i,i,i", weights, column, column) for column in unit.T] / weights.sum())
    constant = spread <= 1e-13
    unit[:, constant] = 0
    spread[constant] = 1
    unit /= spread

    beta, bounded = _newton(design, targets, weights)
    loss = sum(_loss(design[i] @ beta, targets[i], weights[i]) for i in row_slices(len(design)))
    slopes = np.where(constant, 0, beta[:-1] / spread)
    with np.errstate(over="ignore"):
        per_score = np.clip(slopes / reach, -LARGEST_SLOPE, LARGEST_SLOPE)
    intercept = beta[-1] - slopes @ centre - per_score @ middle
    return LogisticFit(per_score, float(intercept), loss, bounded)


def ridge_fit(
    design: Array, targets: Array, weights: Array, penalty: Array, start: Array | None = None
) -> tuple[Array, bool]:
    """Minimise the weighted sum of log losses plus Σ pⱼβⱼ²/2; return β (d,), and whether there is no minimum.

    Parameters
    ----------
    design : (n, d)
        Design matrix; its last column is constant.
    targets : (n,) in [0, 1]
    weights : (n,)
    penalty : (d,)
        Penalties p, not negative.
    start : (d,)
        Initial coefficients.
    """
    return _newton(design, targets, weights, penalty, start)


def ridge_fits(design: Array, targets: Array, weights: Array, penalties: Array) -> Array:
    """Minimise several such sums with one design together, which saves time; return the coefficients (m, d).

    Parameters
    ----------
    design : (n, d)
        Its last column is constant.
    targets, weights : (m, n)
        One line per fit; the targets must differ from 0 and 1 on average.
    penalties : (m, d)

    Examples
    --------
    >>> weights = np.array([[1.0, 3.0], [1.0, 1.0]])
    >>> expit(ridge_fits(np.ones((2, 1)), np.array([[0.0, 1.0], [0.0, 1.0]]), weights, np.zeros((2, 1)))).ravel()
    array([0.75, 0.5 ])
    """
    share = np.average(targets, axis=1, weights=weights)
    beta = np.column_stack([np.zeros_like(penalties[:, 1:]), np.log(share / (1 - share))])

    def objectives(beta: Array) -> Array:
        logits = beta @ design.T
        losses = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits))) - targets * logits
        return np.einsum("mn,mn->m", weights, losses) + (penalties * beta**2).sum(axis=1) / 2

    loss = objectives(beta)
    for _ in range(MOST_NEWTON_STEPS):
        p = expit(beta @ design.T)
        gradient = (weights * (p - targets)) @ design + penalties * beta
        hessian = design.T @ ((weights * p * (1 - p))[:, :, None] * design)
        step = _steps(hessian + penalties[:, :, None] * np.eye(beta.shape[1]), gradient)
        if -(gradient * step).sum(axis=1).min() <= NATS_LEFT:
            return beta + step
        length = np.ones(len(beta))
        while (worse := objectives(beta + length[:, None] * step) > loss + LOSS_ROUNDING * (1 + loss)).any():
            length[worse] /= 2
        beta = beta + length[:, None] * step
        loss = objectives(beta)
    return beta


def _steps(hessians: Array, gradients: Array) -> Array:
    """Return Newton's steps (m, d); a direction without curvature hardly moves."""
    scale = 1 / np.sqrt(np.maximum(np.einsum("mii->mi", hessians), np.finfo(float).tiny))
    systems = hessians * scale[:, :, None] * scale[:, None, :] + FLAT_CURVATURE * np.eye(hessians.shape[1])
    return -scale * np.linalg.solve(systems, (scale * gradients)[:, :, None])[:, :, 0]


def _newton(
    design: Array, targets: Array, weights: Array, penalty: Array | float = 0.0, start: Array | None = None
) -> tuple[Array, bool]:
    """Return the coefficients for a design whose last column is constant, and whether there is no maximum."""
    penalty = np.broadcast_to(penalty, design.shape[1])

    def objective(beta: Array) -> float:
        losses = (_loss(design[i] @ beta, targets[i], weights[i]) for i in row_slices(len(design)))
        return sum(losses) + float(penalty @ beta**2) / 2

    share = np.clip(weights @ targets / weights.sum(), 1e-15, 1 - 1e-15)
    level = np.append(np.zeros(design.shape[1] - 1), np.log(share / (1 - share)))
    beta = level if start is None else start
    loss = objective(beta)
    for _ in range(MOST_NEWTON_STEPS):
        gradient, hessian = penalty * beta, np.diag(penalty)
        for piece in row_slices(len(design)):
            rows, w = design[piece], weights[piece]
            p = expit(rows @ beta)
            gradient = gradient + rows.T @ (w * (p - targets[piece]))
            hessian = hessian + (rows.T * (w * p * (1 - p))) @ rows
        step = _steps(hessian[None], gradient[None])[0]
        gain = -float(gradient @ step)
        if gain <= NATS_LEFT:
            # At a maximum, the last step hardly changes any logit. On separable data, each still changes by about one,
            # unless nothing is left to gain.
            bounded = loss <= SEPARATED_LOSS or any(
                bool(np.abs(design[piece] @ step).max() > 0.01) for piece in row_slices(len(design))
            )
            return (beta if bounded else beta + step), bounded
        length = 1.0
        while (tried := objective(beta + length * step)) > loss + LOSS_ROUNDING * (1 + loss):
            length /= 2
        beta, loss = beta + length * step, tried
    return beta, True


STACKING_FOLDS = 5
PRIOR_ROWS = 1.0  # rows that the prior counts as
LEAST_WEIGHT = 0.01  # candidates with a smaller weight are left out
STACKING_NATS_LEFT = 1e-9
MOST_STACKING_STEPS = 100  # Newton's method needs about ten


def stacking_weights(logits: Array, targets: Array, weights: Array, prior: Array) -> Array:
    """Return weights w (k,), positive with sum 1, that minimise Σ weights · log loss(logits @ w) − Σ prior · ln w.

    Parameters
    ----------
    logits : (n, k)
        Log-odds of each candidate for rows that it was not fitted on.
    targets : (n,) in [0, 1]
    weights : (n,)
    prior : (k,)
        Positive numbers.

    Examples
    --------
    >>> held_out = np.array([[2.0, -2.0], [-2.0, 2.0]])    # the first candidate is right, the second wrong
    >>> few, many = (stacking_weights(held_out, np.array([1, 0]), np.full(2, n), np.ones(2)) for n in (0.5, 500.0))
    >>> few.round(2), many.round(2)
    (array([0.66, 0.34]), array([1., 0.]))
    """

    def derivatives(w: Array) -> tuple[Array, Array]:
        p = expit(logits @ w)
        curvature = (logits.T * (weights * p * (1 - p))) @ logits
        return logits.T @ (weights * (p - targets)), curvature

    return _least(lambda w: log_loss_sum(logits @ w, targets, weights), derivatives, prior)


def joint_stacking_weights(logs: Array, y: Array, weights: Array, prior: Array) -> Array:
    """Return weights w (k,), positive with sum 1, that minimise the same for the K classes of softmax(logs @ w).

    Parameters
    ----------
    logs : (n, K, k)
        Log-probabilities of each candidate for rows that it was not fitted on.
    y : int (n,) in 0 … K − 1
    weights : (n,)
    prior : (k,)
        Positive numbers.

    Examples
    --------
    >>> odds = np.array([[2.0, -2.0], [-2.0, 2.0]])    # of two classes: as above
    >>> logs = np.stack([np.zeros((2, 2)), odds], axis=1)
    >>> joint_stacking_weights(logs, np.array([1, 0]), np.full(2, 0.5), np.ones(2)).round(2)
    array([0.66, 0.34])
    """
    true = np.take_along_axis(logs, y[:, None, None], axis=1)[:, 0]

    def loss(w: Array) -> float:
        return float(weights @ (logsumexp(logs @ w, axis=1) - true @ w))

    def derivatives(w: Array) -> tuple[Array, Array]:
        P = weights[:, None] * softmax(logs @ w, axis=1)
        means = np.einsum("nc,nck->nk", P, logs)  # times the weights
        squares = np.tensordot(logs * P[:, :, None], logs, axes=([0, 1], [0, 1]))
        return (means - weights[:, None] * true).sum(axis=0), squares - (means.T / weights) @ means

    return _least(loss, derivatives, prior)


def in_folds(weights: Array, random: np.random.Generator, whole: bool) -> Array:
    """Return the weight (n, folds) of each entry of equal rows in each random fold.

    Rows of whole weights are divided one by one, so that repeated rows and weighted ones give the same folds.

    >>> in_folds(np.array([7.0, 0.5]), np.random.default_rng(0), whole=False).sum(axis=1)
    array([7. , 0.5])
    """
    each = weights.astype(np.int64) if whole else 1
    draws = random.multinomial(each, np.full(STACKING_FOLDS, 1 / STACKING_FOLDS), size=len(weights))
    return draws * (1.0 if whole else weights[:, None])


def without_small(weights: Array) -> Array:
    """Return weights (k,) that sum to 1 with those below ``LEAST_WEIGHT`` set to 0.

    >>> without_small(np.array([0.005, 0.199, 0.796]))
    array([0. , 0.2, 0.8])
    """
    kept = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    return kept / kept.sum()


def _least(
    loss: Callable[[Array], float], derivatives: Callable[[Array], tuple[Array, Array]], prior: Array
) -> Array:
    """Return the w that minimises loss(w) − Σ prior · ln w, from the gradient and the Hessian of the loss.

    The function is convex, so Newton's method with step halving finds its only minimum.
    """

    def objective(w: Array) -> float:
        return loss(w) - float(prior @ np.log(w))

    w = prior / prior.sum()
    value = objective(w)
    for _ in range(MOST_STACKING_STEPS):
        gradient, hessian = derivatives(w)
        gradient = gradient - prior / w
        step = _step_on_simplex(w, gradient, hessian + np.diag(prior / w**2))
        gain = -float(gradient @ step)
        if gain <= STACKING_NATS_LEFT:
            return w + step
        length = min(1.0, 0.95 / float((-step / w).max(initial=0.95)))  # no weight reaches 0
        while (tried := objective(w + length * step)) > value and length > STACKING_NATS_LEFT:
            length /= 2
        w, value = w + length * step, tried
        w /= w.sum()
    return w


def _step_on_simplex(w: Array, gradient: Array, hessian: Array) -> Array:
    """Return Newton's step (k,) whose entries sum to 0, in units of w, in which the system is well conditioned."""
    k = len(w)
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = hessian * np.outer(w, w)
    system[:k, k] = system[k, :k] = w
    return w * np.linalg.solve(system, np.append(-gradient * w, 0.0))[:k]
