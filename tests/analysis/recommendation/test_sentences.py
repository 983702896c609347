"""scripts/check_sentences.py: it agrees with what is said of shipped samples, and finds what is planted."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from calib import Recipe, evaluate, load_sample
from calib.analysis.recommendation.verdict import verdict_of
from scripts.check_sentences import METHODS, contradictions, said
from tests.analysis.given import given_evaluation

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
    ("verdict", "O/E 0.740", "O/E 0.750"),
    ("verdict", "ECE is 0.22", "ECE is 0.23"),
    ("verdict", "For 13 rows", "For 12 rows"),
    ("verdict", "predicted 0 % or 100 % (to 16 digits), but the opposite", "predicted 0 %, but the event"),
    ("reasons", "→ 0.1524", "→ 0.1424"),
    ("reasons", "No clear difference", "Clearly higher Brier score"),
    ("warnings", "isotonic regression", "beta calibration"),
    ("answer", "Venn–Abers", "isotonic regression"),
    ("answer", "Use Venn–Abers.", "Leave the probabilities as they are."),
    ("headline", "lowers", "changes"),
    ("title", "1 of 4", "2 of 4"),
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


@pytest.mark.parametrize(
    ("other", "said_of"),
    [
        (
            1.0,
            "For 5 rows the model predicted 0 % or 100 % (to 16 digits), but the opposite happened: no "
            "calibrated",
        ),
        (
            0.1,
            "For 2 rows the model predicted 0 % (to 16 digits), but the event happened: no calibrated "
            "model does this.",
        ),
    ],
)
def test_0_is_said_of_what_floats_cannot_tell_from_it_and_the_digits_are_said(other, said_of):
    y = np.repeat([0, 1, 1, 0, 1], [90, 60, 2, 3, 45])
    p = np.repeat([0.1, 0.9, 1e-20, other, 0.8], [90, 60, 2, 3, 45])
    assert verdict_of(given_evaluation(y, {"none": p})).sentence.startswith(said_of)
    exact = np.where(p == 1e-20, 0, p)
    assert "digits" not in verdict_of(given_evaluation(y, {"none": exact})).sentence
