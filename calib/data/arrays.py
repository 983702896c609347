"""Read NumPy archives (.npz), in which deep-learning code saves labels and an (n, K) array of predictions.

An array of n values becomes one column. An (n, K) array becomes K columns, numbered from 0, or named after the classes
if an array of K texts names them. Headers are checked before any value is read, and nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.column_types import typed_text
from calib.data.errors import DataError, first_line
from calib.data.limits import check_columns, check_memory, check_names, most_unpacked, too_large
from calib.data.table import note_reading
from calib.kernel.memory import release_memory
from calib.kernel.wording import listed

LABEL_KEYS = frozenset(("y", "y_true", "label", "labels", "target", "targets", "truth"))
CLASSES = frozenset(("classes", "class_names", "names", "target_names", "label_names", "categories"))
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, MemoryError)


class Header(NamedTuple):
    """Shape and type of an array, as the file states them before the values."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def width(self) -> int:
        """Number of columns that the array becomes."""
        return self.shape[1] if len(self.shape) == 2 else 1


def is_npz(content: bytes) -> bool:
    """Tell whether a file is a zip archive that contains only NumPy arrays.

    >>> is_npz(b"PK")
    False
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except DAMAGED:
        return False
    return bool(names) and all(name.endswith(".npy") for name in names)


def read_npz(content: bytes, name: str) -> pd.DataFrame:
    """Read a NumPy archive as a typed table.

    Raises
    ------
    DataError
        For Python objects, arrays that do not fit together, too many cells, and damaged files.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.savez(file, y=[1, 0], probs=[[0.2, 0.7, 0.1], [0.5, 0.25, 0.25]])
    >>> read_npz(file.getvalue(), "net.npz")
       y  probs_0  probs_1  probs_2
    0  1      0.2     0.70     0.10
    1  0      0.5     0.25     0.25
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            headers = _headers(archive, name, len(content))
            rows = _rows(headers, name)
            used = [key for key, header in headers.items() if _fits(header, rows)]
            check_columns(sum(headers[key].width for key in used))
            check_memory(2 * sum(headers[key].width * headers[key].dtype.itemsize for key in used) * rows)
            classes = _classes(archive, headers, {headers[key].width for key in used})
            parts = {key: _part(key, _array(archive, key), classes) for key in used if key not in classes}
    except DAMAGED as error:
        if isinstance(error, DataError):
            raise
        said = first_line(error)
        raise DataError(f"{name} is a damaged NumPy archive ({said}).", "Save it again.") from None
    frame = pd.concat(list(parts.values()), axis=1)
    check_names(list(frame.columns))
    release_memory(rows)
    return note_reading(frame, notes=_notes(headers, parts, classes))


def _headers(archive: zipfile.ZipFile, name: str, packed: int) -> dict[str, Header]:
    """Return the header of every array, by name; refuse an array that could run code or exhaust the memory."""
    most = most_unpacked(packed)
    if sum(entry.file_size for entry in archive.infolist()) > most:
        raise too_large(name, most)
    headers = {}
    for entry in archive.infolist():
        key = entry.filename.removesuffix(".npy")
        with archive.open(entry) as file:
            shape, _, dtype = _read_header(file)
        if dtype.hasobject:
            raise DataError(
                # words: right, a term of Python
                f"Array {key!r} of {name} contains Python objects. Such objects can run code, so they are "
                "never opened.",
                "Save numbers or strings instead: numpy.array(values.tolist()) converts the array.",
            )
        if math.prod(shape) * dtype.itemsize > entry.file_size:
            raise ValueError(f"array {key!r} declares more values than it contains")
        # Drop further axes of length 1
        headers[key] = Header((*shape[:1], *(n for n in shape[1:] if n != 1)), dtype)
    return headers


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def _rows(headers: Mapping[str, Header], name: str) -> int:
    """Return the number of rows: the number of labels, else the most frequent length of the arrays."""
    tables = {
        key: header.shape[0]
        for key, header in headers.items()
        if len(header.shape) in (1, 2) and key.casefold() not in CLASSES
    }
    labels = [rows for key, rows in tables.items() if key.casefold() in LABEL_KEYS]
    rows = (
        labels[0]
        if labels
        else max(Counter(tables.values()).items(), key=lambda item: item[::-1], default=(0, 0))[0]
    )
    fitting = [key for key in tables if _fits(headers[key], rows)]
    if len(fitting) < 2 and sum(headers[key].width for key in fitting) < 2:
        shapes = listed([f"{key!r} ({_shape(header)})" for key, header in headers.items()], 8)
        raise DataError(
            f"{name} does not contain two arrays of the same length: {shapes}.",
            "Save labels and predictions together: numpy.savez(file, y=labels, probs=probabilities).",
        )
    return rows


