"""Quadratic calibration: a logistic fit on the log-odds of the score and on their square.

Berta, Holzmüller, Jordan and Bach 2025 (arXiv 2511.03685), for two classes: ``logit p = a + b ℓ + c ℓ²``. b =
1 with a = c = 0 is the identity; c = 0 is logistic recalibration. The map need not rise everywhere: two
scores may change places.
"""

from __future__ import annotations

from calib.calibrators.log_odds import LogOddsPolynomial


class Quadratic(LogOddsPolynomial):
    """Logistic regression on ℓ = logit s and ℓ², without a penalty, for probabilities; optional weights.

    ``coefficients_`` (3,) are a, b, c.

    >>> scores, y = [0.2, 0.2, 0.5, 0.5, 0.8, 0.8, 0.8], [0, 1, 0, 1, 0, 1, 1]
    >>> Quadratic().fit(scores, y).predict([0.2, 0.5, 0.8]).round(6)    # three distinct scores: the frequencies
    array([0.5     , 0.5     , 0.666667])
    """

    key = "quadratic"
    label = "Quadratic"
    source = "Berta et al. 2025, arXiv 2511.03685"
    complexity = 4.2
    degree = 2
