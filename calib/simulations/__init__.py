"""What the Learn pages compute: one function an experiment, ``simulate(random_state=…, watch=…, **settings)``."""

from collections.abc import Callable
from typing import Any

from calib.simulations import calibration_size, overlap, tree_depth
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
from calib.simulations.which_model import models_side_by_side

SIMULATIONS: dict[str, Callable[..., Any]] = {
    "cl_gl": one_model,
    "cl_gl_sweep": sweep,
    "tree_depth": tree_depth.at_depths,
    "tree_depth_curve": tree_depth.along_depth,
    "tree_count": tree_depth.at_counts,
    "tree_count_curve": tree_depth.along_count,
    "leaf_estimates": tree_depth.with_leaves,
    "leaf_estimates_curve": tree_depth.along_threshold,
    "which_model": models_side_by_side,
    "theorem": draw_pairs,
    "order": count_orderings,
    "constant": set_side_by_side,
    "regret": regrets,
    "compare": compare,
    "counterexample": settle,
    "log_loss": log_loss_runs,
    "narrowing": narrow,
    "pooling": pool_step_by_step,
    "overlap": overlap.pull_apart,
    "overlap_data": overlap.draw_data,
    "calibration_size": calibration_size.grow_calibration_set,
    "calibration_size_data": calibration_size.draw_data,
    "finite": every_partition,
}
"""Key of an experiment → what computes the numbers of its picture, from all settings but those of the view;
an experiment's ``also`` names further ones of its settings."""

__all__ = ["SIMULATIONS"]
