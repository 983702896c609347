"""Load a Dataset from a Recipe's ``data`` field.

The field names a sample, a synthetic set with known posteriors, an OpenML id, or a table by the digest of its content:
``upload:DIGEST``, or if it can be read again, ``folder:PATH@DIGEST`` and ``database:CONNECTION/NAME@DIGEST``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from calib.data import (
    COUNT,
    FILE_PART,
    ROLES,
    SAMPLES,
    Connection,
    DataError,
    FrameRelation,
    LargeQuery,
    ReadingQuestion,
    Relation,
    Table,
    TableFile,
    TooLargeError,
    TooManyRowsError,
    class_counts,
    digest_of,
    fetch_openml,
    guess_target,
    inspect,
    join_tables,
    looks_like_predictions,
    open_query,
    prepare,
    prepare_predictions,
    reading_of,
    sample_table,
    score_columns,
    target_candidates,
    tidy_labels,
    validate,
    weight_meaning,
)
from calib.data.column_types import typed_frame
from calib.data.onnx_model import Inputs, model_inputs, onnx_scores
from calib.data.predictions import refuse_merged
from calib.data.score_columns import tables_of
from calib.data.table import note_reading
from calib.kernel.cache import share
from calib.kernel.declared import SETTINGS
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from calib.kernel.records import SETTING_SUBJECTS, Dataset, Problem
from calib.kernel.wording import listed
from calib.recipe import FIELDS, Recipe, with_split
from calib.splits import SPLITS
from calib.synthetic import SYNTHETIC

PLACED_ELSEWHERE = ("folder", "database")
"""Kinds of data that are read in place: KIND:NAME@DIGEST."""
COUNTS_SUFFIX, SAMPLE_SUFFIX = (
    ".counts",
    ".sample",
)  # after the digest of a query that was too large: how it was opened
SHOWN_NAME = re.compile(
    rf"^(.*)@([0-9a-f]{{16}}(?:{re.escape(COUNTS_SUFFIX)}|{re.escape(SAMPLE_SUFFIX)})?)$", re.DOTALL
)
READING = ("sheet", "header")  # names in ``data_params`` that state how a file is read


def digest(data: bytes) -> str:
    """Return the digest of an uploaded file's content: sixteen hexadecimal digits.

    >>> digest(b"a,b")
    'db3657eb6c01adc3'
    """
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def file_digest(path: Path) -> str:
    """Return the ``digest`` of a file of any size.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).", "Check the path.") from None


def parse_place(data: str | None) -> tuple[str, str, str] | None:
    """Return (kind, name, digest or "") of data that are read in place; None for other data.

    >>> parse_place("folder:2026/scores.csv@0123456789abcdef"), parse_place("upload:00ff")
    (('folder', '2026/scores.csv', '0123456789abcdef'), None)
    >>> parse_place("folder:a@b.csv")
    ('folder', 'a@b.csv', '')
    """
    kind, _, rest = (data or "").partition(":")
    if kind not in PLACED_ELSEWHERE:
        return None
    seen = SHOWN_NAME.match(rest)
    return (kind, *seen.groups()) if seen else (kind, rest, "")  # type: ignore[return-value]


def file_key(data: str | None) -> str | None:
    """Return the digest that identifies the file of a data field; None for other data.

    >>> file_key("upload:00ff"), file_key("folder:a.csv@0123456789abcdef"), file_key("sample:loans")
    ('00ff', '0123456789abcdef', None)
    """
    placed = parse_place(data)
    if placed is not None:
        return placed[2] or None
    kind, _, key = (data or "").partition(":")
    return key if kind == "upload" else None


def has_upload(recipe: Recipe) -> bool:
    """Tell whether the Recipe's data, its test set or its model is an uploaded file, which a link does not contain.

    >>> has_upload(Recipe()), has_upload(Recipe(data="upload:00ff"))
    (False, True)
    >>> has_upload(Recipe(data="folder:a.csv@0123456789abcdef"))    # the server reads it again
    False
    """
    return any((data or "").startswith("upload:") for data in (recipe.data, recipe.test_data, recipe.onnx))


