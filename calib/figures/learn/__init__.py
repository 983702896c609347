"""The figures of the Learn pages; each takes what the simulation of the same key returns."""

from calib.figures.base import FigureEntry
from calib.figures.learn.calibration_size import (
    CALIBRATION_SIZE,
    CALIBRATION_SIZE_DATA,
    CALIBRATION_SIZE_ENTROPY,
)
from calib.figures.learn.cl_gl import CL_GL, CL_GL_GROUPS, CL_GL_SWEEP
from calib.figures.learn.compare import COMPARE
from calib.figures.learn.constant import CONSTANT
from calib.figures.learn.counterexample import COUNTEREXAMPLE
from calib.figures.learn.finite import FINITE, FINITE_ALL, FINITE_LOSSES
from calib.figures.learn.log_loss import LOG_LOSS
from calib.figures.learn.narrowing import NARROWING
from calib.figures.learn.order import ORDER
from calib.figures.learn.overlap import OVERLAP, OVERLAP_DATA, OVERLAP_MEASURES
from calib.figures.learn.pooling import POOLING
from calib.figures.learn.regret import REGRET
from calib.figures.learn.theorem import THEOREM
from calib.figures.learn.tree_depth import (
    LEAF_ESTIMATES,
    LEAF_ESTIMATES_CURVE,
    TREE_COUNT,
    TREE_COUNT_CURVE,
    TREE_DEPTH,
    TREE_DEPTH_CURVE,
)
from calib.figures.learn.which_model import WHICH_MODEL

LEARN_FIGURES: tuple[FigureEntry, ...] = (
    CL_GL,
    CL_GL_GROUPS,
    CL_GL_SWEEP,
    TREE_DEPTH,
    TREE_DEPTH_CURVE,
    TREE_COUNT,
    TREE_COUNT_CURVE,
    LEAF_ESTIMATES,
    LEAF_ESTIMATES_CURVE,
    WHICH_MODEL,
    OVERLAP,
    OVERLAP_MEASURES,
    OVERLAP_DATA,
    CALIBRATION_SIZE,
    CALIBRATION_SIZE_ENTROPY,
    CALIBRATION_SIZE_DATA,
    THEOREM,
    ORDER,
    CONSTANT,
    REGRET,
    COMPARE,
    COUNTEREXAMPLE,
    LOG_LOSS,
    NARROWING,
    POOLING,
    FINITE,
    FINITE_LOSSES,
    FINITE_ALL,
)
