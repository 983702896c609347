"""What a validation report says: rows counted by hand, numbers of the metric table, intervals around them."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.analysis.decision import net_benefit
from calib.analysis.validation import CALIBRATION_METRICS, OVERALL_METRICS, flow, net_benefits, performance
from calib.sources import load


def table(n=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x,
            "day": np.arange(n),
            "who": np.arange(n) // 3,
            "label": np.where(rng.random(n) < 1 / (1 + np.exp(-x)), "yes", "no"),
        }
    )


def judged(frame, **fields):
    recipe = Recipe(**{"data": "upload:00ff", "target": "label", "model": "naive_bayes"} | fields)
    return evaluate(recipe, load(recipe, {"00ff": frame}))


def steps(evaluation):
    return flow(evaluation).set_index("step")


def test_every_row_of_a_table_is_told():
    """300 rows, 17 without a label and 3 without a day; the gap of 20 days lies between the parts."""
    frame = table().astype({"day": float})
    frame.loc[:16, "label"] = None
    frame.loc[20:22, "day"] = None
    evaluation = judged(frame, time="day", split="time", data_params={"gap": 20}, positive="yes")
    found = steps(evaluation)
    assert list(found["lines"][["Read", "Left out", "Kept"]]) == [300, 20, 280]
    kept = frame.dropna()
    assert found.loc["Kept", "events"] == (kept["label"] == "yes").sum()
    cut = kept["day"].sort_values().iloc[-84:].min()
    test, gap = kept[kept["day"] >= cut], kept[(kept["day"] < cut) & (kept["day"] >= cut - 20)]
    assert found.loc["Test", "lines"] == len(test)
    assert found.loc["Test", "events"] == (test["label"] == "yes").sum()
    # And a gap before those that calibrate
    assert len(gap) < found.loc["Not used", "lines"] < 2 * len(gap) + 5
    assert found["lines"][["Train the model", "Calibrate", "Test", "Not used"]].sum() == 280
    unlabelled, undated = evaluation.dataset.left_out
    assert "17 rows" in unlabelled
    assert "3 rows" in undated


def test_columns_left_out_are_no_rows_left_out():
    evaluation = judged(table().assign(arrows=range(300)), exclude=("arrows",))
    assert "Excluded at your request: arrows." in evaluation.notes
    assert evaluation.dataset.left_out == ()


def test_folds_judge_every_row_once_and_counts_stand_for_their_rows():
    found = steps(judged(table(), evaluation="folds", folds=5, placement="cv"))
    assert found.loc["Test, all folds", "lines"] == 300
    assert found.loc["Train the model, mean of 5 folds", "lines"] == 240
    assert found.loc["Calibrate, mean of 5 folds", "lines"] == 240
    counts = pd.DataFrame({"score": np.linspace(0.05, 0.95, 40), "n": 5, "label": [0, 1] * 20})
    evaluation = judged(counts, content="predictions", weight="n")
    found = steps(evaluation)
    assert found.loc["Kept", ["lines", "rows", "events"]].tolist() == [40, 200, 100]
    assert found.loc["Train the model", "lines"] == 0
    assert found["rows"][["Calibrate", "Test"]].sum() == 200
    assert found.loc["Test", "rows"] == evaluation.size


def test_values_are_those_of_the_metric_table_and_intervals_lie_around_them():
    evaluation = judged(table(900))
    found = performance(evaluation, OVERALL_METRICS + CALIBRATION_METRICS)
    for line in found.itertuples():
        np.testing.assert_equal(
            line.value, evaluation.measured([line.metric]).loc[line.calibrator, line.metric]
        )
        # Resampling adds noise to a distance
        if not np.isnan(line.value) and line.metric not in ("ici", "ece"):
            assert line.lower < line.value < line.upper or np.isnan(line.lower)


def test_rows_of_one_cluster_widen_the_intervals():
    frame = pd.concat([table()] * 4, ignore_index=True)
    frame["who"] = np.tile(np.arange(300), 4)
    recipe = {"test_size": 0.8, "calibrators": ("none", "platt")}
    alone = performance(judged(frame, **recipe), ("brier", "slope"))
    whole = performance(judged(frame, cluster="who", **recipe), ("brier", "slope"))
    assert list(whole["calibrator"]) == list(alone["calibrator"])
    assert ((whole.upper - whole.lower) > 1.4 * (alone.upper - alone.lower)).all()


def test_net_benefit_is_that_of_the_curve_at_the_thresholds_of_the_range():
    evaluation = judged(table())
    found = net_benefits(evaluation, low=0.2, high=0.6)
    assert list(found["threshold"].unique()) == pytest.approx([1 / 6, 0.3, 0.4, 0.5])
    for key, predictions in evaluation.predictions.items():
        own = found[found["rule"] == key]
        np.testing.assert_allclose(
            own["value"], net_benefit(evaluation.y, predictions.p, own["threshold"].to_numpy())
        )
    every = found[found["rule"] == "all"]
    odds = every["threshold"] / (1 - every["threshold"])
    np.testing.assert_allclose(every["value"], evaluation.share - (1 - evaluation.share) * odds)
