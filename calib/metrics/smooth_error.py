"""Smooth calibration error: the residuals p − y smoothed along p, with a kernel as wide as the error itself.

Błasiok and Nakkiran 2024, "Smooth ECE: principled reliability diagrams via kernel smoothing". With r̂_σ(t) the mean of
(p_i − y_i) K_σ(t, p_i), K a Gaussian kernel reflected at 0 and 1, smECE_σ = ∫ |r̂_σ(t)| dt decreases with σ, and the
error is the σ at which both are equal. Unlike the binned error it has no parameter, and changes little if predictions
change little.

The authors' package relplot (1.0.3) differs by up to 0.003: it omits the outermost nodes of its grid from the
reflection, so predictions within 0.001 of 0 or 1 lose half of their mass. Here every prediction keeps its mass, as
with the paper's kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct
from scipy.optimize import brentq

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.weights import or_ones
from calib.metrics.base import Metric

NODES_OF_KERNEL = 8193
NARROWEST_KERNEL = 1e-3  # a kernel of 8 nodes; a smaller error cannot be distinguished from 0


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed residuals and predictions at points of [0, 1], for the diagram.

    Attributes
    ----------
    error, width
        smECE and σ, which are equal unless the error is below the narrowest kernel.
    points : (m,)
    residual : (m,) r̂
    density : (m,)
        Density of the predictions.
    """

    error: float
    width: float
    points: Array
    residual: Array
    density: Array

    @property
    def observed(self) -> Array:
        """Smoothed frequency (m,) of class 1 at the points, in [0, 1]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.clip(self.points - self.residual / self.density, 0, 1)


def smoothed_residuals(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> Smoothed:
    """Compute the smoothed residuals at the kernel width that equals their mean absolute value.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> found = smoothed_residuals([0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25])
    >>> round(found.width, 4), round(float(np.abs(found.residual).mean()), 3)
    (0.25, 0.25)
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    weights = or_ones(weights, len(p))
    shares = weights / weights.sum()
    residuals, mass = (dct(_on_nodes(p, values), type=1) for values in (shares * (p - y), shares))

    def error(width: float) -> float:
        return float(np.abs(_convolved(residuals, width)) @ _trapezoid(NODES_OF_KERNEL))

    width = (
        NARROWEST_KERNEL
        if error(NARROWEST_KERNEL) <= NARROWEST_KERNEL
        else float(brentq(lambda s: error(s) - s, NARROWEST_KERNEL, 1.0))
    )
    points = np.linspace(0, 1, NODES_OF_KERNEL)
    return Smoothed(error(width), width, points, _convolved(residuals, width), _convolved(mass, width))


def smooth_calibration_error(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the smECE, in [0, 1]; 0 is best.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> smooth_calibration_error([1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25])      # right on average, at one place
    0.0
    >>> round(smooth_calibration_error([0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]), 4)
    0.25
    """
    error = smoothed_residuals(y, p, sample_weight).error
    return error if error > 1e-12 else 0.0


def _on_nodes(p: Array, values: Array) -> Array:
    """Distribute values (n,) at p to the two nearest nodes each, as a density over [0, 1]."""
    place = p * (NODES_OF_KERNEL - 1)
    left = np.minimum(place.astype(np.intp), NODES_OF_KERNEL - 2)
    share = place - left
    sums = np.bincount(left, values * (1 - share), NODES_OF_KERNEL) + np.bincount(
        left + 1, values * share, NODES_OF_KERNEL
    )
    return sums / _trapezoid(NODES_OF_KERNEL)


def smoother(k: int, width: float) -> Array:
    """Return the map (k, k) from the mass at k nodes over [0, 1] to the smoothed mass around each of them.

    >>> smoother(5, 0.1).sum(axis=1).round(9)                                 # no mass is lost at the ends
    array([1., 1., 1., 1., 1.])
    """
    around = _trapezoid(k)
    return _convolved(dct(np.diag(1 / around), type=1), width) * around


def _convolved(cosines: Array, width: float) -> Array:
    """Convolve (…, k) with a Gaussian reflected at both ends: multiply each cosine coefficient by a factor."""
    return idct(cosines * np.exp(-((np.pi * width * np.arange(cosines.shape[-1])) ** 2) / 2), type=1)


def _trapezoid(k: int) -> Array:
    """Return the weights (k,) of the trapezoidal rule over [0, 1]."""
    weights = np.full(k, 1 / (k - 1))
    weights[[0, -1]] /= 2
    return weights


SMOOTH_ERROR = Metric(
    "smooth_ece",
    "Smooth calibration error",
    smooth_calibration_error,
    False,
    "Mean absolute difference between smoothed predictions and outcomes, without bins. The width of the "
    "kernel equals the resulting error.",
    everyday=False,
)
