"""Logistic regression without a penalty, for a handful of columns: Newton's method with the best step first.

Platt's and beta calibration are this fit with different columns and targets. On separable data the likelihood has no
maximum; the fit then stops where no more than about 1e-12 nats are left to gain, and says that it was stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calib.checks import Array

NATS_LEFT = 1e-12


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """logit p = columns @ slopes + intercept. slopes : (d,) · loss : the log loss, summed · bounded : no maximum"""

    slopes: Array
    intercept: float
    loss: float
    bounded: bool


def log_loss_sum(logits: Array, targets: Array, weights: Array) -> float:
    """The cross-entropy of targets in [0, 1] under the logits, summed with weights; exact for logits of any size."""
    return float(weights @ (np.logaddexp(0, logits) - targets * logits))


def fit_logistic(columns: Array, targets: Array, weights: Array) -> LogisticFit:
    """Maximum likelihood for columns (n, d), targets (n,) in [0, 1] and weights (n,).

    A column without variation gets slope 0; among equally likely slopes, the shortest (in standard deviations).
    """
    total = weights.sum()
    scale = np.abs(columns).max(axis=0, initial=0)
    scale[scale == 0] = 1
    unit = columns / scale
    centre = weights @ unit / total
    unit = unit - centre
    spread = np.sqrt(weights @ unit**2 / total)
    still = spread <= 1e-13
    unit[:, still] = 0
    spread[still] = 1
    design = np.column_stack([unit / spread, np.ones(len(targets))])

    share = np.clip(weights @ targets / total, 1e-15, 1 - 1e-15)
    beta = np.append(np.zeros(columns.shape[1]), np.log(share / (1 - share)))
    logits = design @ beta
    loss = log_loss_sum(logits, targets, weights)
    bounded = False
    for _ in range(200):
        p = expit(logits)
        gradient = design.T @ (weights * (p - targets))
        hessian = (design.T * (weights * p * (1 - p))) @ design
        step = -np.linalg.pinv(hessian, rcond=1e-15, hermitian=True) @ gradient
        gain = -float(gradient @ step)
        move = design @ step
        if gain <= NATS_LEFT:
            # At a maximum the last step hardly moves any logit; on the way to infinity each still moves by about one.
            bounded = bool(np.abs(move).max() > 0.01)
            beta = beta if bounded else beta + step
            break
        length = 1.0
        while length > 1e-10:
            tried = log_loss_sum(logits + length * move, targets, weights)
            if tried <= loss - 1e-4 * length * gain:
                break
            length /= 2
        else:
            break
        beta, logits, loss = beta + length * step, logits + length * move, tried
    slopes = beta[:-1] / spread
    slopes[still] = 0
    intercept = beta[-1] - slopes @ centre
    limit = np.finfo(np.float64).max / 1e8
    return LogisticFit(np.clip(slopes / scale, -limit, limit), float(intercept), loss, bounded)
