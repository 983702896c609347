"""Hash of a row's values: the random draw of out-of-bag prediction, which depends only on the row and the seed.

The bits of every value are mixed with those of its column and the seed by the finaliser of SplitMix64 (Steele, Lea and
Flood 2014), whose every output bit depends on every input bit. A row's hash is the mixed sum of these. Zeros add
nothing, so a sparse row equals its dense form and costs only its entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp


def row_hash(X: Any, seed: int) -> np.ndarray:
    """Return a 64-bit hash of each row's values and the seed, uint64 (m,); equal rows have equal hashes.

    Parameters
    ----------
    X
        Array (m, d), data frame or sparse matrix, or m texts. Numbers are hashed as float64, whatever the type of their
        column; all missing values are equal; anything else is hashed as text.

    Examples
    --------
    >>> one, other, same = row_hash([[0.0, "a"], [1.0, "a"], [-0.0, "a"]], seed=3)
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    key = np.uint64(seed)
    if sp.issparse(X):
        entries = sp.csr_array(X, dtype=np.float64, copy=True)
        entries.sum_duplicates()
        rows = np.repeat(np.arange(X.shape[0]), np.diff(entries.indptr))
        total = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(
            total, rows, _terms(_number_bits(entries.data), _mix(key ^ entries.indices.astype(np.uint64)))
        )
        return _mix(total ^ key)
    frame = pd.DataFrame(X if isinstance(X, pd.DataFrame | pd.Series) else np.asarray(X))
    total = np.zeros(len(frame), dtype=np.uint64)
    for column in range(frame.shape[1]):
        total += _terms(_value_bits(frame.iloc[:, column]), _mix(key ^ np.array([column], dtype=np.uint64)))
    return _mix(total ^ key)


def _terms(bits: np.ndarray, column_keys: np.ndarray) -> np.ndarray:
    """Return the term of each value in its row's sum; 0 for zero, whose bits are all 0."""
    return np.where(bits == 0, np.uint64(0), _mix(bits ^ column_keys))


def _value_bits(column: pd.Series) -> np.ndarray:
    """Return 64 bits per value, from the value alone and not the column's type, which may vary between batches."""
    missing = column.isna().to_numpy()
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    bits = _number_bits(np.where(missing, np.nan, numbers))
    text = np.isnan(numbers) & ~missing
    if text.any():
        bits[text] = pd.util.hash_array(plain[text].astype(str).to_numpy(dtype=object))
    return bits


def _number_bits(values: np.ndarray) -> np.ndarray:
    canonical = values + 0.0  # −0 and 0 are the same number
    canonical[np.isnan(canonical)] = np.nan  # and so are all NaN
    return canonical.view(np.uint64)


def _mix(z: np.ndarray) -> np.ndarray:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
