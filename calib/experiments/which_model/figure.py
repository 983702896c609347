"""Models side by side, where the assumption of one of them holds and where it fails.

Shaker and Hüllermeier (2025), Figure 7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calib.figures.base import FigureEntry
from calib.figures.learn import scattered
from calib.figures.learn.scattered import Scattered
from calib.kernel.wording import number
from calib.simulations.which_model import Models

PAPERS = 3  # models of the paper, which come first


def prepare(found: Models, cloud: str = "points") -> Scattered:
    """Who comes closest to the truth in either row, and how much of the error is bias."""
    (above, first), (below, second) = found.rows.items()
    best, then = (min(row, key=lambda judged: judged.tce) for row in (first, second))
    shown = tuple(
        replace(judged, name=f"{judged.name}, {row.split()[0].lower()}")
        for row, models in found.rows.items()
        for judged in models
    )
    title = (
        f"{above}: {_within(best.name)} comes closest, TCE {number(best.tce)}. {below}: {_within(then.name)}, "
        f"{number(then.tce)}; logistic regression has {number(second[PAPERS - 1].tce)}"
    )
    return scattered.scattered(
        shown,
        len(first),
        cloud,
        title,
        1 + int(np.argmin([judged.tce for judged in second[:PAPERS]])),
    )


def _within(name: str) -> str:
    """A model's name within a sentence."""
    return name if name[:2].isupper() else f"{name[0].lower()}{name[1:]}"


WHICH_MODEL = FigureEntry("which_model", "Models against the truth", prepare, scattered.draw, scattered.parts)
