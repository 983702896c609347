"""The constant Venn predictor beside Venn–Abers: equally valid, but no better than the frequency of class 1.

Vovk and Petej (2014), section 2: {k/(l + 1), (k + 1)/(l + 1)}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.experiments.shared.one_feature import NormalClasses, WindowScorer, venn_abers_pairs
from calib.experiments.theorem.simulation import Draws, draw_pairs
from calib.kernel.checks import Array
from calib.kernel.progress import Watch

STREAM = 2
GRID = 161


@dataclass(frozen=True, eq=False)
class OneTrainingSet:
    """Predictions of both methods over x from one training set, and their results over many draws.

    Attributes
    ----------
    x, posterior, p0, p1 : (g,)
        Full Venn–Abers pair.
    constant
        (p0, p1) of the constant predictor.
    train_x, train_y : (l,)
    many
        Predictor → draws.
    """

    x: Array
    posterior: Array
    p0: Array
    p1: Array
    constant: tuple[float, float]
    train_x: Array
    train_y: Array
    many: dict[str, Draws]


def set_side_by_side(settings: Mapping[str, Any], random_state: int, watch: Watch) -> OneTrainingSet:
    """Predict over x from one training set, and once from each of ``draws`` training sets.

    Parameters
    ----------
    settings
        objects (l), window, gap, draws.
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    train_x, train_y = classes.draw((settings["objects"],), rng)
    x = np.linspace(-2.5, settings["gap"] + 2.5, GRID)
    scorer = WindowScorer.fit(train_x[None], train_y[None], settings["window"]).repeated(GRID)
    p0, p1 = venn_abers_pairs(scorer.with_object(x, 0), scorer.with_object(x, 1), scorer.y)
    k, size = int(train_y.sum()), len(train_y) + 1
    many = {
        key: draw_pairs({**settings, "predictor": key}, random_state, watch.within(i / 2, (i + 1) / 2))
        for i, key in enumerate(("constant", "full"))
    }
    return OneTrainingSet(x, classes.posterior(x), p0, p1, (k / size, (k + 1) / size), train_x, train_y, many)
