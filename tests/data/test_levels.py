"""Categories become the columns that scikit-learn's encoder makes of them, which goes the long way."""

import warnings

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from calib.data.levels import GAP, OTHERS, learn_levels, one_hot

LEVELS = st.lists(
    st.sampled_from([None, "a", "b", "B", "é", "10", "9", GAP, OTHERS]), min_size=1, max_size=40
)


def texts(values):
    return np.array([[GAP if value is None else value] for value in values], dtype=object)


def by_scikit_learn(train, rows, most, fewest):
    """(matrix, names of its columns), of two columns only the second."""
    encoder = OneHotEncoder(
        max_categories=most, min_frequency=fewest, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(texts(train))
    rare = encoder.infrequent_categories_[0]
    own = [level for level in encoder.categories_[0] if rare is None or level not in rare]
    names = own if rare is None else [*own, OTHERS]
    with warnings.catch_warnings(action="ignore"):
        matrix = encoder.transform(texts(rows))
    first = int(len(names) == 2)
    return matrix[:, first:], names[first:]


@given(LEVELS, LEVELS, st.integers(1, 6), st.integers(1, 4), st.booleans())
def test_levels_rare_levels_the_cap_and_the_unknown_are_scikit_learns(train, rows, most, fewest, declared):
    kind = pd.CategoricalDtype(["é", "b", "a", "9", "B", "10", OTHERS, GAP, "never"]) if declared else "str"
    learned = learn_levels(pd.Series(train, dtype=kind), most, fewest)
    expected, names = by_scikit_learn(train, rows, most, fewest)
    np.testing.assert_array_equal(one_hot([pd.Series(rows, dtype=kind)], [learned], len(rows)), expected)
    assert list(learned.names) == names


def test_several_categories_stand_side_by_side():
    one, two = pd.Series([*"abc"]), pd.Series([*"xyx"])
    learned = [learn_levels(column, most=20, fewest=1) for column in (one, two)]
    matrix = one_hot([one, two], learned, 3)
    assert matrix.tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
