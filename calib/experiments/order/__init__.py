"""Theorem 2: why a Venn predictor must not look at the order of the training objects."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.order.simulation import count_orderings
from calib.experiments.shared.validity_settings import PAGE, PAPER
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="order",
    page=PAGE,
    name="Theorem 2: the order of the rows",
    question="A predictor looks at no row at all. With k ones among l training labels it predicts k/l or (k + 1)/l "
    "when the first label is 0, and (k − 1)/l or k/l when it is 1. Can a predictor that depends on the first label be "
    "perfectly calibrated?",
    answers=("Yes, perfectly", "Only roughly, for large l", "No"),
    right=1,
    why=(
        "All orderings are equally likely, and among those with the same answer the share of ones is exactly that "
        "answer.",
        "It is exact for every l: counting the orderings shows it, without any limit.",
        "Depending on the order is unwise, but it breaks no promise: within each first label the counts come out "
        "exactly.",
    ),
    parameters=(
        Parameter(
            "objects", "Training labels l", "integer", 6, 2, 20, help="The test row's label comes after them."
        ),
        Parameter(
            "ones",
            "Ones among all l + 1 labels",
            "integer",
            3,
            1,
            20,
            help="What is known when the order of the labels has been forgotten; at most l.",
        ),
    ),
    simulation=count_orderings,
    notice=(
        "Every ordering of the labels is equally likely. Where the first label is 0 the selected probability is m/l, "
        "where it is 1 it is (m − 1)/l, and among those orderings class 1 comes last in just that share.",
        "It is therefore perfectly calibrated, and yet it contains no Venn predictor: that would ignore the order, "
        "and could only predict what both answers share, k/l alone.",
        "Theorem 2 says that among predictors that ignore the order of the training rows, those that keep the "
        "promise of theorem 1 contain a Venn predictor. This example shows why it speaks only of predictors that "
        "ignore the order.",
    ),
    formulas=(
        r"\{P_0, P_1\} = \begin{cases}\{k/l,\ (k+1)/l\} & y_1 = 0\\ \{(k-1)/l,\ k/l\} & y_1 = 1\end{cases}",
        r"y_1=0:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-1}\big/\tbinom{l}{m} = \tfrac{m}{l}",
        r"y_1=1:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-2}\big/\tbinom{l}{m-1} = \tfrac{m-1}{l}",
    ),
    source=f"{PAPER}, theorem 2 and the remark after it.",
    drawn=False,
)
