"""Proposition 2: simplified Venn–Abers can converge to an interval without the frequency."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.counterexample.simulation import settle
from calib.experiments.shared.validity_settings import PAGE, PAPER, draws

EXPERIMENT = Experiment(
    key="counterexample",
    page=PAGE,
    name="Proposition 2",
    question="Training rows score 0 or 1, depending on the sign of x. New rows score 2, and half of them are in "
    "class 1. "
    "Where is the simplified Venn–Abers interval of a new row?",
    answers=("Around 1/2", "About [1/3, 2/3]", "About [2/3, 1]"),
    right=3,
    why=(
        "The interval of a valid predictor would lie there. But this score distinguishes new rows from training rows, "
        "so the guarantee is lost.",
        "These are the probabilities of the two sides. But a new row scores 2, so it belongs to neither side.",
        "A new row scores above all other rows. With label 1 it is alone, with label 0 it joins the right side.",
    ),
    no_turn="It is one for any number of draws.",
    parameters=(draws(200, 50, 100, 200, 500, 1000),),
    simulation=settle,
    notice=(
        "A new row scores above every calibration score. With label 1 it forms its own pool, so p1 = 1. With label 0 "
        "it joins the pool of the right side, so p0 is near 2/3. The frequency 1/2 lies outside this interval.",
        "More training rows do not help: the interval converges to [2/3, 1], which excludes 1/2.",
        "In full Venn–Abers the score also depends on the new row. It then scores 0 or 1 like the others, and the mean "
        "interval approaches 1/2 from both sides.",
    ),
    formulas=(
        r"s(x) = \begin{cases}0 & x \in \{x_1,\dots,x_l\},\ x<0\\ 1 & x \in \{x_1,\dots,x_l\},\ x>0\\ "
        r"2 & \text{else}\end{cases}",
        r"\mathbb{E}\,P_0 \to \tfrac23,\quad P_1 = 1,\quad \mathbb{P}(Y=1) = \tfrac12",
    ),
    source=f"{PAPER}, proposition 2.",
)
