"""Run an existing model, given as an ONNX file, on a table of its inputs, without training.

onnxruntime executes only the graph. Operators from other domains than ONNX's own, functions, and weights in other
files (which name paths) are refused. A graph may loop, so memory and time are limited. Both packages are optional
(requirements-onnx.txt).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

import numpy as np
import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import as_float, is_number
from calib.data.errors import DataError
from calib.data.limits import MODEL_LIMIT
from calib.data.table import describe
from calib.data.target import class_counts
from calib.kernel.wording import counted

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
ROWS_AT_ONCE = 1 << 13
MOST_MEMORY = 2 << 30  # bytes that a graph may allocate
LONGEST_RUN = 8  # seconds for a batch of ROWS_AT_ONCE
EXTRA = "Install both with: pip install -r requirements-onnx.txt."
KINDS = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32, "bool": np.bool_}
SCORE = "model_score"


@dataclass(frozen=True)
class Input:
    """Number or text that a model needs, and the column of the table that supplies it.

    Attributes
    ----------
    name
        Name of the model's input, followed by a position if the input takes several columns.
    kind
        Type, such as float, int64 or string.
    column
        Column that matches by name or by position; None if there is none.
    misfit
        Reason why the column does not fit, or None.
    """

    name: str
    kind: str
    column: str | None
    misfit: str | None = None


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of a model, and the columns of a table that supply them.

    Attributes
    ----------
    each
        One line per column that the model needs or the table has.
    by_position
        Whether one input takes all columns in order, so that excluding a column shifts the others.
    """

    each: tuple[Input, ...]
    by_position: bool

    @property
    def fit(self) -> bool:
        return all(one.misfit is None for one in self.each)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns input, type, column, fits."""
        lines = [(one.name, one.kind, one.column or "–", one.misfit or "yes") for one in self.each]
        return pd.DataFrame(lines, columns=["input", "type", "column", "fits"])


def model_inputs(model: bytes, frame: pd.DataFrame, beside: Collection[str]) -> Inputs:
    """Return the model's inputs and the columns that match them; parameters and errors as for ``onnx_scores``.

    Parameters
    ----------
    beside
        Columns that are not inputs: the label, columns with a role and excluded columns.
    """
    return _inputs(_session(model), typed_frame(frame), beside)


def onnx_scores(model: bytes, frame: pd.DataFrame, target: str, beside: Collection[str] = ()) -> pd.DataFrame:
    """Return the table with an additional column: the model's probability, named after its class.

    The field ``model_score`` of ``about`` names this column.

    Parameters
    ----------
    model
        Content of an ONNX file.
    frame : DataFrame
        Table with one column per input of the model, matched by name. If the model has one input of several
        columns, these are all columns but the label and ``beside``, in order.
    target
        Label column.
    beside
        Columns that are not inputs, such as those with a role.

    Raises
    ------
    DataError
        If the file is not such a model, needs other files, or does not fit the table; lists every misfit.
    """
    session, typed = _session(model), typed_frame(frame)
    values = _values(session, typed, _fitting(_inputs(session, typed, {target, *beside})))
    parts = (
        _probability(session, {name: given[i : i + ROWS_AT_ONCE] for name, given in values.items()})
        for i in range(0, len(typed), ROWS_AT_ONCE)
    )
    found, labels = zip(*parts, strict=True)
    label = labels[0] if labels[0] is not None else list(class_counts(frame, target))[-1]
    scored, name = frame.copy(deep=False), SCORE if label == SCORE else f"p_{label}"
    if name in scored.columns:
        raise DataError(
            f"The table already has a column {name!r}, but this name is needed for the model's output.",
            "Rename the column.",
        )
    scored[name] = np.concatenate(found)
    return describe(scored, model_score=name)


def _session(model: bytes) -> Any:
    try:
        import onnx
        import onnxruntime
    except ImportError:
        raise DataError("ONNX files need the packages onnx and onnxruntime.", EXTRA) from None
    if len(model) > MODEL_LIMIT:
        raise DataError(
            f"The model is larger than {MODEL_LIMIT >> 20} MiB, which is the limit.",
            "Use a smaller model.",
        )
    try:
        graph = onnx.load_model_from_string(model)
        _refuse(graph)
        return _bounded(onnxruntime, model)
    except DataError:
        raise
    except Exception as error:  # protobuf and onnxruntime raise their own errors
        first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(
            f"This ONNX model cannot be run ({first}).",
            "Export the model again. For a scikit-learn model, use skl2onnx with zipmap=False.",
        ) from None


def _bounded(onnxruntime: Any, model: bytes) -> Any:
    """Return a session with limited memory, because a few bytes can request a table of any size.

    Graph optimisation is off: it evaluates nodes without inputs, and nothing could interrupt that.
    """
    info, kind = onnxruntime.OrtMemoryInfo, onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    memory = info("Cpu", kind, 0, onnxruntime.OrtMemType.DEFAULT)
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg({"max_mem": MOST_MEMORY}))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.use_env_allocators", "1")
    # no fallback, which would print to standard output
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)


def _refuse(model: Any) -> None:
    """Refuse a model that runs or reads anything outside its graph."""
    foreign = sorted({node.domain for node in _nodes(model.graph)} - set(DOMAINS))
    if foreign or model.functions:
        what = f"operators of {', '.join(map(repr, foreign))}" if foreign else "custom functions"
        raise DataError(
            f"The model uses {what}, but only standard ONNX operators are allowed.",
            "Export the model without custom functions.",
        )
    if any(tensor.data_location == tensor.EXTERNAL for tensor in _tensors(model.graph)):
        raise DataError(
            "The model refers to weights in another file, which cannot be read.",
            "Save the model with all weights in one file.",
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


def _inputs(session: Any, typed: pd.DataFrame, beside: Collection[str]) -> Inputs:
    nodes = session.get_inputs()
    kinds = {each.name: each.type.removeprefix("tensor(").removesuffix(")") for each in nodes}
    if len(nodes) > 1 or nodes[0].name in typed.columns:
        return Inputs(tuple(_by_name(typed, name, kind) for name, kind in kinds.items()), by_position=False)
    ((name, kind),) = kinds.items()
    features, shape = [column for column in typed if column not in beside], nodes[0].shape
    width = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else len(features)
    each = tuple(
        Input(f"{name}, {i + 1}", kind, column, _misfit(typed, column, kind))
        for i, column in enumerate(features[:width])
    )
    each += tuple(
        Input(f"{name}, {i + 1}", kind, None, "the table has no column for this input")
        for i in range(len(each), width)
    )
    each += tuple(
        Input("–", "–", column, "the model does not use this column") for column in features[width:]
    )
    return Inputs(each, by_position=True)


def _by_name(typed: pd.DataFrame, name: str, kind: str) -> Input:
    if name not in typed.columns:
        return Input(name, kind, None, f"the table has no column {name!r}")
    return Input(name, kind, name, _misfit(typed, name, kind))


def _misfit(typed: pd.DataFrame, column: str, kind: str) -> str | None:
    """Return why a column does not fit an input of this kind, or None."""
    if kind == "string":
        return None
    if kind not in KINDS:
        return f"{column!r} must have the type {kind}, which tables do not support"
    if not is_number(typed[column]):
        return f"{column!r} is not numeric, but the model needs {kind}"
    if kind not in ("float", "double") and typed[column].isna().any():
        return f"{column!r} has missing values, but the model needs {kind}"
    return None


def _fitting(inputs: Inputs) -> Inputs:
    """Return the inputs, or raise DataError with all misfits."""
    needed = sum(one.name != "–" for one in inputs.each)
    given = [one.column for one in inputs.each if one.column is not None]
    if inputs.by_position and (needed != len(given) or not given):
        raise DataError(
            f"The model takes {needed} columns, but the table has {len(given)} without the label: "
            f"{', '.join(given[:20])}.",
            "Upload exactly the columns that the model was trained on, in the same order.",
        )
    if not inputs.fit:
        wrong = "; ".join(one.misfit for one in inputs.each if one.misfit)
        raise DataError(
            f"The table does not fit the model: {wrong}.", "Correct the table and upload it again."
        )
    return inputs


def _values(session: Any, typed: pd.DataFrame, inputs: Inputs) -> dict[str, np.ndarray]:
    """Return input of the graph → its values (n, columns), or (n,) if it takes a vector."""
    columns = [str(one.column) for one in inputs.each]
    named = (
        {session.get_inputs()[0].name: columns} if inputs.by_position else {name: [name] for name in columns}
    )
    kind = {one.column: one.kind for one in inputs.each}
    flat = {each.name for each in session.get_inputs() if len(each.shape) == 1}
    table = {name: _as_kind(typed, held, kind[held[0]]) for name, held in named.items()}
    return {name: values.ravel() if name in flat else values for name, values in table.items()}


def _as_kind(typed: pd.DataFrame, columns: Sequence[str], kind: str) -> np.ndarray:
    if kind == "string":
        return np.column_stack(
            [typed[column].astype("str").fillna("").to_numpy(object) for column in columns]
        )
    return np.column_stack([as_float(typed[column]) for column in columns]).astype(KINDS[kind])


def _run(session: Any, inputs: dict[str, np.ndarray]) -> list[Any]:
    """Run the graph, and stop it between two operators if it takes too long."""
    from onnxruntime import RunOptions

    options = RunOptions()
    limit = Timer(LONGEST_RUN, setattr, (options, "terminate", True))
    limit.start()
    try:
        return session.run(None, inputs, options)
    except Exception as error:
        if options.terminate:
            rows = counted(len(next(iter(inputs.values()))), "row")
            raise DataError(
                f"The model took more than {LONGEST_RUN} seconds for {rows}, which is the limit. The model may loop "
                "forever.",
                "Export a model without loops, or a smaller model.",
            ) from None
        first = str(error).strip().splitlines()[0][:200]
        raise DataError(
            f"The model fails on this table ({first}).", "Correct the table and upload it again."
        ) from None
    finally:
        limit.cancel()


def _probability(session: Any, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, str | None]:
    """Return (probabilities (n,), their class); None means the later class, SCORE an unknown class."""
    outputs = _run(session, inputs)
    for maps in outputs:  # a sequence of maps (class → probability), which skl2onnx writes by default
        if isinstance(maps, list) and maps and isinstance(maps[0], dict) and len(maps[0]) == 2:
            label = max(maps[0])
            return np.array([row[label] for row in maps], dtype=np.float64), str(label)
    tables = [np.asarray(each) for each in outputs if not isinstance(each, list)]
    floats = [each.astype(np.float64) for each in tables if each.dtype.kind == "f"]
    two = [each for each in floats if each.ndim == 2 and each.shape[1] == 2]
    if two:
        return two[0][:, 1], None
    one = [each.ravel() for each in floats if each.size == len(next(iter(inputs.values())))]
    if one:
        return one[0], SCORE
    raise DataError(
        "The model must return the probabilities of two classes, or one number per row, but returns neither.",
        "Export a two-class model with its probabilities.",
    )
