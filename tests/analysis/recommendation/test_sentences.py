"""scripts/check_sentences.py: it agrees with what is said of shipped samples, and finds what is planted."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from calib import Recipe, evaluate, load_sample
from calib.analysis.recommendation.verdict import verdict_of
from scripts.check_sentences import METHODS, contradictions, said
from tests.analysis.given import given_evaluation
from tests.saying import assert_says

CELLS = [("digits", "naive_bayes"), ("digits", "random_forest"), ("breast_cancer", "naive_bayes")]


@lru_cache
def cell(sample, model):
    return evaluate(Recipe(model=model, calibrators=METHODS), load_sample(sample))


@pytest.mark.parametrize(("sample", "model"), CELLS)
def test_no_number_contradicts_what_is_said_of_a_sample(sample, model):
    evaluation = cell(sample, model)
    assert contradictions(evaluation, said(evaluation)) == []


PLANTED = [
    ("verdict", "underestimates below", "overestimates below"),
    ("verdict", "O/E 0.719", "O/E 0.729"),
    ("verdict", "ECE is 0.24", "ECE is 0.25"),
    ("verdict", "wrong for 12 rows", "wrong for 13 rows"),
    ("reasons", "→ 0.153", "→ 0.143"),
    ("reasons", "No clear difference", "Clearly higher Brier score"),
    ("warnings", "isotonic regression", "beta calibration"),
    ("answer", "Platt scaling", "isotonic regression"),
    ("answer", "Use Platt scaling.", "Leave the probabilities as they are."),
    ("headline", "lowers", "changes"),
    ("title", "1 of 3", "2 of 3"),
]


@pytest.mark.parametrize(("where", "true", "false"), PLANTED)
def test_a_planted_contradiction_is_found(where, true, false):
    evaluation = cell(*CELLS[0])
    told = said(evaluation)
    shown = getattr(told, where)
    one = isinstance(shown, str)
    texts = [each.replace(true, false) for each in ([shown] if one else shown)]
    planted = texts[0] if one else tuple(texts)
    assert planted != shown
    assert contradictions(evaluation, replace(told, **{where: planted}))


def test_exactly_0_or_1_is_said_of_exactly_such_rows_alone():
    y = np.repeat([0, 1, 1, 0, 1], [90, 60, 2, 3, 45])
    p = np.repeat([0.1, 0.9, 1e-20, 1.0, 0.8], [90, 60, 2, 3, 45])
    said_of = verdict_of(given_evaluation(y, {"none": p})).sentence
    assert_says(said_of, "exactly 0 or 1", "wrong for 3 rows")
    said_of = verdict_of(given_evaluation(y, {"none": np.where(p == 1, 0.1, p)})).sentence
    assert "exactly" not in said_of
    assert_says(said_of, "0 or 1", "16 digits", "wrong for 2 rows")
