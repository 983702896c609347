"""A Recipe's ``data`` field → Dataset: a sample, a synthetic set with known posteriors, an upload, an OpenML id."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from calib.data import (
    ROLES,
    SAMPLES,
    DataError,
    TableFile,
    fetch_openml,
    prepare,
    prepare_predictions,
    sample_frame,
    target_candidates,
    tidy_labels,
    validate,
)
from calib.kernel.records import Dataset, Problem
from calib.kernel.wording import listed
from calib.recipe import Recipe
from calib.splits import SPLITS
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


Uploads = Mapping[str, pd.DataFrame | TableFile]
"""Digest → the file's table, read as ``read_table`` does unasked or as the Recipe says, or the file itself."""


def load_frame(recipe: Recipe, uploads: Uploads) -> tuple[pd.DataFrame, str | None, str | None]:
    """(table, target, positive class) of a Recipe's data, before anything is made of it but what ``data_params`` say.

    uploads : digest → table of the files at hand. Raises DataError where the file is not among them, or was read in
    another way than the Recipe says.
    """
    frame, target, positive = _as_read(recipe, uploads)
    options = dict(recipe.data_params)
    merge, drop = options.get("merge_labels", False), options.get("drop_labels", ())
    if target is not None and (merge or drop):
        frame, notes = tidy_labels(frame, target, merge, drop)
        frame.attrs["notes"] = (*frame.attrs.get("notes", ()), *notes)
    return frame, target, positive


def _as_read(recipe: Recipe, uploads: Uploads) -> tuple[pd.DataFrame, str | None, str | None]:
    """The same with the labels as the file spells them."""
    kind, key = source(recipe)
    if kind == "upload":
        if key not in uploads:
            named = f"{recipe.file} again" if recipe.file else f"the file with the digest {key}"
            raise DataError(f"Upload {named} to continue: its content travels in no link and is kept on no disk.")
        frame, target, positive = _uploaded(recipe, uploads[key]), None, None
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


def reading(recipe: Recipe) -> dict[str, Any]:
    """What the Recipe says of how a file is read: the arguments of ``read_table`` beside content and name.

    >>> reading(Recipe(data_params={"header": 4, "merge_labels": True}))
    {'header': 4}
    """
    return {name: value for name, value in recipe.data_params if name in ("sheet", "header")}


def _uploaded(recipe: Recipe, given: pd.DataFrame | TableFile) -> pd.DataFrame:
    asked = reading(recipe)
    if isinstance(given, TableFile):
        return given.read(**asked)
    for name, value in asked.items():
        if given.attrs.get(name, value) != value:
            said = f"data_params.{name} is {value!r}, but the table was read with {given.attrs[name]!r}."
            raise DataError(said, f"Read the file again: read_table(…, {name}={value!r}).")
    return given


def load(recipe: Recipe, uploads: Uploads | None = None) -> Dataset:
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
        raise DataError("target is not chosen: name the column that holds the label.", _candidates(frame))
    if recipe.content == "predictions":
        made = prepare_predictions(frame, target, positive, dict(recipe.data_params).get("scores"), roles=roles(recipe))
    else:
        made = prepare(frame, target, positive, exclude=recipe.exclude, keep=recipe.keep, roles=roles(recipe))
    return replace(made, notes=(*frame.attrs.get("notes", ()), *made.notes))


def roles(recipe: Recipe) -> dict[str, str | None]:
    """Role → the column that the Recipe gives it.

    >>> roles(Recipe(time="opened"))["time"]
    'opened'
    """
    return {role: getattr(recipe, role) for role in ROLES}


def _candidates(frame: pd.DataFrame) -> str:
    found = target_candidates(frame)
    return f"Likely are {listed(found[:10])}." if found else ""


def problems(recipe: Recipe, frame: pd.DataFrame, target: str | None, positive: str | None) -> list[Problem]:
    """What ``validate`` says of a Recipe's table, as ``load_frame`` gives it."""
    scores = dict(recipe.data_params).get("scores", ())
    return validate(
        frame, target, positive, exclude=recipe.exclude, content=recipe.content, scores=scores, roles=roles(recipe)
    )


def with_role(recipe: Recipe, role: str, column: str | None) -> dict[str, Any]:
    """The fields that change when a column gets a role, or the role no column: every column has one role.

    >>> with_role(Recipe(time="day", split="time", exclude=("who",)), "cluster", "day")["split"]
    'random'
    """
    changes: dict[str, Any] = {role: column}
    if column is not None:
        changes |= {other: None for other in ROLES if other != role and getattr(recipe, other) == column}
        changes["exclude"] = tuple(name for name in recipe.exclude if name != column)
        changes["data_params.scores"] = tuple(
            name for name in dict(recipe.data_params).get("scores", ()) if name != column
        )
        if recipe.score == column:
            changes["score"] = None
    needed = SPLITS[recipe.split].needs
    if needed and changes.get(needed, getattr(recipe, needed)) is None:
        changes["split"] = "random"
    return changes
