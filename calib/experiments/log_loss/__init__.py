"""Infinite log loss: which methods are certain and wrong."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.six_methods import compare_methods
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="log_loss",
    page=PAGE,
    name="Infinite log loss",
    question="One wrong prediction of 0 or 1 makes log loss infinite, and direct isotonic regression predicts both. "
    "In how many runs is this loss still finite after 100 test rows?",
    answers=("Nearly all", "About half", "Hardly any"),
    right=3,
    why=(
        "You took such an error for rare. For a single row it is, but one in a hundred test rows is enough.",
        "You expect half of the runs to avoid such an error. But a hundred test rows are a hundred chances for it.",
        "Among a hundred rows at least one prediction of 0 or 1 is usually wrong, and the loss then stays infinite.",
    ),
    turn={"tests": 20},
    ghosts=(
        {"lines": [[[100, 0.95]]], "axes": 2},
        {"lines": [[[100, 0.5]]], "axes": 2},
        {"lines": [[[100, 0.1]]], "axes": 2},
    ),
    parameters=(
        Parameter(
            "tests",
            "Test rows",
            "choice",
            100,
            choices=(20, 50, 100, 200),
            help="Number of test rows in each run.",
        ),
        WINDOW,
        training_objects(50),
        GAP,
        draws(100, 20, 50, 100, 200),
        Parameter(
            "run",
            "Run shown",
            "integer",
            1,
            1,
            20,
            help="The run in the upper picture.",
            extra=view_of("log_loss"),
        ),
    ),
    simulation=compare_methods,
    notice=(
        "A wrong prediction of 0 or 1 ends the two lines of isotonic regression, on the training scores (DIR) and on "
        "a held-out third.",
        "With a window of 0.5 the other four lines never end. Platt scaling only comes near 0 and 1. The score "
        "also only comes near 0 and 1, except with the narrowest window, where its runs end as well.",
        "Only the two Venn–Abers predictors guarantee a finite log loss for every score: p0 < 1 and p1 > 0, because "
        "the row itself is always in its pool. They need no clipping, and nothing is clipped here.",
    ),
    formulas=(
        r"\lambda_{\ln}(p, y) = \begin{cases}-\ln(1-p) & y = 0\\ -\ln p & y = 1\end{cases}",
        r"p_0 \le \frac{N-1}{N} < 1, \qquad p_1 \ge \frac1N > 0",
    ),
    source=f"{PAPER}, lemma 2 and Table 1, where every log loss of DIR is infinite.",
    plays="run",
)
