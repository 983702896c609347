"""Calibration-set size: which methods can do with few rows, and which become better with many."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.calibration_size.simulation import RUN, draw_data
from calib.experiments.shared.forest_settings import FORESTS, PAPER, RESULTS, base, measure
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="calibration_size",
    page="calibration_size",
    name="Calibration-set size",
    question="A forest is trained on 800 rows and calibrated on more and more others, from 16 to 800. Which method "
    "comes closest to the true probabilities once there are 800?",
    answers=(
        "Isotonic regression",
        "Venn–Abers",
        "Platt scaling",
        "None: tuning the forest on all rows is better",
    ),
    right=4,
    why=(
        "It can follow any rising curve, but needs rows for that; and the forest would have used the same rows better.",
        "It comes closer than Platt with 800 rows. But the same rows, given to the forest itself, lower the error "
        "more.",
        "Two numbers are learnt from few rows. But its curve does not fit these scores, and more rows do not repair "
        "that.",
        "The calibration rows make the tuned forest itself better, by more than any calibrator gains from them.",
    ),
    parameters=(
        measure("calibration_size"),
        base("calibration_size", "calibration_size_entropy"),
        RESULTS,
        Parameter(
            "repetitions",
            "Repetitions",
            "choice",
            100,
            choices=(2, 5, 10, 20, 50, 100, 200),
            help="Each draws a new mixture; lines are their means.",
        ),
        Parameter(
            "sizes",
            "Sizes",
            "choice",
            50,
            choices=(10, 25, 50),
            help="How many calibration sizes up to 100%.",
        ),
        Parameter(
            "n_train", "Training rows", "choice", 800, choices=(200, 400, 800, 1600), help="Half each class."
        ),
        Parameter(
            "n_test", "Test rows", "choice", 100, choices=(100, 500, 2000), help="Of every repetition."
        ),
    ),
    simulation=RUN,
    notice=(
        "One to three parameters (PPA, temperature, Platt, beta) settle with some dozens of rows. Isotonic "
        "regression, Venn–Abers and rank, which can follow any rising curve, need about two hundred.",
        "Settled does not yet mean better than no calibration. The thick line is the same forest not calibrated, and "
        "it is tuned. In these draws PPA first gets below it with 400 rows and beta with 464, but only for "
        "a time, rank with 496, Venn–Abers with 672, isotonic regression with 704, Platt never. The gain is small: "
        "with 800 rows no calibrator lowers the error by more than a tenth here, or a fifth with other draws, and "
        "some then never get below it.",
        "The paper's order of data needs, least first: PPA, beta, Platt, Venn–Abers, isotonic, rank. Here Platt "
        "settles before beta, yet higher: its curve does not fit, which more rows do not repair.",
        "With a dozen rows Venn–Abers has almost nothing to say: a wide interval, and a probability near one half.",
        "RF_opt takes the calibration rows for training instead. Its line ends lowest.",
        "Look at ECE, then at the entropies: a method with few different predictions fills few bins, and few full "
        "bins have a small ECE. A small ECE says little about a single prediction.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1n \sum (p_i - \pi_i)^2",
        r"H = -\sum_v \tfrac{n_v}{n} \log_2 \tfrac{n_v}{n}",
        r"n_v \text{ of the } n \text{ predictions equal } v",
    ),
    source=f"{PAPER}, appendix C.3.2, Figures 11 and 12, Table 3. Sizes as in the paper's code: 800 training and 100 "
    "test rows. Platt is fitted on probabilities, as in the paper; the Explore pages fit it on log-odds.",
    more_figures=("calibration_size_entropy",),
    terms=FORESTS,
    also={"calibration_size_data": draw_data},
)
