"""Theorem 2: why a Venn predictor must ignore the order of the training rows."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.order.simulation import count_orderings
from calib.experiments.shared.validity_settings import PAGE, PAPER
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="order",
    page=PAGE,
    name="Theorem 2: the order of the rows",
    question="With k ones among l training labels, a predictor gives k/l or (k + 1)/l if the first label is 0, "
    "else (k − 1)/l or k/l. Can it be perfectly calibrated?",
    answers=("Yes, perfectly", "Only roughly, for large l", "No"),
    right=1,
    why=(
        "All orderings are equally likely. Among the orderings with the same prediction, the share of ones is exactly "
        "this prediction.",
        "The calibration is exact for every l, as counting the orderings shows.",
        "A predictor should not depend on the order, but this does not break the guarantee. For each first label "
        "the counts are exact.",
    ),
    no_turn="It is so for every number of rows.",
    parameters=(
        Parameter(
            "objects",
            "Training labels l",
            "integer",
            6,
            2,
            20,
            help="Number of training labels; the test row's label comes after them.",
        ),
        Parameter(
            "ones",
            "Ones among all l + 1 labels",
            "integer",
            3,
            1,
            20,
            help="Number of ones among all labels, at most l. You know this number even if you forget the order.",
        ),
    ),
    simulation=count_orderings,
    notice=(
        "Every ordering of the labels is equally likely. The selected probability is m/l if the first label is 0, and "
        "(m − 1)/l if it is 1. In exactly this share of these orderings, class 1 comes last.",
        "The predictor is therefore perfectly calibrated, yet it contains no Venn predictor. A Venn predictor ignores "
        "the order. If this predictor contained one, it would have to predict k/l, the only value that occurs in both "
        "cases.",
        "Theorem 2 is about predictors that ignore the order of the training rows. If such a predictor has the "
        "guarantee of theorem 1, it contains a Venn predictor. This example shows why the theorem needs this "
        "condition.",
    ),
    formulas=(
        r"\{P_0, P_1\} = \begin{cases}\{k/l,\ (k+1)/l\} & y_1 = 0\\ \{(k-1)/l,\ k/l\} & y_1 = 1\end{cases}",
        r"y_1=0:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-1}\big/\tbinom{l}{m} = \tfrac{m}{l}",
        r"y_1=1:\quad \mathbb{P}(Y{=}1) = \tbinom{l-1}{m-2}\big/\tbinom{l}{m-1} = \tfrac{m-1}{l}",
    ),
    source=f"{PAPER}, theorem 2 and the remark after it.",
    seeded=False,
)