def source(recipe: Recipe) -> tuple[str, str]:
    """Return (kind, key) of the data field; an unknown kind or key is refused by name.

    >>> source(Recipe(data="upload:00ff"))
    ('upload', '00ff')
    """
    return _named(recipe.data, "data")


def _named(data: str, field: str) -> tuple[str, str]:
    kind, _, key = data.partition(":")
    known: dict[str, Collection[str] | None] = {
        "sample": SAMPLES,
        "synthetic": SYNTHETIC,
        "upload": None,
        "openml": None,
        **dict.fromkeys(PLACED_ELSEWHERE),
    }
    if kind not in known or not key:
        raise DataError(
            f"{field} must be sample:KEY, synthetic:KEY, upload:DIGEST, folder:PATH, "
            f"database:CONNECTION/NAME or openml:ID, but is {data!r}."
        )
    registry = known[kind]
    if registry is not None and key not in registry:
        raise DataError(f"{field}: there is no {kind} data set {key!r}. Choose one of {', '.join(registry)}.")
    return kind, key


Upload: TypeAlias = pd.DataFrame | TableFile | Relation | bytes
Uploads = Mapping[str, Upload]
"""Digest → the file's table, read with ``read_table``'s defaults or the Recipe's options, or the file itself; for a
model, the content of its file."""


def load_table(recipe: Recipe, uploads: Uploads, watch: Watch | None = None) -> Table:
    """Return the table of a Recipe's data, read with the options in ``data_params`` and not yet prepared.

    Parameters
    ----------
    uploads
        Digest → table of the available files.
    watch
        Reports and can cancel the draw of a sample.

    Raises
    ------
    DataError
        If the file is not among them, or was read with other options than the Recipe's.
    Cancelled
        If ``watch`` was cancelled.
    """
    table = _scored(recipe, uploads, _as_read(recipe, uploads, watch))
    options = dict(recipe.data_params)
    merge, drop = options.get("merge_labels", False), options.get("drop_labels", ())
    join = options.get("join_labels", ())
    if recipe.test_data is not None:
        table = table._replace(frame=_joined(recipe, uploads, table, merge, (*drop, *join)))
    if table.target is not None and join and recipe.content == "predictions":
        refuse_merged(table.frame, table.target, _scores(recipe, table.frame, table.target))
    if table.target is not None and (merge or drop or join):
        frame, notes = tidy_labels(table.frame, table.target, merge, drop, join)
        table = table._replace(frame=note_reading(frame, notes=(*reading_of(frame).notes, *notes)))
    return table


def first_rows(recipe: Recipe, uploads: Uploads) -> Table:
    """Return the table with the labels as the file spells them; if it is too large for memory, its first rows."""
    table = _table(source(recipe), uploads, recipe.file, reading(recipe))
    if recipe.target is not None and recipe.target != table.target:
        return Table(table.frame, recipe.target, recipe.positive)
    return table._replace(positive=recipe.positive or table.positive)


def _as_read(recipe: Recipe, uploads: Uploads, watch: Watch | None) -> Table:
    """Return the table with the labels as the file spells them, or a sample if the table is too large for memory."""
    table, given = first_rows(recipe, uploads), uploads.get(str(file_key(recipe.data)))
    if is_sampled(recipe, given) and table.target is not None:
        return table._replace(frame=_sample(recipe, given, table, watch))
    return table


def is_sampled(recipe: Recipe, given: Upload | None) -> bool:
    """Tell whether a Recipe learns from a sample of its table and is evaluated on all other rows.

    >>> is_sampled(Recipe(data_params={"learn_rows": 10_000}), None), is_sampled(Recipe(), None)
    (True, False)
    """
    return isinstance(given, Relation) or "learn_rows" in dict(recipe.data_params)


