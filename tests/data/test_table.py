"""What is known of a table stays with it, costs nothing per column, and does no harm to what others make of it."""

import copy
import io

import pandas as pd

from calib.data import read_table, reading_of
from calib.data.table import TableReading, note_reading


def people():
    return read_table(b"Sales\n\nage;bought\n31;yes\n40;no\n", "people.csv")


def test_what_is_known_goes_along_with_a_part_of_the_table_and_is_never_copied():
    frame = people()
    part = frame[frame["age"] > 35]
    assert reading_of(part) is reading_of(frame)
    assert copy.deepcopy(reading_of(frame)) is reading_of(frame)


def test_a_change_of_a_part_leaves_the_table_it_came_from():
    frame = people()
    part = note_reading(frame[["age"]], name="ages")
    assert (reading_of(part).name, reading_of(frame).name) == ("ages", "people")
    assert reading_of(part).header == reading_of(frame).header == 3


def test_a_table_that_was_read_can_be_saved_as_parquet_and_read_again():
    file = io.BytesIO()
    people().to_parquet(file)
    again = pd.read_parquet(io.BytesIO(file.getvalue()))
    assert again["age"].tolist() == [31, 40]
    assert reading_of(again) == TableReading()
