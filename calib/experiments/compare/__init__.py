"""Six methods for a probability, compared on the same draws."""

from __future__ import annotations

from calib.experiments.base import Experiment, with_default
from calib.experiments.shared.six_methods import SIX_METHODS, compare_methods
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="compare",
    page=PAGE,
    name="Six methods, the same draws",
    question="A scorer overfits its training rows. Which comes closest to the true probabilities: calibrating "
    "on these rows, on a held-out third, or refitting for every new row?",
    answers=tuple(SIX_METHODS.values()),
    right=5,
    why=(
        "With a narrow window a score depends on few neighbours, so it is too often near 0 or 1.",
        "Direct isotonic regression trusts the training scores, which are more extreme than the scores of new rows.",
        "Held-out scores are not too extreme. But they are few, and the scorer cannot train on these rows.",
        "A sigmoid is the right shape here, but it is fitted to training scores that are too extreme.",
        "Simplified Venn–Abers also reuses the training scores, but its two probabilities move the result back "
        "towards one half.",
        "Only full Venn–Abers is guaranteed to be valid. But its intervals become so wide that they say little.",
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
            help="Number of test rows per draw, the same rows for all methods.",
        ),
        draws(200, 50, 100, 200, 500),
    ),
    simulation=compare_methods,
    notice=(
        "Narrow the window: the training scores become 0 and 1. Direct isotonic regression trusts these scores and "
        "is among the worst methods. Full Venn–Abers does not trust them, so its intervals grow towards [0, 1] and "
        "its p moves to 1/2.",
        "Widen the window: simplified and full Venn–Abers become equal, because refitting no longer changes the "
        "order of the scores. Platt scaling is then hard to beat, because the true probability is a sigmoid of x.",
        "The scores of a held-out third are not too extreme. With a narrow window, isotonic regression on held-out "
        "scores beats isotonic regression on training scores. However, the model then has fewer training "
        "rows. With a wide window the "
        "training scores are good, and using the held-out third is the worst of the six methods.",
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
