"""Looking every week: false alarms of an ordinary test and of the evidence, and the delay of the evidence."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.looking.simulation import looking
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="looking",
    page="looking",
    name="Looking every week",
    question="A model stays calibrated. Each week all rows so far are tested at the 5 % level. For what share of "
    "such models has the test raised a false alarm after 50 weeks?",
    answers=("About 5 %", "About 15 %", "More than 20 %"),
    right=3,
    why=(
        "The level of 5 % holds for one look. Each further look is another chance for a false alarm.",
        "The weekly tests use the same rows, so they often agree, but not often enough to keep the share this low.",
        "Over many looks the chances of a false alarm add up, although the model never changes.",
    ),
    turn={"looks": 1},
    ghosts=(
        {"lines": [[[50, 0.05]]]},
        {"lines": [[[50, 0.15]]]},
        {"lines": [[[50, 0.9], [50, 0.2]]]},
    ),
    parameters=(
        Parameter(
            "looks", "Weeks", "integer", 50, 1, 100, help="The number of weeks, with one look per week."
        ),
        Parameter(
            "shift",
            "Change of the log-odds",
            "number",
            0.5,
            0.1,
            2.0,
            help="How much the log-odds of the true probabilities change, in the lower picture.",
            extra={"step": 0.1},
        ),
        Parameter(
            "calm",
            "Calibrated weeks before the change",
            "integer",
            20,
            0,
            100,
            help="0 means that the model is wrong from the start.",
        ),
        Parameter("rows", "Rows per week", "integer", 100, 20, 200, help="New labelled rows per week."),
        Parameter("runs", "Models", "integer", 100, 50, 1000, help="How many models are simulated."),
    ),
    simulation=looking,
    notice=(
        "The test raises more false alarms with every look. The evidence raises a false alarm for fewer than 5 % of "
        "the models, however often you look.",
        "After 20 calibrated weeks the evidence finds the change sooner than the test. The "
        "old, calibrated rows weaken the test, whereas the evidence adds a new bet every week.",
    ),
    formulas=(
        r"E_t = \prod_{i \le t} \frac{q_i^{y_i}(1-q_i)^{1-y_i}}{p_i^{y_i}(1-p_i)^{1-y_i}}, \quad q_i "
        r"\text{ chosen before } y_i",
        r"\mathbb{P}(\exists\, t: E_t \ge 1/\alpha) \le \alpha",
    ),
    source="Ville (1939); Henzi, Puke, Dimitriadis and Ziegel (2023), “A safe Hosmer–Lemeshow test”.",
)
