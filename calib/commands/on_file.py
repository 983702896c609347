"""Data of a command: a Recipe on a file or a query, with what is reported about them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from calib.commands.options import read_file
from calib.data import (
    LargeFile,
    LargeQuery,
    TableFile,
    TooLargeError,
    connection,
    guess_target,
    open_if_many,
    open_large,
    read_table,
    target_candidates,
    unchanged,
)
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset, Problem
from calib.recipe import Recipe
from calib.sources import (
    Upload,
    can_count,
    count_large,
    data_of_query,
    digest,
    file_digest,
    file_key,
    load_table,
    missing_files,
    parse_place,
    problems,
    read_query,
    reading,
    with_onnx_model,
    with_test_file,
)
from calib.sources import dataset as dataset_of


def on_file(
    recipe: Recipe,
    path: Path | tuple[str, str],
    test_data: Path | None = None,
    model: Path | None = None,
    whole: bool = False,
) -> tuple[Recipe, Dataset, list[Problem]]:
    """Return the Recipe with the file at ``path`` as its data, the Dataset and its problems.

    The label is the Recipe's target, by default "target". All other fields are kept; a field that an argument replaces
    is reported.

    ``path`` may also be a connection and its query. If ``test_data`` names another file, its rows are the test set.
    ``model`` is an ONNX file whose inputs are in the table. ``whole`` keeps all columns of a table of predictions.
    """
    large: LargeFile | LargeQuery | None = None
    if isinstance(path, tuple):
        name = "/".join(path)
        database, query = connection(path[0]), path[1]
        *before, seen = parse_place(recipe.data) or ("", "", "")
        again = seen if before == ["database", name] else ""
        found = database.read(query) if whole else read_query(database, query, recipe.content, again)
        large, frame = (found, found.head) if isinstance(found, LargeQuery) else (None, found)
        data = data_of_query(database, query, found)
    else:
        name = path.name
        with unchanged(path):
            large, frame = _of_file(recipe, path, whole)
            data = f"upload:{file_digest(path)}"
    target = recipe.target or ("target" if "target" in frame.columns else guess_target(frame))
    if target is None:
        likely = target_candidates(frame) or list(map(str, frame.columns))
        raise InputError(
            f"target: the Recipe does not name the label column. Set target in the Recipe to "
            f"one of {', '.join(likely)}."
        )
    stated, read_so = recipe, () if recipe.data.startswith("synthetic:") else recipe.data_params
    recipe = recipe.replace(data=data, file=recipe.file and name, data_params=read_so, target=target)
    uploads: dict[str, Upload] = {str(file_key(data)): frame if large is None else large}
    if test_data is not None:
        other = read_file(test_data)
        uploads[digest(other)] = TableFile(test_data.name, other)
        recipe = recipe.replace(
            file=name, **with_test_file(f"upload:{digest(other)}", test_data.name, recipe)
        )
    if model is not None:
        graph = read_file(model)
        uploads[digest(graph)] = graph
        recipe = recipe.replace(file=name, **with_onnx_model(f"upload:{digest(graph)}", model.name))
    for key, file in missing_files(recipe, uploads).items():
        raise InputError(
            f"The Recipe needs {file or f'the file with the digest {key}'} as well. Pass it with --test-data "
            "(a table) or --onnx (a model)."
        )
    read_as = recipe
    if large is not None and recipe.content == "predictions":
        read_as, frame = count_large(recipe, large)
        if isinstance(large, LargeQuery):
            data = data_of_query(database, query, frame, counted=True)
            recipe, read_as = recipe.replace(data=data), read_as.replace(data=data)
        uploads = {str(file_key(data)): frame}
    table = load_table(read_as, uploads)
    dataset = dataset_of(read_as, table)
    if dataset.read_as is not None:
        print(f"read as: {dataset.read_as}", file=sys.stderr)
    if target not in (stated.target, "target"):
        print(
            f"note: the Recipe does not name the label column, so {target!r} is used. To choose another "
            "column, set target in the Recipe.",
            file=sys.stderr,
        )
    _report_lost(stated.lost(recipe, asked=("data", "file", "test_data", "test_file", "onnx", "onnx_file")))
    found = problems(read_as, table)
    if recipe.content == "predictions" and not whole:  # keep only what a report needs of a large table
        groups = set(recipe.stated_settings("reliability", "group").values())
        dataset = replace(
            dataset, beside={name: each for name, each in dataset.beside.items() if name in groups}
        )
    for problem in found:
        if problem.severity == "warning" and not any(problem.message in note for note in dataset.notes):
            column = f"{problem.column}: " if problem.column else ""
            how = f"{problem.remedy}{_in_the_recipe(problem)}"
            print(f"warning: {column}{problem.message} {how}", file=sys.stderr)
    return recipe, dataset, found


def _checked(path: Path) -> Path:
    """Return a path that can be read."""
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def _of_file(recipe: Recipe, path: Path, whole: bool) -> tuple[LargeFile | None, pd.DataFrame]:
    """Return (the file if it is too large for memory or counted, its rows or the first of them)."""
    options = reading(recipe)
    try:
        if not whole and not options and (many := open_if_many(path)) and _counts(recipe, many):
            return many, many.head
        return None, read_table(_checked(path), path.name, **options)
    except TooLargeError:
        if whole:
            raise
        large = open_large(path, options.get("header"))
        return large, large.head


def _counts(recipe: Recipe, file: LargeFile) -> bool:
    """Tell whether a file of very many predictions is counted although its rows would fit into memory."""
    target = recipe.target or ("target" if "target" in file.head else guess_target(file.head))
    return target is not None and can_count(recipe.replace(target=target), file)


def _report_lost(lost: Mapping[str, Any]) -> None:
    """Report the fields of the Recipe that the given files replace."""
    for name, value in lost.items():
        given = json.dumps(value, ensure_ascii=False)
        print(
            f"note: {name} in the Recipe ({given}) is not used, because you passed other files.",
            file=sys.stderr,
        )


def _in_the_recipe(problem: Problem) -> str:
    """Return the fields of the Recipe that have the effect of the page's buttons."""
    fields = [json.dumps(dict(fix), ensure_ascii=False)[1:-1] for fix, _ in problem.fixes]
    return f" In the Recipe: {'; or '.join(fields)}." if fields else ""
