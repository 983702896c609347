"""Rows that repeat an earlier one, held against ``DataFrame.duplicated``."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib.data import duplicates as module
from calib.data.columns import WORDLIKE
from calib.data.duplicates import repeats

KINDS = ("number", "whole", "words", "boolean", "nullable", "date", "levels")


def _column(kind: str, codes: np.ndarray) -> pd.Series:
    """Equal values for equal codes; code 0 is a gap where the kind has one, and minus zero beside zero."""
    if kind == "number":
        return pd.Series(np.array([np.nan, 0.0, -0.0, 1e-300])[codes])
    if kind == "whole":
        return pd.Series(codes.astype("int8"))
    if kind == "boolean":
        return pd.Series(codes > 1)
    if kind == "nullable":
        return pd.Series(pd.array(codes, "Int64")).mask(codes == 0)
    if kind == "date":
        return pd.Series(pd.to_datetime(["", "2020-01-01", "1970-01-01", "9999-12-31"]).take(codes))
    words = pd.Series(np.array([None, "", "a", "b"], dtype=object)[codes], dtype="str")
    return words.astype("category") if kind == "levels" else words


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(0, 40), st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
@pytest.mark.parametrize("spread", [module.HASH_FACTOR, np.uint64(0)], ids=["spread", "every mark alike"])
def test_the_rows_that_repeat_are_those_that_pandas_names(spread, data, rows, kinds):
    codes = st.lists(st.integers(0, 3), min_size=rows, max_size=rows).map(lambda row: np.array(row, int))
    frame = pd.DataFrame({str(i): _column(kind, data.draw(codes)) for i, kind in enumerate(kinds)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HASH_FACTOR", spread)
        np.testing.assert_array_equal(repeats(frame), frame.duplicated())


@given(st.floats().map(repr) | st.sampled_from(["Infinity", "-iNF", "+inf", "NaN", "1E5", " 7 ", ".5", "-0"]))
def test_no_number_is_taken_for_a_word(text):
    float(text)
    assert not re.search(WORDLIKE, text)
