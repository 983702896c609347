"""The hash that draws reference rows: by a row's values, whatever holds them, and as even as chance."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binomtest

from calib.placements.out_of_bag import row_hash

MIXED = pd.DataFrame(
    {
        "number": [1.5, np.nan, -2.0, 1.5],
        "whole": pd.array([1, pd.NA, 3, 1], dtype="Int64"),
        "kind": pd.Categorical(["a", None, "b", "a"]),
        "text": ["x", "y", None, "x"],
        "flag": [True, False, True, True],
        "day": pd.to_datetime(["2020-01-01", None, "2021-05-05", "2020-01-01"]),
    }
)


def test_equal_rows_have_equal_numbers_and_others_do_not():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [-np.nan, 1.0], [1.0, 0.0]])
    hashed = row_hash(rows, 3)
    assert hashed[0] == hashed[1]
    assert hashed[2] == hashed[3]
    assert len(set(hashed.tolist())) == 3
    assert len(set(row_hash(MIXED, 3).tolist())) == 3
    assert row_hash(MIXED, 3)[0] == row_hash(MIXED, 3)[3]


@pytest.mark.parametrize("rows", [np.arange(50_000.0)[:, None], np.indices((200, 200)).reshape(2, -1).T / 8])
def test_no_collision_and_every_bit_is_fair(rows):
    hashed = row_hash(rows, 0)
    assert len(set(hashed.tolist())) == len(rows)
    ones = (hashed[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).sum(axis=0)
    assert min(binomtest(int(count), len(rows)).pvalue for count in ones) > 1e-5
    assert (hashed != row_hash(rows, 1)).all()


def test_the_container_and_the_columns_type_do_not_matter():
    rows = np.array([[0.5, 3.0, 0.0], [0.0, -1.0, 2.0]])
    hashed = row_hash(rows, 3).tolist()
    for same in (
        rows.astype(np.float32),
        rows.tolist(),
        rows.astype(object),
        np.asfortranarray(rows),
        pd.DataFrame(rows, index=[7, 7], columns=["a", "a", "b"]),
        pd.DataFrame(rows).astype({1: int}),
        pd.DataFrame(rows).astype({1: "Int64"}),
        *(kind(rows) for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array)),
    ):
        assert row_hash(same, 3).tolist() == hashed
    twice = sparse.coo_array(([0.25, 0.25, 3, -1, 2, 0], ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 0])), (2, 3))
    assert row_hash(twice, 3).tolist() == hashed


@pytest.mark.parametrize(
    "rows", [MIXED, MIXED.astype(object), [[None, "1"], [2, 3.0], ["b", None]], ["some", "text"]]
)
def test_a_row_alone_has_the_number_it_has_among_others(rows):
    alone = [row_hash(rows[i : i + 1], 3)[0] for i in range(len(rows))]
    assert row_hash(rows, 3).tolist() == alone


def test_a_wide_sparse_row_costs_its_entries_only():
    wide = sparse.csr_array(([1.0, 2.0], ([0, 1], [5, 10**9])), (2, 2 * 10**9))
    assert len(set(row_hash(wide, 0).tolist())) == 2
