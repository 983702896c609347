"""What the Learn pages compute: one function an experiment, ``simulate(random_state=…, watch=…, **settings)``."""

from collections.abc import Callable
from typing import Any

from calib.simulations.theorem import draw_pairs

SIMULATIONS: dict[str, Callable[..., Any]] = {"theorem": draw_pairs}
"""Key of an experiment → what computes the numbers of its picture, from all settings but those of the view."""

__all__ = ["SIMULATIONS"]
