"""Scores made elsewhere are handed on as they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from calib.kernel.checks import InputError
from calib.models import (
    MODELS,
    GivenProbabilities,
    GivenScores,
    class_one_score,
    class_scores,
    gives_probability,
)

TABLE = pd.DataFrame({"p": [0.1, 0.9, 0.4], "margin": [-2.0, 3.5, 0.2]})
Y = [0, 1, 1]


def test_values_in_the_unit_interval_are_probabilities_and_others_margins():
    p, margin = GivenScores("p").fit(TABLE, Y), GivenScores("margin").fit(TABLE, Y)
    assert gives_probability(p)
    assert not gives_probability(margin)
    assert class_one_score(p, TABLE).tolist() == [0.1, 0.9, 0.4]
    assert class_one_score(margin, TABLE).tolist() == [-2.0, 3.5, 0.2]
    assert p.predict(TABLE).tolist() == [0, 1, 0]
    assert margin.predict(TABLE).tolist() == [0, 1, 1]


def test_what_the_scores_are_can_be_said_instead_of_seen():
    predicted = GivenScores("p", probability=False).fit(TABLE, Y)
    assert not gives_probability(predicted)
    assert class_one_score(predicted, TABLE.assign(p=[2.0, 0.5, -1.0])).tolist() == [2.0, 0.5, -1.0]
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        class_one_score(GivenScores("margin", probability=True).fit(TABLE, Y), TABLE)


def test_the_first_column_is_the_default_and_arrays_will_do():
    assert class_one_score(GivenScores().fit(TABLE, Y), TABLE).tolist() == [0.1, 0.9, 0.4]
    assert class_one_score(GivenScores().fit(TABLE.to_numpy(), Y), TABLE.to_numpy()).tolist() == [
        0.1,
        0.9,
        0.4,
    ]


def test_a_probability_outside_the_unit_interval_is_refused_later_on():
    given = GivenScores("p").fit(TABLE, Y)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        given.predict_proba(TABLE.assign(p=2.0))


def test_unknown_columns_and_missing_scores_are_refused_by_name():
    with pytest.raises(InputError, match=r"score must .*\(p, margin\).*'q'"):
        GivenScores("q").fit(TABLE, Y)
    with pytest.raises(InputError, match="score column 'p' must be finite"):
        GivenScores("p").fit(TABLE.assign(p=[0.1, np.nan, 0.2]), Y)


def test_the_registry_builds_it_with_a_column():
    model = clone(MODELS["given"].build({"score": "margin"}, 0))
    assert model.trained_elsewhere
    assert model.score == "margin"


WIDE = pd.DataFrame(
    {"a": [0.2, 0.5, 1.0], "b": [0.7, 0.5, 0.0], "c": [0.1, 0.0, 0.0], "other": [7.0, 8.0, 9.0]}
)


def test_columns_of_all_classes_are_probabilities_in_the_order_asked_for():
    model = clone(GivenProbabilities(("c", "a", "b"))).fit(WIDE, [1, 1, 2])  # class 0 has no row
    assert model.trained_elsewhere
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(class_scores(model, WIDE, np.arange(3)), WIDE[["c", "a", "b"]])
    assert model.predict(WIDE).tolist() == [2, 1, 1]
    every = GivenProbabilities().fit(WIDE[["a", "b", "c"]], [0, 1, 2])
    np.testing.assert_array_equal(
        every.predict_proba(WIDE[["a", "b", "c"]].to_numpy()), WIDE[["a", "b", "c"]]
    )


def test_columns_of_all_classes_must_be_there_and_sum_to_one():
    with pytest.raises(InputError, match="no column 'd'"):
        GivenProbabilities(("a", "b", "d")).fit(WIDE, [0, 1, 2])
    with pytest.raises(InputError, match=r"from 0 to 2.*\b3\b"):
        GivenProbabilities(("a", "b", "c")).fit(WIDE, [0, 1, 3])
    with pytest.raises(InputError, match=r"sum to 1.*\b1 of 3 .*row 1 .*1\.5"):
        GivenProbabilities(("a", "b", "c")).fit(WIDE, [0, 1, 2]).predict_proba(WIDE.assign(c=[0.1, 0.5, 0]))
