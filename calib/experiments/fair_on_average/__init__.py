"""Fair on average: findings of a search of all groups by chance, and the rows that reveal a hidden group."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.fair_on_average.simulation import fair_on_average
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="fair_on_average",
    page="fair_on_average",
    name="Fair on average",
    question="A model is calibrated for everyone. You test 112 groups of one or two columns, each at the 5 % level. "
    "In how many data sets does some group look wrong?",
    answers=("About 5 %", "About half", "Almost all"),
    right=3,
    why=(
        "The level of 5 % holds for one group. Each further group is another chance for a false alarm.",
        "This holds for the 16 groups of single columns. The 96 pairs add many more chances.",
        "With 112 groups, 5 % of them means about six false alarms per data set.",
    ),
    turn={"depth": 1},
    ghosts=(
        {"lines": [[["112", 0.05]]]},
        {"lines": [[["112", 0.5]]]},
        {"lines": [[["112", 0.95]]]},
    ),
    parameters=(
        Parameter(
            "depth",
            "Columns per group",
            "integer",
            2,
            1,
            3,
            help="The search tries all groups of up to so many columns: 16, 112 or 368.",
        ),
        Parameter(
            "shift",
            "Error in the hidden group",
            "number",
            0.15,
            0.05,
            0.3,
            help="How much higher the true probabilities are than the predictions, in the hidden group.",
            extra={"step": 0.05},
        ),
        Parameter(
            "conditions",
            "Columns that define the hidden group",
            "integer",
            2,
            1,
            3,
            help="With 1, 2 or 3 columns the hidden group has 25 %, 6 % or 2 % of the rows.",
        ),
        Parameter("tables", "Data sets", "integer", 100, 50, 500, help="How many data sets are simulated."),
    ),
    simulation=fair_on_average,
    notice=(
        "The more groups you test alone, the more often a calibrated model looks wrong. The audit raises a false alarm "
        "in about 5 % of the data sets, however many groups it searches.",
        "With 500 rows the worst group is mostly not the hidden one, so testing each group alone accuses another "
        "group. The audit mostly stays silent. With 8,000 rows both name the hidden group.",
    ),
    formulas=(
        r"z_S = \frac{\left|\sum_{i \in S} (y_i - p_i)\right|}{\sqrt{\sum_{i \in S} p_i (1 - p_i)}}",
        r"\text{audit: } \frac{1 + \#\{b: \max_S z_S^{*b} \ge z_S\}}{B + 1}, \quad y_i^{*b} \sim "
        r"\mathrm{Bernoulli}(p_i)",
    ),
    source="Westfall and Young (1993), single-step maxT.",
)
