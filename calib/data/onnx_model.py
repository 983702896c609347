"""A model that is there already, as an ONNX file: its probabilities of a table of its inputs, without training.

Nothing is executed but the graph, by onnxruntime: operators of other domains than ONNX's own, functions and weights in
other files are refused, the last since they name paths. Both packages are an extra (requirements-onnx.txt).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calib.data.columns import as_float, is_number
from calib.data.errors import LARGEST_MODEL, DataError
from calib.data.target import class_counts
from calib.data.typed import typed_frame

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
ROWS_AT_ONCE = 1 << 16
MOST_MEMORY = 2 << 30  # bytes, of what a graph computes
EXTRA = "Install them with: pip install -r requirements-onnx.txt."
KINDS = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32, "bool": np.bool_}
SCORE = "model_score"


def onnx_scores(model: bytes, frame: pd.DataFrame, target: str, beside: Sequence[str] = ()) -> pd.DataFrame:
    """The table with one more column, the model's probability, called after the class that it speaks of.

    Parameters
    ----------
    model
        The content of an ONNX file.
    frame : DataFrame
        As ``read_table`` gives it: a column for each input of the model, matched by name; of a model with one input
        of several columns, all but the label and those beside it, in their order.
    target
        The label column.
    beside
        Columns that have a role, which are no inputs.

    Raises
    ------
    DataError
        For what is no such model, needs what is not in the file, or does not fit the table: all that does not.
    """
    session = _session(model)
    typed = typed_frame(frame)
    inputs = _inputs(session, typed, [name for name in typed if name not in (target, *beside)])
    parts = (
        _probability(session, {name: values[i : i + ROWS_AT_ONCE] for name, values in inputs.items()})
        for i in range(0, len(typed), ROWS_AT_ONCE)
    )
    found, labels = zip(*parts, strict=True)
    label = labels[0] if labels[0] is not None else _later(frame, target)
    said, name = frame.copy(deep=False), SCORE if label == SCORE else f"p_{label}"
    if name in said.columns:
        raise DataError(f"The table has a column {name!r} already, which the model's is to be.", "Rename it.")
    said[name] = np.concatenate(found)
    said.attrs = frame.attrs
    return said


def score_name(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """The column that ``onnx_scores`` added."""
    return str(after.columns[len(before.columns)])


def _session(model: bytes) -> Any:
    try:
        import onnx
        import onnxruntime
    except ImportError:
        raise DataError("ONNX files are read with the packages onnx and onnxruntime.", EXTRA) from None
    if len(model) > LARGEST_MODEL:
        raise DataError(
            f"The model is larger than {LARGEST_MODEL >> 20} MB, the most that is read.",
            "Take a smaller one.",
        )
    try:
        graph = onnx.load_model_from_string(model)
        _refuse(graph)
        return _bounded(onnxruntime, model)
    except DataError:
        raise
    except Exception as error:  # protobuf and onnxruntime each have errors of their own
        first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(
            f"This is no ONNX model that can be run ({first}).",
            "Export the model again, with skl2onnx for one of scikit-learn.",
        ) from None


def _bounded(onnxruntime: Any, model: bytes) -> Any:
    """A session for the graph within so much memory: a few bytes can ask for a table of any size."""
    info, kind = onnxruntime.OrtMemoryInfo, onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    memory = info("Cpu", kind, 0, onnxruntime.OrtMemType.DEFAULT)
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg({"max_mem": MOST_MEMORY}))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.use_env_allocators", "1")
    # without its second try, of which it tells on standard output
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)


def _refuse(model: Any) -> None:
    """What would run or read anything but the graph itself."""
    foreign = sorted({node.domain for node in _nodes(model.graph)} - set(DOMAINS))
    if foreign or model.functions:
        what = f"operators of {', '.join(map(repr, foreign))}" if foreign else "functions of its own"
        raise DataError(f"The model has {what}, and only ONNX's own are run.", "Export it without them.")
    if any(tensor.data_location == tensor.EXTERNAL for tensor in _tensors(model.graph)):
        raise DataError(
            "The model keeps weights in another file, which is not read.",
            "Save it with all weights in one file.",
        )


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                yield from _nodes(inner)


def _tensors(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            yield from (*((attribute.t,) if attribute.HasField("t") else ()), *attribute.tensors)
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                yield from _tensors(inner)


def _inputs(session: Any, typed: pd.DataFrame, features: Sequence[str]) -> dict[str, np.ndarray]:
    """Input → its values (n, columns); DataError with all that does not fit."""
    asked = session.get_inputs()
    whole = len(asked) == 1 and asked[0].name not in typed.columns
    if whole:
        width = asked[0].shape[1] if len(asked[0].shape) == 2 else None
        if isinstance(width, int) and width != len(features):
            raise DataError(
                f"The model takes {width} columns, but beside the label the table has {len(features)}: "
                f"{', '.join(features[:20])}.",
                "Bring the columns that the model was trained on, in their order.",
            )
    wanted = {asked[0].name: list(features)} if whole else {each.name: [each.name] for each in asked}
    kinds = {each.name: each.type.removeprefix("tensor(").removesuffix(")") for each in asked}
    wrong = [
        said
        for name, columns in wanted.items()
        for column in columns
        if (said := _misfit(typed, column, kinds[name])) is not None
    ]
    if wrong:
        raise DataError(f"The table does not fit the model: {'; '.join(wrong)}.", "Correct the table.")
    return {name: _values(typed, columns, kinds[name]) for name, columns in wanted.items()}


def _misfit(typed: pd.DataFrame, column: str, kind: str) -> str | None:
    """What is wrong with a column for an input of this kind, or None."""
    if column not in typed.columns:
        return f"it has no column {column!r}"
    if kind == "string":
        return None
    if kind not in KINDS:
        return f"{column!r} would have to be of the type {kind}, which no table holds"
    if not is_number(typed[column]):
        return f"{column!r} holds no numbers, and the model asks for {kind}"
    if kind not in ("float", "double") and typed[column].isna().any():
        return f"{column!r} has missing values, and the model asks for {kind}"
    return None


def _values(typed: pd.DataFrame, columns: Sequence[str], kind: str) -> np.ndarray:
    if kind == "string":
        return np.column_stack(
            [typed[column].astype("str").fillna("").to_numpy(object) for column in columns]
        )
    return np.column_stack([as_float(typed[column]) for column in columns]).astype(KINDS[kind])


def _probability(session: Any, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, str | None]:
    """(probabilities (n,), the class that they speak of): None is the later one, SCORE what is not known."""
    shapes = {each.name: len(each.shape) for each in session.get_inputs()}
    given = {name: values.ravel() if shapes[name] == 1 else values for name, values in inputs.items()}
    try:
        outputs = session.run(None, given)
    except Exception as error:
        first = str(error).strip().splitlines()[0][:200]
        raise DataError(f"The model fails on this table ({first}).", "Correct the table.") from None
    for said in outputs:  # a sequence of maps, class → probability, as skl2onnx writes by itself
        if isinstance(said, list) and said and isinstance(said[0], dict) and len(said[0]) == 2:
            label = max(said[0])
            return np.array([row[label] for row in said], dtype=np.float64), str(label)
    tables = [np.asarray(each) for each in outputs if not isinstance(each, list)]
    floats = [each.astype(np.float64) for each in tables if each.dtype.kind == "f"]
    two = [each for each in floats if each.ndim == 2 and each.shape[1] == 2]
    if two:
        return two[0][:, 1], None
    one = [each.ravel() for each in floats if each.size == len(next(iter(inputs.values())))]
    if one:
        return one[0], SCORE
    raise DataError(
        "The model gives neither a probability of two classes nor one number a row.",
        "Export a model of two classes with its probabilities.",
    )


def _later(frame: pd.DataFrame, target: str) -> str:
    return list(class_counts(frame, target))[-1]