def _sample(recipe: Recipe, given: Upload | None, table: Table, watch: Watch | None) -> pd.DataFrame:
    """Draw the rows that the model learns from; refuse settings that need all rows in memory."""
    why = f"{given.name} is too large for memory" if isinstance(given, Relation) else "learn_rows is set"
    if recipe.content != "features":
        raise DataError(
            f"content is 'predictions', but {why}, which applies only if a model is trained.",
            "Train a model.",
        )
    for name, value in _needs_all_rows(recipe):
        raise DataError(
            f"{name} is {value!r}, but {why}, so rows outside the sample are only counted by score and label.",
            f"Remove {name}, or use a table of fewer rows.",
        )
    target = str(table.target)
    if target not in map(str, table.frame):
        known = ", ".join(map(str, table.frame))
        raise DataError(f"target: there is no column {target!r}.", f"Choose one of {known}.")
    relation = given if isinstance(given, Relation) else FrameRelation(table.frame)
    rows, key = dict(recipe.data_params).get("learn_rows"), f"{recipe.data} {reading(recipe)}"
    return relation.sample(target, rows, recipe.seed, key, watch)


def _needs_all_rows(recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the settings of a Recipe that need all rows of the table."""
    options = dict(recipe.data_params)
    for name in (*BY_ROW, "weight"):
        if value := getattr(recipe, name):
            yield name, value
    for name in ("merge_labels", "drop_labels", "join_labels", "drop_repeated"):
        if value := options.get(name):
            yield f"data_params.{name}", value


def _table(named: tuple[str, str], uploads: Uploads, file: str | None, options: Mapping[str, Any]) -> Table:
    kind, key = named
    if kind == "upload" or kind in PLACED_ELSEWHERE:
        name, digest = (
            (file, key) if kind == "upload" else (parse_place(f"{kind}:{key}") or ("", key, ""))[1:]
        )
        if digest in uploads:
            return Table(_uploaded(uploads[digest], options))
        if kind == "upload":
            raise DataError(_upload_again(name, digest))
        raise DataError(f"{name} is not open.", "Choose the table again on Data.")
    if options:
        raise DataError(
            f"data_params.{next(iter(options))} is an option for reading a file, but data is {kind}:{key}.",
            "Remove the option, or choose a file.",
        )
    if kind == "sample":
        return sample_table(key)
    if kind == "openml":
        return fetch_openml(key)
    raise DataError("A synthetic data set is simulated and does not come from a table.")


def _upload_again(file: str | None, key: str) -> str:
    again = f"{file} again" if file else f"the file with the digest {key}"
    return f"Upload {again} to continue: neither the link nor the server's disk contains the data."


def _joined(
    recipe: Recipe, uploads: Uploads, table: Table, merge: bool, drop: Collection[str]
) -> pd.DataFrame:
    """Return the table with that of ``test_data`` as its test set."""
    assert recipe.test_data is not None
    if recipe.split != "file" or recipe.part != FILE_PART:
        raise DataError(
            "test_data: to use a second table as the test set, split must be 'file'.",
            f"Choose split='file' and part={FILE_PART!r}, or remove test_data.",
        )
    target = labelled(table)
    other = _table(_named(recipe.test_data, "test_data"), uploads, recipe.test_file, {}).frame
    other = _scored_as(table.frame, recipe, uploads, other, target)
    names = (
        recipe.file or reading_of(table.frame).name or "the data",
        recipe.test_file or reading_of(other).name or "the other file",
    )
    return join_tables(
        table.frame, other, target, _needed_columns(recipe, table.frame, target), names, merge, drop
    )


def labelled(table: Table) -> str:
    """Return the label column; raise DataError with likely columns if none is chosen."""
    if table.target is None:
        found = target_candidates(table.frame)
        raise DataError(
            "You have not chosen the label column. Specify the column that contains the label.",
            f"Likely columns: {listed(found[:10])}." if found else "",
        )
    return table.target


def _needed_columns(recipe: Recipe, frame: pd.DataFrame, target: str) -> list[str]:
    """Return the columns that are features or scores, or have a role."""
    given = [name for role, name in roles(recipe).items() if name is not None and role != "part"]
    if recipe.content == "predictions":
        return [*(_scores(recipe, frame, target) or score_columns(frame, target)), *given]
    typed = typed_frame(frame)
    no_feature = {target, *recipe.exclude}
    used = [name for name, column in typed.items() if name in recipe.keep or inspect(column, name).usable]
    return list(dict.fromkeys([*(name for name in used if name not in no_feature), *given]))


def _scored(recipe: Recipe, uploads: Uploads, table: Table) -> Table:
    """Return the table with the probability of the existing model, if there is one."""
    frame, target, _ = table
    if recipe.onnx is None or target is None:
        return table
    if recipe.content != "predictions":
        raise DataError(
            "onnx: an ONNX model can only be evaluated, not trained.", "Choose content='predictions'."
        )
    with _naming_the_model(recipe):
        scored = onnx_scores(_model(recipe, uploads), frame, target, _no_inputs(recipe, target))
    return table._replace(frame=scored)


def _scored_as(
    first: pd.DataFrame, recipe: Recipe, uploads: Uploads, other: pd.DataFrame, target: str
) -> pd.DataFrame:
    """Score another table, with its columns in the order of the first table, which a model may rely on."""
    if recipe.onnx is None:
        return other
    known = [name for name in first.columns if name in other.columns]
    scored = _scored(recipe, uploads, Table(other[known], target)).frame
    joined = pd.concat([scored, other.drop(columns=known)], axis=1)
    joined.attrs = scored.attrs
    return joined


def inputs_of_model(recipe: Recipe, uploads: Uploads, table: Table) -> Inputs:
    """Return the inputs of the Recipe's ONNX model and the matching columns; errors are those of ``onnx_scores``."""
    target = labelled(table)
    with _naming_the_model(recipe):
        return model_inputs(_model(recipe, uploads), table.frame, _no_inputs(recipe, target))


@contextmanager
def _naming_the_model(recipe: Recipe) -> Iterator[None]:
    """Add the model's file to an error, because tables are open too."""
    try:
        yield
    except DataError as error:
        file = recipe.onnx_file
        if file is None or file in str(error):
            raise
        raise DataError(f"{file}: {error.message}", error.remedy) from None


def _model(recipe: Recipe, uploads: Uploads) -> bytes:
    key = str(recipe.onnx).removeprefix("upload:")
    content = uploads.get(key)
    if not isinstance(content, bytes):
        raise DataError(_upload_again(recipe.onnx_file, key))
    return content


def _no_inputs(recipe: Recipe, target: str) -> set[str]:
    """Return the columns that are not inputs of a model: the label, columns with a role, excluded columns."""
    return {target, *recipe.exclude, *(name for name in roles(recipe).values() if name is not None)}


def _scores(recipe: Recipe, frame: pd.DataFrame, target: str) -> tuple[str, ...]:
    """Return the named score columns, or the inferred ones without excluded columns; () if they are to be inferred."""
    if recipe.onnx is not None:
        return (str(reading_of(frame).model_score),)
    named = dict(recipe.data_params).get("scores", ())
    if named or not recipe.exclude or recipe.content != "predictions" or target not in frame:
        return named
    left = tuple(name for name in score_columns(frame, target) if name not in recipe.exclude)
    if not left:
        raise DataError("exclude: no score column is left.", "Exclude fewer columns.")
    return left


def with_onnx_model(model: str | None, file: str | None = None) -> dict[str, Any]:
    """Return the fields of a Recipe that change when an existing model is chosen or removed.

    >>> Recipe(**with_onnx_model("upload:00ff", "credit.onnx")).content
    'predictions'
    """
    content = "features" if model is None else "predictions"
    return {"onnx": model, "onnx_file": file, "content": content, "score": None}


NOT_ELSEWHERE: Mapping[str, Any] = {"test_data": None, "test_file": None, "part": None}


def with_test_file(
    other: str | None, file: str | None = None, before: Recipe | None = None
) -> dict[str, Any]:
    """Return the fields of a Recipe that change when another table becomes the test set or is removed.

    ``other`` is named like ``data``. ``before`` is the Recipe, whose split may have options that are removed with it.

    >>> Recipe(**with_test_file("upload:00ff", "new.csv")).split
    'file'
    """
    split = with_split(before or Recipe(), "random" if other is None else "file")
    if other is None:
        return {**NOT_ELSEWHERE, **split}
    return {"test_data": other, "test_file": file, "part": FILE_PART, "evaluation": "holdout", **split}


def _reset(change: str) -> dict[str, Any]:
    """Return all fields and settings that refer to the class, the label or the columns, with their defaults.

    A reference to a class is also one to its label, and both refer to the columns. A page that resets settings lists
    those that were stated (``Recipe.lost``).
    """
    changed = SETTING_SUBJECTS[: SETTING_SUBJECTS.index(change) + 1]
    return {name: p.default for name, p in (*FIELDS.items(), *SETTINGS.items()) if p.reset_by in changed}


def with_positive(positive: str | None) -> dict[str, Any]:
    """Return the fields that change with the positive class: a base rate belongs to its class.

    >>> with_positive("no")
    {'base_rate': None, 'base_rates': (), 'reliability.classes_of': None, 'positive': 'no'}
    """
    return {**_reset("class"), "positive": positive}


def with_answer(recipe: Recipe, fix: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that change with the answer to a question (``calib.kernel.read_as.Answer``).

    Options of ``data_params`` are set beside the others; labels to exclude are added to those that are excluded.

    >>> with_answer(Recipe(base_rate=0.1), {"positive": "dead", "data_params": {"scores": ("p",)}})["positive"]
    'dead'
    """
    options, held = dict(fix.get("data_params", {})), dict(recipe.data_params)
    dropped = options.get("drop_labels") or ()
    if dropped:
        options["drop_labels"] = tuple(dict.fromkeys((*held.get("drop_labels", ()), *dropped)))
    changes: dict[str, Any] = with_labels(recipe, *dropped)
    if "content" in fix:
        changes["content"] = fix["content"]
    if "positive" in fix:
        changes |= with_positive(fix["positive"])
    return changes | ({"data_params": {**held, **options}} if options else {})


NO_ANSWER: Mapping[str, Any] = {"scores": (), "drop_labels": (), "merge_labels": False}
"""Further options of ``data_params`` that an answer can set → their values without one."""


def without_answers(recipe: Recipe) -> dict[str, Any]:
    """Return the answer that takes back all answers on what the columns are, so that the program asks again.

    It is empty if there are none.

    >>> without_answers(Recipe(data_params={"scores_as": "logits", "header": 4}))
    {'positive': None, 'data_params': {'scores_as': None}}
    """
    options = {
        name: NO_ANSWER.get(name) for name, value in recipe.data_params if name in (*MEANINGS, *NO_ANSWER)
    }
    if recipe.positive is None and not options:
        return {}
    return {"positive": None, **({"data_params": options} if options else {})}


def with_labels(recipe: Recipe, *gone: str) -> dict[str, Any]:
    """Return the fields that change when labels are excluded or merged, so that no field names a missing class.

    >>> with_labels(Recipe(view_class="c", positive="a"), "c", "d")
    {'view_class': None}
    """
    named = {name: getattr(recipe, name) for name in ("positive", "view_class")}
    shares = {"base_rates": ()} if recipe.base_rates else {}
    return shares | {
        name: value
        for field, label in named.items()
        if label in gone
        for name, value in (with_positive(None) if field == "positive" else {field: None}).items()
    }


def classes_together(recipe: Recipe, table: Table) -> tuple[str, ...]:
    """Return the classes that a Recipe's table can predict together; () if there are only two.

    Predictions need one column per class.

    >>> classes_together(Recipe(), Table(pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "c"]}), "y"))
    ('a', 'b', 'c')
    """
    frame, target, _ = table
    if target is None or target not in map(str, frame.columns):
        return ()
    labels = tuple(class_counts(frame, target))
    if len(labels) < 3 or recipe.content == "features":
        return labels if len(labels) > 2 else ()
    typed = typed_frame(frame)
    taken = [name for name in roles(recipe).values() if name in typed]
    found = tables_of(typed.drop(columns=taken), target, labels, _scores(recipe, frame, target) or None)
    return () if found is None else found.names


def with_target(target: str | None) -> dict[str, Any]:
    """Return the fields that change with the label column, because its classes change."""
    return {**_reset("label"), "target": target}


def with_reading(recipe: Recipe) -> dict[str, Any]:
    """Return the fields that change when another table of the file is read, because its columns change."""
    return {**_reset("columns"), "data_params": reading(recipe)}


def with_data(
    data: str,
    file: str | None = None,
    *,
    content: str = "features",
    target: str | None = None,
    data_params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the fields that change with the data set: all that name columns or classes.

    >>> old = Recipe(data="sample:loans", base_rate=0.01, exclude=("age",), seed=3)
    >>> old.replace(**with_data("sample:digits")).to_query()
    {'seed': '3'}
    """
    return {
        **{**_reset("columns"), **with_onnx_model(None)},
        **{"data": data, "file": file, "content": content, "target": target},
        "data_params": data_params or {},
    }


