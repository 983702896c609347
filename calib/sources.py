"""A Recipe's ``data`` field → Dataset: a sample, a synthetic set with known posteriors, an upload, an OpenML id."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

import pandas as pd

from calib.data import SAMPLES, DataError, fetch_openml, prepare, prepare_predictions, sample_frame
from calib.kernel.records import Dataset
from calib.recipe import Recipe
from calib.synthetic import SYNTHETIC


def digest(data: bytes) -> str:
    """Sixteen hexadecimal digits that name an uploaded file by its content.

    >>> digest(b"a,b")
    'db3657eb6c01adc3'
    """
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def source(recipe: Recipe) -> tuple[str, str]:
    """(kind, key) of the data field; refused by name when there is no such kind or key.

    >>> source(Recipe(data="upload:00ff"))
    ('upload', '00ff')
    """
    kind, _, key = recipe.data.partition(":")
    known: dict[str, Collection[str] | None] = {
        "sample": SAMPLES,
        "synthetic": SYNTHETIC,
        "upload": None,
        "openml": None,
    }
    if kind not in known or not key:
        raise DataError(f"data must be sample:KEY, synthetic:KEY, upload:DIGEST or openml:ID, but is {recipe.data!r}.")
    registry = known[kind]
    if registry is not None and key not in registry:
        raise DataError(f"data: there is no {kind} set {key!r}; there are {', '.join(registry)}.")
    return kind, key


def load_frame(recipe: Recipe, uploads: Mapping[str, pd.DataFrame]) -> tuple[pd.DataFrame, str | None, str | None]:
    """(table, target, positive class) of a Recipe's data, before anything is made of it.

    uploads : digest → table of the files at hand. Raises DataError where the file is not among them.
    """
    kind, key = source(recipe)
    if kind == "upload":
        if key not in uploads:
            raise DataError(f"This Recipe works on the file with the digest {key}. Bring that file to go on.")
        frame, target, positive = uploads[key], None, None
    elif kind == "sample":
        frame, target, positive = sample_frame(key)
    elif kind == "openml":
        frame, target = fetch_openml(key)
        positive = None
    else:
        raise DataError("A synthetic set is made, not read: it has no table before it is a Dataset.")
    if recipe.target is not None and recipe.target != target:
        return frame, recipe.target, recipe.positive
    return frame, target, recipe.positive or positive


def load(recipe: Recipe, uploads: Mapping[str, pd.DataFrame] | None = None) -> Dataset:
    """The Dataset a Recipe asks for.

    Examples
    --------
    >>> load(Recipe(data="sample:digits")).n
    1797
    """
    kind, key = source(recipe)
    if kind == "synthetic":
        entry = SYNTHETIC[key]
        return entry.make(dict(recipe.data_params), random_state=recipe.seed)
    frame, target, positive = load_frame(recipe, uploads or {})
    if target is None:
        raise DataError("target is not chosen: name the column that holds the label.")
    if recipe.content == "predictions":
        return prepare_predictions(frame, target, positive)
    return prepare(frame, target, positive, exclude=recipe.exclude, keep=recipe.keep)
