"""Six ways to a probability on the same draws."""

from __future__ import annotations

from calib.experiments.base import Experiment, with_default
from calib.experiments.shared.six_methods import METHODS, compare_methods
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="compare",
    page=PAGE,
    name="Six methods, the same draws",
    question="A scorer that looks through a narrow window knows its training rows too well. Calibrate its scores on "
    "the same training rows, on a held-out third, or by refitting with every new row. Whose probabilities come "
    "closest to the true ones?",
    answers=tuple(METHODS.values()),
    right=5,
    why=(
        "Through a narrow window a score rests on few neighbours, so it is too often near 0 or 1.",
        "It believes the training scores, which are surer than scores of new rows will ever be.",
        "A held-out third is honest, but it has few rows, and the scorer has to do without them.",
        "A sigmoid is the right shape here, but it is fitted to training scores that are too sure.",
        "It reuses the training scores, too, but its pair takes back some of their certainty.",
        "It alone keeps a promise, by widening its pairs: they become so wide that they say little.",
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
            help="All methods are judged by the same ones.",
        ),
        draws(200, 50, 100, 200, 500),
    ),
    simulation=compare_methods,
    notice=(
        "Narrow the window: the training scores become 0 and 1, and direct isotonic regression, which believes them, "
        "is among the worst. Full Venn–Abers does not: its intervals grow towards [0, 1] and its p moves to 1/2.",
        "Widen the window: simplified and full become the same, since refitting no longer changes the order of "
        "the scores. Platt is hard to beat then, because the true probability is a sigmoid of x.",
        "A held-out third does not inherit the certainty of training scores: with a narrow window it beats isotonic "
        "regression on the training scores. But the scorer has to do without these rows: with a wide window, "
        "where training scores can be trusted, it is the worst of the six.",
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
