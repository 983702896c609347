"""Overlap: from two classes that are the same to two that hardly touch, and where calibrating a forest helps."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of, with_default
from calib.experiments.overlap.simulation import DIMENSIONS, EMBEDDINGS, RUN, draw_data
from calib.experiments.shared.forest_settings import FORESTS, PAPER, RESULTS, base, measure
from calib.kernel.records import Parameter
from calib.synthetic.overlap import STEPS

CHOICES = tuple(map(str, DIMENSIONS))
NAMES = {d: f"{d} dimensions" for d in CHOICES} | {"all": "All four"}

EXPERIMENT = Experiment(
    key="overlap",
    page="overlap",
    name="Overlap",
    question="Two classes are pulled apart step by step, from the same distribution to hardly any overlap. Where does "
    "calibrating a forest of fully grown trees in two dimensions lower its true calibration error (TCE) most?",
    answers=("Where they overlap completely", "Half-way", "Where they hardly overlap"),
    right=1,
    why=(
        "Every true probability is one half there, and a fully grown forest still predicts less than 0.3 or more than "
        "0.7 for more than a quarter of the rows.",
        "It is so in many dimensions. In two, the forest is furthest from the truth where there is nothing to learn.",
        "There is nearly nothing left to repair there: a forest that predicts 0 or 1 is right.",
    ),
    parameters=(
        measure("overlap"),
        with_default(base("overlap", "overlap_measures"), "default"),
        Parameter(
            "d",
            "Dimensions",
            "choice",
            "all",
            choices=("all", *CHOICES),
            help="How many features; one of the four alone is computed four times as fast.",
            extra={"names": NAMES},
        ),
        Parameter(
            "detail",
            "In detail",
            "choice",
            "2",
            choices=CHOICES,
            help="The dimensions of the small pictures of all measures, and of the data drawn below.",
            extra=view_of("overlap_measures", names=NAMES, numbers_of=("overlap_data",)),
        ),
        Parameter(
            "steps",
            "Steps shown",
            "integer",
            STEPS,
            1,
            STEPS,
            help="From the left, where both classes are the same, to here. The headline is about all of them.",
            extra=view_of("overlap", "overlap_measures"),
        ),
        Parameter(
            "embedding",
            "Drawn by",
            "choice",
            "pca",
            choices=tuple(EMBEDDINGS),
            help="How rows of more than two dimensions are drawn on the page: the plane of largest spread, or "
            "neighbours kept together.",
            extra=view_of(names=EMBEDDINGS, drawn_by_page=True, numbers_of=("overlap_data",)),
        ),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            5,
            choices=(1, 2, 5, 10, 20),
            help="Lines are their means.",
        ),
        Parameter(
            "n", "Rows", "choice", 1000, choices=(200, 500, 1000, 2000), help="To learn from, at each step."
        ),
        Parameter(
            "share",
            "Calibration share",
            "number",
            0.2,
            0.05,
            0.5,
            help="Of the rows, for calibrators; the forests without one learn from all.",
        ),
    ),
    simulation=RUN,
    notice=(
        "At the left the classes are the same, every true probability is one half, and a fully grown forest "
        "still predicts less than 0.3 or more than 0.7 for more than a quarter of the rows: it has learnt noise. "
        "Calibration pulls it back to the middle, and so does tuning (RF_opt: few, large leaves).",
        "In two dimensions more trees do not help there (RF_large): all of them have learnt the same noise.",
        "Compare with the thick line, the same forest not calibrated. Choose Tuned forest: in two dimensions there is "
        "little left to repair, and most calibrators, which learn from a fifth of the rows, make it worse at most "
        "distances. Venn–Abers does at all twenty here.",
        "With more dimensions the trees differ more, their mean is less extreme, and at complete overlap there is less "
        "to repair. Half-way the forest is now too modest, and there calibration helps, also with the tuned forest.",
        "PPA only moves probabilities away from the middle, so that it cannot help where they are too extreme "
        "already. Platt, beta and isotonic can.",
        "Beta over the tuned forest has peaks where a calibration row with a score of 0 was of class 1, and the "
        "log-odds of 0 lie far beyond all others. One such row bends the whole map. Platt, which takes the score "
        "itself, hardly notices.",
        "With the tuned forest choose the measure ECE, which real data allow, too, and switch on Venn in the "
        "legend. It predicts only two values: between overlap and half-way in two dimensions it has the smallest ECE, "
        "and the largest TCE of the calibrators.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"D_B = \tfrac18\, c^2 \sum_j 1/\sigma_j^2",
        r"c \text{: the shift of every mean}",
    ),
    source=f"{PAPER}, section 5.2 and appendix C.3.1, Figures 4, 9 and 10. The paper does not print how it splits its "
    "1000 rows: here a fifth calibrates, and 1000 fresh rows judge. Platt is fitted on probabilities, as in the paper; "
    "the Explore pages fit it on log-odds.",
    more_figures=("overlap_measures",),
    terms=(*FORESTS, "bhattacharyya"),
    large=True,
    also={"overlap_data": draw_data},
    plays="steps",
)
