"""How intervals narrow with the calibration set."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.narrowing.simulation import narrow
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, draws
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="narrowing",
    page=PAGE,
    name="How intervals narrow",
    question="The interval of a new row narrows as calibration rows are added. How fast does its mean width fall?",
    answers=("Like 1/n: halved when n doubles", "Like n to the −2/3", "Like 1/√n"),
    right=2,
    why=(
        "That holds for pools that are a fixed share of the data. There are ever more isotonic pools, so each "
        "grows more slowly.",
        "Isotonic pools grow like n to the 2/3, since there are ever more of them, and a row counts for less in a "
        "larger pool.",
        "That is how fast means get precise. An interval is not a mean: it shows how far one more row moves the fit.",
    ),
    turn={"method": "venn"},
    parameters=(
        Parameter(
            "method",
            "Predictor",
            "choice",
            "venn_abers",
            choices=("venn_abers", "venn"),
            help="Inductive Venn–Abers, or Venn with two categories.",
            extra={"names": {"venn_abers": "Venn–Abers", "venn": "Venn"}},
        ),
        GAP,
        draws(50, 10, 20, 50, 100, 200),
    ),
    simulation=narrow,
    notice=(
        "An interval is wide where one more row counts for much: where its pool (the rows that get the same "
        "probability) is small. Isotonic pools grow slower than the data, because there are ever more of "
        "them: that is the price for following the curve ever more finely.",
        "The two categories of the Venn predictor take a fixed share of all rows each: its interval shrinks like "
        "1/n, around a probability that stays coarse.",
        "The band holds the middle 80% of the rows. By scores, intervals are about a fifth wider towards both "
        "ends than in between with a thousand calibration rows or more, and hardly with a hundred.",
    ),
    formulas=(r"\text{width} = p_1 - p_0 \propto n^{-2/3}", r"\text{rows in a pool} \propto n^{2/3}"),
    source=f"{PAPER}, section 3; the size of isotonic pools, of order n to the 2/3, is that of Brunk's cube-root "
    "asymptotics (1970).",
)