def missing_files(recipe: Recipe, known: Collection[str]) -> dict[str, str | None]:
    """Return digest → name of the missing files that a Recipe needs.

    >>> missing_files(Recipe(data="upload:00ff", file="old.csv", test_data="upload:11ff"), ["11ff"])
    {'00ff': 'old.csv'}
    """
    wanted = (
        (recipe.data, recipe.file),
        (recipe.test_data, recipe.test_file),
        (recipe.onnx, recipe.onnx_file),
    )
    keys = {key: file for data, file in wanted if (key := file_key(data)) is not None}
    return {key: file for key, file in keys.items() if key not in known}


def reading(recipe: Recipe) -> dict[str, Any]:
    """Return the Recipe's options for reading a file: arguments of ``read_table`` other than content and name.

    >>> reading(Recipe(data_params={"header": 4, "merge_labels": True}))
    {'header': 4}
    """
    return {name: value for name, value in recipe.data_params if name in READING}


def _uploaded(given: Upload, options: Mapping[str, Any]) -> pd.DataFrame:
    if isinstance(given, TableFile):
        return given.read(**options)
    if isinstance(given, Relation):
        given = given.head
    if isinstance(given, bytes):
        raise DataError("This file is a model, not a table.", "Give the digest of the table.")
    for name, value in options.items():
        if (used := getattr(reading_of(given), name)) not in (None, value):
            message = f"data_params.{name} is {value!r}, but the table was read with {used!r}."
            raise DataError(message, f"Read the file again with read_table(…, {name}={value!r}).")
    return given


