"""Gaussian pairs from identical to separate classes in equal steps, to show how calibration depends on overlap.

Shaker and Hüllermeier (2025), appendix C.3.1: both classes start with one mean, U(0, 1)^d, and one covariance. Then a
constant is added to every element of class 1's mean, step by step, until the Bhattacharyya distance is 5.72.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.records import Parameter
from calib.synthetic.base import DIMENSION, SyntheticEntry, rows_setting
from calib.synthetic.gaussian import GaussianPair

STEPS_OF_DISTANCE, MAX_DISTANCE = 20, 5.72


def overlap_path(
    d: int, steps: int = STEPS_OF_DISTANCE, max_distance: float = MAX_DISTANCE, random_state: Any = None
) -> list[GaussianPair]:
    """Return exactly ``steps`` pairs, the first at Bhattacharyya distance 0, the last at ``max_distance``.

    The constants increase in equal steps, and the distances with their squares: with the variances σ² that both
    classes share, the constant c gives c² Σ(1/σ²) / 8.

    Parameters
    ----------
    d
        Number of features.
    steps
        Number of pairs, at least 2.
    max_distance
        Bhattacharyya distance of the last pair.
    random_state
        Seed or numpy Generator.

    Examples
    --------
    >>> [round(pair.bhattacharyya(), 2) for pair in overlap_path(2, steps=5, random_state=0)]
    [0.0, 0.36, 1.43, 3.22, 5.72]
    """
    checks.in_range(d, "d", low=1, integer=True)
    checks.in_range(steps, "steps", low=2, integer=True)
    checks.in_range(max_distance, "max_distance", low=0, open_ends=True)
    rng = np.random.default_rng(random_state)
    mean, variances = rng.uniform(0, 1, d), rng.uniform(1, 2, d)
    largest = np.sqrt(8 * max_distance / (1 / variances).sum())
    return [GaussianPair(mean, variances, mean + c, variances) for c in np.linspace(0, largest, steps)]


ENTRY = SyntheticEntry(
    key="overlap",
    label="Gaussian pair with chosen overlap",
    build=lambda rng, d, step: overlap_path(d, random_state=rng)[step - 1],
    parameters=(
        rows_setting(1000),
        DIMENSION,
        Parameter(
            "step",
            "Step",
            "integer",
            5,
            1,
            STEPS_OF_DISTANCE,
            help="At step 1 the classes are identical; at step 20 they hardly overlap.",
        ),
    ),
    help="Two Gaussian classes at a chosen distance, from complete overlap to almost none.",
)
