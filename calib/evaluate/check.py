"""Check existing probabilities from arrays; nothing is fitted, so nothing that fits is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from calib.evaluate.record import Evaluation


def check(
    y: ArrayLike,
    p: ArrayLike | Mapping[str, ArrayLike],
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    features: Any = None,
    *,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> Evaluation:
    """Check whether probabilities are calibrated: two lines from arrays to a verdict and a diagram.

    This is ``Evaluation.from_predictions``, which explains the arguments, also of arrays (n, K) of K ≥ 3 classes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> result = check(rng.random(1000) < p, p)
    >>> result.verdict.finding, result.figure("reliability", bins=15).layout.xaxis.range
    ('no sign', (-0.02, 1.02))
    >>> P = rng.dirichlet([1, 1, 1], 1000)
    >>> check([rng.choice(3, p=row) for row in P], P).view(2).verdict.finding    # class 2 against the rest
    'no sign'
    """
    return Evaluation.from_predictions(
        y, p, sample_weight, cluster, features, groups=groups, pos_label=pos_label
    )
