"""The first sentence of a caption says what is drawn, and is short; the others are folded under "How to read"."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from calib import Recipe, check, evaluate
from calib.analysis.audit.of_evaluation import Audited, audited
from calib.analysis.centres import centres
from calib.analysis.class_decision import decide_class
from calib.analysis.decision import decide
from calib.analysis.depth import grow
from calib.analysis.explain import explain, widest_row
from calib.analysis.grown_tree import grown_tree
from calib.analysis.optimism import validate
from calib.analysis.survival.check import SurvivalEvaluation
from calib.analysis.survival.table import survival_columns
from calib.analysis.watch.over_time import over_time
from calib.data import sample_table
from calib.experiments import EXPERIMENTS
from calib.figures import FIGURES
from calib.figures.base import split_caption
from calib.study.papers.ten_setups import setup_recipes, setup_table
from tests.analysis.audit.test_of_evaluation import planted
from tests.experiments.simulated import record as simulated
from tests.figures import depths
from tests.figures.evaluations import evaluation, fitted
from tests.test_joint_recipe import WHOLE

MOST = 20  # words
NAMES = ["VAP-oob", "Platt-cal", "IR-oob"]
RANKS = pd.Series([1.2, 2.0, 2.8], NAMES)


def setups() -> pd.DataFrame:
    """Two of the ten setups."""
    first = list(setup_recipes(depths.RECIPE).items())[:2]
    return setup_table({key: evaluate(recipe, depths.DATA) for key, recipe in first})


def searched() -> Audited:
    """A search in groups that are large enough."""
    y, p, table = planted()
    return audited(check(y, p, features=table), resamples=99)


FOLLOWED = sample_table("relapses").frame.query("target != 'censored' or time >= 2")  # nobody censored by 2
REGIONS = FOLLOWED["hospital"].to_numpy()
TRAINED = np.column_stack([FOLLOWED["age"], FOLLOWED["risk_2"]])[:200], FOLLOWED["time"].to_numpy()[:200] > 2


def followed() -> SurvivalEvaluation:
    """Patients whose status at 2 is known."""
    columns = survival_columns(FOLLOWED, "target", "relapse", horizon=2.0)
    return columns.check(FOLLOWED)


OTHERS = {  # key → what a figure is made of, if not of an Evaluation
    "costs": lambda: decide(evaluation()),
    "net_benefit": lambda: decide(evaluation()),
    "compared": lambda: {"a": evaluation(), "b": evaluation(bins=5)},
    "critical_difference": lambda: RANKS,
    "win_rates": lambda: pd.DataFrame(
        {"mean": [0.8, 0.5, 0.2], "lower": [0.7, 0.4, 0.1], "upper": [0.9, 0.6, 0.3]}, NAMES
    ),
    "significance": lambda: pd.DataFrame(np.full((3, 3), 0.2), NAMES, NAMES),
    "set_reliability": lambda: evaluation().predictions,
    "depth": depths.scores,
    "depth_losses": depths.scores,
    "explained": lambda: explain(evaluation(), fitted(), widest_row(evaluation())),
    "tree": lambda: grown_tree(Recipe(), grow(Recipe(), depths.DATA, "tree", 3)[0]),
    "setups": setups,
    **dict.fromkeys(("audit", "audit_sizes", "audit_walk"), searched),
    "class_costs": lambda: decide_class(WHOLE),
    **dict.fromkeys(("class_intervals", "class_pairs", "simplex"), lambda: WHOLE),
    "grouping_loss": lambda: searched().evaluation,
    "survival": followed,
    **dict.fromkeys(("centres", "centre_curves"), lambda: centres(followed().evaluation, REGIONS)),
    "optimism": lambda: validate(LogisticRegression(), *TRAINED, B=20, repeats=1, splits=2),
    **dict.fromkeys(
        ("watch_evidence", "watch_moved", "watch_periods"), lambda: over_time(evaluation(), "none")
    ),
}


EXPERIMENT_OF = {
    figure: key
    for key, experiment in EXPERIMENTS.items()
    for figures in experiment.runs.values()
    for figure in figures
}


@pytest.mark.parametrize("key", FIGURES)
def test_the_first_sentence_says_what_is_drawn_in_twenty_words(key):
    if key in EXPERIMENT_OF:
        record = simulated(key, EXPERIMENT_OF[key])
    else:
        record = FIGURES[key].prepare(OTHERS.get(key, evaluation)())
    drawn, how = split_caption(record.caption)
    assert len(drawn.split()) <= MOST, drawn
    assert drawn.endswith(".")
    assert " ".join(filter(None, [drawn, how])) == record.caption
