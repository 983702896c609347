"""Pool adjacent violators, one move at a time."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.pooling.simulation import pool_step_by_step
from calib.kernel.checks import FARTHEST, MOST_POINTS
from calib.kernel.records import Parameter

START = "0.05:0 0.15:0 0.2:1 0.3:0 0.35:0 0.45:1 0.5:1 0.6:0 0.65:1 0.7:0 0.8:1 0.95:1"

EXPERIMENT = Experiment(
    posed=True,
    key="pooling",
    page="algorithms",
    name="Pool adjacent violators",
    question="At first every point is a pool. If a pool's share of class 1 is larger than its right "
    "neighbour's, the two are joined. How many moves can n points need?",
    answers=("At most n − 1", "Up to n squared", "No limit: joined pools may have to be split again"),
    right=1,
    why=(
        "Every move removes one pool, and at least one must be left.",
        "Joined pools are never split, so each move leaves one pool fewer.",
        "A joined pool may be joined again, but never has to be split, because the shares of its parts would fall "
        "again.",
    ),
    no_turn="It holds for all labels.",
    parameters=(
        Parameter(
            "points",
            "Points, as score:label",
            "points",
            START,
            help=f"Up to {MOST_POINTS} points, separated by spaces. Equal scores are pooled before the first move. "
            "Click a point of the upper picture to flip its label.",
        ),
        Parameter(
            "step",
            "Moves made",
            "integer",
            0,
            0,
            MOST_POINTS,
            help="Each move joins the leftmost pair of pools with falling shares.",
            extra=view_of("pooling", drawn_by_page=True),
        ),
        Parameter(
            "score",
            "Score of a new row",
            "number",
            0.55,
            -FARTHEST,
            FARTHEST,
            help="The score of the new row. p0 and p1 are the fits at this score with the row as class 0 and as "
            "class 1.",
            extra=view_of("pooling", drawn_by_page=True),
        ),
    ),
    simulation=pool_step_by_step,
    notice=(
        "Every move removes one pool, and no pool is ever split again. The result does not depend on which pair is "
        "joined first; here it is always the leftmost pair.",
        "The lower picture is the cumulative-sum diagram: rows are counted to the right, rows of class 1 upwards. A "
        "pool is a chord, and its share is the chord's slope. Joining two pools cuts off a corner that points upwards.",
        "When no chord is followed by a flatter chord, the chords form the lower convex hull of the points, the "
        "greatest convex curve below them. Its slopes are the isotonic fit.",
        "Flip a label and start again: one label can change most of the fitted values, or only a few.",
    ),
    formulas=(
        r"g(C_1 \cup C_2) = \frac{a_1 + a_2}{N_1 + N_2}",
        r"P_i = \Big(\sum_{j \le i} N_{(j)},\ \sum_{j \le i} a_{(j)}\Big)",
        r"\text{slope from } P_i \text{ to } P_k = \frac{a_{(i+1)} + \dots + a_{(k)}}{N_{(i+1)} + \dots + N_{(k)}}",
    ),
    source="Ayer, Brunk, Ewing, Reid and Silverman (1955), as in lemma 1 of Vovk and Petej, Venn–Abers predictors "
    "(2014).",
    seeded=False,
    plays="step",
)
