"""The matrix is what the definition says, finite for any rows, and learned from the training rows alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from calib.data import DataError, Matrix, preprocessor
from calib.data.matrix import imputations

DAY = pd.Timestamp("2020-03-02 12:00")  # a Monday
TRAIN = pd.DataFrame(
    {
        "size": [1.0, np.nan, 4.0, 10.0],
        "flag": [True, False, True, True],
        "when": [DAY, pd.NaT, pd.Timestamp("1970-01-02"), DAY],
        "sex": pd.Categorical(["f", "m", "m", "f"]),
        "town": pd.Categorical(["A", "B", None, "C"]),
        "k": [1, 2, 3, 4],
    }
)


def test_the_matrix_by_hand():
    matrix = Matrix(min_rows=1).fit(TRAIN)
    days = 18323.5  # from 1970-01-01 to noon of 2020-03-02
    expected = {
        "size": [1, 4, 4, 10],
        "flag": [1, 0, 1, 1],
        "k": [1, 2, 3, 4],
        "when (days since 1970)": [days, days, 1, days],
        "when (month)": [3, 3, 1, 3],
        "when (weekday)": [0, 0, 4, 0],
        "size is missing": [0, 1, 0, 0],
        "when is missing": [0, 1, 0, 0],
        "sex = m": [0, 1, 1, 0],
        "town = (missing)": [0, 0, 1, 0],
        "town = A": [1, 0, 0, 0],
        "town = B": [0, 1, 0, 0],
        "town = C": [0, 0, 0, 1],
    }
    frame = pd.DataFrame(matrix.transform(TRAIN), columns=matrix.get_feature_names_out())
    pd.testing.assert_frame_equal(frame, pd.DataFrame(expected, dtype=float))


def test_rules_read_in_the_words_of_the_table():
    matrix = Matrix(min_rows=1).fit(TRAIN)
    say, names = matrix.wording(), list(matrix.get_feature_names_out())

    def both(name, at=0.5):
        column = names.index(name)
        return say(column, -np.inf, at), say(column, at, np.inf)

    assert both("size", 2.5) == ("size ≤ 2.5", "size > 2.5")
    assert say(names.index("k"), 1.5, 3.5) == "1.5 < k ≤ 3.5"
    assert say(names.index("k"), -1.5, -1e-12) == "−1.5 < k ≤ −1e-12"  # a hyphen first would be a formula
    assert both("flag") == ("flag is false", "flag is true")
    assert both("sex = m") == ("sex ≠ m", "sex = m")
    assert both("town = (missing)") == ("town is known", "town is missing")
    assert both("town = B") == ("town ≠ B", "town = B")
    assert both("size is missing") == ("size is known", "size is missing")
    assert both("when is missing") == ("when is known", "when is missing")
    assert both("when (days since 1970)", 18323.5) == ("when ≤ 2020-03-02 12:00", "when > 2020-03-02 12:00")
    assert say(names.index("when (days since 1970)"), 1, 31) == "1970-01-02 < when ≤ 1970-02-01"
    assert both("when (month)", 2.5) == ("when (month) ≤ 2.5", "when (month) > 2.5")


def test_dates_without_times_are_told_without_times():
    table = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-03-01"])})
    say = Matrix().fit(table).wording()
    between = 18262.5  # noon of 2020-01-01, half-way to the next day
    assert (say(0, -np.inf, between), say(0, between, np.inf)) == ("when ≤ 2020-01-01", "when > 2020-01-01")


def test_dates_far_from_ours_are_told_too():
    """9999-12-31 stands in many tables for "not yet"."""
    say = (
        Matrix()
        .fit(pd.DataFrame({"when": np.array(["0601-01-18", "9999-12-31T10:30"], "datetime64[us]")}))
        .wording()
    )
    assert say(0, -5e5, 2932896.4375) == "0601-01-18 < when ≤ 9999-12-31 10:30"


def test_every_column_of_0_and_1_is_told_by_its_two_sides():
    levels = ["a"] * 50 + ["b"] * 30 + ["c"] * 20 + ["d"] * 3
    table = pd.DataFrame({"x": pd.Categorical(levels), "y": [None, 1.0] * 51 + [2.0]})
    matrix = Matrix().fit(table)
    say, coded = matrix.wording(), matrix.transform(table)
    names = list(matrix.get_feature_names_out())
    for level in "abc":
        column = names.index(f"x = {level}")
        said = [
            say(column, 0.5, np.inf) if value > 0.5 else say(column, -np.inf, 0.5)
            for value in coded[:, column]
        ]
        assert said == [f"x = {level}" if own == level else f"x ≠ {level}" for own in levels]
    gap = names.index("y is missing")
    told = {True: "y is missing", False: "y is known"}
    said = [say(gap, 0.5, np.inf) if value > 0.5 else say(gap, -np.inf, 0.5) for value in coded[:, gap]]
    assert said == [told[bool(value)] for value in table["y"].isna()]


def test_rows_never_seen_before_still_make_numbers():
    matrix = Matrix(min_rows=1).fit(TRAIN)
    new = pd.DataFrame(
        {
            "size": [np.nan, 2.0],
            "flag": pd.array([None, False], dtype="boolean"),
            "when": [pd.NaT, pd.Timestamp("1800-01-01")],
            "sex": pd.Categorical(["other", None]),
            "town": pd.Categorical(["Z", "A"]),
            "k": [np.nan, 7],
        }
    )
    out = pd.DataFrame(matrix.transform(new), columns=matrix.get_feature_names_out())
    assert np.isfinite(out.to_numpy()).all()
    assert out.loc[0, ["size", "flag", "k", "sex = m"]].tolist() == [4, 1, 2.5, 0]
    assert out.loc[0, [name for name in out if name.startswith("town")]].tolist() == [0, 0, 0, 0]
    assert out.loc[1, "town = A"] == 1


def test_rare_levels_share_a_column_and_unknown_ones_join_it():
    levels = ["a"] * 50 + ["b"] * 30 + ["c"] * 4 + ["d"] * 3
    train = pd.DataFrame({"x": pd.Categorical(levels)})
    matrix = Matrix().fit(train)
    assert matrix.get_feature_names_out().tolist() == ["x = a", "x = b", "x = other levels"]
    out = matrix.transform(pd.DataFrame({"x": ["a", "b", "c", "d", "never seen", None]}))
    assert out.tolist() == [[1, 0, 0], [0, 1, 0], *[[0, 0, 1]] * 4]


LEVELS = st.lists(st.sampled_from(["a", "b", "c", "other levels", "", None]), min_size=1, max_size=40)


@given(st.lists(LEVELS, min_size=1, max_size=3), LEVELS, st.integers(2, 4), st.integers(1, 6))
def test_levels_are_marked_as_scikit_learn_s_encoder_marks_them(columns, new, most, rows):
    def table(columns):
        size = min(map(len, columns))
        return pd.DataFrame({f"x{i}": pd.Categorical(values[:size]) for i, values in enumerate(columns)})

    def levels(frame):
        return frame.astype(object).fillna("(missing)").to_numpy()

    matrix = Matrix(max_levels=most, min_rows=rows).fit(table(columns))
    encoder = OneHotEncoder(
        max_categories=most, min_frequency=rows, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(levels(table(columns)))
    of = [name.partition("_")[0] for name in encoder.get_feature_names_out()]
    kept = [i for i, column in enumerate(of) if of.count(column) != 2 or of[i - 1 : i] == [column]]
    for asked in (table(columns), table([[*new, "never seen"]] * len(columns))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of levels never seen before, which the encoder names
            expected = encoder.transform(levels(asked))[:, kept]
        np.testing.assert_array_equal(matrix.transform(asked), expected)


def test_the_columns_of_a_category_are_capped():
    levels = np.repeat([f"level {i:03d}" for i in range(100)], 10)
    matrix = Matrix(max_levels=20).fit(pd.DataFrame({"x": levels}))
    assert matrix.transform(pd.DataFrame({"x": levels})).shape == (1000, 20)
    np.testing.assert_array_equal(matrix.transform(pd.DataFrame({"x": levels})).sum(axis=1), 1)


def test_a_column_with_no_value_in_training_is_kept_and_finite():
    matrix = Matrix().fit(
        pd.DataFrame({"x": [np.nan, np.nan], "c": pd.Categorical([None, None]), "k": [1.0, 2.0]})
    )
    out = matrix.transform(pd.DataFrame({"x": [np.nan, 3.0], "c": [None, "new"], "k": [1.0, np.nan]}))
    assert np.isfinite(out).all()
    assert matrix.transform(pd.DataFrame({"x": [5.0], "c": ["new"], "k": [1.0]})).shape[1] == out.shape[1]


@given(st.data())
def test_what_is_learned_depends_on_the_training_rows_alone(data):
    n, m = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 6))
    number = st.one_of(st.none(), st.floats(-1e6, 1e6, width=32))
    level = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d"]))

    def rows(k):
        draw = data.draw
        return {
            "x": draw(st.lists(number, min_size=k, max_size=k)),
            "c": draw(st.lists(level, min_size=k, max_size=k)),
            "t": draw(st.lists(st.one_of(st.none(), st.dates()), min_size=k, max_size=k)),
            "b": draw(st.lists(st.booleans(), min_size=k, max_size=k)),
        }

    def table(train, test):
        frame = pd.DataFrame({name: train[name] + test[name] for name in train})
        return frame.assign(
            x=frame["x"].astype("float64"),
            c=frame["c"].astype("str").astype("category"),
            t=pd.to_datetime(frame["t"].astype("object"), errors="coerce").astype("datetime64[us]"),
        )

    train = rows(n)
    one, two = table(train, rows(m)), table(train, rows(m))
    first = preprocessor(one).set_params(min_rows=2).fit(one.head(n))
    second = preprocessor(two).set_params(min_rows=2).fit(two.head(n))
    np.testing.assert_array_equal(first.transform(one.head(n)), second.transform(two.head(n)))
    np.testing.assert_array_equal(first.transform(one), second.transform(one))
    assert first.get_feature_names_out().tolist() == second.get_feature_names_out().tolist()
    for frame in (one, two):
        out = first.transform(frame)
        assert out.dtype == np.float64
        assert out.shape == (n + m, len(first.get_feature_names_out()))
        assert np.isfinite(out).all()
        # a row's numbers do not depend on its neighbours
        np.testing.assert_array_equal(out[n:], first.transform(frame.iloc[n:]))


def test_it_behaves_as_a_transformer_of_scikit_learn():
    matrix = clone(Matrix(max_levels=7)).fit(TRAIN)
    assert matrix.get_params() == {"max_levels": 7, "min_rows": 5}
    other = pd.DataFrame({"z": [1.0, 2.0]})
    assert matrix.fit(other).transform(other).tolist() == [[1.0], [2.0]]  # refitting forgets
    assert matrix.feature_names_in_.tolist() == ["z"]
    assert matrix.set_output(transform="pandas").transform(other).columns.tolist() == ["z"]


def test_names_are_unique_even_where_columns_are_called_like_levels():
    frame = pd.DataFrame({"sex = m": [1.0, 2.0], "sex": pd.Categorical(["f", "m"])})
    matrix = Matrix(min_rows=1).fit(frame)
    assert matrix.get_feature_names_out().tolist() == ["sex = m", "sex = m (2)"]


def test_columns_may_come_in_another_order_but_not_be_absent():
    matrix = Matrix(min_rows=1).fit(TRAIN)
    np.testing.assert_array_equal(matrix.transform(TRAIN[TRAIN.columns[::-1]]), matrix.transform(TRAIN))
    with pytest.raises(DataError, match="'size'"):
        matrix.transform(TRAIN.drop(columns="size"))


def test_what_is_not_typed_is_refused():
    with pytest.raises(DataError, match="'x' contains Python objects"):
        preprocessor(pd.DataFrame({"x": np.array([1, "a"], dtype=object)}))
    for nothing in (pd.DataFrame(index=[0, 1]), np.zeros((2, 2))):
        with pytest.raises(DataError, match="at least one column"):
            preprocessor(nothing)


def test_every_gap_is_said_and_filled_as_it_is_said():
    """Sentence by sentence against the matrix itself, also what the training rows have no gap in."""
    rng = np.random.default_rng(1)
    n = 60
    X = pd.DataFrame(
        {
            "whole": rng.random(n),
            "number": pd.Series(rng.random(n)).mask(rng.random(n) < 0.3),
            "flag": pd.array(np.where(rng.random(n) < 0.3, None, rng.random(n) < 0.5), dtype="boolean"),
            "day": pd.Series(pd.date_range("2024-01-01", periods=n)).mask(rng.random(n) < 0.3),
            "town": pd.Series(rng.choice(["Ulm", "Bonn"], n)).mask(rng.random(n) < 0.3).astype("category"),
        }
    )
    said = imputations(X)
    for name in X:
        gaps = X[name].isna().sum()
        assert sum(f"{name} ({gaps} gaps)" in sentence for sentence in said) == (gaps > 0)
    matrix = Matrix().fit(X)
    out = pd.DataFrame(matrix.transform(X), columns=matrix.get_feature_names_out())
    for name in ("number", "flag"):
        known = X[name].dropna().astype(float)
        assert (out[name][X[name].isna()] == known.median()).all()
    assert (out["day (month)"][X["day"].isna()] == X["day"].dt.month.median()).all()
    for name in ("number", "flag", "day"):
        np.testing.assert_array_equal(out[f"{name} is missing"], X[name].isna())
    np.testing.assert_array_equal(out["town = (missing)"], X["town"].isna())
    assert imputations(X[["whole"]]) == []