def load(recipe: Recipe, uploads: Uploads | None = None) -> Dataset:
    """Return the Dataset of a Recipe.

    Examples
    --------
    >>> load(Recipe(data="sample:digits")).n
    1797
    """
    kind, key = source(recipe)
    if kind == "synthetic":
        return SYNTHETIC[key].make(dict(recipe.data_params), random_state=recipe.seed)
    return dataset(recipe, load_table(recipe, uploads or {}))


def dataset(recipe: Recipe, table: Table, watch: Watch | None = None) -> Dataset:
    """Return the Dataset that a Recipe makes of its table from ``load_table``; ``watch`` reports the steps."""
    frame, target = table.frame, labelled(table)
    if recipe.content == "predictions":
        scores = _scores(recipe, frame, target) or None
        made = prepare_predictions(
            frame, target, table.positive, scores, watch=watch, **_meanings(recipe), **_row_options(recipe)
        )
    else:
        made = prepare(
            frame,
            target,
            table.positive,
            recipe.exclude,
            recipe.keep,
            labels_as=_meanings(recipe)["labels_as"],
            watch=watch,
            **_row_options(recipe),
        )
    release_memory(made.n)
    known = reading_of(frame)
    notes = (*known.notes, *made.notes)
    beside = {str(name): each for name, each in frame.items() if str(name) not in (*made.X, target)}
    found = replace(made, notes=notes, test_file=known.test_file, beside=beside, rest=known.rest)
    share(made, found)  # how the scores rank the classes
    return found


