"""What is known of a table stays with it, costs nothing per column, and does no harm to what others make of it."""

import copy
import io

import pandas as pd

from calib.data import about, read_table
from calib.data.table import About, describe


def people():
    return read_table(b"Sales\n\nage;bought\n31;yes\n40;no\n", "people.csv")


def test_what_is_known_goes_along_with_a_part_of_the_table_and_is_never_copied():
    frame = people()
    part = frame[frame["age"] > 35]
    assert about(part) is about(frame)
    assert copy.deepcopy(about(frame)) is about(frame)


def test_a_change_of_a_part_leaves_the_table_it_came_from():
    frame = people()
    part = describe(frame[["age"]], name="ages")
    assert (about(part).name, about(frame).name) == ("ages", "people")
    assert about(part).header == about(frame).header == 3


def test_a_table_that_was_read_can_be_saved_as_parquet_and_read_again():
    file = io.BytesIO()
    people().to_parquet(file)
    again = pd.read_parquet(io.BytesIO(file.getvalue()))
    assert again["age"].tolist() == [31, 40]
    assert about(again) == About()
