"""Interval width: how it falls with the number of calibration rows."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.narrowing.simulation import narrow
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, draws
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="narrowing",
    page=PAGE,
    name="How intervals narrow",
    question="The interval of a new row narrows as calibration rows are added. How many rows halve its "
    "mean width?",
    answers=("Twice as many", "About three times as many", "Four times as many"),
    right=2,
    why=(
        "This is a width like 1/n. It holds for pools with a fixed share of the data, but isotonic pools have none.",
        "The width falls like 1/n^(2/3): with more rows there are more pools, so a pool grows more slowly than n. "
        "One row weighs less in a larger pool.",
        "This is a width like 1/√n, as the standard error of a mean. But an interval shows how far one more row moves "
        "the fit.",
    ),
    turn={"method": "venn"},
    ghosts=(
        {"traces": ["1/n"]},
        {"traces": ["n^(−2/3)"]},
        {"traces": ["1/√n"]},
    ),
    parameters=(
        Parameter(
            "method",
            "Predictor",
            "choice",
            "venn_abers",
            choices={"venn_abers": "Venn–Abers", "venn": "Venn"},
            help="Inductive Venn–Abers, or a Venn predictor with two categories.",
        ),
        GAP,
        draws(50, 10, 20, 50, 100, 200),
    ),
    simulation=narrow,
    notice=(
        "An interval is wide if its pool is small, because one more row then has much weight. A pool is the set of "
        "rows with the same probability. Isotonic pools grow more slowly than the data, because their number grows "
        "too: the fit follows the curve more finely.",
        "The two categories of the Venn predictor each hold a fixed share of all rows. Its interval shrinks like 1/n, "
        "but its probability stays coarse.",
        "The band holds the middle 80 % of the rows. With 1,000 calibration rows or more, intervals at both ends of "
        "the scores are about a fifth wider than in between. With 100 calibration rows they are hardly wider.",
    ),
    formulas=(r"\text{width} = p_1 - p_0 \propto n^{-2/3}", r"\text{rows in a pool} \propto n^{2/3}"),
    source=f"{PAPER}, section 3. The size of isotonic pools, of order n^(2/3), follows from Brunk's cube-root "
    "asymptotics (1970).",
)