BY_ROW = ("time", "cluster", "part", "period", "segment", "test_data", "onnx")
"""Fields of a Recipe that need single rows, which counts do not have."""


def count_large(
    recipe: Recipe, file: Relation, spill: bool = True, watch: Watch | None = None
) -> tuple[Recipe, pd.DataFrame]:
    """Count the predictions of a file or query by score and label.

    Parameters
    ----------
    recipe
        Recipe with the label; the score, if there are several; and a column of counts, if any.
    spill
        Argument of ``Relation.count``.
    watch
        Can cancel the count.

    Returns
    -------
    Recipe, DataFrame
        The Recipe that reads the counts, and their table.

    Raises
    ------
    DataError
        If a field of the Recipe needs single rows, or ``Relation.count`` refuses the file.
    """
    if recipe.weight == COUNT and COUNT not in file.head:  # of a link to the counts
        recipe = recipe.replace(weight=None, weight_as=None)
    target, score = str(recipe.target), _counted_score(recipe, file)
    frame = file.count(target, score, recipe.weight, watch, spill=spill)
    params = {name: value for name, value in recipe.data_params if name not in READING}
    return recipe.replace(
        score=score, weight=COUNT, weight_as="counts", exclude=(), data_params={**params, "scores": (score,)}
    ), frame


