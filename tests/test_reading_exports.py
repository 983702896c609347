"""Tables as other programs export them are read right, or the program asks: names, words and scales beside scores."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, sources
from calib.data import DataError, ReadingQuestion, guess_target, prepare_predictions, read_table
from calib.sources import digest, with_answer
from tests.kinds import ANIMALS, CODE, GUESS, JOINT, SHARES, SURE, P, Y, as_csv, brier

SIGNS = 2 * Y - 1
OTHER = 1 - P
RIGHT = brier(SURE, GUESS == Y)
CATS = np.where(Y, "cat", "dog")
CATS_GUESSED = np.where(GUESS, "cat", "dog")
DEAD = np.where(Y, "dead", "alive")
VALUES = {  # columns → Brier score of the first score
    "signs as labels": ({"label": np.where(Y, "+", "-"), "prob": P}, brier(P, Y)),
    "a class of −1 by name": ({"y": SIGNS, "p_-1": OTHER}, brier(P, Y)),
    "the class 1 of −1 and 1": ({"y": SIGNS, "p_1": P}, brier(P, Y)),
    "the name of an equation": ({"y": Y, "P(y=0)": OTHER}, brier(P, Y)),
    "a negated class": ({"status": DEAD, "p_not_dead": OTHER}, brier(OTHER, 1 - Y)),
    "one of two columns is named": ({"label": DEAD, "p_dead": P, "rest": OTHER}, brier(P, Y)),
    "classes called Class1 and Class2": (
        {"obs": np.where(Y, "Class2", "Class1"), "Class1": OTHER, "Class2": P},
        brier(P, Y),
    ),
    "predicted class in numbers": ({"y": Y, "pred_class": GUESS, "prob": P}, brier(P, Y)),
    "predicted class in other words": (
        {"y": Y, "pred": np.where(GUESS, "yes", "no"), "confidence": SURE},
        brier(P, Y),
    ),
    "predicted class in German": (
        {"Wahrheit": CATS, "Vorhersage": CATS_GUESSED, "Konfidenz": SURE},
        RIGHT,
    ),
    "predicted class of Azure": (
        {"kind": DEAD, "Scored Labels": np.where(GUESS, "dead", "alive"), "Scored Probabilities": P},
        brier(P, Y),
    ),
    "logarithms": (
        {"y": Y, "logprob_0": np.log(OTHER.clip(1e-9)), "logprob_1": np.log(P.clip(1e-9))},
        brier(P, Y),
    ),
    "entropy beside": ({"y": Y, "entropy": P * OTHER, "prob": P}, brier(P, Y)),
    "lists of one number": ({"y": Y, "prob": [f"[{p}]" for p in P]}, brier(P, Y)),
    "tuples": ({"y": Y, "prob": [f"({1 - p}, {p})" for p in P]}, brier(P, Y)),
    "numbers as NumPy 2 prints them": (
        {"y": Y, "prob": [f"[np.float64({1 - p}), np.float64({p})]" for p in P]},
        brier(P, Y),
    ),
    "a label that the column shares": ({"survived": Y, "p_survive": P}, brier(P, Y)),
}


def read(columns):
    table = read_table(as_csv(**columns), "t.csv")
    return prepare_predictions(table, guess_target(table))


@pytest.mark.parametrize("name", VALUES)
def test_an_export_is_read_right(name):
    columns, expected = VALUES[name]
    data = read(columns)
    assert brier(data.X.iloc[:, 0], data.y) == pytest.approx(expected, abs=1e-5), str(data.read_as)


@pytest.mark.parametrize("names", [("-1", "0", "1"), ("cat", "dog", "unknown")])
def test_a_class_with_its_own_column_is_no_code_for_a_missing_label(names):
    data = read({"y": np.array(names)[CODE], **{f"p_{name}": SHARES[:, k] for k, name in enumerate(names)}})
    P_of_all = data.X[list(next(iter(data.columns.values())))].to_numpy()
    assert ((P_of_all - np.eye(3)[data.labels]) ** 2).sum(axis=1).mean() == pytest.approx(JOINT)


PERCENT = {"label": CATS, "prediction": CATS_GUESSED, "confidence": 100 * SURE}
PENDING = np.where(np.arange(len(Y)) % 50 == 3, "pending", np.where(Y, "yes", "no"))
CODED = np.where(np.arange(len(Y)) % 5 == 3, -1, P)
TOP = SHARES.max(axis=1)
TWO = {
    "label": ANIMALS[CODE],
    "pred1": ANIMALS[SHARES.argmax(axis=1)],
    "pred2": ANIMALS[SHARES.argmin(axis=1)],
}
QUESTIONS = {  # columns, word of an answer → Brier score that follows from it
    "confidence in percent": (PERCENT, "Percentages", RIGHT),
    "a name against the convention": ({"died": Y, "p_survival": OTHER}, "Probability of '0'", brier(P, Y)),
    "a third word": (
        {"y": PENDING, "p": P},
        "Exclude 'pending'",
        brier(P[PENDING != "pending"], Y[PENDING != "pending"]),
    ),
    "one code for many missing scores": (
        {"y": Y, "p": CODED},
        "Exclude",
        brier(P[CODED >= 0], Y[CODED >= 0]),
    ),
    "two predicted classes": (
        TWO | {"prob1": TOP},
        "class in 'pred1'",
        brier(TOP, SHARES.argmax(axis=1) == CODE),
    ),
    "numbers of two runs": ({"y": Y, "p_seed0": P, "p_seed1": P**2}, "Two models", brier(P, Y)),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_leads_to_the_right_number(name):
    columns, word, expected = QUESTIONS[name]
    content = as_csv(**columns)
    table, key = read_table(content, "t.csv"), digest(content)
    recipe = Recipe(data=f"upload:{key}", content="predictions", target=guess_target(table))
    with pytest.raises(ReadingQuestion) as asked:
        sources.load(recipe, {key: table})
    (answer,) = [each for each in asked.value.answers if word in each.label]
    data = sources.load(recipe.replace(**with_answer(recipe, answer.fix)), {key: table})
    assert brier(data.X.iloc[:, 0], data.y) == pytest.approx(expected, abs=1e-9)


def test_every_other_reading_of_a_percentage_can_be_chosen():
    table = pd.DataFrame(PERCENT).rename(columns={"confidence": "confidence %"})
    options = {"scores_as": "confidence", "predicted": "prediction"}
    data = prepare_predictions(table, "label", positive="cat", **options)
    assert brier(data.X.iloc[:, 0], data.y) == pytest.approx(brier(P, Y))


def test_only_classes_with_a_column_are_offered():
    data = read({"y": ANIMALS[CODE], "p_cat": SHARES[:, 0]})
    assert [answer.label for answer in data.read_as.others] == []


@pytest.mark.parametrize("guess", [np.where(GUESS, "yes", "no"), GUESS.astype(bool)])
def test_predicted_classes_in_other_words_are_refused(guess):
    with pytest.raises(DataError, match="predicted classes, not probabilities"):
        read({"y": Y, "pred": guess})
