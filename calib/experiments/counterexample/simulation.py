"""Proposition 2 for growing training sets: the simplified interval converges without the frequency of class 1.

Vovk and Petej (2014), proposition 2, with the distribution and the memorising score of ``calib.synthetic``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.experiments.shared.one_feature import venn_abers_pairs
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.synthetic import SignExample

STREAM = 4
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
UNSEEN = 2.0  # score of a row that is not among the training rows


@dataclass(frozen=True, eq=False)
class Settling:
    """Mean pairs of a new row by the number of training rows.

    Attributes
    ----------
    sizes : (k,)
    means, errors
        Method → (k, 2), mean p0 and p1 and their standard errors.
    draws
        Number of draws at each size.
    """

    sizes: Array
    means: dict[str, Array]
    errors: dict[str, Array]
    draws: int


def settle(settings: Mapping[str, Any], random_state: int, watch: Watch) -> Settling:
    """Simulate simplified and full Venn–Abers with the memorising score, ``draws`` training sets of every size.

    Parameters
    ----------
    settings
        draws.
    """
    draws = settings["draws"]
    rng = np.random.default_rng([random_state, STREAM])
    means: dict[str, list[Array]] = {"simplified": [], "full": []}
    errors: dict[str, list[Array]] = {"simplified": [], "full": []}
    for size in watch.loop(SIZES, "training sets"):
        x = rng.standard_normal((draws, size + 1))
        y = (
            rng.random((draws, size)) < SignExample().posterior(x[:, :-1].reshape(-1, 1)).reshape(draws, size)
        ).astype(int)
        seen = (x > 0).astype(float)
        unseen = np.column_stack([seen[:, :-1], np.full(draws, UNSEEN)])
        for method, scores in (("simplified", unseen), ("full", seen)):
            pair = np.column_stack(venn_abers_pairs(scores, scores, y))
            means[method].append(pair.mean(axis=0))
            errors[method].append(pair.std(axis=0, ddof=1) / np.sqrt(draws))
    return Settling(
        np.array(SIZES),
        {method: np.array(values) for method, values in means.items()},
        {method: np.array(values) for method, values in errors.items()},
        draws,
    )
