"""Trees of K classes: the scores of each depth are those of all classes by their definitions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from calib import Recipe, evaluate
from calib.analysis.depth import JOINT_METRICS, depth_recipe, depth_scores, grow, growths_of, why_not_grown
from calib.figures.metrics import formatted_together
from calib.kernel.records import Dataset
from calib.metrics import accuracy, auc, brier_score, log_loss
from calib.study.papers.ten_setups import placements_together, together_placements

X, Y = load_wine(return_X_y=True)
DATA = Dataset("wine", X, Y == 2, labels=Y, names=("a", "b", "c"))
RECIPE = Recipe(params={"n_estimators": 10}, calibrators=("none", "isotonic", "temperature"))


@pytest.mark.parametrize("growth", ["tree", "forest"])
def test_scores_of_a_depth_are_those_of_all_classes(growth):
    for point in grow(RECIPE, DATA, growth, 2):
        table = depth_scores(RECIPE, point).set_index("calibrator")
        found = evaluate(depth_recipe(RECIPE, growth, 2, point.leaf), DATA).whole
        for key, P in found.distributions.items():
            by_hand = [f(found.y, P) for f in (brier_score, log_loss, accuracy, auc)]
            np.testing.assert_allclose(table.loc[key, list(JOINT_METRICS)].astype(float), by_hand)


def test_out_of_bag_growth_is_for_one_class_and_says_so():
    assert growths_of(RECIPE, DATA) == ("tree", "forest")
    assert "Choose a class" in why_not_grown(RECIPE, DATA, "forest_oob")


def test_placements_of_all_classes_are_their_scores_with_intervals():
    assert together_placements(RECIPE, DATA) == ("split", "oob_whole")
    assert together_placements(Recipe(model="naive_bayes"), DATA) == ("split",)
    found = {key: evaluate(RECIPE.replace(placement=key), DATA) for key in ("split", "oob_whole")}
    table = placements_together(found)
    for line in table.itertuples():
        joint = found[line.placement].whole
        assert line.value == joint.metrics.loc[line.calibrator, line.metric]
        assert np.isnan(line.low) or line.low <= line.value <= line.high
    shown = formatted_together(table)
    assert len(shown) == 6
    assert shown["Accuracy, all classes"].str.contains("★").any()
    pd.testing.assert_index_equal(
        shown.columns,
        pd.Index(
            [
                *("Calibrator", "Calibration data"),
                *("Log loss, all classes", "Brier score, all classes", "Accuracy, all classes"),
            ]
        ),
    )
