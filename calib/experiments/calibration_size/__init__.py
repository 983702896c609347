"""Calibration-set size: which methods need few rows, and which improve with many."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.calibration_size.simulation import RUN, training_rows
from calib.experiments.shared.forest_settings import FORESTS, RESULTS, base, measure_setting
from calib.experiments.shared.plane_settings import PAPER
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="calibration_size",
    page="calibration_size",
    name="Calibration-set size",
    question="A forest is trained on 800 rows and calibrated on 16 to 800 further rows. Which method comes closest "
    "to the true probabilities with 800 calibration rows?",
    answers=(
        "Isotonic regression",
        "Venn–Abers",
        "Platt scaling",
        "None: tuning the forest on all rows is better",
    ),
    right=4,
    why=(
        "Isotonic regression can follow any rising curve, but needs many rows to do so. The forest itself makes "
        "better use of these rows.",
        "With 800 rows Venn–Abers comes closer than Platt scaling. But training the forest on the same rows lowers the "
        "error more.",
        "Platt scaling learns its two parameters from few rows. But its curve does not fit these scores, and more rows "
        "do not help.",
        "Training the tuned forest on the calibration rows as well lowers the error more than any calibrator does.",
    ),
    no_turn="More rows serve the forest itself most, with every measure that has an answer.",
    ghosts=(
        {"traces": ["Isotonic regression"]},
        {"traces": ["Venn–Abers"]},
        {"traces": ["Platt scaling"]},
        {"traces": ["Tuned forest on all rows"]},
    ),
    parameters=(
        measure_setting("calibration_size"),
        base("calibration_size", "calibration_size_entropy"),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            100,
            choices=(2, 5, 10, 20, 50, 100, 200),
            help="Each repetition draws a new mixture; lines show means over repetitions.",
        ),
        Parameter(
            "sizes",
            "Sizes",
            "choice",
            50,
            choices=(10, 25, 50),
            help="Number of calibration-set sizes; the largest equals the size of the training set.",
        ),
        Parameter(
            "n_train",
            "Training rows",
            "choice",
            800,
            choices=(200, 400, 800, 1600),
            help="Number of training rows, half of them in each class.",
        ),
        Parameter(
            "n_test", "Test rows", "choice", 100, choices=(100, 500, 2000), help="Test rows per repetition."
        ),
    ),
    simulation=RUN,
    notice=(
        "Methods with one to three parameters (PPA, temperature, Platt scaling, beta) settle after a few dozen rows. "
        "Isotonic regression, Venn–Abers and rank can follow any rising curve, and need about two hundred rows.",
        "A calibrator that has settled is not always better than no calibration. The thick line is the same tuned "
        "forest, uncalibrated. In these draws PPA gets below this line with 400 rows and beta with 464, but only "
        "temporarily. To get below the thick line, rank calibration needs 496 rows, Venn–Abers 672 and isotonic "
        "regression 704; Platt scaling stays above it. The gain is small: with 800 rows no calibrator lowers the "
        "error by more than a tenth. With other draws the gain is up to a fifth, and some calibrators never get below "
        "the thick line.",
        "The paper orders methods by data needs: PPA, beta, Platt scaling, Venn–Abers, isotonic regression, rank. Here "
        "Platt scaling settles before beta, but at a higher error, because its curve does not fit. More rows do not "
        "help.",
        "With a dozen rows Venn–Abers is almost uninformative, because its interval is wide and its probability "
        "is near one half.",
        "The tuned forest on all rows uses the calibration rows for training instead, and its line ends lowest.",
        "Look at ECE, then at the entropies: a method with few different predictions fills few bins, and a few full "
        "bins give a small ECE. A small ECE says little about a single prediction.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"H = -\sum_v \tfrac{n_v}{n} \log_2 \tfrac{n_v}{n}",
        r"n_v \text{ of the } n \text{ predictions equal } v",
    ),
    source=f"{PAPER}, appendix C.3.2, Figures 11 and 12, Table 3. Sizes as in the paper's code: 800 training and 100 "
    "test rows. Platt scaling uses probabilities, as in the paper; the Explore pages use log-odds.",
    large=True,
    more_figures=("calibration_size_entropy",),
    terms=FORESTS,
    also={"calibration_size_data": training_rows},
)
