"""The table of columns says what is there."""

import numpy as np
import pandas as pd

from calib.data import summarise_columns


def test_each_column_in_plain_words():
    n = 40
    frame = pd.DataFrame(
        {
            "x": [np.nan, 1.25, 2.0, *range(3, n)],
            "flag": [True, False] * 20,
            "day": pd.date_range("2020-01-01", periods=n),
            "colour": ["red", "green, light", "blue", "red"] * 10,
            "note": [f"{i} words that go on and on and on and on" for i in range(n)],
            "code": [f"c{i}" for i in range(n)],
            "empty": np.nan,
        }
    )
    told = summarise_columns(frame).set_index("column")
    assert told["type"].tolist() == [
        "number",
        "true or false",
        "date",
        "category",
        "free text",
        "identifier",
        "empty",
    ]
    assert told.loc["x", ["missing", "missing %", "distinct"]].tolist() == [1, 2.5, 39]
    assert told.loc["x", "examples"] == "1.25, 2, 3"
    assert told.loc["day", "examples"] == "2020-01-01, 2020-01-02, 2020-01-03"
    assert told.loc["colour", "examples"] == "red, green, light, blue"
    assert told.loc["note", "examples"].startswith("0 words that go on and on and…, ")
    assert told.loc["empty", ["missing %", "examples"]].tolist() == [100.0, ""]
