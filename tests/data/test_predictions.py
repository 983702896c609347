"""Predictions made elsewhere become a Dataset of scores, and nothing is dropped without a word."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from calib.data import (
    DataError,
    guess_target,
    looks_like_predictions,
    prepare_predictions,
    read_table,
    score_columns,
)

N = 200
RNG = np.random.default_rng(2)
Y = RNG.random(N) < 0.3
GOOD = np.clip(0.3 + 0.4 * Y + RNG.normal(0, 0.2, N), 0, 1)
FRAME = pd.DataFrame({"label": np.where(Y, "sick", "well"), "p_forest": GOOD, "margin": 4 * GOOD - 2})


def test_scores_become_the_columns_of_x():
    data = prepare_predictions(FRAME, "label")
    assert data.predictions
    assert data.classes == ("well", "sick")
    assert data.X.columns.tolist() == ["p_forest", "margin"]
    assert (data.X.dtypes == "float64").all()
    np.testing.assert_array_equal(data.X["margin"], FRAME["margin"])
    np.testing.assert_array_equal(data.y, Y)
    assert data.notes == (f"Positive class: 'sick', the rarer one ({Y.sum()} rows).",)


def test_scores_can_be_chosen_and_the_rest_is_named():
    data = prepare_predictions(FRAME.assign(fold=RNG.integers(0, 3, N)), "label", scores=["margin"])
    assert data.X.columns.tolist() == ["margin"]
    assert data.notes[-1] == "Not used: p_forest, fold."


def test_the_positive_class_is_the_one_the_scores_grow_with():
    common = FRAME.assign(label=np.where(Y, "well", "sick"))  # now the frequent class is the one scored
    common["p_forest"] = 1 - common["p_forest"]
    common["margin"] = -common["margin"]
    data = prepare_predictions(common, "label")
    assert data.classes == ("well", "sick")
    assert data.y.mean() > 0.5
    assert roc_auc_score(data.y, data.X["p_forest"]) > 0.5
    assert "because the scores grow with it" in data.notes[0]
    chosen = prepare_predictions(common, "label", "well")
    assert chosen.classes == ("sick", "well")
    assert "as chosen" in chosen.notes[0]


def test_scores_that_say_nothing_leave_the_rarer_class():
    frame = pd.DataFrame({"y": [0, 0, 1], "s": [0.5, 0.5, 0.5], "t": [1.0, 2.0, 1.5]})
    assert prepare_predictions(frame, "y").classes == ("0", "1")


def test_more_classes_become_one_against_the_rest():
    frame = FRAME.assign(label=np.where(Y, "sick", np.where(RNG.random(N) < 0.5, "well", "better")))
    data = prepare_predictions(frame, "label", "sick")
    assert data.classes == ("not sick", "sick")
    np.testing.assert_array_equal(data.y, Y)


def test_rows_without_label_or_score_are_left_out_and_named():
    frame = FRAME.copy()
    frame.loc[0, "label"], frame.loc[3, "p_forest"], frame.loc[[3, 7], "margin"] = None, np.nan, np.inf
    data = prepare_predictions(frame, "label")
    assert data.X.index.tolist() == [i for i in range(N) if i not in (0, 3, 7)]
    assert "Left out for want of a label: 1 row (row 1)." in data.notes
    assert "Left out because 'p_forest' is missing or infinite: 1 row (row 4)." in data.notes
    assert "Left out because 'margin' is missing or infinite: 2 rows (rows 4, 8)." in data.notes


@pytest.mark.parametrize(
    ("change", "scores", "said"),
    [
        ({}, ["nothing"], "no score column 'nothing'"),
        ({}, ["label"], "no score column 'label'"),
        ({"word": ["a", "b"] * 100}, ["word"], "'word' does not hold numbers"),
        ({"p_forest": np.nan, "margin": "x"}, None, "No column of scores"),
        ({"p_forest": np.nan}, ["p_forest"], "No row has both"),
        ({"label": "sick"}, None, "only the label"),
    ],
)
def test_what_cannot_be_used_is_refused(change, scores, said):
    with pytest.raises(DataError, match=said):
        prepare_predictions(FRAME.assign(**change), "label", scores=scores)


def test_identifiers_and_words_are_no_scores():
    frame = FRAME.assign(id=RNG.permutation(N) * 3, row=np.arange(N), name=[f"n{i}" for i in range(N)])
    assert score_columns(frame, "label") == ["p_forest", "margin"]
    assert looks_like_predictions(frame)


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        ({"y": Y.astype(int), "p": GOOD}, True),
        ({"y": Y.astype(int), "nb": GOOD, "forest": GOOD**2}, True),
        ({"y": Y.astype(int), "score1": 4 * GOOD, "score2": 9 * GOOD}, True),
        ({"y": Y.astype(int), "y_prob": GOOD, "svm_margin": 9 * GOOD, "y_pred": GOOD > 0.5}, False),
        ({"y": Y.astype(int), "age": 40 + 9 * GOOD}, False),
        ({"y": Y.astype(int), "p": GOOD, "colour": RNG.choice(["r", "g", "b"], N)}, False),
        ({"y": Y.astype(int), **{f"x{i}": RNG.random(N) for i in range(8)}}, False),
        ({"y": Y.astype(int)}, False),
        ({"x": GOOD}, False),
    ],
)
def test_a_table_of_predictions_is_told_from_one_of_cases(columns, answer):
    assert looks_like_predictions(pd.DataFrame(columns)) is answer


def test_the_label_of_predictions_is_guessed():
    assert guess_target(FRAME) == "label"


def test_a_million_predictions_arrive_whole():
    n = 1_000_000
    rng = np.random.default_rng(3)
    p, y = rng.random(n).round(6), rng.integers(0, 2, n)
    text = "target,p\n" + "\n".join(map("{},{}".format, y, p))
    data = prepare_predictions(read_table(text.encode(), "big.csv"), "target", 1)
    np.testing.assert_array_equal(data.X["p"], p)
    np.testing.assert_array_equal(data.y, y)