def _shape(header: Header) -> str:
    return " × ".join(f"{n:,}" for n in header.shape) or "a single value"


def _fits(header: Header, rows: int) -> bool:
    """Tell whether an array is one column or several columns of ``rows`` rows."""
    if not header.shape or header.shape[0] != rows:
        return False
    return header.dtype.kind in (
        "biufUSM" if len(header.shape) == 1 else "biuf" if len(header.shape) == 2 else ""
    )


def _classes(
    archive: zipfile.ZipFile, headers: Mapping[str, Header], widths: set[int]
) -> dict[str, list[str]]:
    """Return the array of class names, by its name, if an (n, K) array has as many columns; else an empty dict."""
    for key, (shape, dtype) in headers.items():
        if key.casefold() in CLASSES and len(shape) == 1 and dtype.kind in "US" and shape[0] in widths - {1}:
            names = _texts(_array(archive, key))
            if len(set(names)) == len(names):
                return {key: names}
    return {}


def _array(archive: zipfile.ZipFile, key: str) -> np.ndarray:
    with archive.open(f"{key}.npy") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
    shape = (*array.shape[:1], *(n for n in array.shape[1:] if n != 1))
    return native(array.reshape(shape))


def native(array: np.ndarray) -> np.ndarray:
    """Convert numbers to a type that tables support: half precision to single, longer than double to double.

    >>> native(np.ones(1, np.float16)).dtype, native(np.ones(1, ">i4")).dtype
    (dtype('float32'), dtype('int32'))
    """
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _part(key: str, array: np.ndarray, classes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Convert one array to columns."""
    names = next(iter(classes.values()), ())
    if key.casefold() in LABEL_KEYS:
        if array.ndim == 2 and _one_hot(array):
            array = array.argmax(axis=1)
        if array.ndim == 1 and names and array.dtype.kind in "iu" and _are_places(array, len(names)):
            return pd.DataFrame({key: pd.Categorical.from_codes(array, list(names))})
    if array.ndim == 2:
        ends = names if len(names) == array.shape[1] else range(array.shape[1])
        return numbered(key, array, ends)
    if array.dtype.kind in "US":
        return pd.DataFrame(
            {key: typed_text(pa.chunked_array([pa.array(_texts(array), pa.string())]), key).values}
        )
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    return pd.DataFrame({key: array}, copy=False)


def numbered(key: str, array: np.ndarray, ends: Sequence[Any]) -> pd.DataFrame:
    """Return the columns of an (n, K) array, without a copy, named after the array and a number or class.

    >>> numbered("p", np.eye(2), range(2))
       p_0  p_1
    0  1.0  0.0
    1  0.0  1.0
    """
    return pd.DataFrame(array, columns=[f"{key}_{end}" for end in ends], copy=False)


def _one_hot(array: np.ndarray) -> bool:
    return bool(((array == 0) | (array == 1)).all() and (array.sum(axis=1) == 1).all())


def _are_places(array: np.ndarray, classes: int) -> bool:
    return bool(len(array) and array.min() >= 0 and array.max() < classes)


def _texts(array: np.ndarray) -> list[str]:
    return (np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array).tolist()


def _notes(
    headers: Mapping[str, Header], parts: Mapping[str, pd.DataFrame], classes: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    notes = [
        f"Array {key!r} ({_shape(headers[key])}) was read as {part.shape[1]:,} columns."
        for key, part in parts.items()
        if part.shape[1] > 1
    ]
    notes += [f"Array {key!r} contains the class names." for key in classes]
    left = [f"{key!r} ({_shape(header)})" for key, header in headers.items() if key not in (*parts, *classes)]
    if left:
        notes.append(f"Arrays that are not columns of the table were ignored: {listed(left, 8)}.")
    return tuple(notes)
