"""What the Learn pages compute: one function an experiment, ``simulate(random_state=…, watch=…, **settings)``."""

from collections.abc import Callable
from typing import Any

from calib.simulations.cl_gl import one_model, sweep
from calib.simulations.compare import compare, log_loss_runs
from calib.simulations.constant import set_side_by_side
from calib.simulations.counterexample import settle
from calib.simulations.finite import every_partition
from calib.simulations.narrowing import narrow
from calib.simulations.order import count_orderings
from calib.simulations.pooling import pool_step_by_step
from calib.simulations.regret import regrets
from calib.simulations.theorem import draw_pairs

SIMULATIONS: dict[str, Callable[..., Any]] = {
    "cl_gl": one_model,
    "cl_gl_sweep": sweep,
    "theorem": draw_pairs,
    "order": count_orderings,
    "constant": set_side_by_side,
    "regret": regrets,
    "compare": compare,
    "counterexample": settle,
    "log_loss": log_loss_runs,
    "narrowing": narrow,
    "pooling": pool_step_by_step,
    "finite": every_partition,
}
"""Key of an experiment → what computes the numbers of its picture, from all settings but those of the view;
``cl_gl_sweep`` belongs to the experiment ``cl_gl``."""

__all__ = ["SIMULATIONS"]
