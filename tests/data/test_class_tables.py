"""Columns of predictions find their classes however they are named, and become probabilities only as they may."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from calib.data import DataError
from calib.data.class_tables import class_tables, to_probabilities
from tests.saying import assert_says

N = 60
RNG = np.random.default_rng(0)
P = RNG.dirichlet([1, 1, 1], N)
ANIMALS = ["cat", "dog", "fox"]


def tables(columns, labels, values=P, beside=None):
    frame = pd.DataFrame(dict(zip(columns, np.asarray(values).T, strict=True)) | (beside or {}))
    return class_tables(frame, labels, list(frame))


@pytest.mark.parametrize(
    ("columns", "title"),
    [
        (["cat", "dog", "fox"], "predictions"),
        (["class_fox", "class_cat", "class_dog"], "predictions"),
        (["p_cat", "p_dog", "p_fox"], "predictions"),
        (["P(cat)", "P(dog)", "P(fox)"], "predictions"),
        (["probCat", "probDog", "probFox"], "predictions"),
        (["forest_cat", "forest_dog", "forest_fox"], "forest"),
        (["My Net: CAT", "My Net: DOG", "My Net: FOX"], "My Net"),
        (["cat_prob", "dog_prob", "fox_prob"], "predictions"),
        (["p_cat_of_forest", "p_dog_of_forest", "p_fox_of_forest"], "forest"),
    ],
)
def test_one_column_per_class_is_found_whatever_stands_around_the_class(columns, title):
    found = tables(columns, ANIMALS)
    assert found.names == ("cat", "dog", "fox")
    assert list(found.columns) == [title]
    for name, column in zip(found.names, found.columns[title], strict=True):
        assert name in column.casefold()
    assert found.note == ""


def test_several_models_are_told_apart_by_what_stands_around_the_class():
    columns = [f"{model}_{name}" for model in ("forest", "boosting") for name in ("fox", "dog", "cat")]
    found = tables(columns, ANIMALS, np.hstack([P, P]), {"age": RNG.integers(20, 60, N)})
    assert found.columns == {
        "forest": ("forest_cat", "forest_dog", "forest_fox"),
        "boosting": ("boosting_cat", "boosting_dog", "boosting_fox"),
    }
    both = tables(
        [f"{kind}_{i}" for kind in ("logit", "prob") for i in range(3)], list("012"), np.hstack([P - 1, P])
    )
    assert list(both.columns) == ["logit", "prob"]


def test_models_that_are_numbered_as_classes_are_not_mistaken_for_classes():
    columns = [f"m{model}_p{k}" for model in (1, 2, 3) for k in (1, 2, 3)]
    found = tables(columns, ["1", "2", "3"], np.hstack([P] * 3))
    assert found.columns == {f"m{m}": tuple(f"m{m}_p{k}" for k in (1, 2, 3)) for m in (1, 2, 3)}


@pytest.mark.parametrize("K", [3, 10, 11, 100])
def test_numbers_are_matched_as_numbers_and_not_as_ends(K):
    """p_1 is not a column of class 1 in p_11."""
    values = RNG.dirichlet([1.0] * K, N)
    order = RNG.permutation(K)
    found = tables([f"p_{k}" for k in order], [str(k) for k in range(K)], values[:, order])
    assert found.columns["predictions"] == tuple(f"p_{k}" for k in range(K))
    assert (
        tables([f"p_{k}" for k in order], [f"{k}.0" for k in range(K)], values[:, order]).columns
        == found.columns
    )


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (["p_very_good", "p_good", "p_bad"], ["bad", "good", "very good"]),
        (["very.good", "good", "bad"], ["Very-Good", "bad", "good"]),
        (["p_a", "p_aa", "p_aaa"], ["a", "aa", "aaa"]),
    ],
)
def test_labels_may_hold_spaces_and_one_another(columns, labels):
    found = tables(columns, labels)
    (held,) = found.columns.values()
    assert sorted(held) == sorted(columns)
    assert found.names == tuple(labels)
    assert max(found.names, key=len) == found.names[held.index(max(columns, key=len))]


def test_labels_that_differ_in_case_alone_have_columns_that_do():
    found = tables(["p_a", "p_A", "p_b"], ["A", "a", "b"])
    assert found is None  # names are compared without case, so these cannot be told apart


def test_numbered_columns_are_the_words_in_sorted_order_and_a_note_says_so():
    for first in (0, 1):
        found = tables([f"p_{i + first}" for i in (2, 0, 1)], ANIMALS, P[:, [2, 0, 1]])
        assert found.columns == {"predictions": tuple(f"p_{i + first}" for i in range(3))}
        assert f"'p_{first}' is class 'cat'" in found.note
    assert tables(["p_0", "p_1", "p_3"], ANIMALS) is None  # a gap
    assert tables(["p_2", "p_3", "p_4"], ANIMALS) is None  # begins elsewhere
    shifted = tables(["p_0", "p_1", "p_2"], ["1", "2", "3"])
    assert shifted.names == ("1", "2", "3")
    assert "'p_0' is class '1'" in shifted.note


def test_labels_that_are_positions_are_matched_in_the_order_of_the_file():
    found = tables(["dog", "cat", "fox"], ["0", "1", "2"])
    assert found.names == ("0", "1", "2")
    assert found.columns == {"predictions": ("dog", "cat", "fox")}
    assert "0 is 'dog', 1 is 'cat'" in found.note
    assert tables(["dog", "cat", "fox"], ["1", "2", "3"]).names == ("1", "2", "3")
    four = RNG.dirichlet([1, 1, 1, 1], N)
    found = tables(["a", "b", "c", "d"], ["0", "1", "2"], four)  # the last class has no row
    assert found.names == ("0", "1", "2", "3")
    assert tables(["a", "b", "c", "d"], ["1", "2", "3"], four) is None  # the first or the last may be missing
    two = tables(
        ["net_a", "net_b", "net_c", "tree_a", "tree_b", "tree_c"], ["0", "1", "2"], np.hstack([P, P])
    )
    assert two.columns == {"net": ("net_a", "net_b", "net_c"), "tree": ("tree_a", "tree_b", "tree_c")}


def test_classes_without_a_row_keep_their_columns():
    four = RNG.dirichlet([1, 1, 1, 1], N)
    found = tables(["p_cat", "p_dog", "p_fox", "p_owl"], ANIMALS, four)
    assert found.names == (*ANIMALS, "owl")
    assert tables(["p_cat", "p_dog", "p_fox", "p_max"], ANIMALS, np.c_[P, P.max(axis=1)]).names == tuple(
        ANIMALS
    )
    numbered = tables([f"logit_{k}" for k in range(4)], ["0", "1", "3"], four * 5 - 2)
    assert numbered.names == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("columns", "labels", "values"),
    [
        (["x1", "x2", "x3"], ["1", "2", "3"], RNG.normal(size=(N, 3))),
        (["score1", "score2", "score3"], ["1", "2", "3"], RNG.random((N, 3))),  # of three models
        (["p_cat", "p_dog"], ANIMALS, P[:, :2]),
        (["p_cat", "p_dog"], ["cat", "dog"], P[:, :2]),
        (["a", "b", "c"], ["0", "1", "2"], RNG.random((N, 3))),
    ],
)
def test_other_columns_of_numbers_are_no_classes(columns, labels, values):
    assert tables(columns, labels, values) is None


def test_words_are_no_columns_of_probabilities():
    frame = pd.DataFrame({f"p_{name}": ["a", "b", "c"] for name in ANIMALS})
    assert class_tables(frame, ANIMALS, list(frame)) is None


# --- probabilities
ALL = np.ones(N, dtype=bool)


def test_probabilities_stay_as_they_are_bit_by_bit():
    for held in (P, P.astype(np.float32).astype(float), P.round(6)):
        made = held.copy()
        assert to_probabilities(made, ALL, "net") == ""
        np.testing.assert_array_equal(made, held)


def test_rounding_is_taken_off_and_said():
    made = P.round(2)
    note = to_probabilities(made, ALL, "net")
    assert_says(note, "net", "divided by their sums", "at most 0.0100")
    np.testing.assert_allclose(made, P.round(2) / P.round(2).sum(axis=1, keepdims=True))


def test_logits_are_recognised_and_become_their_softmax():
    logits = np.log(P) + RNG.normal(size=(N, 1))
    made = logits.copy()
    assert "contain logits" in to_probabilities(made, ALL, "net")
    np.testing.assert_allclose(made, softmax(logits, axis=1), atol=1e-15)
    np.testing.assert_allclose(made, P)
    made = np.log(P)  # which are logits, too
    to_probabilities(made, ALL, "net")
    np.testing.assert_allclose(made, P)


def test_positive_logits_are_logits_if_a_person_says_so():
    logits = np.log(P) - np.log(P).min() + 1
    with pytest.raises(DataError, match=r"not sum to 1 .*\b60 of 60 rows") as refused:
        to_probabilities(logits.copy(), ALL, "net")
    assert [action for _, action in refused.value.fixes] == ["Divide each row by its sum", "These are logits"]
    made = logits.copy()
    assert_says(to_probabilities(made, ALL, "net", "logits"), "net", "logits", "softmax")
    np.testing.assert_allclose(made, P)


def test_rows_that_do_not_sum_to_one_are_named_and_can_be_divided():
    broken = P.copy()
    broken[[2, 40]] *= np.array([[0.5], [0.25]])
    with pytest.raises(DataError, match=r"\b2 of 60 rows .*rows 3, 41\b.*Row 3 .*\b0\.5") as refused:
        to_probabilities(broken.copy(), ALL, "net")
    assert [fix["data_params"] for fix, _ in refused.value.fixes] == [
        {"wrong_scores": "exclude"},
        {"scores_as": "shares"},
    ]
    made = broken.copy()
    assert "of 2 rows did not sum to 1" in to_probabilities(made, ALL, "net", "shares")
    np.testing.assert_allclose(made, P)
    votes = np.array([[2.0, 1, 1], [0, 0, 0]])
    assert_says(to_probabilities(votes, ALL[:2], "trees", "shares"), "zeros", "1/3", "row 2")
    np.testing.assert_allclose(votes, [[0.5, 0.25, 0.25], [1 / 3] * 3])


def test_negative_probabilities_are_refused_where_rows_sum_to_one():
    linear = P + np.array([0.6, 0, -0.6])
    with pytest.raises(DataError, match="negative values, such as −0") as refused:
        to_probabilities(linear.copy(), ALL, "net")
    assert refused.value.fixes[0][1] == "These are logits"
    with pytest.raises(DataError, match="negative"):
        to_probabilities(np.log(P), ALL, "net", "shares")
    made = np.where(np.arange(3) == 1, 0, P + np.array([0, 0, -1e-9]))
    made[:, 0] = 1 - made[:, 2]
    made[0] = [1 + 1e-9, 0, -1e-9]  # rounding of a softmax
    off = (made < 0).any(axis=1).sum()
    assert_says(to_probabilities(made, ALL, "net"), f"clipped in {off} row")
    assert made.min() == 0


def test_rows_that_do_not_count_decide_nothing():
    held = np.vstack([P, [np.nan] * 3, [np.inf, 0, 1], [5, -5, 1]])
    rows = np.r_[ALL, [False] * 3]
    made = held.copy()
    assert to_probabilities(made, rows, "net") == ""
    np.testing.assert_array_equal(made[:N], P)


def test_of_one_class_rows_need_not_sum_to_one():
    broken = P * 0.5
    made = broken.copy()
    assert to_probabilities(made, ALL, "net", joint=False) == ""
    np.testing.assert_array_equal(made, broken)


def test_a_rare_class_without_a_row_is_found_although_most_rows_sum_to_about_one_without_it():
    rng = np.random.default_rng(0)
    many = rng.dirichlet(np.full(300, 0.05), 600)
    names = [str(k) for k in range(300)]
    absent = {"7", "150", "299"}
    found = tables([f"p_{name}" for name in names], sorted(set(names) - absent, key=int), many)
    assert len(found.names) == 300
    shares = np.column_stack([P, np.ones(N)])  # a column of the same kind that does not belong to the sum
    assert tables(["p_cat", "p_dog", "p_fox", "p_all"], ANIMALS, shares).names == tuple(ANIMALS)
