"""Rows of a study: what they must have, and what is refused by its place."""

import numpy as np
import pandas as pd
import pytest

from calib.data import read_table
from calib.kernel.checks import InputError
from calib.study import check_rows, measure, measured

ROW = "data,setup,repeat,fold,seed,brier,log_loss\n"


def rows(text):
    return check_rows(read_table((ROW + text).encode(), "rows.csv"), "rows.csv")


def test_a_csv_comes_back_as_it_was_written():
    found = rows("kc1,VAP,0,0,0,0.25,inf\nkc1,VAP,0,1,0,0.125,0.5\nkc1,Tree,0,0,0,,\n")
    assert found["brier"].tolist()[:2] == [0.25, 0.125]
    assert found["log_loss"].tolist()[0] == np.inf
    assert np.isnan(found["brier"].iloc[2])
    assert found["setup"].tolist() == ["VAP", "VAP", "Tree"]


def test_names_that_look_like_numbers_stay_names():
    frame = read_table((ROW + "31,1,0,0,0,0.25,0.1\n37,1,0,0,0,0.25,0.1\n").encode(), "rows.csv")
    assert check_rows(frame)["data"].tolist() == ["31", "37"]
    assert check_rows(frame.astype({"data": "float64"}))["data"].tolist() == ["31", "37"]


def test_what_is_no_metric_is_left_out_and_what_has_no_value_is_not_offered():
    frame = pd.DataFrame({"data": ["a"], "setup": ["m"], "repeat": 0, "fold": 0, "seed": 0, "error": "boom"})
    found = check_rows(frame.assign(fit_seconds=1.5, auc=np.nan, brier=0.1))
    assert "error" not in found
    assert measured(found) == ["brier", "fit_seconds"]
    assert measure("fit_seconds").higher_is_better is False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data,setup,brier\na,m,0.1\n", "has no column 'repeat', 'fold', 'seed'"),
        ("data,setup,repeat,fold,seed,height\na,m,0,0,0,0.1\n", "no column named after a metric"),
        (
            ROW + "a,m,0,0,0,0.1,0.2\nb,m,0,0,0,0.1,0.2\nb,m,0,0,0,0.3,0.2\n",
            "repeated rows for 1 fold, first for m on b",
        ),
        (
            ROW + "a,m,0,0,0,0.1,0.2\na,,0,0,0,0.1,0.2\n",
            "row 2 has a missing value in one of the columns data",
        ),
        (
            ROW + "a,m,0,0,0,0.1,0.2\na,m,0,1,0,0.1,big\n",
            "log_loss must contain numbers, but row 2 has 'big'",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_remedy(text, message):
    with pytest.raises(InputError, match=message):
        check_rows(read_table(text.encode(), "rows.csv"), "rows.csv")
