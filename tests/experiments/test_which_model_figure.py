"""The title names the closest model of either row; only the paper's three can be the answer."""

import numpy as np
import pytest

from calib.experiments.shared.gaussian_plane import PredictionErrors
from calib.experiments.which_model import Models
from calib.figures import FIGURES
from tests.saying import assert_says

NAMES = ("Forest", "SVM with Platt", "Logistic regression", "Naive Bayes")
TRUTH = np.tile([0.25, 0.5], 50)


def row(*distances):
    return tuple(
        PredictionErrors(name, TRUTH, TRUTH + np.sqrt(tce))
        for name, tce in zip(NAMES, distances, strict=False)
    )


@pytest.mark.parametrize(
    ("below", "answer"), [((0.02, 0.01, 0.03), 2), ((0.01, 0.02, 0.03), 1), ((0.03, 0.02, 0.01), 3)]
)
def test_the_answer_is_the_closest_below(below, answer):
    found = Models({"Equal covariances": row(0.02, 0.01, 0.001), "Unequal covariances": row(*below)})
    record = FIGURES["which_model"].prepare(found)
    assert record.answer == answer
    assert_says(record.title, "Equal covariances", "logistic regression", "closest", "TCE 0.0010", "Unequal")
    assert record.columns == 3
    assert [part.shown[0].name for part in FIGURES["which_model"].panels(record)][::3] == [
        "Forest, equal covariances",
        "Forest, unequal covariances",
    ]


def test_a_fourth_model_is_named_but_no_answer():
    found = Models(
        {
            "Equal covariances": row(0.02, 0.01, 0.03, 0.001),
            "Unequal covariances": row(0.02, 0.01, 0.03, 0.002),
        }
    )
    record = FIGURES["which_model"].prepare(found)
    assert "Unequal covariances: naive Bayes (0.0020)" in record.title
    assert record.answer == 2
    assert record.columns == 4