def read_query(
    database: Connection, query: str, content: str | None = None, seen: str = "", watch: Watch | None = None
) -> pd.DataFrame | LargeQuery:
    """Read a query or table, or open one that does not fit into memory or into the limit of rows.

    Parameters
    ----------
    content
        "features" or "predictions", as in a Recipe; None infers it from the first rows.
    seen
        Digest in a link. If it says how the query was opened, it is opened so again, because the settings depend on it.

    Returns
    -------
    DataFrame or LargeQuery
        Its rows; or the query, with a digest if it holds features. Predictions are to be counted (``count_large``).

    Raises
    ------
    DataError
        As ``Connection.read``; also for features of more rows than the connection allows.
    Cancelled
        If ``watch`` was cancelled.
    """
    why = None
    if not seen.endswith((COUNTS_SUFFIX, SAMPLE_SUFFIX)):
        try:
            return database.read(query, watch)
        except TooLargeError as error:
            why = error
    large = open_query(database, query, watch)
    target = guess_target(large.head)
    if why is None:
        content = "predictions" if seen.endswith(COUNTS_SUFFIX) else "features"
    elif content is None:
        alone = target is not None and looks_like_predictions(large.head)
        content = "predictions" if alone else "features"
    if content == "predictions":
        return large
    if isinstance(why, TooManyRowsError):
        raise why
    return large.measured(watch, target)


def data_of_query(
    database: Connection, query: str, found: pd.DataFrame | LargeQuery, counted: bool = False
) -> str:
    """Return the ``data`` field of what ``read_query`` returned, or of the counts of its predictions."""
    large = isinstance(found, Relation)
    digest = (found.digest or digest_of(found.head)) if large else digest_of(found)
    return f"database:{database.name}/{query}@{digest}{SAMPLE_SUFFIX if large else COUNTS_SUFFIX if counted else ''}"


def can_count(recipe: Recipe, file: Relation) -> bool:
    """Tell whether ``count_large`` accepts a Recipe with predictions."""
    try:
        return recipe.content == "predictions" and bool(_counted_score(recipe, file))
    except DataError:
        return False


def holds_predictions(file: Relation) -> bool:
    """Tell whether a file holds a label and one score, and nothing else, by its first rows."""
    target = guess_target(file.head)
    recipe = Recipe(content="predictions", target=target)
    return target is not None and looks_like_predictions(file.head) and can_count(recipe, file)


def _counted_score(recipe: Recipe, file: Relation) -> str:
    """Return the score by which rows are counted; refuse fields that need single rows."""
    for name in BY_ROW:
        if value := getattr(recipe, name):
            raise DataError(
                f"{name} is {value!r}, but {file.name} is too large for memory, so only scores and labels are "
                "counted.",
                f"Remove {name}, or use a sample of the rows.",
            )
    if dict(recipe.data_params).get("drop_repeated"):
        raise DataError(
            "data_params.drop_repeated: rows that were only counted cannot be compared.", "Remove it."
        )
    if recipe.weight is not None and (recipe.weight_as or weight_meaning(recipe.weight)) != "counts":
        raise DataError(
            f"weight: {recipe.weight!r} is not a count of rows, so {file.name} cannot be counted.",
            "Set weight_as to 'counts' if the column contains counts, or use a sample of the rows.",
        )
    return _score_by_reading(recipe, file) or _one_score(recipe, file.head)


COUNTABLE = (
    "",
    "divided by 100",
    "as the sigmoid of its logits",
)  # conversions of a score that need no other column


