"""The figures of the Learn pages; each takes what the simulation of the same key returns."""

from calib.figures.base import FigureEntry
from calib.figures.learn.cl_gl import CL_GL, CL_GL_GROUPS, CL_GL_SWEEP
from calib.figures.learn.compare import COMPARE
from calib.figures.learn.constant import CONSTANT
from calib.figures.learn.counterexample import COUNTEREXAMPLE
from calib.figures.learn.finite import FINITE, FINITE_ALL, FINITE_LOSSES
from calib.figures.learn.log_loss import LOG_LOSS
from calib.figures.learn.narrowing import NARROWING
from calib.figures.learn.order import ORDER
from calib.figures.learn.pooling import POOLING
from calib.figures.learn.regret import REGRET
from calib.figures.learn.theorem import THEOREM

LEARN_FIGURES: tuple[FigureEntry, ...] = (
    CL_GL,
    CL_GL_GROUPS,
    CL_GL_SWEEP,
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
