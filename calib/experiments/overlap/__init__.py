"""Overlap: from two identical classes to two that hardly overlap, and where calibration of a forest helps."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of, with_default
from calib.experiments.overlap.simulation import DIMENSIONS, EMBEDDINGS, RUN, draw_steps
from calib.experiments.shared.forest_settings import FORESTS, RESULTS, base, measure_setting
from calib.experiments.shared.plane_settings import PAPER
from calib.kernel.records import Parameter
from calib.synthetic.overlap import STEPS

CHOICES = {str(d): f"{d} dimensions" for d in DIMENSIONS}

EXPERIMENT = Experiment(
    key="overlap",
    page="overlap",
    name="Overlap",
    question="Two classes in two dimensions move apart step by step. Where does calibrating a fully grown forest "
    "lower its true calibration error (TCE) most?",
    answers=("Where they overlap completely", "Half-way", "Where they hardly overlap"),
    right=1,
    why=(
        "At complete overlap every true probability is one half. Yet the forest predicts below 0.3 or above 0.7 for "
        "more than a quarter of the rows.",
        "With many features, half-way would be right. In two dimensions, the forest is furthest from the truth if "
        "there is nothing to learn.",
        "With hardly any overlap there is almost nothing to correct: a forest that predicts 0 or 1 is right.",
    ),
    no_turn="It is about fully grown trees in two dimensions; other forests have other pictures.",
    ghosts=(
        {"lines": [[[0, 0], [0, 0.042]]]},
        {"lines": [[[1.2, 0], [1.2, 0.042]]]},
        {"lines": [[[2.39, 0], [2.39, 0.042]]]},
    ),
    parameters=(
        measure_setting("overlap"),
        with_default(base("overlap", "overlap_measures"), "default"),
        Parameter(
            "d",
            "Dimensions",
            "choice",
            "all",
            choices={"all": "All four"} | CHOICES,
            help="Number of features. Computing a single choice takes a quarter of the time.",
        ),
        Parameter(
            "detail",
            "In detail",
            "choice",
            "2",
            choices=CHOICES,
            help="Number of dimensions in the small pictures of all measures and in the data below.",
            extra=view_of("overlap_measures", numbers_of=("overlap_data",)),
        ),
        Parameter(
            "steps",
            "Steps shown",
            "integer",
            STEPS,
            1,
            STEPS,
            help="Number of steps shown. At the first step both classes are the same. The headline covers all steps.",
            extra=view_of("overlap", "overlap_measures"),
        ),
        Parameter(
            "embedding",
            "Drawn by",
            "choice",
            "pca",
            choices=EMBEDDINGS,
            help="Projection of more than two dimensions: the plane of largest variance, or a map that keeps "
            "neighbours together.",
            extra=view_of(drawn_by_page=True, numbers_of=("overlap_data",)),
        ),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            5,
            choices=(1, 2, 5, 10, 20),
            help="Number of repetitions; lines show their means.",
        ),
        Parameter(
            "n",
            "Rows",
            "choice",
            1000,
            choices=(200, 500, 1000, 2000),
            help="Number of rows at each step, for training and calibration.",
        ),
        Parameter(
            "share",
            "Calibration share",
            "number",
            0.2,
            0.05,
            0.5,
            help="Share of these rows that fit the calibrators. Forests without a calibrator learn from all rows.",
        ),
    ),
    simulation=RUN,
    notice=(
        "On the left the classes are identical, so every true probability is one half. A fully grown forest has "
        "learnt noise, so it predicts below 0.3 or above 0.7 for more than a quarter of the rows. Calibration pulls "
        "these predictions back to one half, and so does tuning (few, large leaves).",
        "At complete overlap in two dimensions, more trees (500 instead of 100) do not help, because "
        "all trees have learnt the same noise.",
        "Compare with the thick line, the same forest uncalibrated. Choose Tuned forest: in two dimensions there is "
        "little left to correct. Most calibrators learn from only a fifth of the rows, and make the forest worse at "
        "most distances. Here Venn–Abers makes it worse at all twenty distances.",
        "With more dimensions the trees differ more and their mean is less extreme, so at complete overlap there is "
        "less to correct. At medium distance between the classes, the forest is underconfident, and "
        "calibration helps even the "
        "tuned forest.",
        "PPA only moves probabilities away from one half, so it cannot help if they are already too extreme. Platt "
        "scaling, beta and isotonic regression can help.",
        "If a calibration row with a score of 0 is in class 1, the error of the tuned forest with beta "
        "calibration has a peak. The log-odds of 0 lie far beyond all others, so one such row bends the whole map. "
        "Platt scaling "
        "uses the score itself and hardly changes.",
        "With the tuned forest choose the measure ECE, which needs no true probabilities, and switch on Venn in the "
        "legend. Venn predicts only two values. In two dimensions, between complete overlap and half-way, Venn "
        "has the smallest ECE but the largest TCE of the calibrators.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"D_B = \tfrac18\, c^2 \sum_j 1/\sigma_j^2",
        r"c \text{: the shift of every mean}",
    ),
    source=f"{PAPER}, section 5.2 and appendix C.3.1, Figures 4, 9 and 10. The paper does not say how it splits its "
    "1,000 rows. Here one fifth calibrates, and 1,000 new rows are the test set. Platt scaling uses probabilities, as "
    "in the paper; the Explore pages use log-odds.",
    more_figures=("overlap_measures",),
    terms=(*FORESTS, "bhattacharyya"),
    large=True,
    also={"overlap_data": draw_steps},
    plays="steps",
)
