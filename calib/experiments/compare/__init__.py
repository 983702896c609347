"""Six methods for a probability, compared on the same draws."""

from __future__ import annotations

from calib.experiments.base import Experiment, with_default
from calib.experiments.shared.six_methods import METHODS, compare_methods
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="compare",
    page=PAGE,
    name="Six methods, the same draws",
    question="A scorer with a narrow window knows its training rows too well. You can calibrate its scores on these "
    "training rows, on a held-out third, or by refitting with every new row. Which method comes closest to the true "
    "probabilities?",
    answers=tuple(METHODS.values()),
    right=5,
    why=(
        "With a narrow window a score depends on few neighbours, so it is too often near 0 or 1.",
        "It trusts the training scores, which are more extreme than the scores of new rows.",
        "The scores of a held-out third are honest, but they are few, and the scorer loses these rows.",
        "A sigmoid is the right shape here, but it is fitted to training scores that are too extreme.",
        "It also reuses the training scores, but its pair moves the result back towards one half.",
        "It alone is guaranteed to be valid. But for this its pairs become so wide that they say little.",
    ),
    turn={"window": 1.0},
    parameters=(
        with_default(WINDOW, 0.05),
        training_objects(50),
        GAP,
        Parameter(
            "tests",
            "Test rows per draw",
            "choice",
            20,
            choices=(5, 10, 20, 50),
            help="Test rows per draw, equal for all methods.",
        ),
        draws(200, 50, 100, 200, 500),
    ),
    simulation=compare_methods,
    notice=(
        "Narrow the window: the training scores become 0 and 1. Direct isotonic regression trusts them, and is among "
        "the worst. Full Venn–Abers does not: its intervals grow towards [0, 1] and its p moves to 1/2.",
        "Widen the window: simplified and full Venn–Abers become equal, since refitting no longer changes the order of "
        "the scores. Platt scaling is then hard to beat, because the true probability is a sigmoid of x.",
        "The scores of a held-out third are not too extreme. With a narrow window they beat isotonic regression on the "
        "training scores. But the scorer loses these rows: with a wide window training scores are good, and the "
        "held-out third is the worst of the six.",
    ),
    formulas=(
        r"\text{full:}\quad p_y = g_y(s_y(x))",
        r"s_y \text{ trained on } z_1,\dots,z_l,(x,y)",
        r"\text{simplified:}\quad p_y = g_y(s(x))",
        r"s \text{ trained on } z_1,\dots,z_l",
        r"\text{TCE} = \frac1n\sum (p - \pi(x))^2",
    ),
    source=f"{PAPER}, algorithms 1 and 2 and section 3 (DIR); the true calibration error is eq. 4 of Shaker and "
    "Hüllermeier, Random forest calibration (2025).",
)
