"""Merging two probabilities into one with the smallest worst-case regret."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.regret.simulation import regret_curves
from calib.experiments.shared.validity_settings import PAGE, PAPER
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="regret",
    page=PAGE,
    name="One probability from two",
    question="You choose one probability p. If the label is 0, p0 would have been better; if it is 1, p1. Which p "
    "makes "
    "the larger of the two extra losses (regrets) smallest?",
    answers=("The midpoint", "A p nearer to 1/2 than the midpoint", "A p further from 1/2 than the midpoint"),
    right=2,
    why=(
        "The midpoint is half-way between the numbers, not between the regrets: an error near 0 or 1 costs more.",
        "Near 0 and 1 the loss is steeper, so the two regrets are equal nearer to one half.",
        "This p is on the more certain side, where a mistake costs most.",
    ),
    turn={"p1": 0.9},
    ghosts=(
        {"lines": [[[0.3, 0.511]]]},
        {"lines": [[[0.36, 0.341]]]},
        {"lines": [[[0.24, 0.734]]]},
    ),
    parameters=(
        Parameter(
            "p0",
            "p0",
            "number",
            0.1,
            0.0,
            0.99,
            help="p0, the better prediction if the label is 0.",
            extra={"step": 0.01},
        ),
        Parameter(
            "p1",
            "p1",
            "number",
            0.5,
            0.01,
            1.0,
            help="p1, the better prediction if the label is 1.",
            extra={"step": 0.01},
        ),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "log",
            choices={"log": "Log loss", "square": "Square loss"},
            help="The loss behind the regret: log loss or square loss.",
            extra=view_of("regret"),
        ),
    ),
    simulation=regret_curves,
    notice=(
        "One regret rises with p, and the other falls. Where they cross, the larger of the two is smallest: this is "
        "the minimax rule of the loss.",
        "The rules for log loss and square loss move p from the midpoint towards 1/2, further for a wider interval.",
        "If p0 < p1, both rules give a p strictly between p0 and p1. So p is never 0 or 1, and the log loss is never "
        "infinite.",
    ),
    formulas=(
        r"\ln\tfrac{1-p_0}{1-p} = \ln\tfrac{p_1}{p} \;\Rightarrow\; p = \tfrac{p_1}{1-p_0+p_1}",
        r"p^2 - p_0^2 = (1-p)^2 - (1-p_1)^2",
        r"\Rightarrow\; p = p_1 + \tfrac12 p_0^2 - \tfrac12 p_1^2",
    ),
    source=f"{PAPER}, section 4, eq. 10 and 11.",
    seeded=False,
)