def _score_by_reading(recipe: Recipe, file: Relation) -> str | None:
    """Return the score that the first rows show; None if they show nothing, such as rows of one class.

    Raises
    ------
    ReadingQuestion
        If the first rows leave open what the columns are.
    DataError
        If a reading needs several columns, whose rows would have to be in memory.
    """
    head = Table(file.head, recipe.target, recipe.positive)
    try:
        made = dataset(recipe.replace(score=None), head)
    except ReadingQuestion:
        raise
    except DataError:
        return None
    reading = made.read_as
    scores = () if reading is None else reading.scores
    kinds = {score.kind if score.scale in COUNTABLE else "" for score in scores}
    if (
        made.joint
        or not kinds <= {"probability", "margin"}
        or (made.weight is not None and recipe.weight is None)
    ):
        raise DataError(
            f"{reading} This needs several columns, but {file.name} is too large for memory, so only one score and the "
            "label are counted.",
            "Save the probability of one class as a column, or use a sample of the rows.",
        )
    return str(scores[0].columns[0]) if len(scores) == 1 and recipe.score is None else None


def _one_score(recipe: Recipe, head: pd.DataFrame) -> str:
    """Return the score column, which must be named if there are several."""
    if recipe.score is not None:
        return recipe.score
    found = _scores(recipe, head, str(recipe.target)) or score_columns(head, str(recipe.target))
    left = [name for name in found if name != recipe.weight]
    if len(left) == 1:
        return left[0]
    if not left:
        raise DataError("The table has no score column.", "Set score in the Recipe.")
    raise DataError(
        f"score: the file has several score columns, {listed(left)}.",
        "Set score in the Recipe to one of these columns.",
    )


def roles(recipe: Recipe) -> dict[str, str | None]:
    """Return role → column of the Recipe.

    >>> roles(Recipe(time="opened"))["time"]
    'opened'
    """
    return {role: getattr(recipe, role) for role in ROLES}


def _row_options(recipe: Recipe) -> dict[str, Any]:
    """Return the Recipe's roles and options of rows as arguments of ``prepare`` and ``validate``."""
    return {
        "roles": roles(recipe),
        "weight_as": recipe.weight_as,
        "drop_repeated": dict(recipe.data_params).get("drop_repeated", False),
    }


MEANINGS = ("scores_as", "labels_as", "predicted", "trials", "wrong_scores")
"""Options of ``data_params`` that say what the columns are: arguments of ``prepare_predictions`` and ``validate``."""


def _meanings(recipe: Recipe) -> dict[str, Any]:
    options = dict(recipe.data_params)
    return {name: options.get(name) for name in MEANINGS}


def problems(recipe: Recipe, table: Table, watch: Watch | None = None) -> list[Problem]:
    """Return the problems that ``validate`` finds in a Recipe's table from ``load_table``."""
    found = validate(
        table.frame,
        table.target,
        table.positive,
        exclude=recipe.exclude,
        content=recipe.content,
        scores=_scores(recipe, table.frame, table.target) if table.target is not None else (),
        keep=recipe.keep,
        watch=watch,
        **_meanings(recipe),
        **_row_options(recipe),
    )
    # Do not report that predictions could be features: a model's inputs are known
    return found if recipe.onnx is None else [each for each in found if each.fix != {"content": "features"}]


def data_problems(recipe: Recipe, uploads: Uploads | None = None) -> list[Problem]:
    """Return the ``problems`` of a Recipe's data; none for synthetic data.

    >>> [problem.severity for problem in data_problems(Recipe(data="sample:breast_cancer"))]
    []
    """
    return [] if source(recipe)[0] == "synthetic" else problems(recipe, load_table(recipe, uploads or {}))


def with_role(recipe: Recipe, role: str, column: str | None) -> dict[str, Any]:
    """Return the fields that change when a role gets a column or none; every column has at most one role.

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
    if recipe.test_data is not None and changes.get("part", FILE_PART) != FILE_PART:
        changes |= {"test_data": None, "test_file": None}
    if changes.get("time", recipe.time) != recipe.time:
        changes["period"] = None  # a period names values of the time column
    if changes.get("weight", recipe.weight) != recipe.weight:
        changes["weight_as"] = None  # weight_as belonged to another column
    needed = SPLITS[recipe.split].needs
    if needed and changes.get(needed, getattr(recipe, needed)) is None:
        changes |= with_split(recipe.replace(**changes), "random")
    return changes
